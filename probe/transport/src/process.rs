//! Programs that this one starts, talks to over a socket, and ends with itself.

use crate::socket_bar::LastWords;
use rustix::process::WaitOptions;
use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, Read};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Number of the child's last lines that are kept.
const KEPT_LINES: usize = 8;
/// A longer line is cut.
const KEPT_BYTES: usize = 4096;

/// How long a child whose socket closed may take to end.
const END_PATIENCE: Duration = Duration::from_secs(2);

/// Starts a program whose standard input is a socket.
pub(crate) fn listening(command: &mut Command) -> io::Result<(UnixStream, Process)> {
    start(command, |_| Ok(Stdio::piped()))
}

/// Starts a program whose standard input and output are a socket.
pub(crate) fn talking(command: &mut Command) -> io::Result<(UnixStream, Process)> {
    start(command, |end| Ok(OwnedFd::from(end.try_clone()?).into()))
}

fn start(
    command: &mut Command,
    stdout: impl FnOnce(&UnixStream) -> io::Result<Stdio>,
) -> io::Result<(UnixStream, Process)> {
    let (parent_end, child_end) = UnixStream::pair()?;
    let mut child = command
        .stdout(stdout(&child_end)?)
        .stdin(OwnedFd::from(child_end))
        .stderr(Stdio::piped())
        // A terminal's Ctrl-C is for the parent, which may still need the child.
        .process_group(0)
        .spawn()?;
    // The command keeps its ends of the socket, which would never close.
    command.stdin(Stdio::null()).stdout(Stdio::null());
    let stdout = child.stdout.take().map(reader);
    let stderr = child.stderr.take().map(reader);
    Ok((parent_end, Process { child, stdout, stderr }))
}

/// The running child, killed and reaped when dropped.
pub(crate) struct Process {
    child: Child,
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
    for mut line in BufReader::new(out).split(b'\n').map_while(Result::ok) {
        line.truncate(KEPT_BYTES);
        // ssh ends its lines as a terminal needs it.
        line.pop_if(|last| *last == b'\r');
        if kept.len() == KEPT_LINES {
            kept.pop_front();
        }
        kept.push_back(String::from_utf8_lossy(&line).into_owned());
    }
    kept
}

impl Process {
    /// The code with which it has ended, if it has.
    pub(crate) fn exit_code(&mut self) -> Option<i32> {
        self.child.try_wait().ok()??.code()
    }

    /// Waits briefly for the child's end, then kills it; returns the signal that ended it before.
    fn finish(&mut self) -> Option<i32> {
        let start = Instant::now();
        while start.elapsed() < END_PATIENCE {
            match self.child.try_wait() {
                Ok(None) => std::thread::sleep(Duration::from_micros(200)),
                Ok(Some(status)) => return status.signal(),
                Err(_) => return None,
            }
        }
        // An error means that the child has ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
        None
    }
}

impl LastWords for Process {
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

impl Drop for Process {
    /// Kills the child. A thread reaps it, so that closing a target does not wait.
    fn drop(&mut self) {
        // An error means that the child has ended.
        let _ = self.child.kill();
        if !matches!(self.child.try_wait(), Ok(None)) {
            return;
        }
        let pid = rustix::process::Pid::from_child(&self.child);
        std::thread::spawn(move || rustix::process::waitpid(Some(pid), WaitOptions::empty()));
    }
}
