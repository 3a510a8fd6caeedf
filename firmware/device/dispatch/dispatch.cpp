// The dispatch kernel: executes one command after the other. A host sees a wait that never ends as
// a hang.
#include "common/build_id.hpp"
#include "common/noc.hpp"
#include "dispatch.hpp"
#include "fabric/clock.hpp"
#include "fabric/stream.hpp"

extern "C" {
__attribute__((used)) dispatch_state_t dispatch_state = {.magic = waypoint_word("DISP"),
                                                         .control = {KEEP_RUNNING, PAUSE_NEVER, 0}};
}

namespace {

constexpr uint32_t DISPATCH_NOC = 0, GO_ID = 7;    // transaction id

dispatch_state_t& state = dispatch_state;

bool stop() { return must_stop_now(state.control); }

bool send_go(const dispatch_command_t& command) {
    while (niu_busy(DISPATCH_NOC, NOC_BUFFER_REGISTER)) {
        if (stop()) {
            return false;
        }
    }
    noc_start_word_write(DISPATCH_NOC, GO_ID, noc_mid(command.xy & 0xFFFF, command.xy >> 16),
                         command.address, command.value);
    return true;
}

bool wait_for_workers(uint32_t count) {
    state.last_wait_count = count;
    state.last_wait_stream = DISPATCH_STREAM_ID;
    WAYPOINT("PWW");
    while (stream_value(DISPATCH_STREAM_ID) < count) {
        if (stop()) {
            return false;
        }
    }
    WAYPOINT("PWD");
    stream_add(DISPATCH_STREAM_ID, 0u - count);
    return true;
}

bool write_event(uint32_t event) {
    WAYPOINT("QRBW");
    while (state.completion_q_wr_ptr - state.completion_q_rd_ptr >= COMPLETION_Q_ENTRIES) {
        if (stop()) {
            return false;
        }
    }
    WAYPOINT("QRBD");
    completion_q_entry_t& entry =
        state.completion_q[state.completion_q_wr_ptr % COMPLETION_Q_ENTRIES];
    entry.event = event;
    entry.dispatch_progress = state.dispatch_progress;
    entry.cycles = wall_clock_64();
    state.last_event = event;
    compiler_barrier();
    state.completion_q_wr_ptr = state.completion_q_wr_ptr + 1;
    return true;
}

bool process(const dispatch_command_t& command) {
    switch (command.id) {
        case DISPATCH_SEND_GO: return send_go(command);
        case DISPATCH_WAIT: return wait_for_workers(command.value);
        case DISPATCH_WRITE_EVENT: return write_event(command.value);
        default: WAYPOINT("!CMD"); return false;
    }
}

void process_all() {
    const auto* commands = reinterpret_cast<const dispatch_command_t*>(state.args.commands_address);
    for (uint32_t i = 0; i < state.args.commands && begin_stage(state.control, compiler_barrier) &&
                         process(commands[i]);
         ++i) {
        state.dispatch_progress = state.dispatch_progress + 1;
    }
}

}  // namespace

extern "C" void kernel_main() {
    WAYPOINT("K");
    uint32_t address = runtime_args_address(TENSIX, 0);
    if (address != 0) {
        state.args = *reinterpret_cast<const dispatch_args_t*>(address);
        if (state.args.pause_at_stage != 0) {
            state.control.pause_at_stage = state.args.pause_at_stage - 1;
        }
        stream_preset(DISPATCH_STREAM_ID, 0);
        state.started_cycles = wall_clock_64();
        process_all();
    }
    state.finished = 1;
    WAYPOINT("KD");
}
