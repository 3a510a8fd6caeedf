#!/bin/bash
# Compiles one kernel of tt-metal with Debian's bare-metal compiler; src/tt_fabric/compile.rs calls it.
#
#   compile.sh TTNN FIRMWARE TARGET SOURCE WORK ELF
#
# TTNN      folder `ttnn` of the unpacked wheel
# FIRMWARE  folder of the firmware that the kernel is linked with
# TARGET    erisc or ncrisc (linked for instruction RAM) or brisc (linked at the address in WORK/text)
# SOURCE    the kernel
# WORK      a folder of this kernel, with arguments.h; objects and the linker script go there
# ELF       the result
set -eu
ttnn=$1 firmware=$2 target=$3 source=$4 work=$5 elf=$6
here=$(cd "$(dirname "$0")" && pwd)
metal=$ttnn/tt_metal
scripts=$ttnn/runtime/hw/toolchain/wormhole
prefix=riscv64-unknown-elf-

# The bare-metal compiler has no C++ library: most headers come from the host's libstdc++ of the
# same version.
"$here/headers.sh" "$work/include"

# tt-metal's start-up code includes the kernel by this name.
printf '#include "%s"\n' "$source" > "$work/kernel_includes.hpp"

system=(-isystem "$work/include" -isystem "$here/include" -isystem /usr/include/c++/12)
include=(-I"$work" -I"$ttnn" -I"$metal")
for folder in hw/inc hw/inc/internal hw/inc/internal/tt-1xx hw/inc/internal/tt-1xx/wormhole \
    hw/inc/internal/tt-1xx/wormhole/wormhole_b0_defines hw/inc/internal/tt-1xx/wormhole/noc hw/inc/hostdev \
    hostdevcommon/api api api/tt-metalium hw/firmware/src/tt-1xx tt-llk/tt_llk_wormhole_b0/common/inc \
    hw/ckernels/wormhole_b0/metal/common hw/ckernels/wormhole_b0/metal/llk_io; do
    include+=(-I"$metal/$folder")
done

more=()
# What tt-metal's build defines for a Wormhole with 12 DRAM banks.
defines=(-DARCH_WORMHOLE -DKERNEL_BUILD -DTENSIX_FIRMWARE -DLOCAL_MEM_EN=0 -DNOC_MODE=0
    -DNUM_DRAM_BANKS=12 -DIS_NOT_POW2_NUM_DRAM_BANKS=1 -DNUM_L1_BANKS=64 -DLOG_BASE_2_OF_NUM_L1_BANKS=6
    -DPCIE_NOC_X=0 -DPCIE_NOC_Y=3 -DDISPATCH_MESSAGE_ADDR=0xFFB70438 -DRISC_B0_HW)
case $target in
erisc)
    # Without COOPERATIVE_ERISC a router never yields to base firmware.
    defines+=(-DCOMPILE_FOR_ERISC -DERISC -DROUTING_FW_ENABLED -DCOOPERATIVE_ERISC -DPROGRAMMABLE_CORE_TYPE=1
        -DPROCESSOR_INDEX=0 -DNOC_INDEX=0)
    start=erisck.cc optimise=-Os script=$scripts/erisc-b0-kernel_iram.ld
    ;;
brisc)
    defines+=(-DCOMPILE_FOR_BRISC -DPROGRAMMABLE_CORE_TYPE=0 -DPROCESSOR_INDEX=0 -DNOC_INDEX=0)
    start=brisck.cc optimise=-O2 script=$work/kernel.ld
    text=$(cat "$work/text")
    # tt-metal links a kernel behind its firmware and moves it when it loads it; this one is linked
    # where it runs.
    sed "s/\.text __fw_export_text_end :/.text $text :/; s/(__fw_export_text_end - /($text - /" \
        "$scripts/kernel_brisc.ld" > "$script"
    ;;
ncrisc)
    defines+=(-DCOMPILE_FOR_NCRISC -DPROGRAMMABLE_CORE_TYPE=0 -DPROCESSOR_INDEX=1 -DNOC_INDEX=1)
    start=ncrisck.cc optimise=-O2 script=$work/kernel.ld
    # Debian's linker forgets the address of an empty .data, behind which .bss is meant to be.
    sed 's/^  \.bss :/  .bss (ADDR(.data) + SIZEOF(.data)) :/' "$scripts/kernel_ncrisc.ld" > "$script"
    # It is reset to the start of its instruction RAM, and goes on from there.
    "${prefix}gcc" -march=rv32im -mabi=ilp32 -I"$metal/hw/inc/internal/tt-1xx/wormhole" \
        -c "$metal/hw/toolchain/wh-iram-start.S" -o "$work/start.o"
    more=("$work/start.o")
    ;;
*) echo "$target: not a target" >&2; exit 1 ;;
esac

flags=(-march=rv32im -mabi=ilp32 -std=c++17 "$optimise" -g -ffreestanding -ffast-math -fno-exceptions -fno-rtti
    -fno-use-cxa-atexit -fno-delete-null-pointer-checks -Wno-attributes -include "$work/arguments.h")
compile() { "${prefix}g++" "${flags[@]}" "${defines[@]}" "${include[@]}" "${system[@]}" -c "$1" -o "$2"; }
compile "$metal/hw/firmware/src/tt-1xx/$start" "$work/kernel.o"
compile "$here/runtime.cpp" "$work/runtime.o"
"${prefix}g++" -march=rv32im -mabi=ilp32 -nostartfiles -nostdlib -static -Wl,--gc-sections \
    -Wl,-z,max-page-size=16 -Wl,-z,common-page-size=16 -Wl,--emit-relocs -L"$metal/hw/toolchain" -L"$scripts" \
    -T"$script" -Wl,--just-symbols="$firmware/$target/${target}_weakened.elf" \
    "${more[@]}" "$work/kernel.o" "$work/runtime.o" -o "$elf"
