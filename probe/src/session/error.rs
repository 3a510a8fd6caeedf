//! Why a target, or its past, cannot be opened.

use crate::spec::SpecError;
use images::CatalogError;
use machine::past::PastError;
use machine::snapshot::AccessError;
use machine::words::cycles;
use recordings::RecordingError;
use thiserror::Error;
use transport::silicon::DeviceError;
use workloads::scene::SceneError;

/// Why a target, or its past, cannot be opened.
#[derive(Debug, Error)]
pub enum OpenError {
    /// The words name no target, or no moment of a recording.
    #[error("{0}")]
    Spec(#[from] SpecError),
    /// A directory of ELFs cannot be read.
    #[error("{0}")]
    Catalog(CatalogError),
    /// A fabric manifest is unusable: a sentence that names it.
    #[error("{0}")]
    Manifest(String),
    /// The scene cannot be built.
    #[error("{0}")]
    Scene(#[from] SceneError),
    /// The machine cannot be reached.
    #[error("{target}: {reason}")]
    Unreachable {
        /// The words that name it.
        target: String,
        /// The reason.
        reason: AccessError,
    },
    /// The driver's device cannot be opened.
    #[error("{0}")]
    Device(DeviceError),
    /// The file is not a library of a Wormhole simulator.
    #[error("{target}: {why}")]
    Library {
        /// The words that name it.
        target: String,
        /// What it is, or what it lacks.
        why: String,
    },
    /// The recording or fabric snapshot cannot be opened.
    #[error("{0}")]
    Recording(#[from] RecordingError),
    /// The recording has no run that could be executed again.
    #[error(
        "only a recording of a mesh that meshscope emulated, made while its whole past \
                 was kept, is executed again"
    )]
    NoRun,
    /// The mesh that a recorded run is of cannot be opened.
    #[error("{target}: {reason}")]
    RecordedMesh {
        /// The words that name it.
        target: String,
        /// The reason.
        reason: Box<Self>,
    },
    /// The run of the recording is executed again only if a person names its mesh: the words of the
    /// recording, and why.
    #[error("its run is of {target}, which {why}: --rerun-on names the mesh if that is wanted")]
    NotAsked {
        /// The words of the recording.
        target: String,
        /// Why they are not followed.
        why: &'static str,
    },
    /// The run does not contain the moment: its first cycle and its last.
    #[error("its run is from {} to {}", cycles(*.0), cycles(*.1))]
    OutsideRun(u64, u64),
    /// The past of a run gives no answer.
    #[error("{0}")]
    Past(#[from] PastError),
    /// The target does not keep its past.
    #[error("{0}")]
    NotKept(AccessError),
}
