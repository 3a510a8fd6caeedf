//! Why something that was launched cannot be, or was not finished.

use crate::ControlError;
use machine::snapshot::AccessError;
use std::fmt;

/// Why a run cannot be made, or was not finished.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunError {
    /// Somebody uses the mesh, in one sentence.
    InUse(String),
    /// The target does not allow what the run needs, in one sentence.
    NotAllowed(String),
    /// The program cannot be put on the mesh, in one sentence.
    Program(String),
    /// A kernel refused its arguments or was stopped by somebody else, in one sentence.
    Kernel(String),
    /// A kernel did not end, in one sentence that names its core, its waypoint and what it waits for.
    TookTooLong(String),
    /// A step of it failed.
    Control(ControlError),
    /// The machine did not answer.
    Access(AccessError),
}

impl RunError {
    /// The same, with something more to say.
    #[must_use]
    pub fn and(self, more: Option<String>) -> Self {
        let Some(more) = more else { return self };
        match self {
            Self::InUse(why) => Self::InUse(format!("{why}; {more}")),
            Self::NotAllowed(why) => Self::NotAllowed(format!("{why}; {more}")),
            Self::Program(why) => Self::Program(format!("{why}; {more}")),
            Self::Kernel(why) => Self::Kernel(format!("{why}; {more}")),
            Self::TookTooLong(why) => Self::TookTooLong(format!("{why}; {more}")),
            Self::Control(why) => Self::Access(AccessError::Unreachable(format!("{why}; {more}"))),
            Self::Access(AccessError::Unreachable(why)) => {
                Self::Access(AccessError::Unreachable(format!("{why}; {more}")))
            }
            Self::Access(why) => Self::Access(AccessError::Unreachable(format!("{why}; {more}"))),
        }
    }

    /// It was refused because somebody uses the mesh; nothing was written.
    pub fn is_in_use(&self) -> bool {
        matches!(self, Self::InUse(_))
    }
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InUse(why)
            | Self::NotAllowed(why)
            | Self::Program(why)
            | Self::Kernel(why)
            | Self::TookTooLong(why) => f.write_str(why),
            Self::Control(error) => write!(f, "{error}"),
            Self::Access(error) => write!(f, "{error}"),
        }
    }
}

impl std::error::Error for RunError {}

impl From<ControlError> for RunError {
    fn from(error: ControlError) -> Self {
        Self::Control(error)
    }
}

impl From<AccessError> for RunError {
    fn from(error: AccessError) -> Self {
        Self::Access(error)
    }
}
