// Runs a kernel on any core of a Tensix tile: at kernel_config_base plus its text offset, as an
// ordinary call.
#pragma once
#include "common/mailbox.hpp"
#include "common/registers.hpp"

// NCRISC also runs its kernel from L1 here; tt-metal copies it into instruction RAM first
// (wormhole.md 4.2).
inline void run_kernel(uint32_t processor) {
    uint32_t address = launched().kernel_config_base[TENSIX] +
                       launched().kernel_text_offset[processor];
    compiler_barrier();
    reinterpret_cast<void (*)()>(address)();
    compiler_barrier();
}
