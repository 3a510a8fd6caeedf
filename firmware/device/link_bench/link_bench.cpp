// Microbenchmarks of Ethernet links.
#include "common/build_id.hpp"
#include "bench_moves.hpp"
#include "handshake/handshake.hpp"

extern "C" {
__attribute__((used)) link_bench_state_t link_bench_state = {
    .magic = waypoint_word("LBEN"), .control = {KEEP_RUNNING, PAUSE_NEVER, 0}};
__attribute__((used)) eth_channel_places_t eth_channel_places = {};
}

namespace bench {
namespace {

uint64_t wall_clock_64() {
    uint32_t low = wall_clock();
    return static_cast<uint64_t>(word_at(WALL_CLOCK_HIGH)) << 32 | low;
}

bool shake_hands() {
    auto wait = [](auto condition) { return wait_until(condition); };
    auto next = [] { return true; };  // its handshake is one stage
    uint32_t mark = (args.payload_bytes * 4 + args.mode) * 32 + args.channels +
                    args.rounds * 0x01000193u;
    handshake_t shaken = args.first != 0 ? handshake_offer(args.run_id, mark, wait, next)
                                         : handshake_answer(args.run_id, mark, wait, next);
    if (shaken == HANDSHAKE_NOT_ALIKE) {
        state.phase = LINK_BENCH_REFUSED;
    }
    return shaken == HANDSHAKE_READY;
}

bool measure() {
    switch (args.mode) {
        case LINK_BENCH_PING: return ping();
        case LINK_BENCH_RING: return ring();
        default: return stream();
    }
}

// Checks the messages that arrived last.
void look() {
    for (uint32_t i = 0; i < args.channels && state.received != 0; ++i) {
        check_slot(receive_slot(i), i);
    }
}

bool run() {
    state.phase = LINK_BENCH_HANDSHAKE;
    if (!begin_stage(state.control, yield_to_base_firmware) || !shake_hands()) {
        return false;
    }
    if (args.mode == LINK_BENCH_RING && !meet_sibling()) {
        return false;
    }
    state.phase = LINK_BENCH_RUNNING;
    if (!begin_stage(state.control, yield_to_base_firmware)) {
        return false;
    }
    state.ready_cycles = wall_clock_64();
    if (!measure()) {
        return false;
    }
    state.finished_cycles = wall_clock_64();
    if (!begin_stage(state.control, yield_to_base_firmware)) {
        return false;
    }
    look();
    return wait_until([] { return !txq_busy(); });
}

}  // namespace
}  // namespace bench

extern "C" void kernel_main() {
    WAYPOINT("K");
    if (!bench::set_up()) {
        link_bench_state.phase = LINK_BENCH_REFUSED;
    } else if (bench::run()) {
        link_bench_state.phase = LINK_BENCH_FINISHED;
    } else if (link_bench_state.phase != LINK_BENCH_REFUSED) {
        link_bench_state.phase = LINK_BENCH_STOPPED;
    }
    WAYPOINT("KD");
}
