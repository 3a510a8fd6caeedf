// Words shared by routers, muxes, workers and the host. Names and values are those of tt-metal
// 0.81.1 (tt-metal.md 4, tt-metal.md 5, tt-metal.md 6).
#pragma once
#include "packet.hpp"

enum EDMStatus : uint32_t {
    NOT_STARTED = 0,
    STARTED = 0xA0B0C0D0,
    REMOTE_HANDSHAKE_COMPLETE = 0xA1B1C1D1,
    LOCAL_HANDSHAKE_COMPLETE = 0xA2B2C2D2,
    // The host writes it to the chip's master router, which forwards it.
    READY_FOR_TRAFFIC = 0xA3B3C3D3,
    TERMINATED = 0xA4B4C4D4,
    // Ours: the arguments, or the two ends of the link, do not match (fabric_refusal_t).
    REFUSED = 0xA5B5C5D5,
};
enum fabric_refusal_t : uint32_t {
    FITS = 0,
    BAD_ARGUMENTS = 1,
    OTHER_PROTOCOL = 2,   // the peer has another topology or another header
    OTHER_SLOTS = 3,      // the peer has other slot counts or sizes
    OTHER_NEIGHBOR = 4,   // the peer is not the fabric node that the arguments name
};

enum eth_chan_directions : uint8_t {
    EAST = 0,
    WEST = 1,
    NORTH = 2,
    SOUTH = 3,
    DIRECTIONS = 4,
    NO_DIRECTION = 5,
    NO_ENTRY = 6
};
enum Topology : uint32_t { NeighborExchange = 0, Linear = 1, Ring = 2, Mesh = 3, Torus = 4 };

// Written by a client to the router or mux before it opens the channel: where the client is.
struct EDMChannelWorkerLocationInfo {
    // Address in the client's L1 to which the read counter is written.
    volatile uint32_t worker_semaphore_address;
    uint32_t pad0[3];
    volatile uint32_t worker_teardown_semaphore_address;  // incremented when the channel is closed
    uint32_t pad1[3];
    volatile uint16_t worker_x, worker_y;
    uint32_t pad2[3];
    // Packets taken from the channel; the next client continues from here.
    volatile uint32_t edm_read_counter;
    uint32_t pad3[3];
};
static_assert(sizeof(EDMChannelWorkerLocationInfo) == 64);
enum connection_t : uint32_t {
    UNUSED_CONNECTION = 0,
    OPEN_CONNECTION = 1,
    CLOSE_CONNECTION_REQUEST = 2
};

// A channel's addresses for its client (tt-metal: fabric_connection_info_t). The host fills it in.
struct fabric_connection_info_t {
    uint32_t edm_buffer_base_addr;
    uint32_t edm_connection_handshake_addr;     // connection_t
    uint32_t edm_worker_location_info_addr;
    uint32_t buffer_index_addr;  // write counter of the last client, and its next slot
    uint16_t buffer_size_bytes;                 // of a slot: header and payload
    uint8_t edm_direction;
    uint8_t edm_noc_x, edm_noc_y;
    uint8_t num_buffers_per_channel;
    uint16_t worker_free_slots_stream_id;       // at the router or mux
    uint32_t edm_status_addr;                   // EDMStatus there
};
static_assert(sizeof(fabric_connection_info_t) == 28);
struct SenderChannelProducerCursor {
    volatile uint32_t write_counter;
    volatile uint32_t write_index;
    uint32_t pad[2];
};

// Tables of a chip: at 0x3F440 of every Ethernet tile, behind the kernel configuration of Tensix
// tiles (their arguments hold the address). Directions have three bits each, entry i in bits 3i and
// up.
constexpr uint32_t FABRIC_MAX_DEVICES = 256, FABRIC_MAX_MESHES = 1024;
struct intra_mesh_routing_table_t {  // L0: by device of this mesh
    uint8_t packed_directions[FABRIC_MAX_DEVICES * 3 / 8];
};
struct inter_mesh_routing_table_t {  // L1: by mesh, towards its exit node
    uint8_t packed_directions[FABRIC_MAX_MESHES * 3 / 8];
};
struct routing_l1_info_t {
    uint32_t state_manager[8];
    uint16_t my_mesh_id;
    uint16_t my_device_id;
    intra_mesh_routing_table_t intra_mesh;
    inter_mesh_routing_table_t inter_mesh;
    uint8_t paths[1160];  // tt-metal's; built-in kernels compute them from the coordinates
    // Device of this mesh by which that mesh is reached; 0xFF: none.
    uint8_t exit_node_table[FABRIC_MAX_MESHES];
    uint8_t my_row, my_column, mesh_rows, mesh_columns;
};
static_assert(offsetof(routing_l1_info_t, my_mesh_id) == 32 &&
              offsetof(routing_l1_info_t, intra_mesh) == 36);
static_assert(offsetof(routing_l1_info_t, inter_mesh) == 132 &&
              offsetof(routing_l1_info_t, exit_node_table) == 1676);
static_assert(sizeof(routing_l1_info_t) == 2704);

inline uint32_t packed_direction(const uint8_t* packed, uint32_t entry) {
    uint32_t bit = 3 * entry, byte = bit / 8;
    uint32_t two = packed[byte] | (bit % 8 > 5 ? packed[byte + 1] << 8 : 0);
    return two >> bit % 8 & 7;
}

// Fabric node status queue: one per router, in the DRAM of its chip. The router writes an entry,
// then write_count; only the control plane writes read_count. If the queue is full, an entry is
// lost and counted in the router's state.
enum fabric_event_t : uint32_t {
    EVENT_LINK_DOWN = 1,
    EVENT_LINK_UP = 2,
    EVENT_RATE = 3,             // packets and bytes over `elapsed` cycles
    EVENT_EXPIRED = 4,          // TTL
    EVENT_TIMED_OUT = 5,        // a packet's head made no progress
    EVENT_ROUTING_ERROR = 6,    // no such entry, no router in that direction, no such command
    EVENT_REROUTED = 7,         // by the router at detail[0] (x | y << 16)
    EVENT_NO_ROUTE_LEFT = 8,    // a link is down and no other one leads there
    EVENT_DROPPED = 9,          // because no route is left
};
struct fabric_status_entry_t {
    fabric_event_t event;
    uint32_t number;            // counted from 0
    uint64_t cycles;            // wall clock of this chip
    uint16_t mesh_id, device_id;
    uint8_t eth_channel, direction;
    uint16_t reserved;
    // Packets: source, destination (device | mesh << 16), number, ttl; rates: packets, bytes,
    // elapsed.
    uint32_t detail[4];
    uint32_t reserved_2[6];
};
static_assert(sizeof(fabric_status_entry_t) == 64);
struct fabric_status_queue_t {
    uint32_t magic;             // "FSQ "
    uint32_t entries;
    uint32_t write_count;
    uint32_t pad[5];
    uint32_t read_count;        // of the control plane
    uint32_t pad2[7];
    // entries follow
};
static_assert(sizeof(fabric_status_queue_t) == 64);

enum fabric_postcode_t : uint32_t {
    POSTCODE_INIT_STARTED = 0xB0C0D0E0,
    POSTCODE_TXQ_READY = 0xB1C1D1E1,
    POSTCODE_STREAMS_READY = 0xB2C2D2E2,
    POSTCODE_DOWNSTREAM_STARTED = 0xB3C3D3E3,
    POSTCODE_VCS_SET_UP = 0xB4C4D4E4,
    POSTCODE_WORKER_INTERFACES = 0xB6C6D6E6,
    POSTCODE_HANDSHAKE_DONE = 0xB7C7D7E7,
    POSTCODE_VCS_OPENED = 0xB8C8D8E8,
    POSTCODE_ROUTING_TABLE = 0xB9C9D9E9,
    POSTCODE_INIT_COMPLETE = 0xBACADAEA,
};
