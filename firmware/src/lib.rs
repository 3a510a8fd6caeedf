//! The firmware images that run on the cores, embedded; the Rust side does nothing else.
#![forbid(unsafe_code)]
