// Semaphores of programs: words that other tiles increment by NoC atomics (wormhole.md 3.3). Each
// has a 16-byte unit of its own, because an increment addresses the word of the unit that its
// opcode names, here the first.
#pragma once
#include "common/noc.hpp"

constexpr uint32_t SEMAPHORE_BYTES = 16;          // from one semaphore of a program to the next

inline volatile uint32_t& semaphore_at(uint32_t address) { return word_at(address); }

// Adds to the semaphore of any tile, including this one. Buffer 3 must not be busy; `id` counts the
// increment as outstanding until it is done. It travels on the virtual channel of the writes, so
// that it does not overtake them.
void semaphore_increment(uint32_t noc, uint32_t id, uint32_t target_mid, uint32_t address,
                         uint32_t value);
