//! Looking for the other files that an ELF names: where they may be, and how they are opened.

use std::path::{Path, PathBuf};

use crate::bytes::Bytes;

/// How a file is opened; none if it is not there or is no file.
pub(crate) type Open<'o> = dyn FnMut(&Path) -> Option<Bytes> + 'o;

/// The places around one ELF.
pub(crate) struct Beside<'o> {
    path: PathBuf,
    open: &'o mut Open<'o>,
    /// Bytes that may still be read: an ELF can name files without end.
    left: usize,
}

/// Bytes of all other files together that are looked at.
const MAX_BYTES: usize = 1 << 30;

impl<'o> Beside<'o> {
    pub(crate) fn new(path: &Path, open: &'o mut Open<'o>) -> Beside<'o> {
        Beside { path: path.to_owned(), open, left: MAX_BYTES }
    }

    /// The ELF's own file name.
    pub(crate) fn name(&self) -> Option<String> {
        Some(self.path.file_name()?.to_string_lossy().into_owned())
    }

    /// A path in the folder of the ELF.
    pub(crate) fn in_folder(&self, end: impl AsRef<Path>) -> PathBuf {
        self.path.parent().unwrap_or(Path::new("")).join(end)
    }

    /// The ELF's path with more at its end.
    pub(crate) fn with(&self, suffix: &str) -> PathBuf {
        let mut path = self.path.clone().into_os_string();
        path.push(suffix);
        path.into()
    }

    /// Opens a file, unless it is the ELF itself or too much has been read already.
    pub(crate) fn open(&mut self, path: &Path) -> Option<Bytes> {
        if path == self.path || self.left == 0 {
            return None;
        }
        let bytes = (self.open)(path)?;
        self.left = self.left.saturating_sub((*bytes).as_ref().len().max(1 << 10));
        Some(bytes)
    }
}
