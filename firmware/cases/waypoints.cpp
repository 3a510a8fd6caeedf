// Waypoints as tt-metal's macro sets them: a constant of letters, stored to a word of the mailbox. No
// section lists them.
#include <stdint.h>

#define WORD ((volatile uint32_t *)0x3E224)
#define STATUS ((volatile uint32_t *)0xFFB20228)

constexpr uint32_t letters(const char *text) {
    uint32_t word = 0;
    for (int i = 0; text[i] != 0; i++) { word |= uint32_t(uint8_t(text[i])) << 8 * i; }
    return word;
}

template <uint32_t word>
inline __attribute__((always_inline)) void write_debug_waypoint(volatile uint32_t *at) {
    at[0] = word;
}

#define WAYPOINT(text) write_debug_waypoint<letters(text)>(WORD)

volatile uint32_t sink;

// Two waypoints a line apart, in a function with copies in several others.
static inline __attribute__((always_inline)) void wait_for(uint32_t count) {
    WAYPOINT("WFCW");
    while (*STATUS != count) {}
    WAYPOINT("WFCD");
}

// Two paths that end alike: a compiler may let them share the store.
__attribute__((noinline)) void choose(uint32_t which) {
    if (which & 1) {
        WAYPOINT("LEFT");
    } else {
        WAYPOINT("RGHT");
    }
    sink = which;
}

// The same letters at two lines.
__attribute__((noinline)) void twice(uint32_t which) {
    WAYPOINT("TW");
    choose(which);
    WAYPOINT("TW");
    sink = which + 1;
}

// More constants in a loop than registers: some are saved on the stack.
__attribute__((noinline)) uint32_t crowded(volatile uint32_t *from, uint32_t count) {
    uint32_t a = from[0], b = from[1], c = from[2], d = from[3], e = from[4], f = from[5], g = from[6];
    for (uint32_t i = 0; i < count; i++) {
        WAYPOINT("LPA");
        a += b * from[i];
        WAYPOINT("LPB");
        b ^= c + a;
        WAYPOINT("LPC");
        c += d * g;
        WAYPOINT("LPD");
        d ^= e + b;
        WAYPOINT("LPE");
        e += f * c;
        WAYPOINT("LPF");
        f ^= g + d;
        wait_for(a);
        g += a;
    }
    return a + b + c + d + e + f + g;
}

extern "C" void start() {
    WAYPOINT("K");
    twice(*STATUS);
    wait_for(crowded(&sink, *STATUS));
    WAYPOINT("KD");
}
