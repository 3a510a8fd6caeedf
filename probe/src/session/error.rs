//! Why a target cannot be opened, and a recorded run not be executed again.

use crate::spec::SpecError;
use images::CatalogError;
use machine::past::PastError;
use machine::snapshot::AccessError;
use machine::words::cycles;
use recordings::RecordingError;
use std::fmt;
use transport::silicon::DeviceError;
use workloads::scene::SceneError;

/// Why a target cannot be opened; each variant has its own exit code.
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
    /// The run of the recording is not executed again.
    Rerun(RerunError),
}

/// Why there is no past of a recorded mesh, whose run would be executed again, or of a live one.
#[derive(Debug)]
pub enum RerunError {
    /// The recording has no run.
    NoRun,
    /// The mesh cannot be opened that executes it.
    Mesh {
        /// The words that name it.
        target: String,
        /// The reason.
        reason: Box<OpenError>,
    },
    /// The target does not keep its past.
    NotKept(AccessError),
    /// The run gives no answer.
    Past(PastError),
    /// The run does not contain the moment: its first cycle and its last.
    Outside(u64, u64),
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
            Self::Rerun(error) => write!(f, "{error}"),
        }
    }
}

impl fmt::Display for RerunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoRun => f.write_str(
                "only a recording of a mesh that meshscope emulated, made while its whole past \
                 was kept, is executed again",
            ),
            Self::Mesh { target, reason } => write!(f, "{target}: {reason}"),
            Self::NotKept(error) => write!(f, "{error}"),
            Self::Past(error) => write!(f, "{error}"),
            Self::Outside(first, last) => {
                write!(f, "its run is from {} to {}", cycles(*first), cycles(*last))
            }
        }
    }
}

impl std::error::Error for OpenError {}

impl std::error::Error for RerunError {}

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

impl From<RerunError> for OpenError {
    fn from(error: RerunError) -> Self {
        Self::Rerun(error)
    }
}

impl From<PastError> for RerunError {
    fn from(error: PastError) -> Self {
        Self::Past(error)
    }
}
