//! The integration tests of this crate, one program.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod bus;
mod common;
mod cores;
mod debug_bus;
mod determinism;
mod disruption;
mod journal;
mod metal;
mod noc;
mod noise;
mod pcie;
mod risc_debug;
mod travel;
mod vendor;
mod who_wrote;
