//! Collectives: who moves what over which links, compiled on the host for EDMs and workers (CCL guide).
//!
//! `request` and `topology` and `compile` are pure: they turn a mesh and a wish into a [`Program`]. What launches a
//! program, follows it and checks the data is in `run`.

pub mod program;

pub use program::{
    Bank, Channel, Command, DataType, EdmChannel, EdmPlan, Op, Partner, Program, Tensor, WorkerPlan,
};
