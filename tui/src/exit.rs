//! How the program ends: every error and every finding becomes an exit code here and nowhere else.

use launch::ControlError;
use launch::outcome::{Cause, RunError};
use layouts::ChipLayout;
use machine::snapshot::AccessError;
use probe::session::OpenError;
use std::fmt;
use std::io;
use workloads::scene::SceneError;

/// What a verb found, where it did not fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// All is well.
    Healthy,
    /// Something is wrong with the mesh.
    Findings,
    /// A part could not be read.
    Partial,
}

/// Why the program could not do what it was asked for: one line that says what and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// An argument, or an input that it names, cannot be used.
    Usage(String),
    /// The target cannot be reached.
    Unreachable(String),
    /// The safe access layer does not allow it, or somebody else uses what it needs.
    Refused(String),
    /// It was begun, and the mesh did not do its part.
    Finding(String),
    /// A fault of this program.
    Internal(String),
    /// A person or the system stopped it.
    Interrupted,
    /// Who read the output has gone: not an error.
    ClosedPipe,
}

/// The exit code, as the page `exit-codes` of the manual lists them.
pub(crate) fn code(result: &Result<Outcome, Failure>) -> u8 {
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
    /// What an access error means for the whole program, with the place where it happened.
    pub(crate) fn of_access(place: &str, error: &AccessError) -> Self {
        Self::by_access(error)(format!("{place}: {error}"))
    }

    /// What it means that a target cannot be opened.
    pub(crate) fn of_open(words: &str, error: &OpenError) -> Self {
        let text = error.to_string();
        // What is wrong with a file already names it.
        let named = matches!(
            error,
            OpenError::Scene(
                SceneError::Descriptor(_) | SceneError::File(_) | SceneError::Firmware(_)
            )
        );
        let text = if named || text.contains(words) { text } else { format!("{words}: {text}") };
        match error {
            OpenError::Spec(_) | OpenError::IsRecording(_) | OpenError::Library { .. } => {
                Self::Usage(text)
            }
            OpenError::Scene(error) => match error {
                SceneError::NoMesh(..)
                | SceneError::NoWord(_)
                | SceneError::File(_)
                | SceneError::Firmware(_)
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
                // The mesh that a person named cannot do it.
                SceneError::Control(ControlError::NoRing | ControlError::Settings(_)) => {
                    Self::Usage(text)
                }
                SceneError::Run(kind, error) => Self::of_run(words, kind.layout(), error),
                SceneError::Wrong(_) => Self::Finding(text),
                SceneError::Control(_) | SceneError::Image(_) => Self::Internal(text),
            },
            OpenError::Unreachable { reason: AccessError::Refused(_), .. } => Self::Refused(text),
            OpenError::Device(error) if error.is_unusable_input() => Self::Usage(text),
            OpenError::Unreachable { .. } | OpenError::Device(_) => Self::Unreachable(text),
        }
    }

    /// What ended the run of a collective, or kept a fabric from coming up: its cause alone says how the program ends.
    pub(crate) fn of_run(target: &str, layout: &ChipLayout, error: &RunError) -> Self {
        let end = match &error.cause {
            Cause::InUse(_) | Cause::NotAllowed(_) => Self::Refused,
            Cause::Program(_) => Self::Usage,
            Cause::Kernel(_) | Cause::TookTooLong(_) | Cause::Left => Self::Finding,
            Cause::Control(error) => Self::by_control(error),
            Cause::Access(error) => Self::by_access(error),
        };
        end(format!("{target}: {}", error.sentence(layout)))
    }

    /// What ended a command that changes the machine.
    pub(crate) fn of_control(target: &str, error: &ControlError) -> Self {
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

    /// What an error of standard output means: a closed pipe is a quiet end.
    pub(crate) fn of_output(error: &io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            Self::ClosedPipe
        } else {
            Self::Internal(format!("standard output: {error}"))
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
