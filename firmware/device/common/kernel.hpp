// The control words that every built-in kernel offers to the host: termination, pause and step.
#pragma once
#include "mailbox.hpp"
#include "waypoint.hpp"

// Values of a termination word, as in tt-metal's fabric.
enum TerminationSignal : uint32_t {
    KEEP_RUNNING = 0,
    GRACEFULLY_TERMINATE = 1,
    IMMEDIATELY_TERMINATE = 2
};

// A kernel counts the stages it has begun (ring ping: the offer and the answer of the handshake,
// sibling handshake, each lap, teardown) and parks before a stage while `stage >= pause_at_stage`. The host writes 0 to pause,
// `stage + 1` to step, PAUSE_NEVER to run. A kernel that stays long in one stage also parks within
// it, between two messages, while `stage > pause_at_stage`.
constexpr uint32_t PAUSE_NEVER = 0xFFFFFFFF;
struct kernel_control_t {
    volatile uint32_t termination_signal;  // host writes, TerminationSignal
    volatile uint32_t pause_at_stage;      // host writes
    volatile uint32_t stage;               // kernel writes: stages begun
};

// The `exit_erisc_kernel` of tt-metal's launch message also stops a kernel at once.
inline bool must_stop_now(const kernel_control_t& control) {
    return control.termination_signal == IMMEDIATELY_TERMINATE || launched().exit_erisc_kernel != 0;
}

// Parks while `asked`, with the watcher's pause flag and a waypoint. `rest` runs in every pass of
// the wait.
template <typename Asked, typename Rest>
inline void park_while(kernel_control_t& control, Asked asked, Rest rest) {
    WAYPOINT("PASW");
    mailboxes->watcher.pause_status.flags[PROCESSOR_INDEX] = 1;
    while (asked() && !must_stop_now(control)) {
        rest();
    }
    mailboxes->watcher.pause_status.flags[PROCESSOR_INDEX] = 0;
    WAYPOINT("PASD");
}

// Parks while the host asks for it, then begins the next stage. Returns false if the kernel must
// stop at once.
template <typename Rest>
inline bool begin_stage(kernel_control_t& control, Rest rest) {
    auto asked = [&] { return control.stage >= control.pause_at_stage; };
    if (asked()) {
        park_while(control, asked, rest);
    }
    control.stage = control.stage + 1;
    return !must_stop_now(control);
}

// Whether the host asks to park within the stage.
inline bool must_pause(const kernel_control_t& control) {
    return control.stage > control.pause_at_stage;
}

// Parks within the stage while the host asks for it.
template <typename Rest>
inline void pause_in_stage(kernel_control_t& control, Rest rest) {
    park_while(control, [&] { return must_pause(control); }, rest);
}
