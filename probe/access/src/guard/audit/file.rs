//! The file of the audit log: appended to, renamed at its limit, with room reserved for a launch.

use rustix::fs::{FallocateFlags, fallocate};
use rustix::io::Errno;
use serde::Serialize;
use std::ffi::OsString;
use std::fs::{File, TryLockError, create_dir_all, metadata, rename};
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Time for which another program may rename the file: it takes no longer.
const PATIENCE: Duration = Duration::from_millis(200);

/// The open file.
pub(super) struct LogFile {
    path: PathBuf,
    file: File,
    inode: u64,
    bytes: u64,
}

impl LogFile {
    /// Opens the file; one that has reached its limit is renamed before, with `.1` at its end.
    pub(super) fn open(path: &Path, limit_bytes: u64) -> Result<Self, String> {
        if let Some(folder) = path.parent() {
            // If this fails, opening the file reports why.
            let _ = create_dir_all(folder);
        }
        let full = Self::open_once(path)?;
        if full.bytes < limit_bytes {
            return Ok(full);
        }
        match full.make_way() {
            Ok(true) => Self::open_once(path),
            // A file that nobody can rename now is longer than others.
            Ok(false) => Ok(full),
            Err(error) => Err(format!("{}: {error}", path.display())),
        }
    }

    fn open_once(path: &Path) -> Result<Self, String> {
        let file = files::open_log(path).map_err(|error| error.to_string())?;
        let about = file.metadata().map_err(|error| format!("{}: {error}", path.display()))?;
        // What is no file, such as /dev/null, has no size.
        let bytes = if about.is_file() { about.len() } else { 0 };
        Ok(Self { path: path.to_owned(), file, inode: about.ino(), bytes })
    }

    /// Renames the file, unless another program keeps it locked. The lock keeps programs that find it
    /// full at the same time from renaming the next one as well.
    fn make_way(&self) -> io::Result<bool> {
        let begun = Instant::now();
        while let Err(held) = self.file.try_lock() {
            match held {
                TryLockError::Error(error) => return Err(error),
                TryLockError::WouldBlock if begun.elapsed() > PATIENCE => return Ok(false),
                TryLockError::WouldBlock => std::thread::sleep(PATIENCE / 100),
            }
        }
        if metadata(&self.path)?.ino() == self.inode {
            let mut before = OsString::from(&self.path);
            before.push(".1");
            rename(&self.path, before)?;
        }
        Ok(true)
    }

    /// The number that distinguishes it from the file before and the one after.
    pub(super) fn inode(&self) -> u64 {
        self.inode
    }

    /// Appends a line, in one call, which keeps lines of concurrent programs apart.
    pub(super) fn append(&mut self, line: &impl Serialize) -> Result<(), String> {
        let mut text = serde_json::to_string(line).map_err(|error| error.to_string())?;
        text.push('\n');
        let written = self.file.write_all(text.as_bytes());
        written.map_err(|error| format!("{}: {error}", self.path.display()))
    }

    /// Takes blocks behind the end of the file; its size does not change.
    pub(super) fn reserve(&self, bytes: u64) -> Result<(), String> {
        match fallocate(&self.file, FallocateFlags::KEEP_SIZE, self.bytes, bytes) {
            // A device or a file system that cannot reserve has taken a line.
            Ok(()) | Err(Errno::OPNOTSUPP | Errno::NODEV | Errno::SPIPE | Errno::NOSYS) => Ok(()),
            Err(error) => Err(format!("{}: {}", self.path.display(), io::Error::from(error))),
        }
    }
}
