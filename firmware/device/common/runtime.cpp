// The two routines that the compiler may call implicitly; there is no C library.
#include <stddef.h>
#include <stdint.h>

extern "C" {
__attribute__((used, optimize("no-tree-loop-distribute-patterns"))) void* memcpy(void* to,
                                                                                 const void* from,
                                                                                 size_t bytes) {
    char* out = static_cast<char*>(to);
    const char* in = static_cast<const char*>(from);
    if (((reinterpret_cast<uintptr_t>(out) | reinterpret_cast<uintptr_t>(in)) & 3) == 0) {
        for (; bytes >= 4; bytes -= 4, out += 4, in += 4) {
            *reinterpret_cast<uint32_t*>(out) = *reinterpret_cast<const uint32_t*>(in);
        }
    }
    while (bytes-- != 0) {
        *out++ = *in++;
    }
    return to;
}

__attribute__((used, optimize("no-tree-loop-distribute-patterns"))) void* memset(void* to,
                                                                                 int value,
                                                                                 size_t bytes) {
    char* out = static_cast<char*>(to);
    while (bytes-- != 0) {
        *out++ = static_cast<char>(value);
    }
    return to;
}
}
