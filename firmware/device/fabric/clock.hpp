// The whole wall clock: differences of its low half are right for up to four seconds only.
#pragma once
#include "common/registers.hpp"

inline uint64_t wall_clock_64() {
    uint32_t low = word_at(WALL_CLOCK_LOW);  // latches the high half
    return static_cast<uint64_t>(word_at(WALL_CLOCK_HIGH)) << 32 | low;
}
