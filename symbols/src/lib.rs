//! Names for bytes: ELF and DWARF of RISC-V firmware as types, values, lines and inline frames.
