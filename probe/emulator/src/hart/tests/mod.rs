//! The harts compared with the specification, with a plain reference, and with themselves under
//! sleep and splits.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod isa;
mod order;
mod polling;
mod random;
mod rig;
