// Part of the C and C++ headers that the bare-metal compiler lacks, as far as tt-metal needs them.
#pragma once
#include <stddef.h>
extern "C" {
int memcmp(const void*, const void*, size_t);
void* memcpy(void*, const void*, size_t);
void* memmove(void*, const void*, size_t);
void* memset(void*, int, size_t);
size_t strlen(const char*);
}
