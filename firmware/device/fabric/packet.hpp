// Packets of the fabric: a header and, behind it, the payload, in a slot of a channel. Names and
// offsets are those of tt-metal 0.81.1 (tt-metal.md 4.7). The last 16 bytes of both headers are
// ours: time to live, the sender, and the address for its negative acknowledges.
#pragma once
#include <stddef.h>
#include <stdint.h>

enum NocSendType : uint8_t {
    NOC_UNICAST_WRITE = 0,
    NOC_UNICAST_INLINE_WRITE = 1,
    NOC_UNICAST_ATOMIC_INC = 2,
    NOC_FUSED_UNICAST_ATOMIC_INC = 3,  // the write, then the increment, in one packet
    NOC_UNICAST_SCATTER_WRITE = 4,     // up to four stretches of the payload to as many addresses
};

// x << 36 | y << 42 | address in that tile, as tt-metal's NOC_XY_ADDR.
typedef uint64_t noc_address_t;

struct NocUnicastCommandHeader {
    noc_address_t noc_address;
};
struct NocUnicastInlineWriteCommandHeader {
    noc_address_t noc_address;
    uint32_t value;
};
struct NocUnicastAtomicIncCommandHeader {
    noc_address_t noc_address;
    uint32_t val;
    uint8_t flush;
};
struct NocUnicastAtomicIncFusedCommandHeader {
    noc_address_t noc_address;
    noc_address_t semaphore_noc_address;
    uint32_t val;
    uint8_t flush;
};
constexpr uint32_t NOC_SCATTER_WRITE_MAX_CHUNKS = 4;
struct NocUnicastScatterCommandHeader {
    noc_address_t noc_address[NOC_SCATTER_WRITE_MAX_CHUNKS];
    uint16_t chunk_size[NOC_SCATTER_WRITE_MAX_CHUNKS - 1];  // the last one has the rest
    uint8_t chunk_count;
    uint8_t reserved;
};

union NocCommandFields {
    NocUnicastCommandHeader unicast_write;
    NocUnicastInlineWriteCommandHeader unicast_inline_write;
    NocUnicastAtomicIncCommandHeader unicast_seminc;
    NocUnicastAtomicIncFusedCommandHeader unicast_seminc_fused;
    NocUnicastScatterCommandHeader unicast_scatter_write;
};
static_assert(sizeof(NocCommandFields) == 40);

enum fabric_packet_flags_t : uint8_t {
    // Every hop looks up the next one in its chip's tables; else the header has the route.
    FABRIC_TABLE_ROUTED = 1 << 0,
    FABRIC_CONTROL = 1 << 1,       // travels in the control channel
};

// Ours.
struct fabric_tail_t {
    // Set by the sender, decremented by every router that receives the packet; at 0 the packet is
    // dropped.
    uint8_t ttl;
    uint8_t flags;             // fabric_packet_flags_t
    uint16_t src_device_id;
    uint16_t src_mesh_id;
    uint8_t src_x, src_y;      // NOC 0 coordinate of the sender's tile
    // In that tile's L1: incremented for each of its packets that was dropped; 0: no negative
    // acknowledge.
    uint32_t nack_address;
    uint32_t number;           // of the packet, counted by its sender
};
static_assert(sizeof(fabric_tail_t) == 16);

// 1D: two bits per hop, those of this hop lowest. Every router that receives the packet reads them,
// then shifts them out.
enum low_latency_hop_t : uint32_t {
    LOW_LATENCY_NOOP = 0,
    LOW_LATENCY_WRITE_ONLY = 1,
    LOW_LATENCY_FORWARD_ONLY = 2,
    LOW_LATENCY_WRITE_AND_FORWARD = 3
};
constexpr uint32_t LOW_LATENCY_HOP_BITS = 2, LOW_LATENCY_MAX_HOPS = 16;

struct LowLatencyPacketHeader {
    NocCommandFields command_fields;
    uint16_t payload_size_bytes;
    uint8_t noc_send_type;     // NocSendType
    uint8_t src_ch_id;         // sender channel by which it left the last router
    // low_latency_hop_t of each hop; FABRIC_TABLE_ROUTED: device | mesh << 16.
    uint32_t routing_fields;
    fabric_tail_t tail;
};
static_assert(sizeof(LowLatencyPacketHeader) == 64 &&
              offsetof(LowLatencyPacketHeader, routing_fields) == 44);

// 2D: a map by coordinate. Entry r (below the mesh's rows) holds the action in row r of the column
// in which the packet turned, entry rows + c the action in column c of the row in which it started:
// X first, then Y. A router that received the packet from east or west reads its column's entry,
// and its row's entry if that contains HERE; one that received it from north or south reads its
// row's entry only. HERE in a row's entry: deliver to this chip.
enum hybrid_mesh_action_t : uint8_t {
    ACTION_EAST = 1,
    ACTION_WEST = 2,
    ACTION_NORTH = 4,
    ACTION_SOUTH = 8,
    ACTION_HERE = 0x20
};
constexpr uint32_t HYBRID_MESH_MAX_ROUTE_BUFFER_SIZE = 36;  // rows + columns of a mesh

struct HybridMeshPacketHeader {
    NocCommandFields command_fields;
    uint16_t payload_size_bytes;
    uint8_t noc_send_type;
    uint8_t src_ch_id;
    uint32_t routing_fields;
    uint8_t route_buffer[HYBRID_MESH_MAX_ROUTE_BUFFER_SIZE];
    uint16_t dst_start_chip_id;    // device in that mesh
    uint16_t dst_start_mesh_id;
    // Hops to the east, west, north and south of a multicast; used by its sender only.
    uint16_t mcast_params_64[4];
    fabric_tail_t tail;
};
static_assert(sizeof(HybridMeshPacketHeader) == 112 &&
              offsetof(HybridMeshPacketHeader, route_buffer) == 48);
static_assert(offsetof(HybridMeshPacketHeader, dst_start_chip_id) == 84 &&
              offsetof(HybridMeshPacketHeader, tail) == 96);
