// What every kernel of ours offers to the host besides its own state: the words by which a person stops and steps it.
#pragma once
#include "mailbox.hpp"
#include "waypoint.hpp"

// Values of a termination word, as in tt-metal's fabric.
enum TerminationSignal : uint32_t { KEEP_RUNNING = 0, GRACEFULLY_TERMINATE = 1, IMMEDIATELY_TERMINATE = 2 };

// A kernel counts the stages it has begun (ring ping: handshake, meeting its sibling, each lap, teardown) and parks in front of a stage while
// `stage >= pause_at_stage`. Host: write 0 to pause, `stage + 1` to step, PAUSE_NEVER to run on.
constexpr uint32_t PAUSE_NEVER = 0xFFFFFFFF;
struct kernel_control_t {
    volatile uint32_t termination_signal;  // host writes, TerminationSignal
    volatile uint32_t pause_at_stage;      // host writes
    volatile uint32_t stage;               // kernel writes: stages begun
};

// The launch message of tt-metal also asks a kernel to leave at once.
inline bool must_stop_now(const kernel_control_t& control) {
    return control.termination_signal == IMMEDIATELY_TERMINATE || launched().exit_erisc_kernel != 0;
}

// Parks while the host wants it, with the watcher's own pause flag and waypoint, then begins the next stage. `rest` runs
// in every pass of the wait. False: leave the kernel at once.
template <typename Rest>
inline bool begin_stage(kernel_control_t& control, Rest rest) {
    if (control.stage >= control.pause_at_stage) {
        WAYPOINT("PASW");
        mailboxes->watcher.pause_status.flags[PROCESSOR_INDEX] = 1;
        while (control.stage >= control.pause_at_stage && !must_stop_now(control)) {
            rest();
        }
        mailboxes->watcher.pause_status.flags[PROCESSOR_INDEX] = 0;
        WAYPOINT("PASD");
    }
    control.stage = control.stage + 1;
    return !must_stop_now(control);
}
