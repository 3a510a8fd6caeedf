//! The parent's side: starts the child, communicates with it, and keeps its last output.

use super::host::HOST_ARGUMENT;
use crate::process;
use crate::socket_bar::{SocketBar, WATCHDOG};
use machine::snapshot::AccessError;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// The command that starts a program which calls [`super::run_host_if_requested`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostCommand {
    /// The program; the running binary if none.
    pub program: Option<PathBuf>,
    /// Arguments before the library's path; the hidden argument if there are none.
    pub arguments: Vec<OsString>,
    /// A child that does not answer within this time is killed.
    pub watchdog: Duration,
}

impl Default for HostCommand {
    fn default() -> Self {
        Self { program: None, arguments: Vec::new(), watchdog: WATCHDOG }
    }
}

impl HostCommand {
    fn command(&self, library: &Path) -> std::io::Result<Command> {
        let program = self.program.clone().map_or_else(std::env::current_exe, Ok)?;
        let mut command = Command::new(program);
        if self.arguments.is_empty() {
            command.arg(HOST_ARGUMENT);
        }
        command.args(&self.arguments).arg(library);
        Ok(command)
    }
}

/// Opens a libttsim in a child process.
///
/// # Errors
/// `Unreachable` when the file is missing or does not load in time; `DeviceGone` with the reason or
/// the child's last output, also for a file that cannot be loaded.
pub fn open(library: &Path, host: &HostCommand) -> Result<SocketBar, AccessError> {
    // The loader would search its own folders for a name without a slash.
    let library = std::fs::canonicalize(library)
        .map_err(|error| AccessError::Unreachable(error.to_string()))?;
    // The loader would block on a FIFO.
    files::open(&library, files::Kind::LIBRARY)
        .map_err(|error| AccessError::DeviceGone(error.reason()))?;
    let started = host.command(&library).and_then(|mut command| process::listening(&mut command));
    let (stream, child) = started.map_err(|error| AccessError::DeviceGone(error.to_string()))?;
    SocketBar::over(stream, Some(Box::new(child)), host.watchdog)
}
