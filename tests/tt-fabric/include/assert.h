// Part of the C and C++ headers that the bare-metal compiler lacks, as far as tt-metal needs them.
#pragma once
#define assert(condition) static_cast<void>(0)
