// The queue between host and firmware: requests in, responses out (wormhole.md 6.4,
// wormhole.md 6.5). Up to four reads are in flight; a write runs alone, so requests stay in order.
#include "relay.hpp"

routing_cmd_t host_commands[4];

namespace {

// The response slot of a read is chosen at its start: flags cleared, then the index advanced; data
// and then flags follow later.
bool begin_read(const routing_cmd_t& request) {
    eth_queue_t& responses = queues->eth_resp_queue;
    bool full = ((responses.wr_index - responses.rd_index) & 7) >= 4;
    uint32_t slot = HOST_SLOT + (responses.wr_index & 3);
    if (full || slot_active(slot)) {
        return false;
    }
    routing_cmd_t& response = responses.entries[slot];
    response.flags = 0;
    response.address_lo = request.address_lo;
    response.address_hi = request.address_hi;
    response.rack = request.rack;
    response.shelf = request.shelf;
    host_commands[slot] = request;
    begin_host_block(slot);
    begin_request(slot);
    responses.wr_index = (responses.wr_index + 1) & 7;
    queues->eth_req_queue.rd_req = queues->eth_req_queue.rd_req + 1;
    return true;
}

bool any_in_flight() {
    return slot_active(HOST_SLOT) || slot_active(HOST_SLOT + 1) || slot_active(HOST_SLOT + 2) ||
           slot_active(HOST_SLOT + 3);
}

bool write_in_flight() {
    eth_queue_t& requests = queues->eth_req_queue;
    uint32_t slot = HOST_SLOT + (requests.rd_index & 3);
    return slot_active(slot) && !is_read(host_commands[slot]);
}

}  // namespace

// The indices outlive a reset of the tile: requests that had not begun are served, and a write in
// flight is begun again.
void resume_host_queue() { queues->eth_req_queue.wr_resp = queues->eth_req_queue.wr_req; }

void take_host_requests() {
    eth_queue_t& requests = queues->eth_req_queue;
    while (((requests.wr_index ^ requests.rd_index) & 7) != 0) {
        uint32_t index = requests.rd_index & 7;
        const routing_cmd_t& request = requests.entries[index & 3];
        uint32_t flags = request.flags;
        if ((flags & CMD_RD_REQ) != 0) {
            if (write_in_flight() || !begin_read(request)) {
                return;
            }
        } else if ((flags & CMD_WR_REQ) != 0) {
            if (!any_in_flight()) {
                host_commands[index & 3] = request;
                requests.wr_req = requests.wr_req + 1;
                begin_host_block(HOST_SLOT + (index & 3));
                begin_request(HOST_SLOT + (index & 3));
            }
            return;  // the index follows when the write is done: its block is in the host's buffer
        } else {
            requests.error = requests.error + 1;
        }
        requests.rd_index = (index + 1) & 7;
    }
}

bool finish_host_request(uint32_t slot, uint32_t data, uint32_t flags) {
    constexpr uint32_t ERRORS = CMD_DATA_BLOCK_UNAVAILABLE | CMD_DEST_UNREACHABLE;
    eth_queue_t& requests = queues->eth_req_queue;
    flags &= ~CMD_NOT_STARTED;
    if (has_host_block(slot)) {
        part_t next = (flags & ERRORS) != 0 ? PARTS_DONE : next_part(slot);
        if (next == PART_BEGUN) {
            begin_request(slot);
            return false;
        }
        flags |= CMD_DATA_BLOCK_DRAM | (next == PART_FAILED ? CMD_DATA_BLOCK_UNAVAILABLE : 0);
    }
    if ((flags & ERRORS) != 0) {
        requests.error = requests.error + 1;
    }
    if (is_read(host_commands[slot])) {
        routing_cmd_t& response = queues->eth_resp_queue.entries[slot];
        response.data = data;
        compiler_barrier();
        response.flags = flags;
        requests.rd_resp = requests.rd_resp + 1;
    } else {
        requests.wr_resp = requests.wr_resp + 1;
        requests.rd_index = (requests.rd_index + 1) & 7;
    }
    return true;
}
