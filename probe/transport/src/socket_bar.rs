//! A machine at the other end of a Unix socket.

use crate::wire::{self, Outbox, Received, Reply, Request, VERSION, Welcome};
use layouts::ChipKind;
use machine::bar::{Bar, BarOp, DeviceBatch, Elsewhere, MOST_DEVICES, Sharing};
use machine::clients::Client;
use machine::fault::{ChipAddress, Fault};
use machine::snapshot::AccessError;
use std::borrow::Cow;
use std::io::{self, BufReader};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

/// Only there to catch a server that is stuck: no batch of ours takes so long.
pub const WATCHDOG: Duration = Duration::from_mins(2);

/// A server answers a hello at once, if only to say that it is not ready, and a library is loaded in a
/// second or two.
const WELCOME_PATIENCE: Duration = Duration::from_secs(30);

/// Time that passes in one batch, in cycles; more is cut, so that the slowest machine (a simulated
/// Galaxy, some 50,000 cycles a second) answers long before the watchdog looks.
const LONGEST_PASS_CYCLES: u64 = 1_000_000;

/// Room for what one read of the socket brings: a small answer comes whole, and a large one goes
/// past it straight to its place.
const BUFFER_BYTES: usize = 32 << 10;

/// What the machine said last, for the error that reports its end.
pub trait LastWords: Send {
    /// Called once, when the socket broke; waits for the other side's end if it can.
    fn last_words(&mut self) -> Option<String>;
}

/// A [`Bar`] that sends its batches to a server.
pub struct SocketBar {
    line: Line,
    welcome: Welcome,
    chip: ChipKind,
    change: Option<String>,
}

/// The connection to a server.
struct Line {
    stream: BufReader<UnixStream>,
    outbox: Outbox,
    watchdog: Duration,
    /// The server has let the client in.
    welcome: bool,
    end: Option<AccessError>,
    last_words: Option<Box<dyn LastWords>>,
}

impl SocketBar {
    /// Connects to a served machine, with the right to write or only to look.
    ///
    /// # Errors
    /// `Unreachable` when nobody answers there, `Refused` with the server's reason.
    pub fn connect(path: &Path, writes: bool) -> Result<Self, AccessError> {
        let why = |error: io::Error| match error.kind() {
            io::ErrorKind::NotFound => "there is no such file".to_owned(),
            io::ErrorKind::ConnectionRefused => "nobody serves there".to_owned(),
            io::ErrorKind::PermissionDenied => "there is no permission to connect to it".to_owned(),
            _ => error.to_string(),
        };
        let stream =
            UnixStream::connect(path).map_err(|error| AccessError::Unreachable(why(error)))?;
        Self::greet(stream, None, WATCHDOG, writes)
    }

    /// Greets the server at the other end of `stream`, which has no other client; who does not answer
    /// for as long as `watchdog` is taken for dead.
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
        let mut line = Line {
            stream: BufReader::with_capacity(BUFFER_BYTES, stream),
            outbox: Outbox::default(),
            watchdog,
            welcome: false,
            end: None,
            last_words,
        };
        line.wait_no_longer_than(watchdog.min(WELCOME_PATIENCE))?;
        let hello = Request::Hello { version: VERSION, client: Client::this(), writes };
        let mut told = line.call(&hello, &mut Vec::new())?;
        // It says so again and again: who waits hears that it lives.
        while let Some(Reply::Wait(_)) = told {
            told = line.reply(&mut Vec::new())?;
        }
        match told {
            Some(Reply::Welcome(welcome, chip)) => {
                line.welcome = true;
                line.wait_no_longer_than(watchdog)?;
                Ok(Self { line, welcome: *welcome, chip, change: None })
            }
            Some(Reply::Refused(reason)) => Err(AccessError::Refused(reason)),
            _ => Err(line.broken("it answered a question not asked")),
        }
    }

    /// What the server told of its machine.
    pub fn welcome(&self) -> &Welcome {
        &self.welcome
    }

    fn exchange(&mut self, ops: &[BarOp], answer: &mut Vec<u8>) -> Result<(), AccessError> {
        let change = self.change.take();
        let request = Request::Batch { ops: Cow::Borrowed(ops), change: change.map(Cow::Owned) };
        match self.line.call(&request, answer)? {
            None => Ok(()),
            Some(Reply::Failed(error)) => Err(error),
            Some(_) => Err(self.line.broken("it greeted twice")),
        }
    }

    fn exchange_parallel(&mut self, batches: &mut [DeviceBatch]) -> Result<(), AccessError> {
        let ops = batches.iter().map(|one| (one.device, Cow::Borrowed(one.batch.as_slice())));
        let (request, mut bytes) = (Request::Parallel(ops.collect()), Vec::new());
        let Some(Reply::Parallel(told)) = self.line.call(&request, &mut bytes)? else {
            return Err(self.line.broken("it answered another question"));
        };
        let mut rest = bytes.as_slice();
        if told.len() != batches.len() {
            return Err(self.line.broken("it answered for other devices"));
        }
        for (one, (len, result)) in batches.iter_mut().zip(told) {
            let Some((own, others)) = rest.split_at_checked(len as usize) else {
                return Err(self.line.broken("an answer was too short"));
            };
            one.answer.extend(own);
            (one.result, rest) = (result, others);
        }
        Ok(())
    }
}

impl Line {
    fn wait_no_longer_than(&mut self, watchdog: Duration) -> Result<(), AccessError> {
        let stream = self.stream.get_ref();
        let timeout = stream.set_read_timeout(Some(watchdog));
        let timeout = timeout.and_then(|()| stream.set_write_timeout(Some(watchdog)));
        self.watchdog = watchdog;
        timeout.map_err(|error| AccessError::DeviceGone(error.to_string()))
    }

    fn call(
        &mut self,
        request: &Request,
        answer: &mut Vec<u8>,
    ) -> Result<Option<Reply>, AccessError> {
        if let Some(end) = &self.end {
            return Err(end.clone());
        }
        if let Err(error) = self.outbox.send(self.stream.get_mut(), request) {
            return Err(self.broken(&error.to_string()));
        }
        self.reply(answer)
    }

    fn reply(&mut self, answer: &mut Vec<u8>) -> Result<Option<Reply>, AccessError> {
        match wire::receive(&mut self.stream, answer) {
            Ok(Received::Message(reply)) => Ok(Some(reply)),
            Ok(Received::Plain) => Ok(None),
            Ok(Received::End) => Err(self.broken("it closed the connection")),
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock) => {
                // What a stuck child said some time ago is not why; but it is ended by this.
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

    /// After the first break nothing more is sent; every later call gives the same end.
    fn broken(&mut self, how: &str) -> AccessError {
        let words = self.last_words.take().and_then(|mut child| child.last_words());
        let end = AccessError::DeviceGone(words.unwrap_or_else(|| how.to_owned()));
        self.end = Some(end.clone());
        end
    }
}

impl Bar for SocketBar {
    fn submit(&mut self, batch: &[BarOp], answer: &mut Vec<u8>) -> Result<(), AccessError> {
        let [BarOp::Pass { cycles }] = batch else { return self.exchange(batch, answer) };
        let mut left = *cycles;
        while left > LONGEST_PASS_CYCLES {
            self.exchange(&[BarOp::Pass { cycles: LONGEST_PASS_CYCLES }], answer)?;
            left -= LONGEST_PASS_CYCLES;
        }
        self.exchange(&[BarOp::Pass { cycles: left }], answer)
    }

    fn chip(&self) -> ChipKind {
        self.chip
    }

    fn submit_parallel(&mut self, batches: &mut [DeviceBatch]) {
        if let Err(error) = self.exchange_parallel(batches) {
            for one in batches {
                one.result = Err(error.clone());
            }
        }
    }

    fn lock_queues(&mut self, _device: u8) -> Result<Sharing, AccessError> {
        if !self.welcome.shared {
            return Ok(Sharing::Alone);
        }
        match self.line.call(&Request::LockQueues, &mut Vec::new())? {
            Some(Reply::Locked) => Ok(Sharing::Shared),
            Some(Reply::Failed(error)) => Err(error),
            _ => Err(self.line.broken("it answered another question")),
        }
    }

    fn unlock_queues(&mut self, _device: u8) -> Result<(), AccessError> {
        if !self.welcome.shared || self.line.end.is_some() {
            return Ok(());
        }
        let sent = self.line.outbox.send(self.line.stream.get_mut(), &Request::UnlockQueues);
        sent.map_err(|error| self.line.broken(&error.to_string()))
    }

    fn disrupt(&mut self, at: ChipAddress, fault: &Fault) -> Result<(), AccessError> {
        self.change = None;
        let request = Request::Disrupt { at, fault: fault.to_string().into() };
        match self.line.call(&request, &mut Vec::new())? {
            None => Ok(()),
            Some(Reply::Failed(error)) => Err(error),
            Some(_) => Err(self.line.broken("it greeted twice")),
        }
    }

    fn most_devices(&self) -> u8 {
        self.welcome.devices.unwrap_or(MOST_DEVICES)
    }

    fn elsewhere(&self) -> Vec<Elsewhere> {
        self.welcome.elsewhere.clone()
    }

    fn announce(&mut self, change: &str) {
        self.change = Some(change.to_owned());
    }
}

impl Drop for Line {
    /// A client that leaves by itself says so; nobody is left to hear that it cannot.
    fn drop(&mut self) {
        if self.end.is_none() {
            let _ = self.outbox.send(self.stream.get_mut(), &Request::Bye);
        }
    }
}
