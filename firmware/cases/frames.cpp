// Sixteen calls inlined into each other, a cold part, and a function without debug information.
#include "types.h"

volatile uint32_t sink;
extern "C" void unnamed_helper();

#define LEVEL(n, next)                                        \
    static inline __attribute__((always_inline)) void n(uint32_t x) { \
        next(x + 1);                                          \
        sink = x;                                             \
    }

static inline __attribute__((always_inline)) void level_0(uint32_t x) {
    sink = x * 3;
}
LEVEL(level_1, level_0)
LEVEL(level_2, level_1)
LEVEL(level_3, level_2)
LEVEL(level_4, level_3)
LEVEL(level_5, level_4)
LEVEL(level_6, level_5)
LEVEL(level_7, level_6)
LEVEL(level_8, level_7)
LEVEL(level_9, level_8)
LEVEL(level_10, level_9)
LEVEL(level_11, level_10)
LEVEL(level_12, level_11)
LEVEL(level_13, level_12)
LEVEL(level_14, level_13)

namespace deep {
template <int N>
__attribute__((noinline)) void start_of_chain(uint32_t x) {
    level_14(x + N);
}
}

__attribute__((cold, noinline)) static void complain(uint32_t x) {
    sink = x;
}

__attribute__((noinline)) int with_cold_part(uint32_t x) {
    if (__builtin_expect(x == 0xdead, 0)) {
        complain(x);
        sink = 1;
        __builtin_trap();
    }
    return (int)(x * x);
}

extern "C" int start() {
    deep::start_of_chain<7>(sink);
    unnamed_helper();
    return with_cold_part(sink);
}
