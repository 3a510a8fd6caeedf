// What application and kernels on an ERISC share: the words of the takeover and the yield to base firmware
// (wormhole.md 7).
#pragma once
#include "registers.hpp"

constexpr uint32_t APP_LAUNCH_FLAG = 0x9004;      // 1 starts the application; only the application clears it
constexpr uint32_t YIELD_POINTER = 0x9020;        // base firmware's table, entry 0
constexpr uint32_t ERISC_KERNEL_ADDRESS = 0xA840;
constexpr uint32_t ERISC_UNRESERVED = 0x18000;

// Runs base firmware for a moment, on this stack. Without it nobody serves remote access through this tile.
// Base firmware may use the NoC and the transmit queue meanwhile: no transfer may be half programmed here.
inline void yield_to_base_firmware() {
    compiler_barrier();
    reinterpret_cast<void (*)()>(word_at(YIELD_POINTER))();
    compiler_barrier();
}
