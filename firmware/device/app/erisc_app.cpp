// Application firmware of an active Ethernet core, at 0x9040: takes the core over from base
// firmware, waits until the host enables routing, runs the kernel at 0xA840 on each go message, and
// returns the core on request. Behaves as tt-metal's active-ERISC firmware without IRAM
// (wormhole.md 7.1, tt-metal.md 1.2): INIT is not acknowledged, the launch ring's read pointer
// stays 0, only go_messages[0] is read, and the kernel resolves its argument offsets.
#include "common/build_id.hpp"
#include "common/erisc.hpp"
#include "common/eth_sync.hpp"
#include "common/noc.hpp"
#include "common/waypoint.hpp"

namespace {

// In ROUTER_CFG_2, with a count that moves while routing is off.
constexpr uint32_t WAITING_SIGN = 0xAABB0000;
// Cycles per count, so that the loop stores nothing in between.
constexpr uint32_t WAITING_SIGN_PERIOD = 1024;
constexpr uint32_t WATCHER_DISABLED = 2, WATCHER_ENABLED = 3;

// tt-metal's kernels rely on these fields being set once (wormhole.md 3.3); built-in kernels set
// the fields they use.
void program_command_buffers() {
    for (uint32_t noc = 0; noc < 2; ++noc) {
        uint32_t own = noc_own_mid(noc);
        niu_field(noc, NOC_BUFFER_WRITE, NIU_TARG_MID) = own;
        niu_field(noc, NOC_BUFFER_REGISTER, NIU_TARG_MID) = own;
        niu_field(noc, NOC_BUFFER_READ, NIU_RET_MID) = own;
        niu_field(noc, NOC_BUFFER_READ, NIU_CTRL) = NOC_READ_CTRL;
        niu_field(noc, NOC_BUFFER_ATOMIC, NIU_RET_LO) = 4;
        niu_field(noc, NOC_BUFFER_ATOMIC, NIU_RET_MID) = own;
        for (uint32_t buffer = 0; buffer < 4; ++buffer) {
            niu_field(noc, buffer, NIU_PACKET_TAG) = 0;
        }
    }
}

void wait_for_routing() {
    WAYPOINT("REW");
    uint32_t count = 0, last = wall_clock();
    word_at(niu(0, NIU_ROUTER_CFG_2)) = WAITING_SIGN;
    while (routing_info->routing_enabled != 1) {
        if (wall_clock() - last >= WAITING_SIGN_PERIOD) {
            last = wall_clock();
            count = (count + 1) & 0xFFFF;
            word_at(niu(0, NIU_ROUTER_CFG_2)) = WAITING_SIGN | count;
        }
        yield_to_base_firmware();
    }
    WAYPOINT("RED");
}

void run_kernel() {
    WAYPOINT("R");
    if ((launched().enables & 1) != 0) {
        reinterpret_cast<void (*)()>(ERISC_KERNEL_ADDRESS)();
        compiler_barrier();
    }
    WAYPOINT("D");
    mailboxes->go_messages[0].signal = RUN_MSG_DONE;
}

}  // namespace

extern "C" void application_main() {
    WAYPOINT("I");
    if (mailboxes->watcher.enable != WATCHER_DISABLED) {
        mailboxes->watcher.enable = WATCHER_ENABLED;  // waypoints are always on in built-in images
    }
    mailboxes->core_info.core_magic_number = CoreMagicNumber::ACTIVE_ETH;
    mailboxes->aerisc_run_flag = 1;
    program_command_buffers();
    wait_for_routing();
    mailboxes->launch_msg_rd_ptr = 0;

    WAYPOINT("GW");
    while (routing_info->routing_enabled != 0 && launched().exit_erisc_kernel == 0) {
        if (mailboxes->go_messages[0].signal == RUN_MSG_GO) {
            WAYPOINT("GD");
            run_kernel();
            WAYPOINT("GW");
        } else {
            yield_to_base_firmware();
        }
    }
    mailboxes->aerisc_run_flag = 0;
    WAYPOINT("EXIT");
    word_at(APP_LAUNCH_FLAG) = 0;
}
