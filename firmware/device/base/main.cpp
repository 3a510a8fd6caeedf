// Base firmware of an Ethernet tile, for the emulator: heartbeat, link, queues, and the call of an
// application. An application that yields gets passes of `serve` while there are requests.
#include "base.hpp"
#include "common/build_id.hpp"
#include "common/erisc.hpp"

extern "C" {
__attribute__((used, section(".routing_table"))) const routing_table_t routing_table = {};
}

bool core_is_lent;

namespace {

// 6.14.0: the oldest version that the vendor's current tools accept.
constexpr uint32_t VERSION = 0x0006E000;
constexpr uint32_t HEARTBEAT_SIGNATURE = 0xABCD0000;
// Cycles between two heartbeats, 4 us. The loop stores nothing in between, so that an emulator may
// let the core sleep.
constexpr uint32_t TICK_CYCLES = 4096;

// A router of tt-metal yields after 512 idle turns, some 150 us. A request that took one step at a
// time would need several turns of both ends for each of its parts.
constexpr uint32_t MOST_YIELDED_CYCLES = 200000;
constexpr uint32_t LINGER_CYCLES = 5000;  // for the next part

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
        // Last, so that an emulator's search for an idle loop does not start within the work of a
        // tick.
        beat();
    }
    if (relay_has_work() && boot_params->routing_disabled == 0) {
        relay_pass();
    }
}

extern "C" void serve_application() {
    uint32_t start = wall_clock(), worked = start - LINGER_CYCLES;
    do {
        if (relay_has_work()) {
            worked = wall_clock();
        }
        serve();
    } while (wall_clock() - worked < LINGER_CYCLES &&
             wall_clock() - start < MOST_YIELDED_CYCLES);
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
