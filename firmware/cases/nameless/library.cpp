// Compiled without -g: code inlined from here has a location in the debug information and no name.
#include "../types.h"

volatile uint32_t sink;

static inline uint32_t tripled(uint32_t x) {
    sink = x;
    return x * 3;
}

uint32_t mixed(uint32_t x) {
    sink = tripled(x) + 1;
    return sink + x;
}
