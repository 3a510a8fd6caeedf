// Compiled with -g, and linked with library.cpp by LTO, which inlines across the two.
#include "../types.h"

uint32_t mixed(uint32_t x);

static auto shifted = [](uint32_t x) { return mixed(x + 4); };

__attribute__((noinline)) uint32_t twice(uint32_t x) {
    return mixed(x) + shifted(x);
}

extern "C" int start() {
    return twice(3) + twice(4);
}
