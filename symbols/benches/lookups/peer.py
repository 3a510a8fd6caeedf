"""Prints offset and size of a member by tt-exalens' ELF reader, and the time without Python's start."""

import sys
import time

from ttexalens.elf import ElfFile

start = time.perf_counter()
names = sys.argv[2].replace("[", ".[").split(".")
elf = ElfFile(sys.argv[1], None)
die, offset = elf.find_die_by_name(names[0]), 0
for name in names[1:]:
    if name.startswith("["):
        die = die.get_array_element_type()
        offset += int(name[1:-1]) * die.get_size()
    else:
        member = die.find_child_by_name(name)
        offset += member.get_data_member_location()
        die = member.get_resolved_type()
print(offset, die.get_size(), round((time.perf_counter() - start) * 1e6))
