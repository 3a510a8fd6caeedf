// The worker of the collectives: a Tensix kernel (BRISC) that executes a list of commands. Each
// command moves pages between the chip's tensors and its two channels; the host compiles every
// collective into such lists. A channel belongs to an EDM of the chip or leads over the fabric to a
// worker of another chip. Over the fabric the buffers are in the receiving worker's L1: packets
// write a message there, the last one increments the receiver's semaphore, and a packet without
// payload returns a buffer.
//
// Every command of a list moves `pages` pages; the last page has `last_page_bytes` bytes. The list
// is executed once per slice of `slice_pages` pages. The tensor slicer chooses slices small enough
// for the pipeline, so that a slice's partial results never wait for room. Packets have up to
// `packet_pages` pages.
#pragma once
#include "common/kernel.hpp"
#include "fabric/adapter.hpp"

enum ccl_data_type_t : uint32_t { CCL_INT32 = 0, CCL_FLOAT32 = 1, CCL_BFLOAT16 = 2 };

enum ccl_flags_t : uint32_t {
    CCL_FROM_TENSOR = 1 << 0,   // with CCL_FROM_CHANNEL: their sum
    CCL_FROM_CHANNEL = 1 << 1,  // the next packet of the inbound EDM channel
    CCL_TO_TENSOR = 1 << 2,
    CCL_TO_CHANNEL = 1 << 3,    // the outbound EDM channel
    CCL_WAIT = 1 << 4,          // before each packet: wait for the partner's next signal
    CCL_SIGNAL = 1 << 5,        // after each packet is in its tensor: signal the partner
    CCL_FILL = 1 << 6,          // alone: write ccl_pattern to the destination
    CCL_DIGEST = 1 << 7,        // alone: digest of the source into digests[index of the command]
    // Socket: with CCL_TO_CHANNEL, wait for room in the far fifo; with CCL_FROM_CHANNEL, report the
    // bytes taken.
    CCL_CREDIT = 1 << 8,
};

// Pages are in shards of `pages_per_shard` pages, shard s in bank s mod banks (interleaved: one
// page per shard).
struct ccl_tensor_t {
    uint32_t first_bank;      // index into the banks
    uint32_t banks;
    uint32_t pages_per_shard;
    uint32_t page_bytes;      // a multiple of 32
    uint32_t offset;          // from the start of each bank to the tensor's first byte
};

struct ccl_bank_t {
    uint32_t xy;              // x | y << 16
    uint32_t address;         // of its first byte in that tile
};

struct ccl_command_t {
    uint16_t flags;
    uint8_t source;           // index of a tensor
    uint8_t destination;
    uint32_t source_page;
    uint32_t destination_page;
    uint32_t rank;            // CCL_FILL: the rank of the pattern
    uint32_t first_element;   // CCL_FILL: number of the page's first element in that rank's data
    uint32_t reserved[3];
};
static_assert(sizeof(ccl_command_t) == 32);

// One side of a channel. `edm` members: the tile that has the buffers; over the fabric, the
// receiving worker's tile.
struct ccl_channel_t {
    uint32_t used;
    uint32_t edm_xy;              // x | y << 16
    uint32_t buffers_address;     // of the channel's first buffer in that tile
    uint32_t buffers;
    uint32_t buffer_bytes;
    // In the Ethernet tile; over the fabric, of the other worker, which waits for it.
    uint32_t edm_semaphore_address;
    uint32_t semaphore;           // number of this core's semaphore
    uint32_t worker_initiated;    // signal the last message to the EDM
    uint32_t sharing_mode;        // EriscDataMoverBufferSharingMode of the EDM
    // Number that share the channel; ROUND_ROBIN: packet k of worker w is message k * workers + w.
    uint32_t workers;
    uint32_t worker;  // SHARED: worker w's packet is part w of the equal parts of a message
    uint32_t over_fabric;         // 1: the following members are valid
    uint32_t connection;          // index: the connection for packets to the other worker
    uint32_t peer_xy;             // that worker's tile, x | y << 16
    uint32_t peer_mesh_id, peer_device_id;
    uint32_t peer_hops;           // 1D
};

// A connection to a router or mux. For a mux, `termination` names the client's part in ending it:
// the termination master waits for its other clients.
enum ccl_termination_t : uint32_t {
    CCL_ENDS_NOTHING = 0,
    CCL_TELLS_MASTER = 1,
    CCL_TERMINATION_MASTER = 2
};
struct ccl_connection_t {
    fabric_connection_info_t client;
    ccl_termination_t termination;
    uint32_t mux_clients;         // clients of the mux, including this one
    uint32_t master_xy;           // x | y << 16
    // Address of its semaphore CCL_SEMAPHORE_CLOSED plus the number of its connection.
    uint32_t master_address;
    uint32_t termination_address; // of the mux's termination_signal
};
constexpr uint32_t CCL_MAX_CONNECTIONS = 2;

constexpr uint32_t CCL_MAX_TENSORS = 4;
// Semaphores at sem_offset + 16 * number. CLOSED: one per connection, counts the mux's clients that
// have closed. NACKS: counts dropped packets.
constexpr uint32_t CCL_SEMAPHORE_INBOUND = 0, CCL_SEMAPHORE_OUTBOUND = 1, CCL_SEMAPHORE_SIGNAL = 2;
constexpr uint32_t CCL_SEMAPHORE_CLOSED = 3,
                   CCL_SEMAPHORE_NACKS = CCL_SEMAPHORE_CLOSED + CCL_MAX_CONNECTIONS;

// Runtime arguments, at kernel_config_base[TENSIX] + rta_offset[0].
struct ccl_worker_args_t {
    uint32_t run_id;
    ccl_data_type_t data_type;
    uint32_t commands_address;    // ccl_command_t, in this tile's L1
    uint32_t commands;
    uint32_t banks_address;       // ccl_bank_t, in this tile's L1
    uint32_t digests_address;     // one word per command
    // 32-aligned; room for four packets of packet_pages pages and 64 bytes each.
    uint32_t staging_address;
    uint32_t pages;
    uint32_t last_page_bytes;     // a multiple of 32
    uint32_t slice_pages;
    uint32_t packet_pages;
    uint32_t elements;  // CCL_FILL: real elements of a rank's data; the rest is filled with zeros
    uint32_t seed;
    uint32_t fifo_bytes;          // CCL_CREDIT: size of the socket's far fifo
    uint32_t partner_xy;          // CCL_SIGNAL: x | y << 16
    uint32_t pause_at_stage;      // 0: run; n: park before the n-th packet
    // Delay of each message in its buffer after it was read, so that its progress is visible.
    uint32_t dwell_cycles;
    ccl_tensor_t tensors[CCL_MAX_TENSORS];
    ccl_channel_t inbound;
    ccl_channel_t outbound;
    uint32_t is_2d;               // fabric: HybridMeshPacketHeader, else LowLatencyPacketHeader
    uint32_t mesh_id, device_id;  // of this chip
    uint32_t routing_info_address;    // 2D: routing_l1_info_t of this chip, in this L1
    uint32_t connections;
    ccl_connection_t connection[CCL_MAX_CONNECTIONS];
};

enum ccl_phase_t : uint32_t {
    CCL_NOT_STARTED = 0,
    CCL_RUNNING = 1,
    CCL_FINISHED = 4,
    CCL_STOPPED = 5,
    CCL_REFUSED = 6
};

// A socket's counters, named as in tt-metal's mesh sockets. For each packet that the receiver has
// in its tensor, a message of CCL_CREDIT_BYTES is sent back. Its first word is the receiver's
// bytes_acked; the sender takes it from its inbound channel.
struct ccl_socket_t {
    volatile uint32_t bytes_sent;   // receiver: bytes that arrived
    volatile uint32_t bytes_acked;
};
constexpr uint32_t CCL_CREDIT_BYTES = 32;

// The global `ccl_worker_state` is of this type.
struct ccl_worker_state_t {
    uint32_t magic;  // "CCLW"
    kernel_control_t control;
    ccl_worker_args_t args;
    volatile ccl_phase_t phase;
    volatile uint32_t command;           // in progress
    volatile uint32_t slice;
    volatile uint32_t packets_in;        // from the inbound channel
    volatile uint32_t packets_out;       // to the outbound channel
    volatile uint32_t signals_sent;
    volatile uint32_t signals_taken;
    volatile uint32_t last_progress;     // low half of the wall clock
    ccl_socket_t socket;
    volatile uint64_t started_cycles;    // wall clock of this chip: kernel entered
    volatile uint64_t ready_cycles;  // the first credit arrived: both ends of the channel are up
    volatile uint64_t finished_cycles;
    volatile uint64_t acknowledged_cycles;   // fabric: the other worker has taken everything
    volatile uint32_t fabric_packets;        // handed to routers and muxes
    fabric_client_state_t clients[CCL_MAX_CONNECTIONS];
};

// The data of a rank before a collective: word `index` (two elements of bfloat16). Floats are
// finite and normal.
constexpr uint32_t ccl_mix(uint32_t seed, uint32_t rank, uint32_t index) {
    uint32_t x = seed * 0x9E3779B9u ^ (rank + 1) * 0x85EBCA6Bu ^ index * 0xC2B2AE35u;
    x ^= x >> 15;
    x *= 0x2C1B3C6Du;
    return x ^ x >> 13;
}
constexpr uint32_t ccl_pattern(ccl_data_type_t type, uint32_t seed, uint32_t rank, uint32_t index) {
    uint32_t x = ccl_mix(seed, rank, index);
    switch (type) {
        case CCL_FLOAT32: return (x & 0x807FFFFFu) | (120 + (x >> 8 & 15)) << 23;
        case CCL_BFLOAT16:
            return (x & 0x807F807Fu) | (120 + (x >> 8 & 7)) << 7 | (120 + (x >> 11 & 7)) << 23;
        default: return x;
    }
}
constexpr uint32_t CCL_DIGEST_SEED = 0x811C9DC5u;
constexpr uint32_t ccl_digest(uint32_t digest, uint32_t word) {
    return (digest ^ word) * 0x01000193u;
}
