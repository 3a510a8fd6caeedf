//! How the program ends: the only place where errors and findings become exit codes.

use diagnosis::Health;
use launch::ControlError;
use launch::outcome::{Cause, RunError, User};
use layouts::ChipLayout;
use machine::snapshot::AccessError;
use probe::session::OpenError;
use std::fmt;
use std::io;
use workloads::scene::SceneError;

/// What a verb found, if it did not fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// No findings.
    Healthy,
    /// Something is wrong with the mesh.
    Findings,
    /// A part could not be read.
    Partial,
}

impl Outcome {
    /// The outcome of a verdict, and of whether a part could not be read.
    pub fn of(health: Health, gaps: bool) -> Self {
        match health {
            Health::Fault | Health::Paused | Health::Hang => Self::Findings,
            Health::Healthy | Health::Slow if !gaps => Self::Healthy,
            Health::Healthy | Health::Slow | Health::NotFinished | Health::Unknown => Self::Partial,
        }
    }
}

/// Why the program failed: one line with what and where.
#[derive(Clone, Debug, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum Failure {
    /// An argument, or an input that it names, is unusable.
    Usage(String),
    /// The target is unreachable.
    Unreachable(String),
    /// The safe access layer refuses it, or another process uses what it needs.
    Refused(String),
    /// It was started, and the mesh failed.
    Finding(String),
    /// An error of this program.
    Internal(String),
    /// The user or the system stopped it.
    Interrupted,
    /// The reader of the output has closed it: not an error.
    ClosedPipe,
}

/// The exit code, as in the manual's page `exit-codes`.
pub fn code(result: &Result<Outcome, Failure>) -> u8 {
    match result {
        Ok(Outcome::Healthy) | Err(Failure::ClosedPipe) => 0,
        Ok(Outcome::Findings) | Err(Failure::Finding(_)) => 1,
        Err(Failure::Usage(_)) => 2,
        Err(Failure::Unreachable(_)) => 3,
        Ok(Outcome::Partial) => 4,
        Err(Failure::Refused(_)) => 5,
        Err(Failure::Internal(_)) => 70,
        Err(Failure::Interrupted) => 130,
    }
}

impl Failure {
    /// The failure for an access error, with its place.
    pub fn of_access(place: &str, error: &AccessError) -> Self {
        Self::by_access(error)(format!("{place}: {error}"))
    }

    /// The failure for a target that cannot be opened.
    pub fn of_open(words: &str, error: &OpenError) -> Self {
        let text = error.to_string();
        // Errors about a file already name it.
        let named = matches!(
            error,
            OpenError::Catalog(_)
                | OpenError::Manifest(_)
                | OpenError::Scene(
                    SceneError::Descriptor(_)
                        | SceneError::File(_)
                        | SceneError::Firmware(_)
                        | SceneError::Kernels(_)
                        | SceneError::Stopped(_)
                )
        );
        let text = if named || text.contains(words) { text } else { format!("{words}: {text}") };
        match error {
            OpenError::Spec(_)
            | OpenError::Catalog(_)
            | OpenError::Manifest(_)
            | OpenError::Recording(_)
            | OpenError::NoRun
            | OpenError::RecordedMesh { .. }
            | OpenError::NotAsked { .. }
            | OpenError::OutsideRun(..)
            | OpenError::Past(_)
            | OpenError::NotKept(_)
            | OpenError::Library { .. } => Self::Usage(text),
            OpenError::Scene(error) => match error {
                SceneError::NoMesh(..)
                | SceneError::BadOption(_)
                | SceneError::File(_)
                | SceneError::Firmware(_)
                | SceneError::Kernels(_)
                | SceneError::Descriptor(_)
                | SceneError::Mesh(_)
                | SceneError::NoRing(_)
                | SceneError::Fabric(_)
                | SceneError::Fault(_)
                | SceneError::TooEarly { .. } => Self::Usage(text),
                SceneError::Access(error) | SceneError::Control(ControlError::Gone(error)) => {
                    Self::of_access(words, error)
                }
                SceneError::Control(ControlError::Access { addr, reason }) => {
                    Self::of_access(&format!("{words}: {addr}"), reason)
                }
                SceneError::Control(ControlError::TookTooLong { .. }) => Self::Unreachable(text),
                // The mesh that the user named cannot do it.
                SceneError::Control(ControlError::NoRing | ControlError::Settings(_)) => {
                    Self::Usage(text)
                }
                SceneError::Run(kind, error) => Self::of_run(words, kind.layout(), error),
                SceneError::Wrong(_) | SceneError::Stopped(_) => Self::Finding(text),
                SceneError::Control(_) | SceneError::Image(_) => Self::Internal(text),
            },
            OpenError::Unreachable { reason: AccessError::Refused(_), .. } => Self::Refused(text),
            OpenError::Device(error) if error.is_unusable_input() => Self::Usage(text),
            OpenError::Unreachable { .. } | OpenError::Device(_) => Self::Unreachable(text),
        }
    }

    /// The failure for a run of a collective or a bring-up of a fabric; its cause decides the exit
    /// code.
    pub fn of_run(target: &str, layout: &ChipLayout, error: &RunError) -> Self {
        let end = match &error.cause {
            Cause::InUse(_) | Cause::NotAllowed(_) => Self::Refused,
            Cause::Program(_) => Self::Usage,
            Cause::Control(error) => Self::by_control(error),
            Cause::Undebuggable(why) if why.is_refusal() => Self::Refused,
            Cause::Kernel(_)
            | Cause::TookTooLong(_)
            | Cause::CleanupFailed
            | Cause::Undebuggable(_) => Self::Finding,
            Cause::Access(error) => Self::by_access(error),
        };
        let user = if let Cause::InUse(user) = &error.cause { Some(user) } else { None };
        let clean = match user {
            Some(User::Process(..)) | None => "",
            Some(_) => "; `clean` tears down what nobody owns",
        };
        let text = error.sentence(layout) + clean;
        end(if text.starts_with(target) { text } else { format!("{target}: {text}") })
    }

    /// The failure for a command that changes the machine.
    pub fn of_control(target: &str, error: &ControlError) -> Self {
        Self::by_control(error)(format!("{target}: {error}"))
    }

    fn by_control(error: &ControlError) -> fn(String) -> Self {
        match error {
            ControlError::Gone(error) | ControlError::Access { reason: error, .. } => {
                Self::by_access(error)
            }
            ControlError::TookTooLong { .. } => Self::Unreachable,
            ControlError::NoRing | ControlError::Settings(_) => Self::Usage,
            ControlError::NoImage(_) | ControlError::NoMember(..) => Self::Internal,
        }
    }

    fn by_access(error: &AccessError) -> fn(String) -> Self {
        match error {
            AccessError::Refused(_) => Self::Refused,
            _ => Self::Unreachable,
        }
    }

    /// The failure for an error of standard output, which is unusable: a closed pipe ends the program
    /// silently.
    pub fn of_output(error: &io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            Self::ClosedPipe
        } else {
            Self::Usage(format!("standard output: {error}"))
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usage(text)
            | Self::Unreachable(text)
            | Self::Refused(text)
            | Self::Finding(text)
            | Self::Internal(text) => f.write_str(text),
            Self::Interrupted => f.write_str("interrupted"),
            Self::ClosedPipe => f.write_str("closed pipe"),
        }
    }
}

impl std::error::Error for Failure {}
