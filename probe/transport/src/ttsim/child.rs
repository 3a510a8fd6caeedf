//! The parent's side: starts the child, communicates with it, and keeps its last output.

use super::host::HOST_ARGUMENT;
use crate::socket_bar::{LastWords, SocketBar, WATCHDOG};
use machine::snapshot::AccessError;
use rustix::process::WaitOptions;
use std::collections::VecDeque;
use std::ffi::OsString;
use std::io::{BufRead, BufReader, Read};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Number of the child's last lines that are kept.
const KEPT_LINES: usize = 8;

/// How long a child whose socket closed may take to end.
const END_PATIENCE: Duration = Duration::from_secs(2);

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
    let started = start(&library, host);
    let (stream, child) = started.map_err(|error| AccessError::DeviceGone(error.to_string()))?;
    SocketBar::over(stream, Some(Box::new(child)), host.watchdog)
}

fn start(library: &Path, host: &HostCommand) -> std::io::Result<(UnixStream, HostChild)> {
    let (parent_end, child_end) = UnixStream::pair()?;
    let mut process = host
        .command(library)?
        .stdin(OwnedFd::from(child_end))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        // A terminal's Ctrl-C is for the parent, which may still need the child.
        .process_group(0)
        .spawn()?;
    let stdout = process.stdout.take().map(reader);
    let stderr = process.stderr.take().map(reader);
    Ok((parent_end, HostChild { process, stdout, stderr }))
}

/// The running child, killed and reaped when dropped.
struct HostChild {
    process: Child,
    /// The last lines of its stdout, where the vendor's library and meshscope's host report errors.
    stdout: Option<LineReader>,
    /// The last lines of its stderr, where other libraries report errors.
    stderr: Option<LineReader>,
}

type LineReader = JoinHandle<VecDeque<String>>;

fn reader(out: impl Read + Send + 'static) -> LineReader {
    std::thread::spawn(move || keep_last(out))
}

fn keep_last(out: impl Read) -> VecDeque<String> {
    let mut kept = VecDeque::new();
    for line in BufReader::new(out).split(b'\n').map_while(Result::ok) {
        if kept.len() == KEPT_LINES {
            kept.pop_front();
        }
        kept.push_back(String::from_utf8_lossy(&line).into_owned());
    }
    kept
}

impl HostChild {
    /// Waits briefly for the child's end, then kills it; returns the signal that ended it before.
    fn finish(&mut self) -> Option<i32> {
        let start = Instant::now();
        while start.elapsed() < END_PATIENCE {
            match self.process.try_wait() {
                Ok(None) => std::thread::sleep(Duration::from_micros(200)),
                Ok(Some(status)) => return status.signal(),
                Err(_) => return None,
            }
        }
        // An error means that the child has ended.
        let _ = self.process.kill();
        let _ = self.process.wait();
        None
    }
}

impl LastWords for HostChild {
    fn last_words(&mut self) -> Option<String> {
        let signal = self.finish().map(|signal| format!("ended by signal {signal}"));
        let lines = |reader: Option<LineReader>| reader?.join().ok();
        let stdout = lines(self.stdout.take());
        let stderr = lines(self.stderr.take());
        let last = |lines: &'_ Option<VecDeque<String>>| lines.as_ref()?.back().cloned();
        let reason = stdout.iter().flatten().rev().find(|line| line.contains("ERROR")).cloned();
        let words = reason.or_else(|| last(&stderr)).or(signal).or_else(|| last(&stdout))?;
        Some(words.strip_prefix("ERROR: ").unwrap_or(&words).to_owned())
    }
}

impl Drop for HostChild {
    /// Kills the child. A thread reaps it, so that closing a target does not wait.
    fn drop(&mut self) {
        // An error means that the child has ended.
        let _ = self.process.kill();
        if !matches!(self.process.try_wait(), Ok(None)) {
            return;
        }
        let pid = rustix::process::Pid::from_child(&self.process);
        std::thread::spawn(move || rustix::process::waitpid(Some(pid), WaitOptions::empty()));
    }
}
