// The fabric router: bring-up, one loop over all channels, and teardown.
#include "common/build_id.hpp"
#include "router_moves.hpp"

extern "C" {
__attribute__((used)) fabric_router_state_t fabric_router_state = {
    .magic = waypoint_word("FABR"), .control = {KEEP_RUNNING, PAUSE_NEVER, 0}};
}

namespace fabric_router {
namespace {

constexpr uint32_t HEARTBEAT = 0x1F80, HEARTBEAT_MARK = 0xDCBA0000;
constexpr uint32_t HOUSEKEEPING_PASSES = 64, HEARTBEAT_PASSES = 64;

struct pace_t {
    uint32_t passes, yields, idle, busy;
    bool waits;                            // the waypoint shows a wait
};

bool step_all() {
    bool progress = false;
    if (announce > RESUMES) {
        announce_sent();
    }
#pragma GCC unroll 2
    for (receiver_t& receiver : receivers) {
        if (receiver_may_step(receiver)) {
            progress = step_receiver(receiver) || progress;
        }
    }
#pragma GCC unroll 7
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
        pace.waits = show_wait() || pace.waits;
        give_way(pace);
    }
}

// Runs the periodic work. Returns true if the router must leave.
bool keep_house(const pace_t& pace, farewell_t& farewell, bool progress) {
    step_control();
    serve_client();
    step_events();
    if (pace.passes % HEARTBEAT_PASSES == 0) {
        word_at(HEARTBEAT) = HEARTBEAT_MARK | (pace.passes & 0xFFFF);
        watch_link();
        look_for_mail();
    }
    uint32_t signal = termination();
    return signal == IMMEDIATELY_TERMINATE ||
           (signal == GRACEFULLY_TERMINATE && may_leave(farewell, progress));
}

void transfer() {
    WAYPOINT("RUN");
    pace_t pace = {};
    farewell_t farewell = {};
    bool moved = false;
    // In passes in which this mask of their count is not 0, only packets are moved.
    uint32_t spared = HOUSEKEEPING_PASSES - 1;
    for (;;) {
        bool progress = step_all();
        moved = moved || progress;
        if ((++pace.passes & spared) == 0) {
            if (detours) {
                step_reroute();
            }
            if (pace.passes % HOUSEKEEPING_PASSES == 0) {
                if (keep_house(pace, farewell, moved)) {
                    break;
                }
                moved = false;
            }
            spared = detours ? 0 : HOUSEKEEPING_PASSES - 1;
        }
        if (announce == HELD) {
            // Passes take about four times as long, few make progress, and base firmware must see
            // soon that the link is back.
            pace.passes |= 3;
            pace.idle += 3;
            pace.busy += 15;
        }
        keep_pace(pace, progress);
    }
    state.passes = pace.passes;
    if (!farewell.handed_on) {
        hand_on_termination();
    }
    WAYPOINT("LPDN");
}

}  // namespace
}  // namespace fabric_router

extern "C" void kernel_main() {
    using namespace fabric_router;
    WAYPOINT("K");
    bool runs = set_up() && bring_up();
    if (runs) {
        transfer();
        begin();
    } else if (state.refusal == FITS) {
        hand_on_termination();
    }
    tear_down();
    words->edm_status = state.refusal == FITS ? TERMINATED : REFUSED;
    WAYPOINT("DONE");
}
