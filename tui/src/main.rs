//! The picture and the only binary.

fn main() {}
