// A unit with a line table of thousands of entries and thousands of local symbols: repeated lines.
#pragma once
#include <stdint.h>

#define JOIN_NOW(a, b) a##b
#define JOIN(a, b) JOIN_NOW(a, b)
#define NAME(prefix) JOIN(prefix, __COUNTER__)
