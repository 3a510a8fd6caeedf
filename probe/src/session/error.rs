//! Why a target, or its past, cannot be opened.

use crate::spec::SpecError;
use images::CatalogError;
use machine::past::PastError;
use machine::snapshot::AccessError;
use machine::words::cycles;
use recordings::RecordingError;
use std::fmt;
use transport::silicon::DeviceError;
use workloads::scene::SceneError;

/// Why a target, or its past, cannot be opened.
#[derive(Debug)]
pub enum OpenError {
    /// The words name no target, or no moment of a recording.
    Spec(SpecError),
    /// A directory of ELFs cannot be read.
    Catalog(CatalogError),
    /// A fabric manifest is unusable: a sentence that names it.
    Manifest(String),
    /// The scene cannot be built.
    Scene(SceneError),
    /// The machine cannot be reached.
    Unreachable {
        /// The words that name it.
        target: String,
        /// The reason.
        reason: AccessError,
    },
    /// The driver's device cannot be opened.
    Device(DeviceError),
    /// The file is not a library of a Wormhole simulator.
    Library {
        /// The words that name it.
        target: String,
        /// What it is, or what it lacks.
        why: String,
    },
    /// The recording or fabric snapshot cannot be opened.
    Recording(RecordingError),
    /// The recording has no run that could be executed again.
    NoRun,
    /// The mesh that a recorded run is of cannot be opened.
    RecordedMesh {
        /// The words that name it.
        target: String,
        /// The reason.
        reason: Box<Self>,
    },
    /// The run does not contain the moment: its first cycle and its last.
    OutsideRun(u64, u64),
    /// The past of a run gives no answer.
    Past(PastError),
    /// The target does not keep its past.
    NotKept(AccessError),
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Spec(error) => write!(f, "{error}"),
            Self::Catalog(error) => write!(f, "{error}"),
            Self::Manifest(error) => f.write_str(error),
            Self::Scene(error) => write!(f, "{error}"),
            Self::Unreachable { target, reason } => write!(f, "{target}: {reason}"),
            Self::Device(error) => write!(f, "{error}"),
            Self::Library { target, why } => write!(f, "{target}: {why}"),
            Self::Recording(error) => write!(f, "{error}"),
            Self::NoRun => f.write_str(
                "only a recording of a mesh that meshscope emulated, made while its whole past \
                 was kept, is executed again",
            ),
            Self::RecordedMesh { target, reason } => write!(f, "{target}: {reason}"),
            Self::OutsideRun(first, last) => {
                write!(f, "its run is from {} to {}", cycles(*first), cycles(*last))
            }
            Self::Past(error) => write!(f, "{error}"),
            Self::NotKept(error) => write!(f, "{error}"),
        }
    }
}

impl std::error::Error for OpenError {}

impl From<SpecError> for OpenError {
    fn from(error: SpecError) -> Self {
        Self::Spec(error)
    }
}

impl From<SceneError> for OpenError {
    fn from(error: SceneError) -> Self {
        Self::Scene(error)
    }
}

impl From<RecordingError> for OpenError {
    fn from(error: RecordingError) -> Self {
        Self::Recording(error)
    }
}

impl From<PastError> for OpenError {
    fn from(error: PastError) -> Self {
        Self::Past(error)
    }
}
