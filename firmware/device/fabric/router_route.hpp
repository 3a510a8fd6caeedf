// The actions of a packet at the router at which it arrives.
#pragma once
#include "router_moves.hpp"

namespace fabric_router {

inline fabric_node_t destination(const LowLatencyPacketHeader& header) {
    return {header.routing_fields >> 16, header.routing_fields & 0xFFFF};
}
inline fabric_node_t destination(const HybridMeshPacketHeader& header) {
    return {header.dst_start_mesh_id, header.dst_start_chip_id};
}

inline void set_destination(LowLatencyPacketHeader& header, fabric_node_t to) {
    header.routing_fields = to.device | to.mesh << 16;
}
inline void set_destination(HybridMeshPacketHeader& header, fabric_node_t to) {
    header.dst_start_chip_id = static_cast<uint16_t>(to.device);
    header.dst_start_mesh_id = static_cast<uint16_t>(to.mesh);
}

__attribute__((noinline)) inline uint32_t route_by_tables(fabric_node_t to) {
    uint32_t direction = fabric::next_direction(*routing_info, to.mesh, to.device);
    return direction == NO_DIRECTION && to.mesh == routing_info->my_mesh_id &&
                   to.device == routing_info->my_device_id
               ? uint32_t{ACTION_HERE}
           : direction < DIRECTIONS ? 1u << direction
                                    : 0;
}

// A packet from another mesh has no map of this mesh yet.
inline bool renew_route(LowLatencyPacketHeader&) { return true; }
inline bool renew_route(HybridMeshPacketHeader& header) {
    return fabric::route_to_node(*routing_info, header.dst_start_mesh_id, header.dst_start_chip_id,
                                 header.route_buffer);
}

inline uint32_t route_by_header(LowLatencyPacketHeader& header, uint32_t came_from) {
    uint32_t hop = header.routing_fields & ((1u << LOW_LATENCY_HOP_BITS) - 1);
    header.routing_fields >>= LOW_LATENCY_HOP_BITS;
    return ((hop & LOW_LATENCY_WRITE_ONLY) != 0 ? uint32_t{ACTION_HERE} : 0) |
           ((hop & LOW_LATENCY_FORWARD_ONLY) != 0 ? 1u << opposite(came_from) : 0);
}

inline uint32_t route_by_header(HybridMeshPacketHeader& header, uint32_t came_from) {
    constexpr uint32_t along_row = ACTION_EAST | ACTION_WEST,
                       along_column = ACTION_NORTH | ACTION_SOUTH;
    const routing_l1_info_t& info = *routing_info;
    bool turns = came_from >= NORTH;
    uint32_t actions = 0;
    if (!turns) {
        uint32_t column = header.route_buffer[info.mesh_rows + info.my_column];
        actions = column & along_row;
        turns = (column & ACTION_HERE) != 0;
    }
    if (turns) {
        actions |= header.route_buffer[info.my_row] & (along_column | ACTION_HERE);
    }
    // The exit node of a packet for another mesh.
    if ((actions & ACTION_HERE) != 0 && header.dst_start_mesh_id != info.my_mesh_id) {
        actions = (actions & ~uint32_t{ACTION_HERE}) | route_by_tables(destination(header));
    }
    return actions;
}

// Returns the hybrid_mesh_action_t to execute, 0 if there is no route.
inline uint32_t route(packet_header_t& header) {
    if ((header.tail.flags & FABRIC_TABLE_ROUTED) != 0) {
        return route_by_tables(destination(header));
    }
    if (args.inter_mesh == 0) {
        return route_by_header(header, args.my_direction);
    }
    // A new route begins here, as if the packet had arrived along the row.
    return renew_route(header)
               ? route_by_header(header, is_2d_fabric ? uint32_t{EAST} : args.my_direction)
               : 0;
}

}  // namespace fabric_router
