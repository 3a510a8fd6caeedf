//! Collectives, compiled on the host for EDMs and workers (CCL guide).
//!
//! [`compile()`] turns a [`Request`] (operation, size, chips, links, layout, transport) and a mesh
//! into a [`Program`]: EDMs on Ethernet cores, workers with their lists of [`WorkerCommand`]s,
//! tensors. It is pure. A [`Run`] launches a program, observes it, checks the data and cleans up;
//! it returns a [`RunReport`], with the bandwidths of nccl-tests. [`Transport`] selects EDMs or the
//! fabric. A [`Clean`] tears down whatever stands on a mesh, also of a dead owner.
//!
//! ```
//! use collectives::{Op, Request, compile};
//! use layouts::ClusterDescriptor;
//! use machine::target::Mesh;
//!
//! let n300 = ClusterDescriptor::shipped("n300").expect("it is shipped").expect("it is sound");
//! let program = compile(&Mesh::from_descriptor(&n300), &Request::new(Op::AllGather, 4096))?;
//! assert_eq!(program.edms.len(), 2); // one end of the link on each chip
//! # Ok::<(), collectives::CclError>(())
//! ```
//!
//! # Invariants
//!
//! A program that cannot run is refused before anything is written. So is a mesh that is in use. A
//! run that is stopped or fails leaves no kernel, credit or packet behind.

mod balance;
mod check;
pub mod clean;
pub mod compile;
mod connect;
mod crossing;
pub mod edm_builder;
mod edm_settings;
mod ends;
pub mod error;
pub mod expected;
mod in_use;
mod launcher;
mod op;
pub mod program;
pub mod report;
pub mod request;
pub mod rest;
pub mod run;
pub mod schedule;
pub mod slicer;
mod survey;
mod task;
mod teardown;
pub mod tensor;
mod times;
pub mod transport;
mod watch;
mod watched;
mod words;
mod worker;
mod writes;

pub use balance::{EdmBalance, edm_balance};
pub use clean::{Clean, CleanSettings};
pub use compile::{compile, compile_over};
pub use crossing::idle_tiles;
pub use error::CclError;
pub use in_use::refuse_if_in_use;
pub use launcher::fits;
pub use op::{Bidirectional, DataType, Op};
pub use program::{
    Bank, Channel, EdmChannel, EdmPlan, Partner, Program, Tensor, WorkerCommand, WorkerPlan,
};
pub use report::{ChipTimes, Park, RunProgress, RunReport, RunSettings, Stage, WrongRange};
pub use request::{Request, TensorLayout};
pub use run::Run;
pub use schedule::{Schedule, ScheduledSend, ScheduledWay};
pub use transport::{Crossing, FabricOptions, Transport};
pub use writes::writes;

#[cfg(test)]
pub(crate) mod tests;
