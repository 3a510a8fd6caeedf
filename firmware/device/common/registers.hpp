// Register access, and the registers that every core has (wormhole.md 4.5).
#pragma once
#include <stdint.h>

inline volatile uint32_t& word_at(uint32_t address) {
    return *reinterpret_cast<volatile uint32_t*>(address);
}

constexpr uint32_t WALL_CLOCK_LOW = 0xFFB121F0;    // reading it latches the high half
constexpr uint32_t WALL_CLOCK_HIGH = 0xFFB121F8;   // the latched high half

// Low half of the wall clock in cycles. Differences are right for up to four seconds at 1 GHz.
inline uint32_t wall_clock() { return word_at(WALL_CLOCK_LOW); }

// Keeps the compiler (not the hardware) from moving accesses across this point.
inline void compiler_barrier() { asm volatile("" ::: "memory"); }
