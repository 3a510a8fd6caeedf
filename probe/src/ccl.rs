//! Collectives: who moves what over which links, compiled on the host for EDMs and workers (CCL guide).
//!
//! `request` and `topology` and `compile` are pure: they turn a mesh and a wish into a [`Program`]. What launches a
//! program, follows it and checks the data is in `run`.

mod blame;
pub(crate) mod cause;
mod check;
pub mod compile;
mod connect;
pub mod edm_builder;
mod edm_settings;
mod ends;
pub mod error;
pub mod expected;
mod in_use;
mod launch;
pub mod program;
pub(crate) mod records;
pub mod report;
pub mod request;
pub(crate) mod rest;
pub mod run;
pub mod slicer;
mod stuck;
mod survey;
mod task;
mod teardown;
pub mod tensor;
mod times;
pub mod topology;
pub mod transport;
mod watch;
mod words;
mod worker;
mod writes;

pub use compile::{compile, compile_over};
pub use error::{CclError, Missing};
pub use in_use::refuse_if_in_use;
pub(crate) use in_use::{allowed, held, used};
pub use launch::fits;
pub use program::{
    Bank, Channel, Command, DataType, EdmChannel, EdmPlan, Op, Partner, Program, Tensor, WorkerPlan,
};
pub use report::{ChipTimes, RunError, RunProgress, RunReport, RunSettings, Stage, WrongStretch};
pub use request::{Bidirectional, Layout, Request, TopologyKind};
pub use run::Run;
pub use survey::Loaded;
pub(crate) use survey::{Finding, survey_tiles};
pub(crate) use transport::idle_tiles;
pub use transport::{Crossing, FabricWish, Transport};
pub use writes::writes;

#[cfg(test)]
pub(crate) mod tests;
