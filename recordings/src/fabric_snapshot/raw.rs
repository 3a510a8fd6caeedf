//! The bytes of a fabric snapshot: the file beside its JSON, and what is wrong with it.

use super::document::{Blob, RawFile, Status};
use machine::snapshot::AccessError;
use machine::words::hex;
use sha2::{Digest as _, Sha256};
use std::cell::Cell;
use std::path::Path;

/// How often a byte of the file may stand in blobs, on average.
const SHARED: usize = 4;

/// The bytes, or why there are none.
#[derive(Debug)]
pub(super) struct Raw {
    name: String,
    bytes: Result<Vec<u8>, String>,
    /// Bytes that blobs may still have in sum.
    left: Cell<usize>,
    /// What is wrong with the file as a whole.
    pub(super) problem: Option<String>,
}

impl Raw {
    /// Reads the file that a snapshot names, in the snapshot's folder.
    pub(super) fn read(snapshot: &Path, file: &RawFile) -> Self {
        let name = file.file.clone();
        // A path could lead anywhere; the tool writes a name.
        if Path::new(&name).file_name().is_none_or(|it| it != name.as_str()) {
            let why = format!("{name:?} is no name of a file beside the snapshot");
            return Self { name, problem: Some(why.clone()), bytes: Err(why), left: Cell::new(0) };
        }
        let path = snapshot.parent().unwrap_or(Path::new("")).join(&name);
        match files::read(&path, files::Kind::FABRIC_SNAPSHOT) {
            Ok(bytes) => {
                let left = Cell::new(bytes.len().saturating_mul(SHARED));
                Self { problem: difference(file, &bytes), name, bytes: Ok(bytes), left }
            }
            Err(error) => {
                let problem = Some(format!("{error}: the snapshot's memory is in it"));
                let bytes = Err(format!("{name}: {}", error.reason()));
                Self { bytes, name, problem, left: Cell::new(0) }
            }
        }
    }

    /// Returns the bytes of a blob.
    ///
    /// # Errors
    /// The reason of the gap that is in their place.
    pub(super) fn blob(&self, blob: &Blob) -> Result<&[u8], AccessError> {
        let words = |why: &str| blob.error.as_deref().unwrap_or(why).to_owned();
        match (blob.status, blob.offset) {
            (Status::Unsupported, _) | (_, None) => return Err(AccessError::NotRecorded),
            (Status::Unreadable, _) => {
                let why = words("no answer");
                return Err(AccessError::Hung(format!("the capture could not read it: {why}")));
            }
            _ => {}
        }
        let unusable = |why: String| AccessError::Unreachable(why);
        let bytes = self.bytes.as_ref().map_err(|why| unusable(why.clone()))?;
        let start = blob.offset.and_then(|start| usize::try_from(start).ok());
        let range = start.and_then(|start| Some(start..start.checked_add(blob.size as usize)?));
        let found = range.and_then(|range| bytes.get(range));
        let found = found.ok_or_else(|| unusable(format!("{} ends before it", self.name)))?;
        let Some(left) = self.left.get().checked_sub(found.len()) else {
            return Err(unusable(format!("too many blobs of {} overlap", self.name)));
        };
        self.left.set(left);
        if blob.sha256.as_deref().is_some_and(|expected| expected != digest(found)) {
            return Err(unusable(format!("its bytes in {} have another SHA-256", self.name)));
        }
        Ok(found)
    }
}

/// Compares the file with what the snapshot says of it.
fn difference(file: &RawFile, bytes: &[u8]) -> Option<String> {
    let (name, len) = (&file.file, bytes.len() as u64);
    if len != file.size {
        return Some(format!("{name} has {len} bytes, and the snapshot's had {}", file.size));
    }
    (digest(bytes) != file.sha256)
        .then(|| format!("{name} is not as it was captured: its SHA-256 differs"))
}

/// Returns the SHA-256 of bytes, in lower-case hexadecimal.
pub fn digest(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}
