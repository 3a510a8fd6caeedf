// The worker of the collectives: executes its list of commands and settles its semaphores.
#include "common/build_id.hpp"
#include "worker_moves.hpp"

extern "C" {
__attribute__((used)) ccl_worker_state_t ccl_worker_state = {
    .magic = waypoint_word("CCLW"), .control = {KEEP_RUNNING, PAUSE_NEVER, 0}};
}

namespace ccl {
namespace {

bool run() {
    state.phase = CCL_RUNNING;
    if (!open_fabric() || !carry_out()) {
        return false;
    }
    state.finished_cycles = wall_clock_64();
    WAYPOINT("TDNW");
    bool settled = await_acknowledges() && close_fabric() && settle_semaphores();
    WAYPOINT("TDND");
    return settled;
}

}  // namespace
}  // namespace ccl

extern "C" void kernel_main() {
    WAYPOINT("K");
    ccl_worker_state.started_cycles = ccl::wall_clock_64();
    if (!ccl::set_up()) {
        ccl_worker_state.phase = CCL_REFUSED;
    } else if (ccl::run() && ccl_worker_state.control.termination_signal == KEEP_RUNNING) {
        ccl_worker_state.phase = CCL_FINISHED;
    } else if (ccl_worker_state.phase != CCL_REFUSED) {
        ccl_worker_state.phase = CCL_STOPPED;
    }
    WAYPOINT("KD");
}
