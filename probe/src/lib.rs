//! The facade over the machine: the target that the user names, and a session that reads it.
//!
//! [`spec::TargetSpec`] parses the words of `--target`. [`session::Session::open`] opens that
//! target, a machine or a recording; [`session::Session::with_target`] takes an open one.
//! [`session::Session::inspect`] plans the reads of a read set, executes them, and returns a
//! snapshot with the state of the mesh. [`telemetry::telemetry`] reads what ARC firmware tells. Below are one crate per concern, each without knowledge of
//! those above it: `machine`, `transport`, `access`, `images`, `decode`, `launch`, `fabric`,
//! `collectives`, `workloads`.
//!
//! ```
//! use probe::spec::TargetSpec;
//!
//! let spec = TargetSpec::parse("emulator:n300,run=idle,seed=3")?;
//! assert!(matches!(spec, TargetSpec::Emulator(scene) if scene.seed == 3));
//! assert!(TargetSpec::parse("emulator:n300,cofee=1").is_err());
//! # Ok::<(), probe::spec::SpecError>(())
//! ```
//!
//! # Invariants
//!
//! Everything above a [`machine::target::Target`] is the same code on every machine. Nothing here
//! knows about terminals.

pub mod session;
pub mod spec;
pub mod telemetry;
