"""Runs the bench's measurements with tt-exalens: peer.py LIBRARY ELF waypoints|first-word.

tt-exalens needs a description of the chip next to the library, so both are in a temporary folder.
"""

import os
import sys
import tempfile
import time

COLUMNS = [1, 2, 3, 4, 6, 7, 8, 9]
ROWS = [1, 2, 3, 4, 5, 7, 8, 9, 10, 11]
ETH_COLUMNS = [9, 1, 8, 2, 7, 3, 6, 4]
# Three NOC 0 tiles for each of the six DRAM banks.
DRAM = [
    [(0, 0), (0, 1), (0, 11)],
    [(0, 5), (0, 6), (0, 7)],
    [(5, 0), (5, 1), (5, 11)],
    [(5, 2), (5, 9), (5, 10)],
    [(5, 3), (5, 4), (5, 8)],
    [(5, 5), (5, 6), (5, 7)],
]


def tiles(pairs):
    return "[" + ", ".join(f"{x}-{y}" for x, y in pairs) + "]"


def chip():
    """Returns the chip in the keys that UMD reads."""
    eth = [(x, y) for y in (0, 6) for x in ETH_COLUMNS]
    workers = [(x, y) for y in ROWS for x in COLUMNS]
    return "\n".join(
        [
            "grid: {x_size: 10, y_size: 12}",
            "arc: [0-10]",
            "pcie: [0-3]",
            "dram: [" + ", ".join(tiles(bank) for bank in DRAM) + "]",
            "eth: " + tiles(eth),
            "functional_workers: " + tiles(workers),
            "router_only: [0-2, 0-4, 0-8, 0-9]",
            "noc0_x_to_noc1_x: " + str(list(range(9, -1, -1))),
            "noc0_y_to_noc1_y: " + str(list(range(11, -1, -1))),
            "worker_l1_size: 1499136",
            "dram_bank_size: 2147483648",
            "eth_l1_size: 262144",
            "arch_name: WORMHOLE_B0",
            "features:",
            "  unpacker: {version: 2, inline_srca_trans_without_srca_trans_instr: True}",
            "  math: {dst_size_alignment: 32768}",
            "  packer: {version: 2}",
            "  overlay: {version: 2}",
        ]
    )


def report(name, value, unit):
    print(f"{name}\t{value:.3f}\t{unit}")


def first_word(context, _elf):
    from ttexalens.tt_exalens_lib import read_word_from_device

    read_word_from_device("1-1", 0, context=context)
    # Python itself started some milliseconds before this script.
    with open("/proc/self/stat") as stat, open("/proc/uptime") as uptime:
        began = int(stat.read().rsplit(")", 1)[1].split()[19]) / os.sysconf("SC_CLK_TCK")
        alive = float(uptime.read().split()[0]) - began
    report("first word (to 10 ms)", alive * 1e3, "ms")
    # Only this program: ru_maxrss would include the bench's memory before exec.
    with open("/proc/self/status") as status:
        peak = next(line for line in status if line.startswith("VmHWM:"))
    report("peak memory", int(peak.split()[1]) / 1024, "MiB")


def waypoints(context, elf):
    from ttexalens.memory_access import create_l1_memory_access
    from ttexalens.tt_exalens_lib import parse_elf, read_word_from_device

    elf = parse_elf(elf, context)
    places = context.devices[0].get_block_locations("functional_workers")

    def by_name():
        for place in places:
            words = elf.get_global("mailboxes", create_l1_memory_access(place)).watcher.debug_waypoint
            for core in range(5):
                words[core].waypoint.read_bytes()

    def by_letters():
        for place in places:
            words = elf.get_global("mailboxes", create_l1_memory_access(place)).watcher.debug_waypoint
            for core in range(5):
                bytes(int(words[core].waypoint[letter]) for letter in range(4))

    def by_address():
        for place in places:
            for core in range(5):
                read_word_from_device(place, address + 4 * core, context=context)

    mailbox = elf.get_global("mailboxes", create_l1_memory_access(places[0]))
    address = mailbox.watcher.debug_waypoint.get_address()
    for name, measure in [
        ("by name", by_name),
        ("by name, letter by letter", by_letters),
        ("by address", by_address),
    ]:
        times = []
        for _ in range(10):
            began = time.perf_counter()
            measure()
            times.append(time.perf_counter() - began)
        report(f"wh: 400 waypoints {name}", min(times) * 1e3, "ms")


def main():
    library, elf, question = sys.argv[1:]
    folder = tempfile.mkdtemp()
    os.symlink(library, f"{folder}/libttsim.so")
    with open(f"{folder}/soc_descriptor.yaml", "w") as out:
        out.write(chip())
    from ttexalens.tt_exalens_init import init_ttexalens

    context = init_ttexalens(simulation_directory=f"{folder}/libttsim.so")
    {"waypoints": waypoints, "first-word": first_word}[question](context, elf)


main()
