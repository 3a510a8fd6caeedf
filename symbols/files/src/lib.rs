//! The one reader of files that a person names: regular files only, and of each kind no more bytes
//! than it can sensibly have.
//!
//! A FIFO keeps its reader waiting, `/dev/zero` never ends, and files below `/proc` and `/sys` are made
//! while they are read. All of them are refused by name before a byte is read.

use rustix::fs::{FsWord, fstatfs, statfs};
use std::fmt;
use std::fs::{File, FileType, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// A kind of file: its name, and the most bytes that one may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind {
    name: &'static str,
    most_bytes: u64,
}

impl Kind {
    /// A cluster descriptor or a system specification. A Galaxy's has 100 KiB.
    pub const DESCRIPTOR: Self = Self { name: "a descriptor", most_bytes: 16 << 20 };
    /// An ELF of firmware or of a kernel, or a file with its debug information. tt-metal's have up to 2 MiB.
    pub const ELF: Self = Self { name: "an ELF of a core", most_bytes: 256 << 20 };
    /// A log of tt-metal that names kernels: a line for each.
    pub const LOG: Self = Self { name: "a log of kernels", most_bytes: 256 << 20 };
    /// A shared object with a simulator.
    pub const LIBRARY: Self = Self { name: "a library", most_bytes: 1 << 30 };
    /// A copy of memory: a core addresses 4 GiB, and what it has of its own is far less.
    pub const MEMORY: Self = Self { name: "a copy of memory", most_bytes: 256 << 20 };
    /// A recording.
    pub const RECORDING: Self = Self { name: "a recording", most_bytes: 8 << 30 };
    /// A source file.
    pub const SOURCE: Self = Self { name: "a source file", most_bytes: 1 << 20 };
    /// Kept entries of status queues, a line of JSON each.
    pub const STATUS: Self = Self { name: "a file of status entries", most_bytes: 1 << 30 };
}

/// Why a file is not read.
#[derive(Debug)]
pub struct Unusable {
    path: PathBuf,
    why: Why,
}

#[derive(Debug)]
enum Why {
    /// The system said so.
    Io(io::Error),
    /// It is something else, such as a FIFO.
    Irregular(&'static str),
    /// It is longer than one of its kind can be.
    TooLong(Kind, u64),
}

impl Unusable {
    /// Why, without the path.
    pub fn reason(&self) -> String {
        match &self.why {
            Why::Io(error) => error.to_string(),
            Why::Irregular(what) => format!("it is {what}, not a regular file"),
            Why::TooLong(kind, bytes) => format!(
                "it has {} MiB, and {} has {} MiB at most",
                bytes.div_ceil(1 << 20),
                kind.name,
                kind.most_bytes >> 20
            ),
        }
    }
}

impl fmt::Display for Unusable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.reason())
    }
}

impl std::error::Error for Unusable {}

/// Opens a regular file of this kind for reading.
///
/// # Errors
/// Why it cannot be used.
pub fn open(path: &Path, kind: Kind) -> Result<File, Unusable> {
    open_with(OpenOptions::new().read(true), path, kind)
}

/// Opens a file of this kind to read it and to append to it, and makes an empty one if there is none.
///
/// # Errors
/// Why it cannot be used.
pub fn open_to_append(path: &Path, kind: Kind) -> Result<File, Unusable> {
    open_with(OpenOptions::new().read(true).append(true).create(true), path, kind)
}

fn open_with(options: &mut OpenOptions, path: &Path, kind: Kind) -> Result<File, Unusable> {
    // Without it, opening a FIFO waits for its other end. For a regular file it means nothing.
    let file = options.custom_flags(libc::O_NONBLOCK).open(path).map_err(Why::Io);
    let checked = file.and_then(|file| check(&file, kind).map(|()| file));
    checked.map_err(|why| Unusable { path: path.to_owned(), why })
}

/// Reads a regular file of this kind.
///
/// # Errors
/// Why it cannot be used.
pub fn read(path: &Path, kind: Kind) -> Result<Vec<u8>, Unusable> {
    let file = open(path, kind)?;
    read_opened(&file, kind).map_err(|why| Unusable { path: path.to_owned(), why })
}

/// Reads a regular file of this kind that holds text.
///
/// # Errors
/// Why it cannot be used; text that is not UTF-8 is an error of the system's reader.
pub fn read_text(path: &Path, kind: Kind) -> Result<String, Unusable> {
    let no_text = |_| Why::Io(io::Error::new(io::ErrorKind::InvalidData, "it is no UTF-8 text"));
    let text = String::from_utf8(read(path, kind)?).map_err(no_text);
    text.map_err(|why| Unusable { path: path.to_owned(), why })
}

/// Does the folder lie in a file system that the kernel makes up, such as `/proc`?
pub fn is_made_up(folder: &Path) -> bool {
    statfs(folder).is_ok_and(|about| kernels_own(about.f_type).is_some())
}

/// A file that grows while it is read is not read beyond its kind's limit either.
fn read_opened(file: &File, kind: Kind) -> Result<Vec<u8>, Why> {
    let mut bytes = Vec::new();
    file.take(kind.most_bytes + 1).read_to_end(&mut bytes).map_err(Why::Io)?;
    let len = bytes.len() as u64;
    if len > kind.most_bytes { Err(Why::TooLong(kind, len)) } else { Ok(bytes) }
}

fn check(file: &File, kind: Kind) -> Result<(), Why> {
    let about = file.metadata().map_err(Why::Io)?;
    if let Some(what) = irregular(about.file_type()) {
        return Err(Why::Irregular(what));
    }
    if let Some(what) = fstatfs(file).ok().and_then(|about| kernels_own(about.f_type)) {
        return Err(Why::Irregular(what));
    }
    if about.len() > kind.most_bytes {
        return Err(Why::TooLong(kind, about.len()));
    }
    Ok(())
}

/// What it is, if it is no regular file.
pub fn irregular(kind: FileType) -> Option<&'static str> {
    [
        (kind.is_file(), None),
        (kind.is_dir(), Some("a directory")),
        (kind.is_fifo(), Some("a FIFO")),
        (kind.is_socket(), Some("a socket")),
        (kind.is_char_device(), Some("a character device")),
        (kind.is_block_device(), Some("a block device")),
    ]
    .into_iter()
    .find_map(|(is, what)| is.then_some(what))
    .unwrap_or(Some("something unknown"))
}

/// Numbers of file systems: `linux/magic.h`.
fn kernels_own(kind: FsWord) -> Option<&'static str> {
    const PROC: FsWord = 0x9FA0;
    const SYS: FsWord = 0x6265_6572;
    const DEBUG: FsWord = 0x6462_6720;
    const TRACE: FsWord = 0x7472_6163;
    match kind {
        PROC => Some("made by the kernel (/proc)"),
        SYS | DEBUG | TRACE => Some("made by the kernel (/sys)"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    fn refused(path: &Path, kind: Kind) -> String {
        read(path, kind).unwrap_err().to_string()
    }

    #[test]
    fn what_never_ends_or_never_begins_is_refused_by_name() {
        let folder = std::env::temp_dir().join(format!("files-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let fifo = folder.join("fifo");
        let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
        rustix::fs::mknodat(rustix::fs::CWD, &fifo, rustix::fs::FileType::Fifo, mode, 0).unwrap();
        let socket = folder.join("socket");
        let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        for (path, says) in [
            (Path::new("/dev/zero"), "/dev/zero: it is a character device, not a regular file"),
            (Path::new("/dev/full"), "a character device"),
            (&fifo, "it is a FIFO, not a regular file"),
            (&socket, "No such device or address"),
            (&folder, "it is a directory"),
            (Path::new("/proc/kmsg"), "it is made by the kernel (/proc)"),
            (Path::new("/proc/self/status"), "it is made by the kernel (/proc)"),
            (&folder.join("none"), "No such file"),
        ] {
            let told = refused(path, Kind::DESCRIPTOR);
            assert!(told.contains(says), "{told}");
        }
        assert!(is_made_up(Path::new("/proc")) && !is_made_up(&folder));
        let long = folder.join("long");
        let file = File::create(&long).unwrap();
        file.set_len(17 << 20).unwrap();
        let told = refused(&long, Kind::DESCRIPTOR);
        assert!(told.ends_with("it has 17 MiB, and a descriptor has 16 MiB at most"), "{told}");
        assert_eq!(read(&long, Kind::ELF).unwrap().len(), 17 << 20);
        std::fs::remove_dir_all(folder).unwrap();
    }
}
