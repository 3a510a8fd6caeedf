//! Figures for loading and looking up.
fn main() {}
