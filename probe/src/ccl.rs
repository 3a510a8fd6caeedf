//! Collectives: who moves what over which links, compiled on the host for EDMs and workers (CCL guide).
//!
//! `request` and `topology` and `compile` are pure: they turn a mesh and a wish into a [`Program`]. What launches a
//! program, follows it and checks the data is in `run`.

pub mod compile;
pub mod error;
pub mod expected;
pub mod program;
pub mod report;
pub mod request;
pub mod run;
pub mod slicer;
pub mod tensor;
pub mod topology;

pub use compile::compile;
pub use error::{CclError, Missing};
pub use program::{
    Bank, Channel, Command, DataType, EdmChannel, EdmPlan, Op, Partner, Program, Tensor, WorkerPlan,
};
pub use report::{ChipTimes, RunError, RunProgress, RunReport, RunSettings, Stage, WrongStretch};
pub use request::{Bidirectional, Layout, Request, TopologyKind};
pub use run::{Run, refuse_if_in_use, writes};

#[cfg(test)]
mod tests;
