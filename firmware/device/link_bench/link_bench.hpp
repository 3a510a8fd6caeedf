// Microbenchmarks of links, as the vendor measured them (Basic Ethernet guide): round trip over one
// link, round a ring, and both directions at once with several channels. Loops are as short as
// possible, and messages are checked off the measured path.
#pragma once
#include "common/eth_sync.hpp"
#include "common/kernel.hpp"

enum link_bench_mode_t : uint32_t {
    LINK_BENCH_PING = 0,    // the first end sends, the other answers with 16 bytes; `rounds` times
    // A message travels round a ring of links `rounds` times; ends alternate sender, receiver.
    LINK_BENCH_RING = 1,
    LINK_BENCH_STREAM = 2,  // both ends send `rounds` messages on each of `channels` channels
};

// Runtime arguments, at kernel_config_base[ACTIVE_ETH] + rta_offset[0].
struct link_bench_args_t {
    uint32_t run_id;  // the same on every core of the run, nonzero, different for each launch
    link_bench_mode_t mode;
    uint32_t first;  // begins the handshake: exactly one end of each link; RING: the sending end
    uint32_t rounds;          // at least 1
    uint32_t payload_bytes;   // a multiple of 16, from 16
    uint32_t channels;        // STREAM: 1 to 30
    uint32_t separate_sync;   // 1: payload and sync word in two sends
    uint32_t master;          // RING: 1 on exactly one sending end
    // RING: NoC 0 coordinate of the other Ethernet tile of the ring on this chip.
    uint32_t sibling_x;
    uint32_t sibling_y;
    uint32_t yield_interval;  // passes without effect between two yields to base firmware; 0: 1024
    // 0: run; n: park before the n-th stage (1 handshake, 2 measurement, 3 final check).
    uint32_t pause_at_stage;
};

enum link_bench_phase_t : uint32_t {
    LINK_BENCH_NOT_STARTED = 0,
    LINK_BENCH_HANDSHAKE = 1,
    LINK_BENCH_RUNNING = 2,
    LINK_BENCH_FINISHED = 4,
    LINK_BENCH_STOPPED = 5,
    LINK_BENCH_REFUSED = 6,
};

// The global `link_bench_state` is of this type. Cycles of a round are measured by the first end
// (PING) or by the master (RING).
struct link_bench_state_t {
    uint32_t magic;  // "LBEN"
    kernel_control_t control;
    link_bench_args_t args;
    volatile link_bench_phase_t phase;
    volatile uint32_t rounds;            // done; STREAM: messages completed on all channels
    volatile uint32_t received;          // messages
    volatile uint32_t mismatched_words;
    volatile uint32_t last_round_cycles;
    volatile uint32_t min_round_cycles;
    volatile uint32_t max_round_cycles;
    volatile uint64_t sum_round_cycles;
    volatile uint64_t ready_cycles;      // wall clock of this chip: the handshake is done
    volatile uint64_t finished_cycles;  // the last message was completed, and the last one received
};

constexpr uint32_t LINK_BENCH_MAX_CHANNELS = 30;

// Words that others write, behind the handshake's. Each is a 16-byte unit of its own.
struct link_bench_words_t {
    eth_channel_sync_t credits[LINK_BENCH_MAX_CHANNELS];  // the peer completes here
    eth_channel_sync_t completion;                        // source of every completion: zeros
    alignas(16) volatile uint32_t hello;                  // RING: the sibling is ready
    alignas(16) volatile uint32_t filled;  // RING, sender: hand-overs made by the sibling
    alignas(16) volatile uint32_t freed;  // RING, receiver: hand-overs that the sibling has sent on
};
constexpr uint32_t LINK_BENCH_WORDS = 0x18020;
constexpr uint32_t LINK_BENCH_SLOTS = 0x18400;            // sending slots, then receiving slots
constexpr uint32_t LINK_BENCH_END = 0x3DC00;
static_assert(LINK_BENCH_WORDS + sizeof(link_bench_words_t) <= LINK_BENCH_SLOTS);

// Word `index` of a message of a channel, except word 0, which is the message's number.
constexpr uint32_t link_bench_pattern(uint32_t channel, uint32_t index) {
    return (channel + 1) * 0x9E3779B9u + index * 0x01000193u;
}
