//! What the kernel tells of the processes and users of a machine.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Most bytes of a process's environment or list of mappings that are read.
const MOST_BYTES: u64 = 16 << 20;
/// tt-metal's host library.
const LIBRARY: &str = "libtt_metal.so";
/// Most parents of a process that are looked at.
const MOST_PARENTS: usize = 64;

/// A machine's proc file system and its list of users.
pub(super) struct Host {
    pub(super) processes: PathBuf,
    pub(super) users: PathBuf,
}

impl Host {
    /// Returns the machine that this process runs on.
    pub(super) fn this() -> Self {
        Self { processes: "/proc".into(), users: "/etc/passwd".into() }
    }

    /// Returns the folder of a process.
    pub(super) fn process(&self, pid: u32) -> PathBuf {
        self.processes.join(pid.to_string())
    }

    /// Returns the name of its program.
    pub(super) fn name(&self, pid: u32) -> String {
        let name = fs::read_to_string(self.process(pid).join("comm"));
        name.map_or_else(|_| "?".to_owned(), |name| name.trim().to_owned())
    }

    /// Returns the home of its user.
    pub(super) fn home(&self, pid: u32) -> Option<PathBuf> {
        let user = fs::metadata(self.process(pid)).ok()?.uid().to_string();
        let users = fs::read_to_string(&self.users).ok()?;
        users.lines().find_map(|line| {
            let cells: Vec<&str> = line.split(':').collect();
            (*cells.get(2)? == user).then(|| cells.get(5).map(PathBuf::from)).flatten()
        })
    }

    /// Returns a process that runs tt-metal and has a file of a directory open, other than this one, its
    /// ancestors and its descendants: a child inherits the files of its parent.
    pub(super) fn other_user(&self, pid: u32, directory: &Path) -> Option<u32> {
        let directory = directory.canonicalize().ok()?;
        let all = fs::read_dir(&self.processes).into_iter().flatten().flatten();
        let mut others = all.filter_map(|it| it.file_name().to_str()?.parse().ok());
        others.find(|&other| {
            self.has_open(other, &directory)
                && !self.lineage(pid).contains(&other)
                && !self.lineage(other).contains(&pid)
                && library(&self.process(other)).is_ok_and(|library| library.is_some())
        })
    }

    fn has_open(&self, pid: u32, directory: &Path) -> bool {
        let files = fs::read_dir(self.process(pid).join("fd")).into_iter().flatten().flatten();
        let mut files = files.filter_map(|it| fs::read_link(it.path()).ok());
        files.any(|file| file.starts_with(directory))
    }

    /// Returns a process and its ancestors.
    fn lineage(&self, pid: u32) -> Vec<u32> {
        let parent = |pid: &u32| {
            let status = read(&self.process(*pid).join("status")).ok()?;
            let status = String::from_utf8_lossy(&status).into_owned();
            status.lines().find_map(|line| line.strip_prefix("PPid:")?.trim().parse().ok())
        };
        std::iter::successors(Some(pid), parent).take(MOST_PARENTS).collect()
    }

    /// Whether the machine had started when a file below a folder was last changed.
    pub(super) fn has_started_before(&self, folder: &Path) -> bool {
        let start = read(&self.processes.join("stat")).ok().and_then(|statistics| {
            let statistics = String::from_utf8_lossy(&statistics).into_owned();
            statistics.lines().find_map(|line| line.strip_prefix("btime ")?.parse().ok())
        });
        let start = start.map_or(UNIX_EPOCH, |seconds| UNIX_EPOCH + Duration::from_secs(seconds));
        newest(folder, 2).is_some_and(|changed| changed >= start)
    }
}

/// Returns when a file of a folder, or of so many folders below each other, was last changed.
fn newest(folder: &Path, below: usize) -> Option<SystemTime> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let times = entries.filter_map(|entry| {
        let about = entry.metadata().ok()?;
        match below.checked_sub(1) {
            Some(below) if about.is_dir() => newest(&entry.path(), below),
            _ => about.modified().ok(),
        }
    });
    times.max()
}

/// Returns the file of tt-metal's library that a process has mapped.
pub(super) fn library(folder: &Path) -> io::Result<Option<PathBuf>> {
    let mappings = read(&folder.join("maps"))?;
    let file = |line: &[u8]| {
        let at = line.iter().position(|byte| *byte == b'/')?;
        Some(PathBuf::from(OsString::from_vec(line.get(at..)?.to_vec())))
    };
    let is_library = |path: &PathBuf| {
        path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(LIBRARY.as_bytes()))
    };
    Ok(mappings.split(|byte| *byte == b'\n').filter_map(file).find(is_library))
}

/// Reads a file of the proc file system.
pub(super) fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(MOST_BYTES).read_to_end(&mut bytes)?;
    Ok(bytes)
}
