// The worker's fabric connections: opened before the first packet, closed after the last one. Each
// mux behind them is ended by its termination master, a client that waits until the others have
// closed.
#pragma GCC optimize("Os")
#include "fabric/route.hpp"
#include "worker_fabric.hpp"

namespace ccl {

headers_t to_receiver, to_sender;

namespace {

constexpr uint32_t HOPS = 64;                     // most hops of a packet

alignas(16) fabric_client_words_t words[CCL_MAX_CONNECTIONS];

template <typename Header>
void begin_header(Header& header) {
    uint32_t own = word_at(niu(NOC, NIU_NOC_ID_LOGICAL));
    header = {};
    header.tail.ttl = HOPS;
    header.tail.src_device_id = static_cast<uint16_t>(args.device_id);
    header.tail.src_mesh_id = static_cast<uint16_t>(args.mesh_id);
    header.tail.src_x = own & 0x3F;
    header.tail.src_y = own >> 6 & 0x3F;
    header.tail.nack_address = semaphore_place(CCL_SEMAPHORE_NACKS);
}

// Returns false if there is no route.
bool prepare(HybridMeshPacketHeader& header, const ccl_channel_t& channel) {
    if (channel.used == 0 || channel.over_fabric == 0) {
        return true;
    }
    if (args.is_2d == 0) {
        auto& low_latency = reinterpret_cast<LowLatencyPacketHeader&>(header);
        begin_header(low_latency);
        low_latency.routing_fields =
            fabric::low_latency_route(channel.peer_hops, channel.peer_hops);
        return channel.peer_hops != 0 && channel.peer_hops <= LOW_LATENCY_MAX_HOPS;
    }
    begin_header(header);
    header.dst_start_mesh_id = static_cast<uint16_t>(channel.peer_mesh_id);
    header.dst_start_chip_id = static_cast<uint16_t>(channel.peer_device_id);
    const auto& info = *reinterpret_cast<const routing_l1_info_t*>(args.routing_info_address);
    return fabric::route_to_node(info, channel.peer_mesh_id, channel.peer_device_id,
                                 header.route_buffer);
}

bool prepare(headers_t& headers, const ccl_channel_t& channel) {
    bool all = true;
    for (HybridMeshPacketHeader& header : headers.each) {
        all = all && prepare(header, channel);
    }
    return all;
}

bool next() { return begin_stage(state.control, compiler_barrier); }

bool opens(fabric_client_state_t& client, uint32_t index) {
    client.connection = args.connection[index].client;
    client.words_address = reinterpret_cast<uint32_t>(&words[index]);
    return fabric::client_open(client, stop);
}

bool tell_master(const ccl_connection_t& connection) {
    bool free = wait_until([] {
        return !niu_busy(NOC, NOC_BUFFER_WRITE) && !niu_busy(NOC, NOC_BUFFER_ATOMIC) &&
               noc_outstanding(NOC, ATOMIC_ID) < MAX_OUTSTANDING;
    });
    if (!free) {
        return false;
    }
    uint32_t mid = noc_mid(connection.master_xy & 0xFFFF, connection.master_xy >> 16);
    semaphore_increment(NOC, ATOMIC_ID, mid, connection.master_address, 1);
    return wait_until([] { return noc_outstanding(NOC, ATOMIC_ID) == 0; });
}

bool end_mux(uint32_t index) {
    const ccl_connection_t& connection = args.connection[index];
    WAYPOINT("NSMW");
    uint32_t closed = semaphore_place(CCL_SEMAPHORE_CLOSED + index);
    if (!wait_until(
            [=] { return semaphore_at(closed) + 1 >= args.connection[index].mux_clients; })) {
        return false;
    }
    WAYPOINT("NSMD");
    return next() &&
           fabric::client_word(state.clients[index], connection.termination_address,
                               GRACEFULLY_TERMINATE, stop) &&
           wait_until([] { return noc_outstanding(NOC, fabric::CLIENT_WORDS) == 0; });
}

}  // namespace

bool fabric_fits() {
    bool fits = args.connections <= CCL_MAX_CONNECTIONS && args.routing_info_address % 4 == 0;
    for (uint32_t i = 0; fits && i < args.connections; ++i) {
        const fabric_connection_info_t& connection = args.connection[i].client;
        fits = connection.num_buffers_per_channel != 0 &&
               connection.buffer_size_bytes >= header_bytes() + PART_BYTES;
    }
    return fits && prepare(to_receiver, args.outbound) && prepare(to_sender, args.inbound);
}

bool open_fabric() {
    if (args.connections == 0) {
        return true;
    }
    WAYPOINT("FOPW");
    for (uint32_t i = 0; i < args.connections; ++i) {
        if (!opens(state.clients[i], i)) {
            return false;
        }
    }
    WAYPOINT("FOPD");
    return args.inbound.used == 0 || args.inbound.over_fabric == 0 ||
           give_credits(args.inbound.buffers);
}

bool await_acknowledges() {
    const ccl_channel_t& channel = args.outbound;
    if (channel.used == 0 || channel.over_fabric == 0 ||
        state.control.termination_signal != KEEP_RUNNING) {
        return true;
    }
    // Every buffer is returned, and each was granted once at the start.
    taken(CCL_SEMAPHORE_OUTBOUND) += channel.buffers;
    bool all = wait_until([] {
        return semaphore_at(semaphore_place(CCL_SEMAPHORE_OUTBOUND)) ==
                   taken(CCL_SEMAPHORE_OUTBOUND) ||
               state.control.termination_signal != KEEP_RUNNING;
    });
    state.acknowledged_cycles = wall_clock_64();
    return all;
}

bool close_fabric() {
    for (uint32_t i = 0; i < args.connections; ++i) {
        if (!next() || !fabric::client_close(state.clients[i], stop, next)) {
            return false;
        }
    }
    // First its signals, then its waits: the clients that it waits for can be masters that wait for it.
    for (uint32_t i = 0; i < args.connections; ++i) {
        const ccl_connection_t& connection = args.connection[i];
        if (connection.termination == CCL_TELLS_MASTER && !(next() && tell_master(connection))) {
            return false;
        }
    }
    for (uint32_t i = 0; i < args.connections; ++i) {
        if (args.connection[i].termination == CCL_TERMINATION_MASTER && !(next() && end_mux(i))) {
            return false;
        }
    }
    return true;
}

}  // namespace ccl
