//! Opens what `--target` names and turns it into looks: the one place where the screens and verbs meet `probe`.

use crate::args::{DEFAULT_TARGET, DEVICE_TARGET};
use crate::exit::Failure;
use crate::feed::{Look, Sample};
use probe::snapshot::{AccessError, Span};

/// An open target with its decoder.
pub(crate) struct Machine {}

/// The target that was asked for, or the default: silicon where device files exist, else the emulated mesh.
pub(crate) fn target_words(asked: Option<&str>) -> String {
    asked.map_or_else(
        || {
            let devices = std::fs::read_dir("/dev/tenstorrent").is_ok_and(|d| d.count() > 0);
            if devices { DEVICE_TARGET } else { DEFAULT_TARGET }.to_owned()
        },
        str::to_owned,
    )
}

impl Machine {
    /// Opens a target.
    pub(crate) fn open(target: &str) -> Result<Self, Failure> {
        Err(Failure::Unreachable(format!("{target}: no target of this kind can be opened yet")))
    }
}

impl Look for Machine {
    fn look(&mut self, _watch: Option<Span>) -> Result<Sample, AccessError> {
        Err(AccessError::NotAsked)
    }
}
