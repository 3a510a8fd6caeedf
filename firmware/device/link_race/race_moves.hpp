// Interfaces between the parts of the kernel: waits, sends, and the check of words after a wait.
#pragma once
#include "common/erisc.hpp"
#include "common/txq.hpp"
#include "link_race.hpp"

extern "C" {
extern link_race_state_t link_race_state;
}

namespace race {

inline link_race_state_t& state = link_race_state;
inline link_race_args_t& args = link_race_state.args;

inline eth_channel_sync_t& word_of(uint32_t channel) { return erisc_info->channels[channel]; }
inline uint32_t slot_of(uint32_t channel) { return LINK_RACE_SLOTS + channel * args.payload_bytes; }
inline volatile uint32_t& number_of(eth_channel_sync_t& word) {
    return *const_cast<volatile uint32_t*>(&word.reserved_2);
}

// Base firmware runs every yield_interval passes, so that remote access through this tile
// continues. Returns false if the kernel must stop.
template <typename Condition>
bool wait_until(Condition condition) {
    uint32_t passes = 0;
    while (!condition()) {
        if (++passes >= args.yield_interval) {
            passes = 0;
            if (must_stop_now(state.control)) {
                return false;
            }
            yield_to_base_firmware();
        }
    }
    return true;
}

template <typename Condition>
bool wait_for(link_race_wait_t what, uint32_t channel, Condition condition) {
    state.waits_on_channel = channel;
    state.waits_for = what;
    bool came = wait_until(condition);
    if (came) {
        state.waits_for = FOR_NOTHING;
    }
    return came;
}

inline bool send(uint32_t address, uint32_t bytes) {
    if (!wait_until([] { return !txq_busy(); })) {
        return false;
    }
    txq_write(address, address, bytes);
    return true;
}

inline bool send_word(eth_channel_sync_t& word) {
    return send(reinterpret_cast<uint32_t>(&word), sizeof(word));
}

inline void mark(eth_channel_sync_t& word, uint32_t bytes_sent, uint32_t number) {
    word.receiver_ack = 0;
    word.src_id = args.run_id;
    number_of(word) = number;
    word.bytes_sent = bytes_sent;
}

inline bool return_credit(uint32_t channel, uint32_t number) {
    eth_channel_sync_t& word = word_of(channel);
    mark(word, 0, number);
    state.credits = state.credits + 1;
    return send_word(word);
}

// Checks after a wait whether the word was meant for it.
inline void judge(link_race_wait_t wait, uint32_t channel, uint32_t wanted) {
    eth_channel_sync_t& word = word_of(channel);
    uint32_t run_id = word.src_id, number = number_of(word);
    if (run_id == args.run_id && number == wanted) {
        return;
    }
    if (state.misreads < LINK_RACE_MISREADS) {
        state.told[state.misreads] = {
            wait, reinterpret_cast<uint32_t>(&word), word.bytes_sent, run_id, number, wanted};
    }
    state.misreads = state.misreads + 1;
}

// --- race_ends.cpp; functions return false if stopped ---
bool send_all();
bool receive_all();

}  // namespace race
