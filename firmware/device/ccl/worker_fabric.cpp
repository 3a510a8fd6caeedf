// Channels that lead over the fabric: a message is cut into packets that fit a slot of the router.
// The last packet writes and increments, so that a message that fits one packet is one packet.
#include "worker_fabric.hpp"

namespace ccl {
namespace {

uint32_t most_bytes(const fabric_client_state_t& client) {
    return (client.connection.buffer_size_bytes - header_bytes()) & ~(PART_BYTES - 1);
}

noc_address_t at_peer(const ccl_channel_t& channel, uint32_t address) {
    return noc_address_t{channel.peer_xy & 0xFFFF} << 36 |
           noc_address_t{channel.peer_xy >> 16} << 42 | address;
}

// Returns the next header whose last content has been sent.
bool take_header(headers_t& headers, HybridMeshPacketHeader*& header) {
    if (headers.next == headers_t::COUNT) {
        headers.next = 0;
        if (!fabric::client_wait(fabric::client_has_left, stop)) {
            return false;
        }
    }
    header = &headers.each[headers.next++];
    return true;
}

bool write_payload(const fabric_client_state_t& client, uint32_t id, uint32_t from,
                   uint32_t bytes) {
    const fabric_connection_info_t& connection = client.connection;
    uint32_t to = connection.edm_buffer_base_addr +
                  client.write_index * connection.buffer_size_bytes + header_bytes();
    bool free = wait_until([=] {
        return !niu_busy(NOC, NOC_BUFFER_WRITE) && noc_outstanding(NOC, id) < MAX_OUTSTANDING;
    });
    if (free) {
        noc_start_write(NOC, id, from, fabric::client_target(client), to, bytes);
    }
    return free;
}

// Both header types have the same layout up to here.
bool send_packet(fabric_client_state_t& client, HybridMeshPacketHeader& header, NocSendType type,
                 uint32_t id, uint32_t from, uint32_t bytes) {
    static_assert(offsetof(HybridMeshPacketHeader, noc_send_type) ==
                  offsetof(LowLatencyPacketHeader, noc_send_type));
    header.payload_size_bytes = static_cast<uint16_t>(bytes);
    header.noc_send_type = type;
    compiler_barrier();
    bool sent = (bytes == 0 || write_payload(client, id, from, bytes)) &&
                fabric::client_write(client, 0, reinterpret_cast<uint32_t>(&header), header_bytes(),
                                     stop) &&
                fabric::client_commit(client, stop);
    if (sent) {
        state.fabric_packets = state.fabric_packets + 1;
    }
    return sent;
}

}  // namespace

bool send_message(uint32_t id, uint32_t from, uint32_t to, uint32_t bytes) {
    const ccl_channel_t& channel = args.outbound;
    fabric_client_state_t& client = state.clients[channel.connection];
    uint32_t most = most_bytes(client), parts = (bytes + most - 1) / most;
    uint32_t part = (bytes / parts + PART_BYTES - 1) & ~(PART_BYTES - 1);
    if (part > most) {
        part = most;
    }
    for (; bytes != 0; from += part, to += part, bytes -= part) {
        part = bytes < part ? bytes : part;
        HybridMeshPacketHeader* header = nullptr;
        if (!fabric::client_wait_for_slot(client, stop) || !take_header(to_receiver, header)) {
            return false;
        }
        bool last = part == bytes;
        if (last) {
            header->command_fields.unicast_seminc_fused = {
                at_peer(channel, to), at_peer(channel, channel.edm_semaphore_address), 1, 1};
        } else {
            header->command_fields.unicast_write = {at_peer(channel, to)};
        }
        if (!send_packet(client, *header, last ? NOC_FUSED_UNICAST_ATOMIC_INC : NOC_UNICAST_WRITE,
                         id, from, part)) {
            return false;
        }
    }
    return true;
}

bool give_credits(uint32_t credits) {
    const ccl_channel_t& channel = args.inbound;
    fabric_client_state_t& client = state.clients[channel.connection];
    HybridMeshPacketHeader* header = nullptr;
    if (!fabric::client_wait_for_slot(client, stop) || !take_header(to_sender, header)) {
        return false;
    }
    header->command_fields.unicast_seminc = {at_peer(channel, channel.edm_semaphore_address),
                                             credits, 1};
    return send_packet(client, *header, NOC_UNICAST_ATOMIC_INC, 0, 0, 0);
}

}  // namespace ccl
