"""What tt-exalens' own ELF reader says of one member: offset, size, and how long it took without Python's start."""

import sys
import time

from ttexalens.elf import ElfFile

start = time.perf_counter()
names = sys.argv[2].replace("[", ".[").split(".")
die, offset = ElfFile(sys.argv[1], None).find_die_by_name(names[0]), 0
for name in names[1:]:
    die = die.get_resolved_type() or die
    if name.startswith("["):
        die = die.get_array_element_type()
        offset += int(name[1:-1]) * die.get_size()
    else:
        die = die.find_child_by_name(name)
        offset += die.get_data_member_location()
die = die.get_resolved_type() or die
print(offset, die.get_size(), round((time.perf_counter() - start) * 1e6))
