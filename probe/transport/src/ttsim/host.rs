//! The child's side: loads the library and serves it on stdin.

use super::library::{Library, LoadError};
use crate::serve::serve_one;
use crate::wire::Welcome;
use layouts::ChipKind;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Signal, getpid, kill_process};
use std::ffi::OsString;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::ExitCode;
use std::sync::mpsc;

/// The hidden first argument that makes a program the host of a library, followed by the library's
/// path.
pub const HOST_ARGUMENT: &str = "host-ttsim-library-on-stdin";

/// If the program was started as a host, serves the library until the parent disconnects, and
/// returns the exit code. Must be called before the program parses its arguments.
pub fn run_host_if_requested(mut arguments: impl Iterator<Item = OsString>) -> Option<ExitCode> {
    arguments.next();
    if arguments.next()? != HOST_ARGUMENT {
        return None;
    }
    let library = arguments.next()?;
    Some(match host(Path::new(&library)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            println!("{message}");
            ExitCode::FAILURE
        }
    })
}

/// The last words are like the library's own, so that the parent has one place to look.
fn host(path: &Path) -> Result<(), String> {
    let last = |message: String| format!("ERROR: {message}");
    let stream = stdin_socket().map_err(|error| last(format!("stdin is not a socket: {error}")))?;
    end_with_parent(&stream).map_err(|error| last(format!("cannot watch the parent: {error}")))?;
    let mut library = Library::load(path).map_err(|error| match error {
        // The library may have printed why it has no device.
        LoadError::Device(u32::MAX) => reason(path, error),
        _ => last(reason(path, error)),
    })?;
    let machine = format!("ttsim:{}", path.display());
    let abilities = super::abilities().map_err(last)?;
    let welcome = Welcome { machine, abilities, ..Welcome::default() };
    serve_one(&mut library, stream, &welcome).map_err(|error| last(error.to_string()))
}

/// Returns the loader's message, which is in the source of its error.
pub(super) fn reason(path: &Path, error: LoadError) -> String {
    let error = match error {
        LoadError::Loader(error) => error,
        LoadError::Device(id) => return format!("it is {}", ChipKind::unknown_device(id)),
    };
    let source = std::error::Error::source(&error).map(ToString::to_string);
    let message = source.unwrap_or_else(|| error.to_string());
    let path = path.display().to_string();
    if message.contains(&path) { message } else { format!("{path}: {message}") }
}

/// Ends this process when the parent ends: a killed parent closes its end of the socket. The
/// library would notice only at its next answer, which may be long after.
fn end_with_parent(stream: &UnixStream) -> io::Result<()> {
    let stream = stream.try_clone()?;
    let (ready, is_ready) = mpsc::channel();
    let watch = move || {
        // `end_with_parent` waits for this.
        let _ = ready.send(());
        let mut closed = [PollFd::new(&stream, PollFlags::RDHUP)];
        // An interrupted wait is repeated; no other error can occur with one open socket.
        while poll(&mut closed, None).is_err() {}
        // An orderly exit would wait for the loader, which may hang on the library's file.
        let _ = kill_process(getpid(), Signal::KILL);
        std::process::exit(0);
    };
    std::thread::Builder::new().name("parent-watch".into()).spawn(watch)?;
    // A starting thread takes the loader's lock, which a library that hangs while loading would
    // keep from it.
    is_ready.recv().map_err(io::Error::other)
}

fn stdin_socket() -> io::Result<UnixStream> {
    Ok(UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?))
}
