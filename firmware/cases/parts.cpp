// Functions of which the compiler makes several: cold parts, split-off parts, clones for constant
// arguments; and one that the linker removes although its debug information stays.
#include "types.h"

volatile uint32_t sink;
uint32_t table[8];

// Every call has the same count and step: a clone without those parameters.
__attribute__((noinline)) static uint32_t scan(const uint32_t *words, int count, int step) {
    uint32_t sum = 0;
    for (int i = 0; i < count; i += step) {
        sum = sum * 33 + words[i];
        sink = sum;
    }
    return sum;
}

struct point_t {
    uint32_t x, y, unused[6];
};

// Only one member behind the pointer is used: a clone that takes the member.
__attribute__((noinline)) static uint32_t only_y(const point_t *point, uint32_t factor) {
    sink = factor;
    return point->y * factor;
}

__attribute__((cold, noinline)) static void complain(uint32_t x) {
    sink = x;
    sink = x + 1;
}

// The error path is unlikely: it is far away, in the cold part.
uint32_t divided(uint32_t x) {
    if (x == 0) {
        complain(1);
        sink = 9;
        complain(4);
        __builtin_unreachable();
    }
    return 77 / x;
}

// The test is inlined into the callers; the rest becomes a separate part.
static uint32_t early(const uint32_t *words, uint32_t x) {
    if (words == nullptr) {
        return 0;
    }
    for (uint32_t i = 0; i < 20; ++i) {
        sink = x * i;
        table[i & 7] = sink + *words;
        if (sink == 5) {
            sink = 44;
        }
        if (sink == 7) {
            sink = 45;
        }
        sink = sink ^ table[3];
    }
    return *words;
}

uint32_t first(const uint32_t *words) {
    return early(words, 3) + scan(table, 8, 2);
}

uint32_t second(const uint32_t *words) {
    point_t here = {sink, sink, {}};
    return early(words + 1, sink) + scan(words, 8, 2) + only_y(&here, sink);
}

// Never called: with --gc-sections its debug information has address 0.
uint32_t thrown_away(uint32_t x) {
    sink = x;
    return x * 3;
}

extern "C" int start() {
    point_t there = {sink, 3, {}};
    return first(table) + second(table) + divided(sink) + early(&table[1], 6) +
           early(&table[2], 8) + only_y(&there, 7);
}
