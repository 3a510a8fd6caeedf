// Words shared by the application and the kernels of an ERISC: takeover of the core and yield to
// base firmware (wormhole.md 7).
#pragma once
#include "registers.hpp"

// 1 starts the application; only the application clears it.
constexpr uint32_t APP_LAUNCH_FLAG = 0x9004;
constexpr uint32_t YIELD_POINTER = 0x9020;        // entry 0 of base firmware's table
constexpr uint32_t ERISC_KERNEL_ADDRESS = 0xA840;
constexpr uint32_t ERISC_UNRESERVED = 0x18000;

// Runs one pass of base firmware on this stack. Until a kernel yields, no remote access is served
// through this tile. Base firmware may use the NoC and the transmit queue: no transfer may be half
// programmed here.
inline void yield_to_base_firmware() {
    compiler_barrier();
    reinterpret_cast<void (*)()>(word_at(YIELD_POINTER))();
    compiler_barrier();
}
