// The functions of a C library, and of tt-metal's own run-time library, that kernels call. The
// wheel ships the latter as objects of another compiler.
#include <stddef.h>
#include <stdint.h>

#include "internal/risc_attribs.h"

extern "C" {

__attribute__((used)) void* memcpy(void* to, const void* from, size_t size) {
    auto* out = static_cast<volatile uint8_t*>(to);
    auto* in = static_cast<const uint8_t*>(from);
    for (size_t i = 0; i < size; i++) {
        out[i] = in[i];
    }
    return to;
}

__attribute__((used)) void* memset(void* to, int value, size_t size) {
    auto* out = static_cast<volatile uint8_t*>(to);
    for (size_t i = 0; i < size; i++) {
        out[i] = static_cast<uint8_t>(value);
    }
    return to;
}

__attribute__((used)) void wzerorange(uint32_t* from, uint32_t* to) {
    for (volatile uint32_t* word = from; word < to; word++) {
        *word = 0;
    }
}
}

void l1_to_local_mem_copy(uint32_t* to, uint32_t* from, L1WordCount words) {
    volatile uint32_t* out = to;
    for (int32_t left = static_cast<int32_t>(words); left > 0; left--) {
        *out++ = *from++;
    }
}
