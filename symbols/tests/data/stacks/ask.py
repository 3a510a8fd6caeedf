"""Run by gdb: prints the frames that gdb finds, innermost first, and the reason for the end."""

import os

import gdb

gdb.execute("set confirm off")
gdb.execute("set architecture riscv:rv32")
gdb.execute("set backtrace past-main on")
for elf in os.environ["ELFS"].split():
    gdb.execute(f"add-symbol-file {elf}", to_string=True)
stack = os.environ["STACK"]
gdb.execute(f"target remote | python3 stub.py {stack}.txt {stack}.ram", to_string=True)
out = open(f"{stack}.gdb.txt", "w")
frame = gdb.newest_frame()
while frame is not None:
    inlined = {gdb.INLINE_FRAME: "inlined", gdb.TAILCALL_FRAME: "tail-called"}.get(frame.type(), "called")
    place = frame.find_sal()
    file = os.path.basename(place.symtab.filename) if place.symtab else "?"
    sp = int(frame.read_register("sp")) & 0xFFFFFFFF
    name = (frame.name() or "?").replace("(anonymous namespace)", "").split("<")[0].split("(")[0].split("::")[-1]
    out.write(f"{frame.pc():#x} {name} {file}:{place.line} {inlined} sp={sp:#x}\n")
    last, frame = frame, frame.older()
out.write(f"{gdb.frame_stop_reason_string(last.unwind_stop_reason())}\n")
gdb.execute("disconnect")
