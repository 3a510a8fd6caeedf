// Base firmware of an Ethernet tile, for the emulator: beats, keeps the link, serves the queues, and lends the core to an
// application. One pass of `serve` is what an application gets for a yield.
#include "base.hpp"
#include "common/build_id.hpp"
#include "common/erisc.hpp"

extern "C" {
__attribute__((used, section(".routing_table"))) const routing_table_t routing_table = {};
}

bool core_is_lent;

namespace {

constexpr uint32_t VERSION = 0x0006E000;           // 6.14.0: the oldest that the vendor's tools of today accept
constexpr uint32_t HEARTBEAT_SIGNATURE = 0xABCD0000;
// Cycles between two beats, 4 us: the loop stores nothing in between, so that an emulator may let the core sleep.
constexpr uint32_t TICK_CYCLES = 4096;

uint32_t last_tick;
uint32_t beats;

void beat() {
    beats = (beats + 1) & 0xFFFF;
    word_at(HEARTBEAT) = HEARTBEAT_SIGNATURE | beats;
    boot_results->heartbeat = HEARTBEAT_SIGNATURE | beats;
}

}  // namespace

extern "C" void serve() {
    if (wall_clock() - last_tick >= TICK_CYCLES) {
        last_tick = wall_clock();
        supervise_link();
        beat();  // last: an emulator that looks for a loop without effect then does not look among what runs once per tick
    }
    if (relay_has_work() && boot_params->routing_disabled == 0) {
        relay_pass();
    }
}

extern "C" [[noreturn]] void firmware_main() {
    word_at(QUEUE_POINTER) = reinterpret_cast<uint32_t>(queues);
    word_at(FIRMWARE_VERSION) = VERSION;
    word_at(YIELD_POINTER) = reinterpret_cast<uint32_t>(&yield_entry);
    publish_identity();
    resume_host_queue();
    beat();
    last_tick = wall_clock();
    for (;;) {
        serve();
        if (word_at(APP_LAUNCH_FLAG) == 1) {
            core_is_lent = true;
            call_application();
            core_is_lent = false;
        }
    }
}
