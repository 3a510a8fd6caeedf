//! The harts against the specification, against a plain reference, and against themselves with sleep and splits.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod isa;
mod order;
mod polling;
mod random;
mod rig;
