//! A machine at the other end of a Unix socket.

use crate::wire::{self, Outbox, Received, VERSION, Welcome, WireReply, WireRequest, bounds};
use layouts::ChipKind;
use machine::bar::{Bar, BarOp, DeviceBatch, Elsewhere, MOST_DEVICES, Sharing};
use machine::clients::Client;
use machine::fault::{ChipAddress, Fault};
use machine::past::RecordedRun;
use machine::progress::{Listener, Progress};
use machine::snapshot::{AccessError, StoppedCore};
use machine::window::all_but_the_drivers;
use std::borrow::Cow;
use std::io::{self, BufReader};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

/// Detects a server that is stuck; no batch takes this long.
pub const WATCHDOG: Duration = Duration::from_mins(2);

/// A server answers a hello at once, even if it is not ready; a library loads in a second or two.
const WELCOME_PATIENCE: Duration = Duration::from_secs(30);

/// Buffer size for reads of the socket: a small answer fits, and a large one bypasses the buffer.
const BUFFER_BYTES: usize = 32 << 10;

/// The last error of the machine, for the report of its end.
pub trait LastWords: Send {
    /// Returns the last error. Called once, after the socket broke; waits for the other side's end
    /// if possible.
    fn last_words(&mut self) -> Option<String>;
}

/// A [`Bar`] that sends its batches to a server.
pub struct SocketBar {
    line: Connection,
    welcome: Welcome,
    chip: ChipKind,
    change: Option<String>,
    /// Whether it has the right to write.
    writes: bool,
    listener: Listener,
}

/// The connection to a server.
struct Connection {
    stream: BufReader<UnixStream>,
    outbox: Outbox,
    watchdog: Duration,
    /// Whether the server has admitted the client.
    welcome: bool,
    end: Option<AccessError>,
    last_words: Option<Box<dyn LastWords>>,
}

impl SocketBar {
    /// Connects to a served machine, with or without the right to write.
    ///
    /// # Errors
    /// `Unreachable` when no server answers, `Refused` with the server's reason.
    pub fn connect(path: &Path, writes: bool) -> Result<Self, AccessError> {
        let why = |error: io::Error| match error.kind() {
            io::ErrorKind::NotFound => "no such file".to_owned(),
            io::ErrorKind::ConnectionRefused => "no server listens there".to_owned(),
            io::ErrorKind::PermissionDenied => "no permission to connect".to_owned(),
            _ => error.to_string(),
        };
        let stream =
            UnixStream::connect(path).map_err(|error| AccessError::Unreachable(why(error)))?;
        Self::greet(stream, None, WATCHDOG, writes)
    }

    /// Greets the server at the other end of `stream`, which has no other client. After `watchdog`
    /// without an answer the server counts as dead.
    ///
    /// # Errors
    /// As [`SocketBar::connect`].
    pub fn over(
        stream: UnixStream,
        last_words: Option<Box<dyn LastWords>>,
        watchdog: Duration,
    ) -> Result<Self, AccessError> {
        Self::greet(stream, last_words, watchdog, true)
    }

    fn greet(
        stream: UnixStream,
        last_words: Option<Box<dyn LastWords>>,
        watchdog: Duration,
        writes: bool,
    ) -> Result<Self, AccessError> {
        let mut line = Connection {
            stream: BufReader::with_capacity(BUFFER_BYTES, stream),
            outbox: Outbox::default(),
            watchdog,
            welcome: false,
            end: None,
            last_words,
        };
        line.wait_no_longer_than(watchdog.min(WELCOME_PATIENCE))?;
        let hello = WireRequest::Hello { version: VERSION, client: Client::this(), writes };
        let mut reply = line.call(&hello, &mut Vec::new())?;
        // The server repeats this as a sign of life.
        while let Some(WireReply::Wait(_)) = reply {
            reply = line.reply(&mut Vec::new())?;
        }
        match reply {
            Some(WireReply::Welcome(welcome, chip)) => {
                line.welcome = true;
                line.wait_no_longer_than(watchdog)?;
                let listener = Listener::default();
                Ok(Self { line, welcome: *welcome, chip, change: None, writes, listener })
            }
            Some(WireReply::Refused(reason)) => Err(AccessError::Refused(reason)),
            _ => Err(line.broken("it sent an unexpected reply")),
        }
    }

    /// Returns the id of the process that listens at the socket, if this one can see it.
    pub fn server(&self) -> Option<u32> {
        let peer = rustix::net::sockopt::socket_peercred(self.line.stream.get_ref()).ok()?;
        u32::try_from(peer.pid.as_raw_pid()).ok()
    }

    /// Tells of waits for other clients from now on.
    pub fn tell(&mut self, listener: &Listener) {
        self.listener = listener.clone();
    }

    /// Returns the welcome message of the server.
    pub fn welcome(&self) -> &Welcome {
        &self.welcome
    }

    fn exchange(&mut self, ops: &[BarOp], answer: &mut Vec<u8>) -> Result<(), AccessError> {
        let change = self.change.take();
        let request =
            WireRequest::Batch { ops: Cow::Borrowed(ops), change: change.map(Cow::Owned) };
        match self.line.call(&request, answer)? {
            None => Ok(()),
            Some(WireReply::Failed(error)) => Err(error),
            Some(_) => Err(self.line.broken("it sent an unexpected reply")),
        }
    }

    fn exchange_parallel(&mut self, batches: &mut [&mut DeviceBatch]) -> Result<(), AccessError> {
        let ops = batches.iter().map(|part| (part.device, Cow::Borrowed(part.batch.as_slice())));
        let (request, mut bytes) = (WireRequest::Parallel(ops.collect()), Vec::new());
        let Some(WireReply::Parallel(results)) = self.line.call(&request, &mut bytes)? else {
            return Err(self.line.broken("it sent an unexpected reply"));
        };
        let mut rest = bytes.as_slice();
        if results.len() != batches.len() {
            return Err(self.line.broken("it answered for the wrong devices"));
        }
        for (part, (len, result)) in batches.iter_mut().zip(results) {
            let Some((own, others)) = rest.split_at_checked(len as usize) else {
                return Err(self.line.broken("an answer was too short"));
            };
            part.answer.extend(own);
            (part.result, rest) = (result, others);
        }
        Ok(())
    }
}

impl Connection {
    fn wait_no_longer_than(&mut self, watchdog: Duration) -> Result<(), AccessError> {
        let stream = self.stream.get_ref();
        let timeout = stream.set_read_timeout(Some(watchdog));
        let timeout = timeout.and_then(|()| stream.set_write_timeout(Some(watchdog)));
        self.watchdog = watchdog;
        timeout.map_err(|error| AccessError::DeviceGone(error.to_string()))
    }

    fn call(
        &mut self,
        request: &WireRequest,
        answer: &mut Vec<u8>,
    ) -> Result<Option<WireReply>, AccessError> {
        if let Some(end) = &self.end {
            return Err(end.clone());
        }
        if let Err(error) = self.outbox.send(self.stream.get_mut(), request) {
            return Err(self.broken(&error.to_string()));
        }
        self.reply(answer)
    }

    fn reply(&mut self, answer: &mut Vec<u8>) -> Result<Option<WireReply>, AccessError> {
        match wire::receive(&mut self.stream, answer) {
            Ok(Received::Message(reply)) => Ok(Some(reply)),
            Ok(Received::Plain) => Ok(None),
            Ok(Received::End) => Err(self.broken("it closed the connection")),
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock) => {
                // The last output of a stuck child is not the reason, but `last_words` ends the
                // child.
                drop(self.last_words.take().and_then(|mut child| child.last_words()));
                let silent = format!("it did not answer within {:?}", self.watchdog);
                if !self.welcome {
                    return Err(AccessError::Unreachable(silent));
                }
                Err(self.broken(&silent))
            }
            Err(error) => Err(self.broken(&error.to_string())),
        }
    }

    /// Records the end of the connection. Nothing is sent afterwards, and every later call returns
    /// the same error.
    fn broken(&mut self, reason: &str) -> AccessError {
        let words = self.last_words.take().and_then(|mut child| child.last_words());
        let end = AccessError::DeviceGone(words.unwrap_or_else(|| reason.to_owned()));
        self.end = Some(end.clone());
        end
    }
}

impl Bar for SocketBar {
    fn submit(&mut self, batch: &[BarOp], answer: &mut Vec<u8>) -> Result<(), AccessError> {
        for request in bounds::requests(batch) {
            let expected: usize = request.iter().map(BarOp::answer_len).sum();
            let before = answer.len();
            self.exchange(&request, answer)?;
            let ended = request.last().is_some_and(|last| last.ends(answer));
            if ended || answer.len() - before < expected {
                break;
            }
        }
        Ok(())
    }

    fn chip(&self) -> ChipKind {
        self.chip
    }

    fn submit_parallel(&mut self, batches: &mut [DeviceBatch]) {
        // A batch that is too long for one request is made by itself.
        let parts = batches.iter_mut();
        let (long, mut short): (Vec<_>, Vec<_>) =
            parts.partition(|part| bounds::check(&part.batch).is_err());
        for DeviceBatch { batch, answer, result, .. } in long {
            *result = self.submit(batch, answer);
        }
        if let Err(error) = self.exchange_parallel(&mut short) {
            for part in short {
                part.result = Err(error.clone());
            }
        }
    }

    fn lock_queues(&mut self, device: u8) -> Result<Sharing, AccessError> {
        if !self.welcome.shared {
            return Ok(Sharing::Alone);
        }
        let mut reply = self.line.call(&WireRequest::LockQueues(device), &mut Vec::new())?;
        let mut waited = false;
        while let Some(WireReply::Held(Client { pid, .. })) = reply {
            self.listener.tell(Progress::Queues { used_by: Some(pid) });
            waited = true;
            reply = self.line.reply(&mut Vec::new())?;
        }
        match reply {
            Some(WireReply::Locked) => {
                if waited {
                    self.listener.tell(Progress::Queues { used_by: None });
                }
                Ok(Sharing::Shared)
            }
            Some(WireReply::Failed(error)) => Err(error),
            _ => Err(self.line.broken("it sent an unexpected reply")),
        }
    }

    fn unlock_queues(&mut self, device: u8) -> Result<(), AccessError> {
        if !self.welcome.shared || self.line.end.is_some() {
            return Ok(());
        }
        let request = WireRequest::UnlockQueues(device);
        let sent = self.line.outbox.send(self.line.stream.get_mut(), &request);
        sent.map_err(|error| self.line.broken(&error.to_string()))
    }

    fn disrupt(&mut self, at: ChipAddress, fault: &Fault) -> Result<(), AccessError> {
        self.change = None;
        let request = WireRequest::Disrupt { at, fault: fault.to_string().into() };
        match self.line.call(&request, &mut Vec::new())? {
            None => Ok(()),
            Some(WireReply::Failed(error)) => Err(error),
            Some(_) => Err(self.line.broken("it sent an unexpected reply")),
        }
    }

    fn writer(&mut self) -> Option<Client> {
        if !self.welcome.shared {
            return None;
        }
        match self.line.call(&WireRequest::Writer, &mut Vec::new()) {
            Ok(Some(WireReply::Writer(writer))) => writer,
            // The next request says that the server is gone.
            _ => None,
        }
    }

    fn stopped_cores(&mut self, chips: &[ChipAddress]) -> Vec<(usize, StoppedCore)> {
        match self.line.call(&WireRequest::StoppedCores(chips.into()), &mut Vec::new()) {
            Ok(Some(WireReply::StoppedCores(stopped))) => stopped,
            // The next request says that the server is gone.
            _ => Vec::new(),
        }
    }

    fn recorded_run(&mut self) -> Option<Result<RecordedRun, String>> {
        let reply = self.line.call(&WireRequest::RecordedRun, &mut Vec::new());
        let run = match reply {
            Ok(Some(WireReply::RecordedRun(run))) => run?,
            Ok(_) => Err(self.line.broken("it sent an unexpected reply").to_string()),
            Err(error) => Err(error.to_string()),
        };
        Some(run.map(|run| match run.target.as_str() {
            "" => RecordedRun { target: self.welcome.machine.clone(), ..*run },
            _ => *run,
        }))
    }

    fn windows(&mut self, _: u8) -> Result<Vec<u16>, AccessError> {
        match self.welcome.windows.as_slice() {
            [] => Ok(all_but_the_drivers(self.chip.layout())),
            some => Ok(some.to_vec()),
        }
    }

    fn most_devices(&self) -> u8 {
        self.welcome.devices.unwrap_or(MOST_DEVICES)
    }

    fn elsewhere(&self) -> Vec<Elsewhere> {
        self.welcome.elsewhere.clone()
    }

    fn announce(&mut self, change: &str) {
        // A client that may only sample changes nothing.
        self.change = self.writes.then(|| change.to_owned());
    }
}

impl Drop for Connection {
    /// Sends `Bye`. An error is ignored: the connection is gone in any case.
    fn drop(&mut self) {
        if self.end.is_none() {
            let _ = self.outbox.send(self.stream.get_mut(), &WireRequest::Bye);
        }
    }
}
