// BRISC firmware: starts the other four cores of the tile, answers INIT, and runs the programs of
// the launch ring on go messages, with tt-metal's semantics for host and device dispatch
// (tt-metal.md 1.2, tt-metal.md 7.1, tt-metal.md 7.2).
#include "common/build_id.hpp"
#include "common/noc.hpp"
#include "common/waypoint.hpp"
#include "run.hpp"

namespace {

constexpr uint32_t SOFT_RESET_0 = 0xFFB121B0;
constexpr uint32_t STREAM_BASE = 0xFFB40000, STREAM_STRIDE = 0x1000, STREAM_UPDATE = 0x88;
// tt-metal's first dispatch-message stream; go_msg_t adds an offset.
constexpr uint32_t DISPATCH_STREAM = 48;
constexpr uint32_t WATCHER_DISABLED = 2, WATCHER_ENABLED = 3;

go_msg_t& go() { return mailboxes->go_messages[mailboxes->go_message_index]; }

void start_subordinates() {
    mailboxes->subordinate_sync.all = RUN_SYNC_MSG_ALL_INIT;
    word_at(SOFT_RESET_0) = 0;
    while (mailboxes->subordinate_sync.all != 0) {
    }
}

// Adds one to the dispatcher's stream, as every worker does when its program is done.
void notify_dispatcher() {
    uint32_t stream = DISPATCH_STREAM + go().dispatch_message_offset;
    while (niu_busy(0, NOC_BUFFER_REGISTER)) {
    }
    noc_start_word_write(0, 0, noc_mid(go().master_x, go().master_y),
                         STREAM_BASE + stream * STREAM_STRIDE + STREAM_UPDATE, 1 << 6);
}

void reset_read_pointer() {
    if (mailboxes->launch_msg_rd_ptr != 0) {
        mailboxes->launch_msg_rd_ptr = 0;
    }
}

// RESET_READ_PTR_FROM_HOST is not acknowledged: the host overwrites it with the next GO.
void wait_for_go() {
    for (;;) {
        switch (go().signal) {
            case RUN_MSG_GO: return;
            case RUN_MSG_RESET_READ_PTR:
            case RUN_MSG_REPLAY_TRACE:
                reset_read_pointer();
                go().signal = RUN_MSG_DONE;
                notify_dispatcher();
                break;
            case RUN_MSG_RESET_READ_PTR_FROM_HOST: reset_read_pointer(); break;
            default: break;
        }
    }
}

void start_enabled(uint32_t enables) {
    for (uint32_t i = 0; i < 4; ++i) {
        if ((enables & (2u << i)) != 0) {
            mailboxes->subordinate_sync.map[i] = RUN_SYNC_MSG_GO;
        }
    }
}

void finish(volatile kernel_config_msg_t& config) {
    go().signal = RUN_MSG_DONE;
    if (config.mode == DISPATCH_MODE_DEV) {
        config.enables = 0;
        config.preload = 0;
        notify_dispatcher();
        mailboxes->launch_msg_rd_ptr = (mailboxes->launch_msg_rd_ptr + 1) %
                                       launch_msg_buffer_num_entries;
    }
}

}  // namespace

extern "C" [[noreturn]] void firmware_main() {
    WAYPOINT("I");
    if (mailboxes->watcher.enable != WATCHER_DISABLED) {
        mailboxes->watcher.enable = WATCHER_ENABLED;  // waypoints are always on in built-in images
    }
    mailboxes->core_info.core_magic_number = CoreMagicNumber::WORKER;
    mailboxes->launch_msg_rd_ptr = 0;
    start_subordinates();
    go().signal = RUN_MSG_DONE;

    for (;;) {
        WAYPOINT("GW");
        wait_for_go();
        WAYPOINT("GD");
        volatile kernel_config_msg_t& config = launched();
        uint32_t enables = config.enables;
        start_enabled(enables);
        WAYPOINT("R");
        if ((enables & 1) != 0) {
            run_kernel(0);
        }
        WAYPOINT("D");
        WAYPOINT("NTW");
        while (mailboxes->subordinate_sync.all != 0) {
        }
        WAYPOINT("NTD");
        finish(config);
    }
}
