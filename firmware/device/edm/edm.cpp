// The ERISC data mover: one loop over all channels of a link's end, each with a state of its own.
#include "common/build_id.hpp"
#include "edm_moves.hpp"

extern "C" {
__attribute__((used)) edm_state_t edm_state = {.magic = waypoint_word("EDM "), .control = {KEEP_RUNNING, PAUSE_NEVER, 0}};
__attribute__((used)) eth_channel_places_t eth_channel_places = {};
}

namespace edm {

channel_t channels[EDM_MAX_CHANNELS];

namespace {

uint64_t wall_clock_64() {
    uint32_t low = wall_clock();
    return static_cast<uint64_t>(word_at(WALL_CLOCK_HIGH)) << 32 | low;
}

// What the loop counts for itself. It reaches L1 with progress only: a loop that waits stores nothing.
struct pace_t {
    uint32_t passes, yields, idle, busy;
};

void give_way(pace_t& pace) {
    ++pace.yields;
    yield_to_base_firmware();
}

bool set_out() {
    for (uint32_t i = 0; i < args.channels; ++i) {
        channel_t& channel = channels[i];
        bool until_told = channel.args->workers == 0 && channel.args->message_count == 0;
        channel.ended = args.termination_mode == MESSAGE_COUNT_REACHED && !until_told;
        channel.last = channel.args->message_count;
        if (channel.args->is_sender != 0 && !open_sender(channel)) {
            return false;
        }
    }
    return true;
}

// Of all channels that are not done.
step_t step_all(bool& open) {
    step_t all = STEP_IDLE;
    for (uint32_t i = 0; i < args.channels; ++i) {
        channel_t& channel = channels[i];
        if (channel.state->done != 0) {
            continue;
        }
        step_t step = channel.args->is_sender != 0 ? step_sender(channel) : step_receiver(channel);
        if (step == STEP_FAILED) {
            return STEP_FAILED;
        }
        if (step == STEP_PROGRESS) {
            channel.state->last_progress = wall_clock();
            all = STEP_PROGRESS;
        }
        if (channel.ended && channel.state->completed == channel.last) {
            channel.state->done = 1;
        } else {
            open = true;
        }
    }
    return all;
}

void show_wait() {
    for (uint32_t i = 0; i < args.channels; ++i) {
        const channel_t& channel = channels[i];
        if (channel.state->done == 0) {
            return channel.args->is_sender != 0 ? show_sender_wait(channel) : show_receiver_wait(channel);
        }
    }
}

void pace_progress(pace_t& pace) {
    if (pace.idle > args.idle_count) {
        WAYPOINT("EDMR");
    }
    pace.idle = 0;
    state.passes = pace.passes;
    state.yields = pace.yields;
    if (++pace.busy >= args.busy_count) {
        pace.busy = 0;
        give_way(pace);
    }
}

void pace_wait(pace_t& pace) {
    if (pace.idle <= args.idle_count) {
        ++pace.idle;
        return;
    }
    pace.busy = 0;
    show_wait();
    give_way(pace);
}

bool transfer() {
    WAYPOINT("EDMR");
    pace_t pace = {};
    if (!set_out()) {
        return false;
    }
    for (bool open = true; open;) {
        open = false;
        step_t step = step_all(open);
        ++pace.passes;
        if (step == STEP_FAILED || must_stop_now(state.control)) {
            return false;
        }
        if (step == STEP_PROGRESS) {
            pace_progress(pace);
        } else {
            pace_wait(pace);
        }
    }
    state.passes = pace.passes;
    state.yields = pace.yields;
    return true;
}

bool tear_down() {
    WAYPOINT("TDNW");
    for (uint32_t i = 0; i < args.channels; ++i) {
        if (!settle_workers(channels[i])) {
            return false;
        }
        if (channels[i].args->workers == 0 && channels[i].args->is_sender == 0) {
            check_buffers(channels[i]);
        }
    }
    bool idle = wait_until([] { return !txq_busy() && noc_outstanding(NOC, TRANSACTION) == 0; });
    WAYPOINT("TDND");
    return idle;
}

bool run() {
    state.phase = EDM_HANDSHAKE;
    if (!begin_stage(state.control, yield_to_base_firmware) || !shake_hands()) {
        return false;
    }
    state.ready_cycles = wall_clock_64();
    state.phase = EDM_RUNNING;
    if (!begin_stage(state.control, yield_to_base_firmware) || !transfer()) {
        return false;
    }
    state.finished_cycles = wall_clock_64();
    state.phase = EDM_TEARDOWN;
    return begin_stage(state.control, yield_to_base_firmware) && tear_down();
}

}  // namespace
}  // namespace edm

extern "C" void kernel_main() {
    WAYPOINT("K");
    edm_state.started_cycles = edm::wall_clock_64();
    if (!edm::set_up()) {
        edm_state.phase = EDM_REFUSED;
    } else if (edm::run()) {
        edm_state.phase = EDM_FINISHED;
    } else if (edm_state.phase != EDM_REFUSED) {
        edm_state.phase = EDM_STOPPED;
    }
    WAYPOINT("KD");
}
