//! Collectives: who moves what over which links, compiled on the host for EDMs and workers (CCL guide).
//!
//! `request` and `topology` and `compile` are pure: they turn a mesh and a wish into a [`Program`]. What launches a
//! program, follows it and checks the data is in `run`.

mod blame;
mod check;
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
pub mod slicer;
mod stuck;
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

pub use compile::{compile, compile_over};
pub use crossing::idle_tiles;
pub use error::CclError;
pub use in_use::refuse_if_in_use;
pub use launcher::fits;
pub use op::{Bidirectional, DataType, Op};
pub use program::{
    Bank, Channel, Command, EdmChannel, EdmPlan, Partner, Program, Tensor, WorkerPlan,
};
pub use report::{ChipTimes, RunProgress, RunReport, RunSettings, Stage, WrongStretch};
pub use request::{Layout, Request};
pub use run::Run;
pub use transport::{Crossing, FabricWish, Transport};
pub use writes::writes;

#[cfg(test)]
pub(crate) mod tests;
