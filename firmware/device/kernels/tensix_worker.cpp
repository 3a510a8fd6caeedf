// A worker for BRISC with visible progress: it writes a changing pattern into its L1 again and
// again.
#include "common/build_id.hpp"
#include "common/kernel.hpp"
#include "common/registers.hpp"

// Runtime arguments, at kernel_config_base[TENSIX] + rta_offset[0].
struct tensix_worker_args_t {
    uint32_t address;          // +0   destination of the pattern, 16-aligned, in this tile's L1
    uint32_t words;            // +4   its length
    uint32_t iterations;       // +8   0: until termination_signal is set
    uint32_t interval_cycles;  // +12  pause between two iterations
    uint32_t seed;             // +16
    uint32_t pause_at_stage;   // +20  0: run; n: park before the n-th iteration
};

struct tensix_worker_state_t {
    uint32_t magic;                // "WORK"
    kernel_control_t control;
    tensix_worker_args_t args;
    volatile uint32_t iterations;  // done
    volatile uint32_t finished;    // 1 when the kernel has returned
};

extern "C" {
__attribute__((used)) tensix_worker_state_t tensix_worker_state = {
    .magic = waypoint_word("WORK"), .control = {KEEP_RUNNING, PAUSE_NEVER, 0}};
}

namespace {

tensix_worker_state_t& state = tensix_worker_state;

// Word `index` of the pattern after `iteration`, counted from 1: word 0 is seed + iteration.
constexpr uint32_t worker_pattern(uint32_t seed, uint32_t iteration, uint32_t index) {
    return seed + iteration + index * 0x01000193u;
}

void write_pattern(uint32_t iteration) {
    auto* words = reinterpret_cast<volatile uint32_t*>(state.args.address);
    for (uint32_t i = 0; i < state.args.words; ++i) {
        words[i] = worker_pattern(state.args.seed, iteration, i);
    }
    state.iterations = iteration;
}

bool finished_or_stopped() {
    bool enough = state.args.iterations != 0 && state.iterations >= state.args.iterations;
    return enough || state.control.termination_signal != KEEP_RUNNING ||
           must_stop_now(state.control);
}

void rest_between() {
    WAYPOINT("DWLW");
    uint32_t start = wall_clock();
    while (wall_clock() - start < state.args.interval_cycles &&
           state.control.termination_signal == KEEP_RUNNING) {
    }
    WAYPOINT("DWLD");
}

}  // namespace

extern "C" void kernel_main() {
    WAYPOINT("K");
    uint32_t address = runtime_args_address(TENSIX, 0);
    if (address != 0) {
        state.args = *reinterpret_cast<const tensix_worker_args_t*>(address);
        if (state.args.pause_at_stage != 0) {
            state.control.pause_at_stage = state.args.pause_at_stage - 1;
        }
        while (!finished_or_stopped() && begin_stage(state.control, compiler_barrier)) {
            write_pattern(state.iterations + 1);
            rest_between();
        }
    }
    state.finished = 1;
    WAYPOINT("KD");
}
