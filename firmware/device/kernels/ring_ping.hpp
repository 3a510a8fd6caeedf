// Ring ping: the words that the host writes and reads. One payload travels round a ring of ERISCs,
// over links and, between two Ethernet tiles of one chip, over the NoC. Each link has a sender and
// a receiver; a receiver hands the payload to its sibling, the sender on the same chip. One sender
// is the master: it generates each lap's payload, checks what returns and times the lap.
//
//   n300: chip 0 e8 (sender, master, sibling e9) -> chip 1 e0 (receiver, sibling e1)
//         -> chip 1 e1 (sender, sibling e0) -> chip 0 e9 (receiver, sibling e8) -> ...
#pragma once
#include "common/erisc.hpp"
#include "common/eth_sync.hpp"
#include "common/kernel.hpp"

enum ring_ping_role_t : uint32_t { RING_PING_SENDER = 0, RING_PING_RECEIVER = 1 };

// Runtime arguments, at kernel_config_base[ACTIVE_ETH] + rta_offset[0].
struct ring_ping_args_t {
    uint32_t run_id;  // +0   same on every core of the run, nonzero, different for each launch
    ring_ping_role_t role;    // +4
    uint32_t master;          // +8   1 on exactly one sender
    // +12  0: until termination_signal of the master is set; only the master reads it.
    uint32_t laps;
    uint32_t payload_bytes;   // +16  multiple of 16, 16 to 65520
    uint32_t dwell_cycles;    // +20  delay at each hop; base firmware is served meanwhile
    uint32_t sibling_x;       // +24  NoC 0 coordinate of the sibling Ethernet tile on this chip
    uint32_t sibling_y;       // +28
    uint32_t ring_position;   // +32  0 is the master
    uint32_t ring_length;     // +36  cores in the ring
    // +40  0: run; n: park before the n-th stage, 1 is the offer (see kernel_control_t).
    uint32_t pause_at_stage;
    uint32_t yield_interval;  // +44  polls between two yields in a wait; 0 counts as 1
};
static_assert(sizeof(ring_ping_args_t) == 48);

enum ring_ping_phase_t : uint32_t {
    RING_PING_NOT_STARTED = 0,
    RING_PING_HANDSHAKE = 1,
    RING_PING_RUNNING = 2,
    RING_PING_TEARDOWN = 3,
    RING_PING_FINISHED = 4,  // every credit has been returned
    RING_PING_STOPPED = 5,   // stopped at once on request; credits may be outstanding
    RING_PING_REFUSED = 6,   // invalid arguments, or the ends of a link disagree about them
};

// Progress of this core, in L1 and updated on events only. Global `ring_ping_state`.
struct ring_ping_state_t {
    uint32_t magic;                       // "PING"
    kernel_control_t control;
    volatile ring_ping_phase_t phase;
    ring_ping_args_t args;                // as read at start
    volatile uint32_t laps;               // payloads that passed this core completely
    volatile uint32_t sent;               // sends over the link
    volatile uint32_t received;           // payloads received, over the link or by hand-over
    volatile uint32_t acks;               // first-level acknowledges, sent or received
    volatile uint32_t completions;        // second-level completions, sent or received
    volatile uint32_t mismatched_words;   // payload words that do not match the lap number
    volatile uint32_t first_bad_lap;      // valid while mismatched_words is not 0
    volatile uint32_t last_lap_cycles;    // the four below: master only, wall-clock cycles per lap
    volatile uint32_t min_lap_cycles;
    volatile uint32_t max_lap_cycles;
    volatile uint64_t sum_lap_cycles;
    volatile uint32_t last_progress;      // low half of the wall clock at this core's last progress
};

// Words that neighbours write, at the start of unreserved L1. Each is a 16-byte unit of its own: a
// send over the link takes whole units, so words of different writers must not share one.
struct ring_ping_words_t {
    // The sibling writes its run_id when its words below are ready.
    alignas(16) volatile uint32_t hello;
    // On the sender, by the sibling receiver: hand-overs made; bit 31: the last lap.
    alignas(16) volatile uint32_t filled;
    // On the receiver, by the sibling sender: hand-overs taken.
    alignas(16) volatile uint32_t freed;
    alignas(16) eth_channel_sync_t handshake;  // source of the handshake
    alignas(16) eth_channel_sync_t ack;        // source of the first-level acknowledge
    alignas(16) eth_channel_sync_t completion; // source of the second-level completion
};
static_assert(sizeof(ring_ping_words_t) == 96);

constexpr uint32_t RING_PING_LAST = 1u << 31;
constexpr uint32_t RING_PING_HANDSHAKE_CHANNEL = 0;
constexpr uint32_t RING_PING_CHANNEL = 1;
constexpr uint32_t RING_PING_MAX_PAYLOAD = 65520;
constexpr uint32_t RING_PING_SEND_BUFFER = ERISC_UNRESERVED + 0x100;
constexpr uint32_t RING_PING_RECEIVE_BUFFER = RING_PING_SEND_BUFFER + 0x10000;

// Word `index` of the payload of one lap.
constexpr uint32_t ring_ping_pattern(uint32_t lap, uint32_t index) {
    return lap * 0x9E3779B9u + index * 0x01000193u;
}
