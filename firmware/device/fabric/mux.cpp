// The fabric mux: takes packets out of its clients' channels in turn and puts them into its one sender channel of a router.
#include "adapter_moves.hpp"
#include "common/build_id.hpp"
#include "mux_moves.hpp"

extern "C" {
__attribute__((used)) fabric_mux_state_t fabric_mux_state = {
    .magic = waypoint_word("FMUX"), .control = {KEEP_RUNNING, PAUSE_NEVER, 0}, .holder = MUX_NO_CHANNEL};
}

namespace fabric {
namespace {

// Looks after the client of the channel that waits, as policies from UNBOUNDED_WAIT_TEARDOWN on do.
bool look_after(uint32_t channel) { return forwarding_policy < UNBOUNDED_WAIT_TEARDOWN || serve_client(channel); }

// Waits for a slot of the router in the way of the policy. The wait is over, one way or the other, when this returns.
bool wait_for_slot(uint32_t channel, wait_t& wait) {
    fabric_mux_channel_state_t& counts = state.channels[channel];
    if (!wait.blocked) {
        wait = {true, wall_clock()};
    }
    uint32_t polls = 0;
    bool free = false;
    if (forwarding_policy != NO_WAIT) {
        WAYPOINT("FWSW");
        state.holder = channel;
        state.router.waits = 1;
    }
    do {
        free = client_has_slot(state.router);
        ++polls;
        if (!free && (must_leave() || !look_after(channel))) {
            break;
        }
    } while (!free && forwarding_policy != NO_WAIT && (forwarding_policy < BOUNDED_WAIT_32768 || polls < max_wait_iters));
    if (forwarding_policy != NO_WAIT) {
        state.router.waits = 0;
        state.holder = MUX_NO_CHANNEL;
        WAYPOINT("FWSD");
    }
    counts.polls = counts.polls + polls;
    if (!free) {
        counts.skips = counts.skips + 1;
    }
    return free;
}

void count_wait(fabric_mux_channel_state_t& counts, wait_t& wait) {
    if (wait.blocked) {
        uint32_t waited = wall_clock() - wait.since;
        if (waited > counts.longest_wait_cycles) {
            counts.longest_wait_cycles = waited;
        }
        wait.blocked = false;
    }
}

wait_t waits[FABRIC_MUX_MAX_CHANNELS];

// Packets on their way to the router, oldest first: the channel of each. A slot is free as soon as its packet has left.
constexpr uint32_t PIPELINE = 4, PACKETS = 10;  // transaction ids
struct pipe_t {
    uint32_t channels[PIPELINE];
    uint32_t sent, left;
};
pipe_t pipe;

uint32_t transaction_of(uint32_t packet) { return PACKETS + packet % PIPELINE; }

// False: told to leave.
bool free_what_has_left() {
    for (; pipe.left != pipe.sent && noc_has_left(CLIENT_NOC, transaction_of(pipe.left)); ++pipe.left) {
        if (!free_slot(pipe.channels[pipe.left % PIPELINE])) {
            return false;
        }
    }
    return true;
}

// Waits until at most so many packets are on their way. False: told to leave.
bool await_packets(uint32_t most) {
    while (pipe.sent - pipe.left > most) {
        if (!free_what_has_left() || must_leave()) {
            return false;
        }
    }
    return true;
}

bool all_acknowledged() {
    uint32_t outstanding = 0;
    for (uint32_t packet = 0; packet < PIPELINE; ++packet) {
        outstanding += noc_outstanding(CLIENT_NOC, transaction_of(packet));
    }
    return outstanding == 0;
}

// Forwards the oldest packet of a channel, if there is one and the router takes it.
bool forward_data(uint32_t channel) {
    uint32_t waiting = unsent(channel);  // before slots are counted back: a load may overtake that store
    if (!free_what_has_left() || waiting == 0) {
        return false;
    }
    // While it waits for the router it does nothing else but what its policy says.
    if (!client_has_slot(state.router) && (!await_packets(0) || !wait_for_slot(channel, waits[channel]))) {
        return false;
    }
    if (!await_packets(PIPELINE - 1)) {
        return false;
    }
    uint32_t slot = next_slot(channel);
    bool sent = client_write(state.router, 0, slot, packet_bytes(slot), must_leave, transaction_of(pipe.sent)) && client_commit(state.router, must_leave);
    if (sent) {
        pipe.channels[pipe.sent++ % PIPELINE] = channel;
        pass_slot(channel);
        count_wait(state.channels[channel], waits[channel]);
    }
    return sent;
}

uint32_t queued_in_all() {
    uint32_t all = 0;
    for (uint32_t channel = 0; channel < args.num_full_size_channels; ++channel) {
        all += queued(channel);
    }
    return all;
}

// After GRACEFULLY_TERMINATE: nothing is left in the channels, or the drain has had its time.
bool drained() {
    if (words().termination_signal != GRACEFULLY_TERMINATE) {
        return false;
    }
    if (state.drain_iters == 0) {
        WAYPOINT("MXDW");
    }
    state.drain_iters = state.drain_iters + 1;
    return queued_in_all() == 0 || (forwarding_policy == BOUNDED_WAIT_256 && state.drain_iters >= max_drain_iters);
}

bool turn() {
    bool progress = false;
    for (uint32_t i = 0; i < num_iters_between_teardown_checks && !must_leave(); ++i) {
        for (uint32_t channel = 0; channel < args.num_full_size_channels; ++channel) {
            progress = forward_data(channel) || progress;
            if (!serve_client(channel)) {
                return progress;
            }
        }
    }
    return progress;
}

void forward_all() {
    WAYPOINT("MXCW");
    bool idle = true;
    while (!must_leave() && !drained()) {
        bool progress = turn();
        state.passes = state.passes + 1;
        if (progress && idle) {
            WAYPOINT("MXRN");
        } else if (!progress && !idle && state.drain_iters == 0) {
            WAYPOINT("MXCW");
        }
        idle = !progress;
        rest();
    }
    await_packets(0);
    state.abandoned = queued_in_all();
}

bool stage() {
    auto rest_and_look = [] {
        rest();
        if (must_leave()) {
            state.control.termination_signal = IMMEDIATELY_TERMINATE;
        }
    };
    return begin_stage(state.control, rest_and_look) && !must_leave();
}

// As a client of the router: a wait may be long, so base firmware has its turn.
bool leave_or_rest() {
    rest();
    return must_leave();
}

void run() {
    WAYPOINT("MXOW");
    if (!stage() || !client_open(state.router, leave_or_rest)) {
        return;
    }
    WAYPOINT("MXOD");
    if (!stage()) {
        return;
    }
    words().status = READY_FOR_TRAFFIC;
    forward_all();
    if (stage() && client_wait(all_acknowledged, leave_or_rest)) {
        client_close(state.router, leave_or_rest);
    }
}

}  // namespace
}  // namespace fabric

extern "C" void kernel_main() {
    WAYPOINT("K");
    if (fabric::set_up()) {
        fabric::run();
        fabric::words().status = TERMINATED;
    }
    WAYPOINT("KD");
}
