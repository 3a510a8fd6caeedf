// Routes that the sender of a packet writes into its header, from the tables of its chip. Devices
// of a mesh are numbered row by row: device = row * columns + column; EAST is the next column,
// SOUTH the next row. On a torus, columns and rows close to rings; the table of directions holds
// the shorter direction, so that sender and host always agree.
#pragma once
#include "fabric.hpp"

namespace fabric {

constexpr uint32_t NO_EXIT_NODE = 0xFF;

// Returns the device of this mesh to which a packet travels: its destination, or the exit node
// towards its mesh; NO_EXIT_NODE if there is none.
inline uint32_t device_towards(const routing_l1_info_t& info, uint32_t mesh, uint32_t device) {
    return mesh == info.my_mesh_id    ? device
           : mesh < FABRIC_MAX_MESHES ? info.exit_node_table[mesh]
                                      : NO_EXIT_NODE;
}

// Returns the direction in which a packet leaves this chip (eth_chan_directions), NO_DIRECTION if
// this chip is its destination.
inline uint32_t next_direction(const routing_l1_info_t& info, uint32_t mesh, uint32_t device) {
    if (mesh == info.my_mesh_id && device == info.my_device_id) {
        return NO_DIRECTION;
    }
    if (mesh == info.my_mesh_id && device < FABRIC_MAX_DEVICES) {
        return packed_direction(info.intra_mesh.packed_directions, device);
    }
    if (mesh != info.my_mesh_id && mesh < FABRIC_MAX_MESHES) {
        return packed_direction(info.inter_mesh.packed_directions, mesh);
    }
    return NO_ENTRY;
}

// 1D: written to the chips from `first` to `last` hops away; one chip if both are equal.
constexpr uint32_t low_latency_route(uint32_t first, uint32_t last) {
    uint32_t route = 0;
    for (uint32_t hop = 1; hop <= last; ++hop) {
        uint32_t action = hop == last    ? LOW_LATENCY_WRITE_ONLY
                          : hop >= first ? LOW_LATENCY_WRITE_AND_FORWARD
                                         : LOW_LATENCY_FORWARD_ONLY;
        route |= action << LOW_LATENCY_HOP_BITS * (hop - 1);
    }
    return route;
}
static_assert(low_latency_route(3, 3) == 0b01'10'10 && low_latency_route(2, 3) == 0b01'11'10);

constexpr uint8_t action_towards(uint32_t direction) {
    return static_cast<uint8_t>(1u << direction);
}
static_assert(action_towards(EAST) == ACTION_EAST && action_towards(SOUTH) == ACTION_SOUTH);

// Returns the next coordinate of `count` in a direction, with wrap-around as on a ring.
inline uint32_t step_towards(uint32_t at, uint32_t count, uint32_t direction) {
    if (direction == EAST || direction == SOUTH) {
        return at + 1 == count ? 0 : at + 1;
    }
    return at == 0 ? count - 1 : at - 1;
}

inline bool has_coordinates(const routing_l1_info_t& info) {
    return info.mesh_rows != 0 && info.mesh_columns != 0 &&
           info.mesh_rows + info.mesh_columns <= HYBRID_MESH_MAX_ROUTE_BUFFER_SIZE &&
           info.my_row < info.mesh_rows && info.my_column < info.mesh_columns;
}

inline void clear_route(uint8_t* route) {
    for (uint32_t i = 0; i < HYBRID_MESH_MAX_ROUTE_BUFFER_SIZE; ++i) {
        route[i] = 0;
    }
}

// Writes the actions from one coordinate to another of the same axis into that axis's part of the
// map. Returns false if the table has no such route.
inline bool route_axis(uint8_t* actions, uint32_t from, uint32_t to, uint32_t count,
                       uint32_t direction, uint32_t ahead) {
    if (from != to && direction != ahead && direction != ahead + 1) {
        return false;
    }
    for (uint32_t at = from; at != to; at = step_towards(at, count, direction)) {
        actions[at] = action_towards(direction);
    }
    actions[to] = ACTION_HERE;
    return true;
}

// 2D: writes the map of a packet to one device of this mesh. Returns false if there is no such
// device, or no route to it.
inline bool route_to_device(const routing_l1_info_t& info, uint32_t device, uint8_t* route) {
    clear_route(route);
    if (!has_coordinates(info) || device >= uint32_t{info.mesh_rows} * info.mesh_columns) {
        return false;
    }
    uint32_t rows = info.mesh_rows, columns = info.mesh_columns, row = device / columns,
             column = device % columns;
    const uint8_t* table = info.intra_mesh.packed_directions;
    uint32_t along_row = packed_direction(table, info.my_row * columns + column);
    uint32_t along_column = packed_direction(table, row * columns + info.my_column);
    return route_axis(route + rows, info.my_column, column, columns, along_row, EAST) &&
           route_axis(route, info.my_row, row, rows, along_column, NORTH);
}

// 2D: writes the map to a fabric node; for one in another mesh, to the exit node towards it.
inline bool route_to_node(const routing_l1_info_t& info, uint32_t mesh, uint32_t device,
                          uint8_t* route) {
    uint32_t target = device_towards(info, mesh, device);
    return (mesh == info.my_mesh_id || target != NO_EXIT_NODE) &&
           route_to_device(info, target, route);
}

// 2D: writes the map to all chips of the rectangle that extends by `hops` to the east, west, north
// and south of this chip, except this one. The same map serves the packets that start in each of
// these directions; each chip is reached by exactly one of them.
inline bool route_multicast(const routing_l1_info_t& info, const uint16_t* hops, uint8_t* route) {
    clear_route(route);
    uint32_t rows = info.mesh_rows, columns = info.mesh_columns;
    if (!has_coordinates(info) || uint32_t{hops[EAST]} + hops[WEST] >= columns ||
        uint32_t{hops[NORTH]} + hops[SOUTH] >= rows) {
        return false;
    }
    route[info.my_row] = route[rows + info.my_column] = ACTION_HERE;
    for (uint32_t direction = EAST; direction < DIRECTIONS; ++direction) {
        bool is_x = direction <= WEST;
        uint32_t at = is_x ? info.my_column : info.my_row, count = is_x ? columns : rows;
        uint8_t* actions = is_x ? route + rows : route;
        for (uint32_t hop = 0; hop < hops[direction]; ++hop) {
            actions[at] |= action_towards(direction);
            at = step_towards(at, count, direction);
            actions[at] |= ACTION_HERE;
        }
    }
    return true;
}

}  // namespace fabric
