// Packets of the traffic kernel: route, header and payload.
#include "route.hpp"
#include "traffic_moves.hpp"

namespace fabric {
namespace {

noc_address_t noc_address(const fabric_traffic_packet_t& packet, uint32_t address) {
    return noc_address_t{packet.dst_x} << 36 | noc_address_t{packet.dst_y} << 42 | address;
}

bool has_payload(const fabric_traffic_packet_t& packet) {
    return packet.send_type != NOC_UNICAST_INLINE_WRITE &&
           packet.send_type != NOC_UNICAST_ATOMIC_INC;
}

bool scatter(const fabric_traffic_packet_t& packet, NocUnicastScatterCommandHeader& fields) {
    uint32_t chunks = packet.value;
    if (chunks == 0 || chunks > NOC_SCATTER_WRITE_MAX_CHUNKS) {
        return false;
    }
    uint32_t bytes = packet.payload_size_bytes / chunks & ~15u;
    fields.chunk_count = static_cast<uint8_t>(chunks);
    for (uint32_t i = 0; i < chunks; ++i) {
        fields.noc_address[i] =
            noc_address(packet, packet.address + i * (bytes + TRAFFIC_SCATTER_GAP));
        if (i + 1 < chunks) {
            fields.chunk_size[i] = static_cast<uint16_t>(bytes);
        }
    }
    return true;
}

bool command(const fabric_traffic_packet_t& packet, uint32_t first_word, NocCommandFields& fields) {
    noc_address_t data = noc_address(packet, packet.address),
                  counter = noc_address(packet, packet.counter_address);
    switch (packet.send_type) {
        case NOC_UNICAST_WRITE: fields.unicast_write = {data}; return true;
        case NOC_UNICAST_INLINE_WRITE:
            fields.unicast_inline_write = {data, first_word};
            return true;
        case NOC_UNICAST_ATOMIC_INC:
            fields.unicast_seminc = {counter, packet.value, 1};
            return true;
        case NOC_FUSED_UNICAST_ATOMIC_INC:
            fields.unicast_seminc_fused = {data, counter, packet.value, 1};
            return true;
        case NOC_UNICAST_SCATTER_WRITE: return scatter(packet, fields.unicast_scatter_write);
        default: return false;
    }
}

bool route(const fabric_traffic_packet_t& packet, LowLatencyPacketHeader& header) {
    if ((packet.flags & FABRIC_TABLE_ROUTED) != 0) {
        header.routing_fields = packet.dst_device_id | packet.dst_mesh_id << 16;
        return true;
    }
    bool fits = packet.hops[0] != 0 && packet.hops[0] <= packet.hops[1] &&
                packet.hops[1] <= LOW_LATENCY_MAX_HOPS;
    header.routing_fields = fits ? low_latency_route(packet.hops[0], packet.hops[1]) : 0;
    return fits;
}

bool route(const fabric_traffic_packet_t& packet, HybridMeshPacketHeader& header) {
    header.dst_start_mesh_id = packet.dst_mesh_id;
    header.dst_start_chip_id = packet.dst_device_id;
    if ((packet.flags & FABRIC_TABLE_ROUTED) != 0) {
        return true;
    }
    const auto& info = *reinterpret_cast<const routing_l1_info_t*>(args.routing_info_address);
    if ((packet.flags & TRAFFIC_MULTICAST) == 0) {
        return route_to_node(info, packet.dst_mesh_id, packet.dst_device_id, header.route_buffer);
    }
    for (uint32_t i = 0; i < DIRECTIONS; ++i) {
        header.mcast_params_64[i] = packet.hops[i];
    }
    return route_multicast(info, header.mcast_params_64, header.route_buffer);
}

template <typename Header>
bool fill(Header& header, const fabric_traffic_packet_t& packet, uint32_t first_word) {
    header = {};
    header.payload_size_bytes = has_payload(packet) ? packet.payload_size_bytes : 0;
    header.noc_send_type = packet.send_type;
    header.tail.ttl = packet.ttl;
    header.tail.flags = packet.flags & (FABRIC_TABLE_ROUTED | FABRIC_CONTROL);
    header.tail.src_device_id = static_cast<uint16_t>(args.device_id);
    header.tail.src_mesh_id = static_cast<uint16_t>(args.mesh_id);
    header.tail.src_x = static_cast<uint8_t>(args.own_xy);
    header.tail.src_y = static_cast<uint8_t>(args.own_xy >> 16);
    header.tail.nack_address = args.words_address + offsetof(fabric_traffic_words_t, nacks);
    header.tail.number = packet.number;
    return command(packet, first_word, header.command_fields) && route(packet, header);
}

void fill_payload(uint32_t address, uint32_t bytes, uint32_t word) {
    auto* out = reinterpret_cast<uint32_t*>(address);
    for (uint32_t i = 0; i < bytes; i += 16, out += 4) {
        out[0] = word, out[1] = word + TRAFFIC_WORD_STEP, out[2] = word + 2 * TRAFFIC_WORD_STEP,
        out[3] = word + 3 * TRAFFIC_WORD_STEP;
        word += 4 * TRAFFIC_WORD_STEP;
    }
}

uint32_t header_bytes() {
    return args.is_2d != 0 ? sizeof(HybridMeshPacketHeader) : sizeof(LowLatencyPacketHeader);
}

bool put_together(const fabric_traffic_packet_t& packet, uint32_t bytes) {
    uint32_t first_word = traffic_first_word(args.run_id, args.source, packet.number),
             at = args.staging_address;
    if (bytes > state.clients[packet.connection].connection.buffer_size_bytes) {
        return false;
    }
    fill_payload(at + header_bytes(), bytes - header_bytes(), first_word);
    return args.is_2d != 0
               ? fill(*reinterpret_cast<HybridMeshPacketHeader*>(at), packet, first_word)
               : fill(*reinterpret_cast<LowLatencyPacketHeader*>(at), packet, first_word);
}

}  // namespace

bool send_packet(const fabric_traffic_packet_t& packet) {
    if (!client_wait(client_flushed, stop)) {
        return false;
    }
    uint32_t bytes = header_bytes() + (has_payload(packet) ? packet.payload_size_bytes : 0);
    if (!put_together(packet, bytes)) {
        state.packets_refused = state.packets_refused + 1;
        return true;
    }
    compiler_barrier();
    fabric_client_state_t& client = state.clients[packet.connection];
    uint32_t payload = bytes - header_bytes(), at = args.staging_address;
    bool sent = (payload == 0 ||
                 client_write(client, header_bytes(), at + header_bytes(), payload, stop)) &&
                client_write(client, 0, at, header_bytes(), stop) && client_commit(client, stop);
    if (sent) {
        state.packets_sent = state.packets_sent + 1;
    }
    return sent;
}

}  // namespace fabric
