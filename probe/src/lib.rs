//! The facade over the machine: which target a person means, and a session that looks at it.
//!
//! [`spec::TargetSpec`] understands the words of `--target`. [`session::Session::open`] opens the target they name;
//! [`session::Session::over`] takes one that is open, such as a recording. [`session::Session::inspect`] plans what an interest needs,
//! reads it, and gives a snapshot with the state of the mesh. Below it stands one crate per concern, each of which has never heard
//! of those above: `machine`, `transport`, `access`, `decode`, `launch`, `fabric`, `collectives`, `workloads`.
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
//! Everything above a [`machine::target::Target`] is the same code on every machine. Nothing here knows a terminal.

pub mod session;
pub mod spec;
