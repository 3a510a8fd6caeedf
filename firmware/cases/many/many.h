// What makes a unit with a line table of thousands of entries and thousands of local symbols: the same lines many times.
#pragma once
#include <stdint.h>

#define JOIN_NOW(a, b) a##b
#define JOIN(a, b) JOIN_NOW(a, b)
#define NAME(prefix) JOIN(prefix, __COUNTER__)
