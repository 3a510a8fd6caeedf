// Setup of a microbenchmark: arguments, messages, cleared words; and the final check of every word.
#include "bench_moves.hpp"

namespace bench {
namespace {

bool arguments_fit() {
    bool size = args.payload_bytes >= 16 && args.payload_bytes % 16 == 0 &&
                args.payload_bytes < LINK_BENCH_END;
    return size && args.run_id != 0 && args.rounds != 0 && args.mode <= LINK_BENCH_STREAM &&
           args.channels <= LINK_BENCH_MAX_CHANNELS &&
           receive_slot(args.channels) <= LINK_BENCH_END;
}

void make_message(uint32_t slot, uint32_t channel) {
    auto* message = reinterpret_cast<volatile uint32_t*>(slot);
    for (uint32_t i = 0; i < args.payload_bytes / 4; ++i) {
        message[i] = link_bench_pattern(channel, i);
    }
}

void clear(eth_channel_sync_t& sync) {
    sync.bytes_sent = 0;
    sync.receiver_ack = 0;
    sync.src_id = 0;
    number_of(sync) = 0;
}

void describe(uint32_t channel) {
    bool receives = args.mode != LINK_BENCH_STREAM && args.first == 0;
    uint32_t slot = receives ? receive_slot(channel) : send_slot(channel);
    eth_channel_place_t& place = eth_channel_places.channels[channel];
    place.sync = receives ? &tail_of(slot) : &words->credits[channel];
    place.buffer_address = slot;
    place.buffer_bytes = args.payload_bytes;
    place.role = receives ? ETH_CHANNEL_RECEIVER : ETH_CHANNEL_SENDER;
}

}  // namespace

bool set_up() {
    uint32_t address = runtime_args_address(ACTIVE_ETH, 0);
    if (address == 0) {
        return false;
    }
    args = *reinterpret_cast<const link_bench_args_t*>(address);
    if (args.pause_at_stage != 0) {
        state.control.pause_at_stage = args.pause_at_stage - 1;
    }
    if (args.yield_interval == 0) {
        args.yield_interval = 1024;
    }
    if (args.channels == 0 || args.mode != LINK_BENCH_STREAM) {
        args.channels = 1;
    }
    if (!arguments_fit()) {
        return false;
    }
    state.min_round_cycles = 0xFFFFFFFF;
    clear(words->completion);
    for (uint32_t channel = 0; channel < args.channels; ++channel) {
        clear(words->credits[channel]);
        clear(tail_of(receive_slot(channel)));
        make_message(send_slot(channel), channel);
        if (channel < 8) {
            describe(channel);
        }
    }
    return true;
}

void record_round(uint32_t cycles) {
    state.last_round_cycles = cycles;
    if (cycles < state.min_round_cycles) {
        state.min_round_cycles = cycles;
    }
    if (cycles > state.max_round_cycles) {
        state.max_round_cycles = cycles;
    }
    state.sum_round_cycles = state.sum_round_cycles + cycles;
}

void check_slot(uint32_t slot, uint32_t channel) {
    const auto* message = reinterpret_cast<const volatile uint32_t*>(slot);
    uint32_t bad = message[0] == args.rounds - 1 ? 0 : 1;
    for (uint32_t i = 1; i < args.payload_bytes / 4; ++i) {
        bad += message[i] != link_bench_pattern(channel, i) ? 1 : 0;
    }
    mismatch(bad);
}

}  // namespace bench
