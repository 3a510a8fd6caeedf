//! The machine: targets, safe access, discovery, snapshots, inspection and control.
//!
//! This room has never heard of terminals or async.

mod abreast;
mod access;
pub mod bar;
mod bus;
pub mod ccl;
pub mod control;
pub mod descriptor;
mod discover;
pub mod emulator_bar;
pub mod expect;
pub mod fabric;
pub mod fault;
mod guard;
pub use guard::{AuditLog, Latched};
pub mod hosts;
pub mod images;
pub mod inspect;
pub mod machine;
mod planner;
mod queue;
pub use queue::Patience;
pub mod scene;
pub mod serve;
pub mod session;
pub mod shared_bar;
pub mod silicon;
pub mod snapshot;
pub mod socket_bar;
pub mod spec;
pub mod state;
pub mod study;
pub mod target;
mod telemetry;
pub mod ttsim;
mod windows;
pub mod wire;
pub mod words;
mod wormhole;
