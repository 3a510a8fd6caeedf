// Declarations shared by two units, so that readers find each type twice.
#pragma once
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
typedef int int32_t;
typedef long long int64_t;

// Declared here for both units, complete only in other.cpp.
struct hidden_t;
namespace outer {
struct later_t;
}
