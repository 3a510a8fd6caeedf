// The fabric mux: takes packets from its clients' channels in turn and puts them into its one
// sender channel of a router.
#include "adapter_moves.hpp"
#include "common/build_id.hpp"
#include "dispatch/dispatch.hpp"
#include "mux_moves.hpp"

extern "C" {
__attribute__((used))
fabric_mux_state_t fabric_mux_state = {.magic = waypoint_word("FMUX"),
                                       .control = {KEEP_RUNNING, PAUSE_NEVER, 0},
                                       .holder = MUX_NO_CHANNEL};
}

namespace fabric {
namespace {

wait_t waits[FABRIC_MUX_MAX_CHANNELS];

// The times at which a channel last had nothing outstanding, and at which its client's requests
// were checked. On the stack, which is private: a mux that waits stores nothing that others can
// read.
struct times_t {
    uint32_t satisfied[FABRIC_MUX_MAX_CHANNELS], attended[FABRIC_MUX_MAX_CHANNELS];
};

void raise(volatile uint32_t& longest, uint32_t cycles) {
    if (cycles > longest) {
        longest = cycles;
    }
}

// Records that the requests of the channel's client, if it has one, were checked.
void attend(times_t& times, uint32_t channel, bool has_client) {
    uint32_t now = wall_clock();
    if (has_client) {
        raise(state.channels[channel].longest_unattended_cycles, now - times.attended[channel]);
    }
    times.attended[channel] = now;
}

// Whether a wait serves the client of its channel: policies from UNBOUNDED_WAIT_TEARDOWN on.
constexpr bool looks_after = forwarding_policy >= UNBOUNDED_WAIT_TEARDOWN;
bool look_after(uint32_t channel) { return !looks_after || serve_client(channel); }

// Returns true if a wait with this many polls, in a turn that began at `since`, may continue.
bool may_wait_on(uint32_t polls, uint32_t since) {
    if (forwarding_policy < BOUNDED_WAIT_32768) {
        return forwarding_policy != NO_WAIT;
    }
    return args.wait_cycles != 0 ? wall_clock() - since < args.wait_cycles : polls < max_wait_iters;
}

// Waits for a slot of the router as the policy requires. Returns whether one is free.
bool wait_for_slot(uint32_t channel, uint32_t since, times_t& times) {
    wait_t& wait = waits[channel];
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
    if (looks_after) {
        attend(times, channel, channels[channel].client_mid != 0);
    }
    do {
        free = client_has_slot(state.router);
        ++polls;
        if (!free && (must_leave() || !look_after(channel))) {
            break;
        }
    } while (!free && may_wait_on(polls, since));
    if (looks_after) {
        times.attended[channel] = wall_clock();
    }
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
        raise(counts.longest_wait_cycles, wall_clock() - wait.since);
        wait.blocked = false;
    }
}

// Packets in flight to the router, oldest first: the channel of each. A slot is free once its
// packet has left.
constexpr uint32_t PIPELINE = 4, PACKETS = 10;  // transaction ids
struct pipe_t {
    uint32_t channels[PIPELINE];
    uint32_t sent, left;
};
pipe_t pipe;

uint32_t transaction_of(uint32_t packet) { return PACKETS + packet % PIPELINE; }

// Returns false if stopped.
bool free_what_has_left() {
    for (; pipe.left != pipe.sent && noc_has_left(CLIENT_NOC, transaction_of(pipe.left));
         ++pipe.left) {
        if (!free_slot(pipe.channels[pipe.left % PIPELINE])) {
            return false;
        }
    }
    return true;
}

// Waits until at most `most` packets are in flight. Returns false if stopped.
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

// Forwards the oldest packet of a channel, whose turn began at `since`, if there is one and the
// router takes it.
bool forward_data(uint32_t channel, uint32_t since, times_t& times) {
    // Before slots are counted back: a load may overtake that store.
    uint32_t waiting = unsent(channel);
    if (!free_what_has_left() || waiting == 0) {
        return false;
    }
    // During a wait for the router it does nothing but what its policy requires.
    if (!client_has_slot(state.router) &&
        (!await_packets(0) || !wait_for_slot(channel, since, times))) {
        return false;
    }
    if (!await_packets(PIPELINE - 1)) {
        return false;
    }
    uint32_t slot = next_slot(channel);
    bool sent = client_write(state.router, 0, slot, packet_bytes(slot), must_leave,
                             transaction_of(pipe.sent)) &&
                client_commit(state.router, must_leave);
    if (sent) {
        pipe.channels[pipe.sent++ % PIPELINE] = channel;
        pass_slot(channel);
        count_wait(state.channels[channel], waits[channel]);
    }
    return sent;
}

// The write-up's reading of a bounded wait: every slot that the router frees until its end belongs
// to the channel, whose client meanwhile fills its own slots.
bool keeps_router(uint32_t channel, uint32_t since) {
    return args.keeps_router != 0 && wall_clock() - since < args.wait_cycles &&
           channels[channel].client_mid != 0 && !must_leave();
}

bool forward_in_turn(uint32_t channel, times_t& times) {
    uint32_t since = wall_clock();
    bool waits = unsent(channel) != 0 && !client_has_slot(state.router);
    bool progress = forward_data(channel, since, times);
    while (waits && keeps_router(channel, since) && look_after(channel)) {
        progress = forward_data(channel, since, times) || progress;
    }
    if (waits) {
        raise(state.channels[channel].longest_hold_cycles, wall_clock() - since);
    }
    return progress;
}

// Serves a channel's turn. Returns false if stopped.
bool visit(uint32_t channel, times_t& times, bool& progress) {
    bool forwarded = forward_in_turn(channel, times);
    bool wish = has_wish(channel), has_client = wish || channels[channel].client_mid != 0;
    progress = progress || forwarded;
    if (!serve_client(channel)) {
        return false;
    }
    attend(times, channel, has_client);
    bool served = forwarded || wish;
    if (served) {
        raise(state.channels[channel].longest_unserved_cycles,
              wall_clock() - times.satisfied[channel]);
    }
    if (served || unsent(channel) == 0) {
        times.satisfied[channel] = times.attended[channel];
    }
    return true;
}

uint32_t queued_in_all() {
    uint32_t all = 0;
    for (uint32_t channel = 0; channel < args.num_full_size_channels; ++channel) {
        all += queued(channel);
    }
    return all;
}

// Returns true after GRACEFULLY_TERMINATE if the channels are empty or the drain has reached its
// bound.
bool drained() {
    if (words().termination_signal != GRACEFULLY_TERMINATE) {
        return false;
    }
    if (state.drain_iters == 0) {
        next();
        WAYPOINT("MXDW");
    }
    state.drain_iters = state.drain_iters + 1;
    return queued_in_all() == 0 ||
           (forwarding_policy == BOUNDED_WAIT_256 && state.drain_iters >= max_drain_iters);
}

bool turn(times_t& times) {
    bool progress = false;
    for (uint32_t i = 0; i < num_iters_between_teardown_checks && !must_leave(); ++i) {
        for (uint32_t channel = 0; channel < args.num_full_size_channels; ++channel) {
            if (!visit(channel, times, progress)) {
                return progress;
            }
        }
    }
    return progress;
}

// Parks between two turns, with nothing in flight to the router.
void pause_turns() {
    if (await_packets(0)) {
        pause_in_stage(state.control, rest_and_look);
    }
}

void forward_all() {
    WAYPOINT("MXCW");
    times_t times;
    for (uint32_t channel = 0; channel < FABRIC_MUX_MAX_CHANNELS; ++channel) {
        times.satisfied[channel] = times.attended[channel] = wall_clock();
    }
    bool idle = true;
    while (!must_leave() && !drained()) {
        bool progress = turn(times);
        state.passes = state.passes + 1;
        if (progress && idle) {
            WAYPOINT("MXRN");
        } else if (!progress && !idle && state.drain_iters == 0) {
            WAYPOINT("MXCW");
        }
        idle = !progress;
        rest();
        if (must_pause(state.control)) {
            pause_turns();
            idle = true;
        }
    }
    await_packets(0);
    state.abandoned = queued_in_all();
}

// The stop function for calls as a client of the router: a wait may be long, so it yields to base
// firmware.
bool leave_or_rest() {
    rest();
    return must_leave();
}

void run() {
    WAYPOINT("MXOW");
    if (!next() || !client_open(state.router, leave_or_rest)) {
        return;
    }
    WAYPOINT("MXOD");
    if (!next()) {
        return;
    }
    words().status = READY_FOR_TRAFFIC;
    forward_all();
    if (next() && client_wait(all_acknowledged, leave_or_rest) &&
        client_close(state.router, leave_or_rest, next)) {
        next();
    }
}

// Firmware of a compute tile increments its dispatcher's stream; that of an Ethernet tile does not.
void tell_dispatcher() {
    uint32_t mid = noc_mid(args.dispatch_xy & 0xFFFF, args.dispatch_xy >> 16);
    if (args.dispatch_xy != 0 &&
        client_wait([] { return client_may_send(NOC_BUFFER_REGISTER, CLIENT_WORDS); },
                    leave_or_rest)) {
        noc_start_word_write(CLIENT_NOC, CLIENT_WORDS, mid,
                             stream_register(DISPATCH_STREAM_ID, STREAM_UPDATE),
                             1 << STREAM_INCREMENT_SHIFT);
    }
}

}  // namespace
}  // namespace fabric

extern "C" void kernel_main() {
    WAYPOINT("K");
    if (fabric::set_up()) {
        fabric::run();
        fabric::words().status = TERMINATED;
        fabric::tell_dispatcher();
    }
    WAYPOINT("KD");
}
