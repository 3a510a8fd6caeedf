// The fabric router: bring-up, one loop over all channels, and the way out.
#include "common/build_id.hpp"
#include "router_moves.hpp"

extern "C" {
__attribute__((used)) fabric_router_state_t fabric_router_state = {.magic = waypoint_word("FABR"), .control = {KEEP_RUNNING, PAUSE_NEVER, 0}};
}

namespace fabric_router {
namespace {

constexpr uint32_t HEARTBEAT = 0x1F80, HEARTBEAT_MARK = 0xDCBA0000;
constexpr uint32_t HOUSEKEEPING_PASSES = 32, HEARTBEAT_PASSES = 64;
constexpr uint32_t QUIET_CYCLES = 20000;  // without a packet before a router leaves gracefully

struct pace_t {
    uint32_t passes, yields, idle, busy;
    bool waits;                            // a waypoint tells of a wait
};

bool step_all() {
    bool progress = false;
    if (announce > HELD) {
        announce_sent();
    }
    if (detours) {
        step_reroute();
    }
#pragma GCC unroll 2
    for (receiver_t& receiver : receivers) {
        if (receiver_may_step(receiver)) {
            progress = step_receiver(receiver) || progress;
        }
    }
#pragma GCC unroll 5
    for (sender_t& sender : senders) {
        if (sender_may_step(sender)) {
            progress = step_sender(sender) || progress;
        }
    }
    return progress;
}

void give_way(pace_t& pace) {
    state.yields = ++pace.yields;
    state.passes = pace.passes;
    yield_to_base_firmware();
}

// Of the first channel that waits.
void show_wait(pace_t& pace) {
    for (const receiver_t& receiver : receivers) {
        if (receiver.state->waits_for == WAITS_FOR_DOWNSTREAM) {
            pace.waits = true;
            WAYPOINT("RDSW");
            return;
        }
        if (receiver.state->waits_for == WAITS_FOR_NOC) {
            pace.waits = true;
            WAYPOINT("RNOW");
            return;
        }
    }
    for (const sender_t& sender : senders) {
        if (stream_value(sender.free_slots) != sender_slots) {
            pace.waits = true;
            if (sender.remote->free_slots == 0) {
                WAYPOINT("RRSW");
            } else {
                WAYPOINT("RTXW");
            }
            return;
        }
    }
}

void keep_pace(pace_t& pace, bool progress) {
    if (progress) {
        pace.idle = 0;
        if (pace.waits) {
            pace.waits = false;
            WAYPOINT("RUN");
        }
        if (++pace.busy >= args.busy_count) {
            pace.busy = 0;
            give_way(pace);
        }
    } else if (++pace.idle >= args.idle_count) {
        pace.idle = pace.busy = 0;
        show_wait(pace);
        give_way(pace);
    }
}

bool all_idle() {
    bool idle = announce <= HELD && (control_idle() || announce == HELD) && carrier_idle();
    for (const receiver_t& receiver : receivers) {
        idle = idle && receiver_idle(receiver);
    }
    for (const sender_t& sender : senders) {
        idle = idle && sender_idle(sender);
    }
    return idle;
}

// A router leaves gracefully when nothing has moved for a while, and its peer wants to leave as well.
struct farewell_t {
    bool handed_on, told;
    uint32_t quiet_since;
};

bool may_leave(farewell_t& farewell, bool progress) {
    uint32_t now = wall_clock();
    if (!farewell.handed_on) {
        farewell.handed_on = true;
        farewell.quiet_since = now;
        hand_on_termination();
    }
    if (progress || !all_idle()) {
        farewell.quiet_since = now;
        return false;
    }
    if (now - farewell.quiet_since < QUIET_CYCLES) {
        return false;
    }
    if (!farewell.told) {
        farewell.told = tell_drained();
        if (!farewell.told) {
            return false;
        }
        WAYPOINT("TDNW");
    }
    return *const_cast<volatile uint8_t*>(&words->peer_identity.seen) == DRAINED;
}

// What has time. True: leave.
bool keep_house(const pace_t& pace, farewell_t& farewell, bool progress) {
    step_control();
    look_for_mail();
    serve_client();
    step_events();
    if (pace.passes % HEARTBEAT_PASSES == 0) {
        word_at(HEARTBEAT) = HEARTBEAT_MARK | (pace.passes & 0xFFFF);
        watch_link();
    }
    uint32_t signal = termination();
    return signal == IMMEDIATELY_TERMINATE || (signal == GRACEFULLY_TERMINATE && may_leave(farewell, progress));
}

void transfer() {
    WAYPOINT("RUN");
    pace_t pace = {};
    farewell_t farewell = {};
    bool moved = false;
    for (;;) {
        bool progress = step_all();
        moved = moved || progress;
        if (++pace.passes % HOUSEKEEPING_PASSES == 0) {
            if (keep_house(pace, farewell, moved)) {
                break;
            }
            moved = false;
        }
        keep_pace(pace, progress);
    }
    state.passes = pace.passes;
    if (!farewell.handed_on) {
        hand_on_termination();
    }
    WAYPOINT("LPDN");
}

// Accesses that are under way end; not for ever, since a jammed network may never end them.
void tear_down() {
    WAYPOINT("TDNW");
    serve_client();
    uint32_t start = wall_clock();
    while (wall_clock() - start < QUIET_CYCLES && (txq_busy() || noc_outstanding(NOC, WORDS) != 0)) {
        yield_to_base_firmware();
    }
    WAYPOINT("TDND");
}

}  // namespace
}  // namespace fabric_router

extern "C" void kernel_main() {
    using namespace fabric_router;
    WAYPOINT("K");
    bool runs = set_up() && bring_up();
    if (runs) {
        transfer();
    } else if (state.refusal == FITS) {
        hand_on_termination();
    }
    tear_down();
    words->edm_status = state.refusal == FITS ? TERMINATED : REFUSED;
    WAYPOINT("DONE");
}
