"""Stands in for riscv-tt-elf-g++, the compiler that tt-metal's runtime calls and its wheel does not have.

    compiler.py WHEEL HEADERS ARGUMENTS...

WHEEL    folder `ttnn` of the installed wheel
HEADERS  folder of the C++ headers that Debian's bare-metal compiler lacks

Firmware is the wheel's own, kernels of data movement and Ethernet cores are compiled from tt-metal's
sources by Debian's compiler, and compute kernels return at once: they need instructions that it does not know.
"""

import pathlib
import re
import shutil
import subprocess
import sys

PREFIX = "riscv64-unknown-elf-"
HERE = pathlib.Path(__file__).resolve().parent
# The wheel's firmware without watcher and profiler, for Wormhole.
FIRMWARE = "1003041148146844629"
# A compute kernel that returns at once.
RETURNS = 'extern "C" __attribute__((section(".start"), used)) unsigned _start() { return 0; }\n'
# tt-metal's loader knows no tables of absolute addresses; some of its assertions are constant to newer compilers only.
FLAGS = """-march=rv32im -mabi=ilp32 -ffreestanding -w -fno-jump-tables -fno-tree-switch-conversion
    -fno-delete-null-pointer-checks -Dstatic_assert(...)=static_assert(true)""".split()


def version(wheel):
    """What the runtime compares with the release that it was built for."""
    text = (wheel / "tt_metal/sfpi-version").read_text()
    release, build = (re.search(rf"^sfpi_{key}='(.*)'", text, re.M)[1] for key in ("version", "build"))
    return f"riscv-tt-elf-g++ (tenstorrent/sfpi:{release}[{build}]) 15.1.0"


def firmware(wheel, out, compiles):
    """An object of firmware is empty; its ELF is the wheel's."""
    if compiles:
        out.write_bytes(b"")
        return 0
    shutil.copy(wheel / "tt_metal/pre-compiled" / FIRMWARE / out.parent.name / f"{out.parent.name}.elf", out)
    return 0


def kept(argument):
    """Whether Debian's compiler knows an argument."""
    return not argument.startswith(("-W", "-ftt-", "-mcpu=", "-flto", "--param=")) or argument.startswith("-Wl,")


def linked(wheel, argument):
    """Whether a file may be linked: libraries, and objects of tt-metal's compiler with its own intermediate code, may not."""
    name = pathlib.Path(argument).name
    foreign = argument.startswith(str(wheel / "runtime/hw/lib")) and name in ("noc.o", "substitutes.o", "tdma_xmov.o")
    return not foreign and argument not in ("-lm", "-lc", "-lstdc++")


def main(wheel, headers, arguments):
    if arguments == ["--version"]:
        print(version(wheel))
        return 0
    if "c++-header" in arguments:
        return 1  # The runtime goes on without a precompiled header.
    value = lambda option: next(b for a, b in zip(arguments, arguments[1:]) if a == option)
    out = pathlib.Path(value("-o"))
    compiles = "-c" in arguments or "-E" in arguments
    pretended = "/firmware/" in str(out) or any(a.startswith("-DCOMPILE_FOR_TRISC") for a in arguments)
    if compiles and pretended and "-MF" in arguments:
        pathlib.Path(value("-MF")).write_text(f"{out}:\n")
    if "/firmware/" in str(out):
        return firmware(wheel, out, compiles)
    command, source = [PREFIX + "g++", *FLAGS], None
    if compiles and pretended:
        command += ["-O2", "-x", "c++", "-c", "-", "-o", str(out)]
        source = RETURNS
    else:
        # Kernels of Ethernet cores must fit into their instruction RAM.
        small = "erisc" in str(out)
        command += ["-flto", "-Os"] if small else []
        command += [a for a in arguments if kept(a) and not (small and a in ("-O2", "-O3"))]
        system = [headers, HERE.parent / "tt-fabric/include", "/usr/include/c++/12", "/usr/include/x86_64-linux-gnu/c++/12"]
        command += [word for folder in system for word in ("-isystem", str(folder))]
        if not compiles:
            command = [a for a in command if linked(wheel, a)] + ["-nostdlib", str(headers / "runtime.o"), "-lgcc"]
            if "erisc-b0" not in " ".join(arguments):
                command.append("-Wl,--defsym=__erisc_jump_table=0")
    return subprocess.run(command, input=source, text=True, check=False).returncode


sys.exit(main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3:]))
