// Fabric traffic: a Tensix kernel (BRISC) that sends a list of packets over its connections and
// checks the arrivals. A packet's payload follows from its sender and its number, so that the
// receiver knows every word. The host lists the packets to send and, for the receiver, the arrivals
// of each sender in order.
#pragma once
#include "adapter.hpp"
#include "common/kernel.hpp"

constexpr uint32_t TRAFFIC_MAX_CONNECTIONS = 4;

enum fabric_traffic_flags_t : uint8_t {
    // FABRIC_TABLE_ROUTED and FABRIC_CONTROL as in the header, and:
    TRAFFIC_MULTICAST = 1 << 7,      // 2D: to the rectangle of `hops`
};

// A packet to send. Fused: payload to `address`, then `value` is added to the word at
// `counter_address`; atomic: the addition alone; inline: the payload's first word. Scatter: `value`
// chunks, the i-th at address + i * (chunk bytes + TRAFFIC_SCATTER_GAP).
struct fabric_traffic_packet_t {
    uint8_t connection;              // index into the arguments' connections
    uint8_t send_type;               // NocSendType
    uint8_t flags;                   // fabric_packet_flags_t | fabric_traffic_flags_t
    uint8_t ttl;
    uint16_t dst_mesh_id, dst_device_id;
    uint16_t payload_size_bytes;     // a multiple of 16
    uint8_t dst_x, dst_y;            // NOC 0 coordinate
    uint32_t address;
    uint32_t counter_address;        // the first word of a 16-byte unit
    uint32_t value;
    uint32_t number;                 // of this sender's packets, as the receiver knows it
    // 1D: first and last chip it is written to; multicast in 2D: to the east, west, north, south.
    uint8_t hops[4];
};
static_assert(sizeof(fabric_traffic_packet_t) == 32);
constexpr uint32_t TRAFFIC_SCATTER_GAP = 32;

// A range of memory written by a packet of a source. Checked once the source's counter includes it
// and the arrivals before it in the list.
struct fabric_traffic_arrival_t {
    uint32_t address;
    uint16_t bytes;
    // Its packet's increment of the source's counter; 0: checked with the next one that has an
    // increment.
    uint16_t counts;
    uint32_t number;                 // of the packet
    uint32_t first_word;             // of the packet's words
};
static_assert(sizeof(fabric_traffic_arrival_t) == 16);

// A sender to this kernel. In L1, one after the other.
struct fabric_traffic_source_t {
    volatile uint32_t counter;       // incremented by its packets
    uint32_t pad[3];
    uint32_t source;                 // its args.source
    uint32_t first_arrival;          // index into the arrivals
    uint32_t arrivals;
    volatile uint32_t checked;       // arrivals checked
    volatile uint32_t counted;       // of `counter`
    volatile uint32_t wrong_words;
    volatile uint32_t doubled;       // counted beyond the expected arrivals
    volatile uint32_t missing;       // arrivals missing at the end
};
static_assert(sizeof(fabric_traffic_source_t) == 48);

// A connection to a router or mux. For a mux, `termination` names the client's part in ending it:
// the termination master waits for its other clients.
enum fabric_traffic_termination_t : uint32_t {
    ENDS_NOTHING = 0,
    TELLS_MASTER = 1,
    TERMINATION_MASTER = 2
};
struct fabric_traffic_connection_t {
    fabric_connection_info_t client;
    fabric_traffic_termination_t termination;
    uint32_t mux_clients;            // clients of the mux, including this one
    uint32_t master_xy;              // x | y << 16
    uint32_t master_address;  // address of its fabric_traffic_words_t::done of that connection
    uint32_t termination_address;    // of the mux's termination_signal
};

struct fabric_traffic_args_t {
    uint32_t run_id;                 // part of the pattern: data left by another run are wrong
    uint32_t source;                 // number of this sender in the pattern
    uint32_t is_2d;                  // HybridMeshPacketHeader, else LowLatencyPacketHeader
    uint32_t own_xy;                 // NOC 0 coordinate, x | y << 16
    uint32_t device_id, mesh_id;
    uint32_t words_address;          // fabric_traffic_words_t
    uint32_t routing_info_address;   // 2D: routing_l1_info_t of this chip, in this L1
    uint32_t staging_address;        // room for a header and the largest payload, 16-aligned
    uint32_t packets_address, packets;
    uint32_t sources_address, sources;
    uint32_t arrivals_address;
    uint32_t interval_cycles;        // pause between two packets
    uint32_t never_closes;           // 1: leaves its connections open, as a client that dies
    // 0: run; n: park before the n-th stage (1 open, 2 traffic, 3 close, then for each connection
    // the wait for the answer, then termination, and for each mux that it ends its signal).
    uint32_t pause_at_stage;
    uint32_t connections;
    fabric_traffic_connection_t connection[TRAFFIC_MAX_CONNECTIONS];
};

// Words that others write, in 16-byte units.
struct fabric_traffic_words_t {
    fabric_client_words_t clients[TRAFFIC_MAX_CONNECTIONS];
    struct {
        volatile uint32_t value;
        uint32_t pad[3];
    } done[TRAFFIC_MAX_CONNECTIONS]; // termination master: clients that have closed
    volatile uint32_t nacks;         // of packets that this kernel sent
    uint32_t pad[3];
};

enum fabric_traffic_phase_t : uint32_t {
    TRAFFIC_NOT_STARTED = 0,
    TRAFFIC_OPENING = 1,
    TRAFFIC_RUNNING = 2,
    TRAFFIC_CLOSING = 3,
    TRAFFIC_FINISHED = 4,
    TRAFFIC_STOPPED = 5,
    TRAFFIC_REFUSED = 6,
    TRAFFIC_TERMINATING = 7,         // reports to the termination master, or is the master
    TRAFFIC_RECEIVING = 8,           // everything is sent; waits for the remaining arrivals
};

// The global `fabric_traffic_state` is of this type.
struct fabric_traffic_state_t {
    uint32_t magic;                  // "FTRF"
    kernel_control_t control;
    fabric_traffic_args_t args;
    volatile fabric_traffic_phase_t phase;
    volatile uint32_t packets_sent;
    volatile uint32_t packets_refused;   // no route, no connection, too large
    volatile uint32_t arrived;           // arrivals checked
    volatile uint32_t wrong_words;
    volatile uint32_t doubled;
    volatile uint32_t missing;
    volatile uint32_t first_wrong_source, first_wrong_number, first_wrong_address;
    volatile uint32_t last_progress;
    volatile uint64_t started_cycles;
    volatile uint64_t sent_cycles;       // wall clock: everything was handed over
    volatile uint64_t closing_cycles;    // wall clock: the first close was requested
    volatile uint64_t closed_cycles;     // wall clock: the last close was answered
    volatile uint32_t longest_slot_wait_cycles;
    volatile uint64_t finished_cycles;
    fabric_client_state_t clients[TRAFFIC_MAX_CONNECTIONS];
};

// Word i of a packet: traffic_first_word(...) + i * TRAFFIC_WORD_STEP.
constexpr uint32_t traffic_first_word(uint32_t run_id, uint32_t source, uint32_t number) {
    uint32_t x = run_id * 0x9E3779B9u ^ (source + 1) * 0x85EBCA6Bu ^ number * 0xC2B2AE35u;
    x ^= x >> 15;
    x *= 0x2C1B3C6Du;
    return x ^ x >> 13;
}
constexpr uint32_t TRAFFIC_WORD_STEP = 0x01000193u;
