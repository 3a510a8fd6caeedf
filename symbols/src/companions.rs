//! Companion files: the other files that an ELF names, where they may be, and how they are opened.

use std::path::{Path, PathBuf};

use crate::bytes::Bytes;

/// Opens a file; none if it does not exist or is not a regular file.
pub(crate) type Open<'o> = dyn FnMut(&Path) -> Option<Bytes> + 'o;

/// The companion files of one ELF.
pub(crate) struct Companions<'o> {
    path: PathBuf,
    open: &'o mut Open<'o>,
    /// Bytes that may still be read: an ELF can name any number of files.
    left: usize,
}

/// The most bytes read from all companion files together.
const MAX_BYTES: usize = 1 << 30;

impl<'o> Companions<'o> {
    pub(crate) fn new(path: &Path, open: &'o mut Open<'o>) -> Companions<'o> {
        Companions { path: path.to_owned(), open, left: MAX_BYTES }
    }

    /// Returns the file name of the ELF.
    pub(crate) fn name(&self) -> Option<String> {
        Some(self.path.file_name()?.to_string_lossy().into_owned())
    }

    /// Returns a path in the folder of the ELF.
    pub(crate) fn in_folder(&self, end: impl AsRef<Path>) -> PathBuf {
        self.path.parent().unwrap_or(Path::new("")).join(end)
    }

    /// Returns the path of the ELF with a suffix.
    pub(crate) fn with(&self, suffix: &str) -> PathBuf {
        let mut path = self.path.clone().into_os_string();
        path.push(suffix);
        path.into()
    }

    /// Opens a file, unless it is the ELF itself or the limit is reached.
    pub(crate) fn open(&mut self, path: &Path) -> Option<Bytes> {
        if path == self.path || self.left == 0 {
            return None;
        }
        let bytes = (self.open)(path)?;
        self.left = self.left.saturating_sub((*bytes).as_ref().len().max(1 << 10));
        Some(bytes)
    }
}
