// IEEE addition in integer arithmetic (the core has no floating-point unit), rounded to nearest,
// ties to even.
#include "worker_moves.hpp"

namespace ccl {
namespace {

constexpr uint32_t SIGN = 1u << 31, INFINITE = 0x7F800000, NOT_A_NUMBER = 0x7FC00000;
constexpr uint32_t HIDDEN = 1u << 23, GUARD_BITS = 3;

// Shifts right, with guard bits; the last guard bit holds whether any shifted-out bit was set.
uint32_t shifted(uint32_t significand, uint32_t by) {
    if (by == 0) {
        return significand;
    }
    return by < 27            ? significand >> by | (significand << (32 - by) != 0 ? 1 : 0)
           : significand != 0 ? 1
                              : 0;
}

uint32_t significand_of(uint32_t number) {
    uint32_t fraction = number & (HIDDEN - 1);
    return ((number & INFINITE) != 0 ? fraction | HIDDEN : fraction) << GUARD_BITS;
}

uint32_t exponent_of(uint32_t number) {
    uint32_t exponent = number >> 23 & 255;
    return exponent == 0 ? 1 : exponent;
}

uint32_t rounded(uint32_t sign, uint32_t exponent, uint32_t significand) {
    uint32_t rest = significand & 7;
    significand >>= GUARD_BITS;
    if (rest > 4 || (rest == 4 && (significand & 1) != 0)) {
        ++significand;
    }
    if (significand == HIDDEN << 1) {
        significand = HIDDEN;
        ++exponent;
    }
    if (exponent >= 255) {
        return sign | INFINITE;
    }
    return sign | (significand < HIDDEN ? 0 : exponent << 23) | (significand & (HIDDEN - 1));
}

// Requires |a| >= |b|.
uint32_t add_ordered(uint32_t a, uint32_t b) {
    bool opposite = ((a ^ b) & SIGN) != 0;
    if ((a & INFINITE) == INFINITE) {
        bool none = (a & (HIDDEN - 1)) != 0 || (opposite && (b & INFINITE) == INFINITE);
        return none ? NOT_A_NUMBER : a;
    }
    uint32_t exponent = exponent_of(a), significand = significand_of(a);
    uint32_t other = shifted(significand_of(b), exponent - exponent_of(b));
    if (!opposite) {
        significand += other;
        if (significand >= HIDDEN << (GUARD_BITS + 1)) {
            significand = significand >> 1 | (significand & 1);
            ++exponent;
        }
    } else {
        significand -= other;
        if (significand == 0) {
            return 0;
        }
        for (; significand < HIDDEN << GUARD_BITS && exponent > 1; --exponent) {
            significand <<= 1;
        }
    }
    return rounded(a & SIGN, exponent, significand);
}

// Rounds to the nearest bfloat16, in the upper half.
uint32_t upper_half(uint32_t number) {
    if ((number & INFINITE) == INFINITE) {
        return number & 0xFFFF0000;
    }
    return (number + 0x7FFF + (number >> 16 & 1)) & 0xFFFF0000;
}

uint32_t add_float32(uint32_t a, uint32_t b) {
    return a << 1 < b << 1 ? add_ordered(b, a) : add_ordered(a, b);
}

// Rounding twice is harmless here: single precision has more than twice the bits of bfloat16.
uint32_t add_bfloat16(uint32_t a, uint32_t b) {
    uint32_t low = upper_half(add_float32(a << 16, b << 16)) >> 16;
    return upper_half(add_float32(a & 0xFFFF0000, b & 0xFFFF0000)) | low;
}

}  // namespace

void add_floats(uint32_t* sum, const uint32_t* addend, const uint32_t* end) {
    for (; sum != end; ++sum, ++addend) {
        *sum = add_float32(*sum, *addend);
    }
}

void add_bfloats(uint32_t* sum, const uint32_t* addend, const uint32_t* end) {
    for (; sum != end; ++sum, ++addend) {
        *sum = add_bfloat16(*sum, *addend);
    }
}

}  // namespace ccl
