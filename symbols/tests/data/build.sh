#!/bin/sh
# Builds the small ELFs that the tests of `symbols` read. They are committed, so that nobody needs the
# compiler; with gcc-riscv64-unknown-elf 12.2.0 and binutils 2.40 this gives the same bytes again.
set -eu
cd "$(dirname "$0")"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
common="-march=rv32im -mabi=ilp32 -ffreestanding -fno-exceptions -fno-rtti -fno-pic
    -ffile-prefix-map=$PWD=/symbols -fno-record-gcc-switches"
link="-nostdlib -Wl,-Ttext=0x9040 -Wl,-Tdata=0x103e0 -Wl,--build-id=none -Wl,-e,start"
cxx() {
    # shellcheck disable=SC2086
    riscv64-unknown-elf-g++ $common "$@"
}
types() {
    name=$1
    shift
    cxx "$@" -c types.cpp -o "$tmp/types.o"
    cxx "$@" -c other.cpp -o "$tmp/other.o"
    # shellcheck disable=SC2086
    cxx "$@" $link "$tmp/types.o" "$tmp/other.o" -o "$name"
}
types types.elf -O1 -g -gdwarf-5
types types-dwarf4.elf -O1 -g -gdwarf-4 -gstrict-dwarf
types types-units.elf -O1 -g -gdwarf-5 -fdebug-types-section
types types-units4.elf -O1 -g -gdwarf-4 -fdebug-types-section
types types-lto.elf -O2 -g -gdwarf-5 -flto -flto-partition=one
types types-packed.elf -O1 -g -gdwarf-5 -gz=zlib -Wl,--compress-debug-sections=zlib
types types-relocs.elf -O1 -g -gdwarf-5 -Wl,--emit-relocs
types types-stripped.elf -O1 -s
(cd "$tmp" && riscv64-unknown-elf-g++ $common -ffile-prefix-map="$tmp"=/symbols -O1 -g -gdwarf-5 \
    -gsplit-dwarf -I"$OLDPWD" -c "$OLDPWD/other.cpp" -o other.o)
# shellcheck disable=SC2086
cxx $link -Wl,--unresolved-symbols=ignore-all -Wl,--build-id=sha1 "$tmp/other.o" -o types-split.elf
cxx -O2 -c helper.cpp -o "$tmp/helper.o"
cxx -O2 -g -gdwarf-5 -c frames.cpp -o "$tmp/frames.o"
# shellcheck disable=SC2086
cxx -O2 $link "$tmp/frames.o" "$tmp/helper.o" -o frames.elf
cxx -O2 -g -gdwarf-5 -flto -c frames.cpp -o "$tmp/frames.o"
# shellcheck disable=SC2086
cxx -O2 -g -flto -flto-partition=one $link "$tmp/frames.o" "$tmp/helper.o" -o frames-lto.elf

# What gdb 13.1 and llvm-symbolizer 14.0.6 answer about them.
gdb-multiarch -batch -nx -ex 'ptype /o big_t' types.elf > big_t.gdb.txt
for name in frames frames-lto; do
    riscv64-unknown-elf-objdump -d "$name.elf" | sed -n 's/^ *\([0-9a-f]*\):.*/0x\1/p' > "$tmp/addresses"
    llvm-symbolizer --obj="$name.elf" --functions=short --addresses < "$tmp/addresses" > "$name.llvm.txt"
done
