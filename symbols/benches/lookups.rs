//! Prints how fast a file is loaded and asked; `MESHSCOPE_TT_METAL_ELFS` names real firmware.
fn main() {}
