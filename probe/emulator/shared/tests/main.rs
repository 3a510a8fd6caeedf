//! The integration tests of this crate, one program.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod common;
mod entries;
mod host_blocks;
mod peers;
mod sequences;
mod target;
