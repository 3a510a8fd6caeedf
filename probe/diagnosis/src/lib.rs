//! The verdict on a mesh: what stands still, what it waits for, and which cause is first.
//!
//! Everything here is a pure function of some snapshots and their decoded states: no clock, no
//! target, no file. One snapshot proves no hang.

mod condition;
mod place;

pub use condition::{Condition, Severity};
pub use place::Place;
