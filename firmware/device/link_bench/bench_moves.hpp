// Interfaces between the parts of the microbenchmarks.
#pragma once
#include "common/erisc.hpp"
#include "common/noc.hpp"
#include "common/txq.hpp"
#include "link_bench.hpp"

extern "C" {
extern link_bench_state_t link_bench_state;
extern eth_channel_places_t eth_channel_places;
}

namespace bench {

constexpr uint32_t NOC = 0;
// Not used by base firmware, so that its traffic in a yield does not disturb it.
constexpr uint32_t TRANSACTION = 5;

inline link_bench_state_t& state = link_bench_state;
inline link_bench_args_t& args = link_bench_state.args;
static link_bench_words_t* const words = reinterpret_cast<link_bench_words_t*>(LINK_BENCH_WORDS);

inline uint32_t slot_bytes() { return args.payload_bytes + sizeof(eth_channel_sync_t); }
inline uint32_t send_slot(uint32_t channel) { return LINK_BENCH_SLOTS + channel * slot_bytes(); }
inline uint32_t receive_slot(uint32_t channel) { return send_slot(args.channels + channel); }
inline eth_channel_sync_t& tail_of(uint32_t slot) {
    return *reinterpret_cast<eth_channel_sync_t*>(slot + args.payload_bytes);
}
inline volatile uint32_t& number_of(eth_channel_sync_t& sync) {
    return *const_cast<volatile uint32_t*>(&sync.reserved_2);
}

// Base firmware runs every yield_interval passes of a wait, so that remote access through this tile
// continues. `prepare` prepares what follows the wait; it runs again after each yield, because base
// firmware may use the same registers.
template <typename Condition, typename Prepare>
bool wait_until(Condition condition, Prepare prepare) {
    prepare();
    uint32_t passes = 0;
    while (!condition()) {
        if (++passes >= args.yield_interval) {
            passes = 0;
            if (must_stop_now(state.control)) {
                return false;
            }
            yield_to_base_firmware();
            prepare();
        }
    }
    return true;
}

template <typename Condition>
bool wait_until(Condition condition) {
    return wait_until(condition, [] {});
}

inline bool send(uint32_t source, uint32_t destination, uint32_t bytes) {
    if (!wait_until([] { return !txq_busy(); })) {
        return false;
    }
    txq_write(source, destination, bytes);
    return true;
}

// Sends the message of a slot, with its sync word or followed by it.
inline bool send_message(uint32_t from, uint32_t to) {
    if (args.separate_sync == 0) {
        return send(from, to, slot_bytes());
    }
    return send(from, to, args.payload_bytes) &&
           send(from + args.payload_bytes, to + args.payload_bytes, sizeof(eth_channel_sync_t));
}

inline bool send_completion(uint32_t channel) {
    return send(reinterpret_cast<uint32_t>(&words->completion),
                reinterpret_cast<uint32_t>(&words->credits[channel]), sizeof(words->completion));
}

inline void mismatch(uint32_t by) { state.mismatched_words = state.mismatched_words + by; }

// --- bench_setup.cpp ---
bool set_up();
void record_round(uint32_t cycles);
void check_slot(uint32_t slot, uint32_t channel);

// --- bench_ping.cpp, bench_ring.cpp, bench_stream.cpp; functions return false if stopped ---
bool ping();
bool meet_sibling();
bool ring();
bool stream();

}  // namespace bench
