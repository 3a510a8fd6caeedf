//! Binds the socket file of a server; replaces only a file on which no server listens.

use rustix::fs::Mode;
use std::io;
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use thiserror::Error;

/// Guards the umask, which belongs to the whole process.
static MASK: Mutex<()> = Mutex::new(());

/// Why a socket cannot be created at a path.
#[derive(Debug, Error)]
pub enum BindError {
    /// A server answers there.
    #[error("{}: a server already listens there", .0.display())]
    Served(PathBuf),
    /// Another kind of file exists there and is not overwritten; its kind.
    #[error("{}: is {} and is not overwritten", .0.display(), .1)]
    Taken(PathBuf, &'static str),
    /// The error of the file system.
    #[error("{}: {}", .0.display(), .1)]
    Io(PathBuf, io::Error),
}

/// Binds a socket at `path` that only its owner can use; replaces a socket file on which no server
/// listens.
///
/// # Errors
/// When a server or another kind of file is there, and errors of the file system.
pub fn bind(path: &Path) -> Result<UnixListener, BindError> {
    let io = |error| BindError::Io(path.to_owned(), error);
    match std::fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(io(error)),
        Ok(there) if !there.file_type().is_socket() => {
            let what = files::irregular(there.file_type());
            let link = there.file_type().is_symlink().then_some("a symbolic link");
            let what = link.or(what).unwrap_or("a file");
            return Err(BindError::Taken(path.to_owned(), what));
        }
        Ok(_) => match UnixStream::connect(path) {
            Ok(_) => return Err(BindError::Served(path.to_owned())),
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
                std::fs::remove_file(path).map_err(io)?;
            }
            Err(error) => return Err(io(error)),
        },
    }
    // Permissions set after the bind would let others connect in between.
    let _mask = MASK.lock().unwrap_or_else(PoisonError::into_inner);
    let umask = rustix::process::umask(Mode::from_raw_mode(0o177));
    let bound = UnixListener::bind(path);
    rustix::process::umask(umask);
    bound.map_err(io)
}
