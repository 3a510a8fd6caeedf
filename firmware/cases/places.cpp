// Variables in all locations that a compiler uses: L1, the core's private memory, registers,
// pieces, several locations in turn, computed, and none.
#include "types.h"

struct pair_t {
    uint32_t low, high;
};

// The core's private memory, behind 0xFFB00000: no other core and no host can read it.
__attribute__((section(".ldm"))) volatile uint32_t private_word = 7;
__attribute__((section(".ldm"))) pair_t private_pair = {1, 2};
volatile uint32_t shared_word = 3;
register uint32_t kept_in_s11 asm("s11");

uint32_t helper(uint32_t x);

// `moving` is in one register before the call, in another after it, and in none at the end.
__attribute__((noinline)) uint32_t in_several_places(uint32_t moving, pair_t in_two_registers) {
    uint32_t doubled = moving * 2;
    shared_word = doubled;
    uint32_t after = helper(moving + in_two_registers.high);
    uint32_t constant_here = 40;
    shared_word = after + constant_here;
    return after + doubled + in_two_registers.low;
}

__attribute__((noinline)) uint32_t on_the_stack(uint32_t count) {
    volatile uint32_t words[6] = {count};
    pair_t pair = {count, count + 1};
    asm volatile("" ::"r"(&pair) : "memory");
    return words[count % 6] + pair.high;
}

// A 64-bit word in two registers, each a piece of it.
__attribute__((noinline)) uint64_t in_pieces(uint32_t low, uint32_t high) {
    uint64_t joined = (static_cast<uint64_t>(high) << 32 | low) * 3;
    helper(low);
    shared_word = static_cast<uint32_t>(joined >> 32);
    return joined + 1;
}

// After inlining nothing is left of `gone`, and `derived` is computed from the entry value.
__attribute__((noinline)) uint32_t optimised_away(uint32_t given) {
    uint32_t gone = given ^ 0x55;
    uint32_t derived = given + 16;
    shared_word = 1;
    helper(3);
    return shared_word + (gone & 0) + (derived & 0);
}

__attribute__((noinline)) uint32_t helper(uint32_t x) {
    asm volatile("" : "+r"(x));
    return x + private_word;
}

extern "C" int start() {
    kept_in_s11 = 9;
    pair_t pair = {shared_word, 4};
    return in_several_places(shared_word, pair) + on_the_stack(shared_word) +
           optimised_away(private_pair.high) + static_cast<uint32_t>(in_pieces(shared_word, 2)) +
           kept_in_s11;
}
