#!/bin/sh
# Builds the committed seeds of the corpus from tiny.cpp with gcc-riscv64-unknown-elf 12.2.0.
set -eu
cd "$(dirname "$0")"
here=$PWD
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp"
common="-march=rv32im -mabi=ilp32 -ffreestanding -fno-exceptions -fno-rtti -fno-pic -fno-ident
    -fno-record-gcc-switches -ffile-prefix-map=$here=/m -ffile-prefix-map=$tmp=/m"
link="-nostdlib -nostartfiles -Wl,-n -Wl,-Ttext=0x9040 -Wl,-Tdata=0x10000 -Wl,--build-id=none -Wl,-e,start"
seed() { # seed <name> <compiler flags>
    name=$1
    shift
    # shellcheck disable=SC2086
    riscv64-unknown-elf-g++ $common "$@" -c "$here/tiny.cpp" -o "$name.o"
    # shellcheck disable=SC2086
    riscv64-unknown-elf-g++ $common "$@" $link "$name.o" -o "$name.elf"
    riscv64-unknown-elf-objcopy --remove-section .riscv.attributes --remove-section .debug_aranges \
        --remove-section .debug_gnu_pubnames --remove-section .debug_gnu_pubtypes \
        --remove-section .comment "$name.elf"
}
pair() { # pair <name> <first> <second>: the input of the entry point `split`
    python3 - "$@" <<'PY'
import struct, sys
_, to, first, second = sys.argv
first, second = open(first, "rb").read(), open(second, "rb").read()
open(to, "wb").write(struct.pack("<I", len(first)) + first + second)
PY
}
seed five -O1 -g -gdwarf-5
seed four -O2 -g -gdwarf-4 -gstrict-dwarf
seed units -O1 -g -gdwarf-4 -fdebug-types-section
seed lto -O2 -g -gdwarf-5 -flto -flto-partition=one
seed packed -O1 -g -gdwarf-5 -gz=zlib -Wl,--compress-debug-sections=zlib
seed tables -O2 -g -gdwarf-5 -fasynchronous-unwind-tables
seed split5 -O2 -g -gdwarf-5 -gsplit-dwarf
seed split4 -O2 -g -gdwarf-4 -gsplit-dwarf -fdebug-types-section
# With a build id, because no checksum survives the mutator.
seed whole -O1 -g -gdwarf-5 -Wl,--build-id=sha1
riscv64-unknown-elf-objcopy --only-keep-debug whole.elf whole.debug
riscv64-unknown-elf-objcopy --strip-all --add-gnu-debuglink=whole.debug whole.elf linked.elf
chmod 644 ./*.elf
for entry in load types values unwind split; do mkdir -p "$here/corpus/$entry"; done
cp five.elf four.elf lto.elf packed.elf "$here/corpus/load"
cp five.elf four.elf units.elf lto.elf "$here/corpus/types"
cp five.elf four.elf units.elf lto.elf "$here/corpus/values"
cp four.elf tables.elf "$here/corpus/unwind"
pair "$here/corpus/split/split5" split5.elf split5.dwo
pair "$here/corpus/split/split4" split4.elf split4.dwo
pair "$here/corpus/split/linked" linked.elf whole.debug
