// Waypoints: four letters in the mailbox that name the place a core has reached. Always on in
// built-in images.
//
// WAYPOINT("ABCD") stores the letters to mailboxes->watcher.debug_waypoint[PROCESSOR_INDEX] in one
// word, first letter in the low byte, shorter codes padded with zero bytes (tt-metal.md 1.3). It
// also emits one record into the ELF section `.meshscope.waypoints`, which is not loaded and maps a
// waypoint to its source line.
//
// Format of `.meshscope.waypoints`: an unordered array of 16-byte little-endian records, one per
// place in the code (a waypoint in a function that is inlined twice has two records):
//   +0  char code[4]   the letters, zero padded
//   +4  u32 line       source line, from 1
//   +8  u32 file       byte offset into the section `.meshscope.files` of a zero-terminated path
//   +12 u32 address    link address of the code that stores the waypoint
// Paths are relative to the repository (`firmware/device/...`); `.meshscope.files` merges equal
// strings.
#pragma once
#include "mailbox.hpp"

// The index of this processor in the watcher's arrays: ETH 0; Tensix BRISC 0, NCRISC 1, TRISC0..2
// 2..4.
#ifndef PROCESSOR_INDEX
#error "PROCESSOR_INDEX is set per image by firmware/build"
#endif

constexpr uint32_t waypoint_word(const char* code) {
    uint32_t word = 0;
    for (uint32_t i = 0; i < 4 && code[i] != 0; ++i) {
        word |= static_cast<uint32_t>(static_cast<unsigned char>(code[i])) << (8 * i);
    }
    return word;
}

template <uint32_t word>
inline void store_waypoint() {
    *reinterpret_cast<volatile uint32_t*>(&mailboxes->watcher.debug_waypoint[PROCESSOR_INDEX]) =
        word;
}

#define MESHSCOPE_TEXT_(x) #x
#define MESHSCOPE_TEXT(x) MESHSCOPE_TEXT_(x)
#define WAYPOINT(code)                                                       \
    do {                                                                     \
        static_assert(sizeof(code) <= 5, "a waypoint has one to four letters"); \
        asm volatile inline("771:\n"                                         \
                            ".pushsection .meshscope.files,\"MS\",@progbits,1\n" \
                            "772: .asciz \"" __FILE__ "\"\n"                 \
                            ".popsection\n"                                  \
                            ".pushsection .meshscope.waypoints,\"\",@progbits\n" \
                            ".long %0, " MESHSCOPE_TEXT(__LINE__) ", 772b, 771b\n" \
                            ".popsection\n" ::"i"(waypoint_word(code)));     \
        store_waypoint<waypoint_word(code)>();                               \
    } while (0)
