// Firmware of NCRISC and TRISC0..2: reports that it is up, then runs its kernel each time BRISC
// sets its byte of subordinate_sync to GO (tt-metal.md 1.2). PROCESSOR_INDEX selects the core of
// this image.
#include "common/build_id.hpp"
#include "common/waypoint.hpp"
#include "run.hpp"

extern "C" [[noreturn]] void firmware_main() {
    volatile uint8_t& sync = mailboxes->subordinate_sync.map[PROCESSOR_INDEX - 1];
    WAYPOINT("I");
    sync = RUN_SYNC_MSG_DONE;
    for (;;) {
        WAYPOINT("W");
        while (sync != RUN_SYNC_MSG_GO) {
            if (sync == RUN_SYNC_MSG_INIT_SYNC_REGISTERS) {
                sync = RUN_SYNC_MSG_DONE;  // this firmware uses no sync registers
            }
        }
        WAYPOINT("R");
        run_kernel(PROCESSOR_INDEX);
        WAYPOINT("D");
        sync = RUN_SYNC_MSG_DONE;
    }
}
