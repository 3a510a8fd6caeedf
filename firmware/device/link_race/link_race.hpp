// Two successive ops on the ends of a link, each end launched when its own chip is ready: the
// handshake and teardown that the vendor's guide requires (Basic Ethernet Multichip, "Multichip
// Programming Challenges"), and the effects of leaving them out.
//
// Flow control is the guide's. A sender sets bytes_sent of erisc_info->channels[i], sends the
// payload and then this word. The receiver returns the credit: it clears its own word and sends it.
// The words are not cleared at the start: they are 0 as long as every kernel follows the rules. The
// handshake uses the word of channel 0, as the guide's does. Waits read bytes_sent alone; src_id
// and reserved_2, which tt-metal does not use, identify the op and the message, so that a kernel
// can detect afterwards that it misread a word.
#pragma once
#include "common/eth_sync.hpp"
#include "common/kernel.hpp"

// Runtime arguments, at kernel_config_base[ACTIVE_ETH] + rta_offset[0].
struct link_race_args_t {
    uint32_t run_id;  // of this op: the same at both ends, from 1 to 255, different for each op
    uint32_t sends;              // 1: the end that sends, which also begins the handshake
    uint32_t channels;           // 1 to 8
    uint32_t rounds;             // messages of each channel
    uint32_t payload_bytes;      // a multiple of 16, from 32
    uint32_t handshake;          // 1: no message before the other end's kernel of this op runs
    uint32_t teardown;  // 1: the sender does not return before every credit has been returned
    // The receiver returns a credit 0: after reading the message; 1: as soon as the message
    // arrives.
    uint32_t credit_on_arrival;
    uint32_t dwell_cycles;       // delay of the receiver for each message before it reads it
    uint32_t yield_interval;  // passes without effect between two yields to base firmware; 0: 1024
};

enum link_race_phase_t : uint32_t {
    LINK_RACE_NOT_STARTED = 0,
    LINK_RACE_HANDSHAKE = 1,
    LINK_RACE_RUNNING = 2,
    LINK_RACE_TEARDOWN = 3,
    LINK_RACE_FINISHED = 4,
    LINK_RACE_STOPPED = 5,
    LINK_RACE_REFUSED = 6,
};

// The wait that took another op's word as its own.
enum link_race_wait_t : uint32_t {
    FOR_NOTHING = 0,
    FOR_HANDSHAKE = 1,
    FOR_MESSAGE = 2,
    FOR_CREDIT = 3
};

// A word that belonged to another op or message.
struct link_race_misread_t {
    link_race_wait_t wait;
    uint32_t address;            // of the sync word
    uint32_t bytes_sent;         // value that the wait read
    uint32_t run_id, number;     // op and message of the word
    uint32_t wanted_number;      // number of this op's message
};

// The first word of a message that differs from what this op's sender wrote.
struct link_race_mismatch_t {
    uint32_t address, expected, found;
};

constexpr uint32_t LINK_RACE_MISREADS = 4;

// The global `link_race_state` is of this type.
struct link_race_state_t {
    uint32_t magic;              // "RACE"
    kernel_control_t control;
    link_race_args_t args;
    volatile link_race_phase_t phase;
    volatile link_race_wait_t waits_for;
    volatile uint32_t waits_on_channel;
    volatile uint32_t messages;          // sent, or read
    volatile uint32_t credits;           // taken, or returned
    volatile uint32_t mismatched_words;
    link_race_mismatch_t first_mismatch;
    volatile uint32_t misreads;          // the first ones are in `told`
    link_race_misread_t told[LINK_RACE_MISREADS];
};

constexpr uint32_t LINK_RACE_MAX_CHANNELS = 8;
constexpr uint32_t LINK_RACE_SLOTS = 0x18400;    // the same at both ends, one for each channel
constexpr uint32_t LINK_RACE_END = 0x3DC00;
constexpr uint32_t LINK_RACE_HANDSHAKE_BYTES = 16;

// Word `index` of message `number` (from 1) of a channel: identifies op, channel and message.
constexpr uint32_t link_race_pattern(uint32_t run_id, uint32_t channel, uint32_t number,
                                     uint32_t index) {
    return run_id << 24 | channel << 20 | (number & 0xFF) << 12 | (index & 0xFFF);
}
