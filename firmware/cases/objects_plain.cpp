// Built without -g: only the symbol table has these objects and their sizes.
#include "types.h"

extern "C" {
extern const uint32_t open_words[3] = {1, 2, 0xdeadbeef};
uint16_t open_rows[2][3] = {{1, 2, 3}, {4, 5, 6}};
uint32_t unseen[3] = {7, 8, 9};
uint32_t lone_word = 0x12345678;
uint8_t lone_byte = 200;
uint64_t lone_long = 0x123456789abcdef0;
uint8_t lone_bytes[5] = {1, 2, 3, 4, 5};
uint32_t lone_zero;
}
