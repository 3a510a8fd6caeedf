"""A stopped core for gdb's remote protocol on standard input and output: registers and private RAM
from files."""

import sys

registers, ram, ram_at = sys.argv[1], open(sys.argv[2], "rb").read(), 0xFFB00000
values = {}
for word in open(registers).read().split():
    name, value = word.split("=")
    values[name] = int(value, 16)
NAMES = ("zero ra sp gp tp t0 t1 t2 s0 s1 a0 a1 a2 a3 a4 a5 a6 a7 s2 s3 s4 s5 s6 s7 s8 s9 s10 s11 t3 t4 t5 t6 pc").split()


def answer(request):
    if request.startswith("qSupported"):
        return "PacketSize=4000"
    if request == "?":
        return "S05"
    if request == "g":
        return "".join(values.get(name, 0).to_bytes(4, "little").hex() for name in NAMES)
    if request.startswith("m"):
        at, length = (int(part, 16) for part in request[1:].split(","))
        start = at - ram_at
        return ram[start : start + length].hex() if 0 <= start and start + length <= len(ram) else "E01"
    return "OK" if request[:1] in "HT" else ""


def packet():
    while True:
        byte = sys.stdin.buffer.read(1)
        if not byte:
            sys.exit()
        if byte == b"$":
            body = b""
            while (byte := sys.stdin.buffer.read(1)) != b"#":
                body += byte
            sys.stdin.buffer.read(2)
            return body.decode()


while True:
    request = packet()
    reply = answer(request)
    sys.stdout.buffer.write(f"+${reply}#{sum(reply.encode()) & 255:02x}".encode())
    sys.stdout.buffer.flush()
    if request in ("D", "k"):
        break
