//! The verdict on a mesh: what stands still, what it waits for, and which cause is first.
//!
//! Everything here is a pure function of some snapshots and their decoded states: no clock, no
//! target, no file. One snapshot proves no hang. [`expect::differences`] compares a mesh with a
//! cluster descriptor.
//!
//! ```
//! use diagnosis::expect::differences;
//! use layouts::ClusterDescriptor;
//! use machine::target::Mesh;
//!
//! let shipped = |mesh| ClusterDescriptor::shipped(mesh).expect("shipped").expect("valid");
//! let found = Mesh::from_descriptor(&shipped("n300"));
//! assert!(differences(&found, &shipped("n300")).is_empty());
//! assert!(!differences(&found, &shipped("t3000")).is_empty());
//! ```

mod buffers;
mod condition;
pub mod expect;
mod finding;
pub mod function;
mod graph;
mod health;
mod kernels;
mod look;
mod place;
mod progress;
mod proof;
mod verdict;
mod waypoint;

pub use buffers::{BufferWait, CircularBuffer, Semaphore, SemaphoreWait, SocketState};
pub use condition::{Condition, Explanation, Severity};
pub use finding::{Confidence, Evidence, Finding, Step};
pub use graph::{WaitGraph, WaitLine};
pub use health::Health;
pub use kernels::{Count, semaphores};
pub use look::{Look, Sampled};
pub use place::Place;
pub use progress::{Progress, Since, needs_samples};
pub use proof::{BrokenRoute, ExitsProof, TablesProof};
pub use verdict::{
    Diagnosis, LEAST_APART_CYCLES, Stop, core_of, debug_words, diagnose, is_halted, request_words,
    sends_the_same, wanted,
};
pub use waypoint::{Awaited, Waypoint};
