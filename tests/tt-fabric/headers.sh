#!/bin/bash
# Writes the headers of the host's libstdc++ 12 that need a change to compile without a hosted C library.
#
#   headers.sh FOLDER
set -eu
host=/usr/include/c++/12
[ -e "$host/algorithm" ] || { echo "$host: install libstdc++-12-dev" >&2; exit 1; }
mkdir -p "$1/bits"
sed 's/^#define _GLIBCXX_HOSTED 1$/#define _GLIBCXX_HOSTED __STDC_HOSTED__/' \
    /usr/include/x86_64-linux-gnu/c++/12/bits/c++config.h > "$1/bits/c++config.h"
sed 's/^#if _GLIBCXX_HOSTED$/#if 1/' "$host/bit" > "$1/bit"
: > "$1/bits/os_defines.h"
: > "$1/bits/cpu_defines.h"
