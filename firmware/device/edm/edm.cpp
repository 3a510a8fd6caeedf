// The ERISC data mover: one loop over all channels of a link's end, each with its own state.
#include "common/build_id.hpp"
#include "edm_moves.hpp"

extern "C" {
__attribute__((used))
edm_state_t edm_state = {.magic = waypoint_word("EDM "), .control = {KEEP_RUNNING, PAUSE_NEVER, 0}};
__attribute__((used)) eth_channel_places_t eth_channel_places = {};
}

namespace edm {

channel_t channels[EDM_MAX_CHANNELS];

namespace {

uint64_t wall_clock_64() {
    uint32_t low = wall_clock();
    return static_cast<uint64_t>(word_at(WALL_CLOCK_HIGH)) << 32 | low;
}

// Counters of the loop. They are written to L1 only after progress: a loop that waits stores
// nothing.
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

// Parks between two messages if the host asks for it. Returns false if a message that is handed to
// the link in part cannot be completed.
bool rest_if_asked() {
    if (!must_pause(state.control)) {
        return true;
    }
    for (uint32_t i = 0; i < args.channels; ++i) {
        while (channels[i].rest != 0) {
            if (step_sender(channels[i]) == STEP_FAILED || must_stop_now(state.control)) {
                return false;
            }
        }
    }
    pause_in_stage(state.control, yield_to_base_firmware);
    WAYPOINT("EDMR");
    return true;
}

// The channels that are not done, receivers first: a credit is short and the peer waits for it,
// while a message occupies the queue for long.
channel_t* open_channels[EDM_MAX_CHANNELS];
uint32_t open_count;

void list_channels() {
    open_count = 0;
    for (uint32_t senders = 0; senders < 2; ++senders) {
        for (uint32_t i = 0; i < args.channels; ++i) {
            if ((args.channel[i].is_sender != 0) == (senders != 0) && !channels[i].done) {
                open_channels[open_count++] = &channels[i];
            }
        }
    }
}

bool end_channel(channel_t& channel) {
    if (!channel.ended || channel.completed != channel.last) {
        return false;
    }
    channel.done = true;
    channel.state->done = 1;
    return true;
}

step_t step_all() {
    step_t all = STEP_IDLE;
    bool ended = false;
    for (uint32_t i = 0; i < open_count; ++i) {
        channel_t& channel = *open_channels[i];
        bool sends = channel.args->is_sender != 0;
        if (!(sends ? sender_may_step(channel) : receiver_may_step(channel))) {
            continue;
        }
        step_t step = sends ? step_sender(channel) : step_receiver(channel);
        if (step == STEP_FAILED) {
            return STEP_FAILED;
        }
        if (step == STEP_PROGRESS) {
            all = STEP_PROGRESS;
            channel.state->last_progress = wall_clock();
            ended = end_channel(channel) || ended;
        }
    }
    if (ended) {
        list_channels();
    }
    return all;
}

void show_wait() {
    const channel_t& channel = *open_channels[0];
    if (channel.args->is_sender != 0) {
        show_sender_wait(channel);
    } else {
        show_receiver_wait(channel);
    }
}

bool pace_progress(pace_t& pace) {
    if (pace.idle > args.idle_count) {
        WAYPOINT("EDMR");
    }
    pace.idle = 0;
    state.passes = pace.passes;
    state.yields = pace.yields;
    if (++pace.busy >= args.busy_count) {
        pace.busy = 0;
        give_way(pace);
        return rest_if_asked();
    }
    return true;
}

bool pace_wait(pace_t& pace) {
    if (pace.idle <= args.idle_count) {
        ++pace.idle;
        return true;
    }
    pace.busy = 0;
    show_wait();
    give_way(pace);
    return rest_if_asked();
}

bool transfer() {
    WAYPOINT("EDMR");
    pace_t pace = {};
    if (!set_out()) {
        return false;
    }
    for (uint32_t i = 0; i < args.channels; ++i) {
        end_channel(channels[i]);  // a channel without messages
    }
    list_channels();
    while (open_count != 0) {
        step_t step = step_all();
        ++pace.passes;
        if (step == STEP_FAILED || must_stop_now(state.control)) {
            return false;
        }
        if (!(step == STEP_PROGRESS ? pace_progress(pace) : pace_wait(pace))) {
            return false;
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

bool next_phase(edm_phase_t phase) {
    bool begins = begin_stage(state.control, yield_to_base_firmware);
    if (begins) {
        state.phase = phase;
    }
    return begins;
}

bool run() {
    state.phase = EDM_HANDSHAKE;
    if (!begin_stage(state.control, yield_to_base_firmware) || !shake_hands()) {
        return false;
    }
    state.ready_cycles = wall_clock_64();
    if (!next_phase(EDM_RUNNING) || !transfer()) {
        return false;
    }
    state.finished_cycles = wall_clock_64();
    return next_phase(EDM_TEARDOWN) && tear_down();
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
