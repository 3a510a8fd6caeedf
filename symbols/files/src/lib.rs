//! Opens files that a user names. To read: regular files only, up to a limit for each kind. To write:
//! files that are new.
//!
//! A FIFO blocks its reader, `/dev/zero` never ends, and files below `/proc` and `/sys` are
//! generated while they are read. All of these are refused before a byte is read. No link is
//! followed to a file that is written, and none is overwritten.

use rustix::fs::{FsWord, fstatfs, statfs};
use std::fmt;
use std::fs::{File, FileType, OpenOptions};
use std::io::{self, ErrorKind, Read, Write as _};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// A kind of file: its name and its limit in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind {
    name: &'static str,
    most_bytes: u64,
}

impl Kind {
    /// A log of many days, or a file of such logs.
    pub const ANY_LOG: Self = Self { name: "a log of many days", most_bytes: 256 << 30 };
    /// A cluster descriptor or a system specification. A Galaxy's has 100 KiB.
    pub const DESCRIPTOR: Self = Self { name: "a descriptor", most_bytes: 16 << 20 };
    /// An ELF of firmware or of a kernel, or a file with its debug information. tt-metal's have up
    /// to 2 MiB.
    pub const ELF: Self = Self { name: "an ELF of a core", most_bytes: 256 << 20 };
    /// A fabric snapshot, or its bytes: of each router most of its L1, which has 256 KiB.
    pub const FABRIC_SNAPSHOT: Self = Self { name: "a fabric snapshot", most_bytes: 1 << 30 };
    /// A tt-metal log of kernels, one per line.
    pub const LOG: Self = Self { name: "a log of kernels", most_bytes: 256 << 20 };
    /// The lines that a person typed.
    pub const HISTORY: Self = Self { name: "a history of lines", most_bytes: 1 << 20 };
    /// A shared library with a simulator.
    pub const LIBRARY: Self = Self { name: "a library", most_bytes: 1 << 30 };
    /// A fabric manifest: a few kilobytes for each router.
    pub const MANIFEST: Self = Self { name: "a fabric manifest", most_bytes: 256 << 20 };
    /// Marks of a recording, one JSON line each.
    pub const MARKS: Self = Self { name: "a file of marks", most_bytes: 1 << 20 };
    /// A copy of a core's memory. A core addresses 4 GiB, and its own memory is far smaller.
    pub const MEMORY: Self = Self { name: "a copy of memory", most_bytes: 256 << 20 };
    /// A recording.
    pub const RECORDING: Self = Self { name: "a recording", most_bytes: 8 << 30 };
    /// The settings of a person.
    pub const SETTINGS: Self = Self { name: "a file of settings", most_bytes: 1 << 20 };
    /// A source file.
    pub const SOURCE: Self = Self { name: "a source file", most_bytes: 1 << 20 };
    /// Routing tables of the routers of a fabric.
    pub const TABLES: Self = Self { name: "a file of routing tables", most_bytes: 64 << 20 };
    /// Saved entries of status queues, one JSON line each.
    pub const STATUS: Self = Self { name: "a file of status entries", most_bytes: 1 << 30 };
    /// A trace of packets, one JSON line of about 100 bytes each.
    pub const TRACE: Self = Self { name: "a trace of packets", most_bytes: 256 << 20 };
}

/// Why a file is refused.
#[derive(Debug)]
pub struct Unusable {
    path: PathBuf,
    why: Why,
}

#[derive(Debug)]
enum Why {
    /// The operating system's error.
    Io(io::Error),
    /// It is there, and would be overwritten.
    Exists,
    /// It is not a regular file but, for example, a FIFO.
    Irregular(&'static str),
    /// It exceeds the limit of its kind.
    TooLong(Kind, u64),
}

impl Unusable {
    /// Returns the reason, without the path.
    pub fn reason(&self) -> String {
        match &self.why {
            Why::Io(error) => error.to_string(),
            Why::Exists => "exists already, and is not overwritten".to_owned(),
            Why::Irregular(what) => format!("{what}, not a regular file"),
            Why::TooLong(kind, bytes) => format!(
                "{} MiB, and {} has at most {} MiB",
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
/// The reason why it is refused.
pub fn open(path: &Path, kind: Kind) -> Result<File, Unusable> {
    // Without this flag, opening a FIFO waits for its other end. Regular files ignore it.
    open_with(OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK), path, kind)
}

/// Opens a file of this kind for reading and appending; creates an empty one if it does not exist.
/// No link is followed.
///
/// # Errors
/// The reason why it is refused.
pub fn open_to_append(path: &Path, kind: Kind) -> Result<File, Unusable> {
    open_with(appending().read(true), path, kind)
}

/// Opens a log of this program for appending; creates an empty one, which only its owner may read,
/// if it does not exist. It may be a device such as `/dev/null`. No link is followed.
///
/// # Errors
/// The reason why it is refused.
pub fn open_log(path: &Path) -> Result<File, Unusable> {
    let file = appending().mode(0o600).open(path).map_err(|error| cause(path, error));
    let checked = file.and_then(|file| {
        let kind = file.metadata().map_err(Why::Io)?.file_type();
        let what = irregular(kind).filter(|_| !kind.is_char_device());
        what.map_or(Ok(file), |what| Err(Why::Irregular(what)))
    });
    checked.map_err(|why| Unusable { path: path.to_owned(), why })
}

/// Creates a file, which did not exist.
///
/// # Errors
/// The reason why it is refused.
pub fn create(path: &Path) -> Result<File, Unusable> {
    let file = OpenOptions::new().write(true).create_new(true).open(path);
    file.map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => Why::Exists,
        _ => Why::Io(error),
    })
    .map_err(|why| Unusable { path: path.to_owned(), why })
}

/// Creates a file without a name in the folder of temporary files, to be written and read: it is gone
/// once it is closed.
///
/// # Errors
/// That of the operating system.
pub fn nameless() -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).mode(0o600).custom_flags(libc::O_TMPFILE);
    options.open(std::env::temp_dir())
}

/// Writes a file, which did not exist; one that cannot be written whole is removed.
///
/// # Errors
/// The reason why it is refused.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), Unusable> {
    create(path)?.write_all(bytes).map_err(|error| {
        let _ = std::fs::remove_file(path);
        Unusable { path: path.to_owned(), why: Why::Io(error) }
    })
}

/// Refuses a file that [`create`] would refuse later, before work is done for it.
///
/// # Errors
/// It exists.
pub fn check_new(path: &Path) -> Result<(), Unusable> {
    let exists = path.symlink_metadata().is_ok();
    let refused = || Err(Unusable { path: path.to_owned(), why: Why::Exists });
    if exists { refused() } else { Ok(()) }
}

fn appending() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.append(true).create(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
    options
}

/// Returns why a file could not be opened: what it is, if nothing of that kind can be.
fn cause(path: &Path, error: io::Error) -> Why {
    let by_kind =
        [libc::ELOOP, libc::ENXIO, libc::EISDIR].map(Some).contains(&error.raw_os_error());
    let there = path.symlink_metadata().ok().filter(|_| by_kind).map(|about| about.file_type());
    match there.and_then(|kind| kind.is_symlink().then_some("a symbolic link").or(irregular(kind)))
    {
        Some(what) => Why::Irregular(what),
        None => Why::Io(error),
    }
}

fn open_with(options: &mut OpenOptions, path: &Path, kind: Kind) -> Result<File, Unusable> {
    let file = options.open(path).map_err(|error| cause(path, error));
    let checked = file.and_then(|file| check(&file, kind).map(|()| file));
    checked.map_err(|why| Unusable { path: path.to_owned(), why })
}

/// Reads a regular file of this kind.
///
/// # Errors
/// The reason why it is refused.
pub fn read(path: &Path, kind: Kind) -> Result<Vec<u8>, Unusable> {
    let file = open(path, kind)?;
    read_opened(&file, kind).map_err(|why| Unusable { path: path.to_owned(), why })
}

/// Reads a regular text file of this kind.
///
/// # Errors
/// The reason why it is refused, including text that is not UTF-8.
pub fn read_text(path: &Path, kind: Kind) -> Result<String, Unusable> {
    let no_text = |_| Why::Io(io::Error::new(io::ErrorKind::InvalidData, "not UTF-8 text"));
    let text = String::from_utf8(read(path, kind)?).map_err(no_text);
    text.map_err(|why| Unusable { path: path.to_owned(), why })
}

/// Returns the folder of meshscope's state that outlives the process: below `XDG_STATE_HOME`, else
/// below `~/.local/state`.
pub fn state_folder() -> Option<PathBuf> {
    user_folder("XDG_STATE_HOME", ".local/state")
}

/// Returns the folder of a person's settings of meshscope: below `XDG_CONFIG_HOME`, else below
/// `~/.config`.
pub fn settings_folder() -> Option<PathBuf> {
    user_folder("XDG_CONFIG_HOME", ".config")
}

/// Relative folders, which would depend on the working directory, are ignored (XDG Base Directory).
fn user_folder(variable: &str, below_home: &str) -> Option<PathBuf> {
    let folder = |name| std::env::var_os(name).map(PathBuf::from).filter(|it| it.is_absolute());
    let home = || folder("HOME").map(|home| home.join(below_home));
    folder(variable).or_else(home).map(|folder| folder.join("meshscope"))
}

/// Whether the folder is in a file system that the kernel generates, such as `/proc`.
pub fn is_pseudo_file_system(folder: &Path) -> bool {
    statfs(folder).is_ok_and(|about| kernels_own(about.f_type).is_some())
}

/// Reads up to the limit of the kind, even if the file grows meanwhile.
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

/// Returns the kind of a file that is not regular.
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

/// Returns the name of a file system generated by the kernel. Numbers: `linux/magic.h`.
fn kernels_own(kind: FsWord) -> Option<&'static str> {
    const PROC: FsWord = 0x9FA0;
    const SYS: FsWord = 0x6265_6572;
    const DEBUG: FsWord = 0x6462_6720;
    const TRACE: FsWord = 0x7472_6163;
    match kind {
        PROC => Some("generated by the kernel (/proc)"),
        SYS | DEBUG | TRACE => Some("generated by the kernel (/sys)"),
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

    /// Between a check and the creation anything may happen: only the creation decides.
    #[test]
    fn what_is_there_is_not_written() {
        let folder = std::env::temp_dir().join(format!("files-new-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let (file, link, to) = (folder.join("a"), folder.join("link"), folder.join("new"));
        write(&file, b"first").unwrap();
        std::os::unix::fs::symlink(&to, &link).unwrap();
        for taken in [&file, &link] {
            let says = format!("{}: exists already, and is not overwritten", taken.display());
            assert_eq!(create(taken).unwrap_err().to_string(), says);
            assert_eq!(write(taken, b"second").unwrap_err().to_string(), says);
            assert_eq!(check_new(taken).unwrap_err().to_string(), says);
        }
        let says = format!("{}: a symbolic link, not a regular file", link.display());
        assert_eq!(open_to_append(&link, Kind::STATUS).unwrap_err().to_string(), says);
        assert_eq!(open_log(&link).unwrap_err().to_string(), says);
        assert!(!to.exists());
        assert_eq!(std::fs::read(&file).unwrap(), b"first");
        let full = write(Path::new("/dev/full/x"), b"").unwrap_err().to_string();
        assert!(full.starts_with("/dev/full/x: "), "{full}");
        std::fs::remove_dir_all(folder).unwrap();
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
        for (path, words) in [
            (Path::new("/dev/zero"), "/dev/zero: a character device, not a regular file"),
            (Path::new("/dev/full"), "a character device"),
            (&fifo, "a FIFO, not a regular file"),
            (&socket, "a socket, not a regular file"),
            (&folder, "a directory"),
            (Path::new("/proc/kmsg"), "generated by the kernel (/proc)"),
            (Path::new("/proc/self/status"), "generated by the kernel (/proc)"),
            (&folder.join("none"), "No such file"),
        ] {
            let error = refused(path, Kind::DESCRIPTOR);
            assert!(error.contains(words), "{error}");
        }
        assert!(is_pseudo_file_system(Path::new("/proc")) && !is_pseudo_file_system(&folder));
        let long = folder.join("long");
        let file = File::create(&long).unwrap();
        file.set_len(17 << 20).unwrap();
        let error = refused(&long, Kind::DESCRIPTOR);
        assert!(error.ends_with("17 MiB, and a descriptor has at most 16 MiB"), "{error}");
        assert_eq!(read(&long, Kind::ELF).unwrap().len(), 17 << 20);
        std::fs::remove_dir_all(folder).unwrap();
    }
}
