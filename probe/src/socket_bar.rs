//! A machine at the other end of a Unix socket.

use crate::bar::{Bar, BarOp};
use crate::snapshot::AccessError;
use crate::wire::{self, Reply, Request, VERSION, Welcome};
use std::io;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

/// Only there to catch a server that died without closing its end: no batch of ours takes so long.
const WATCHDOG: Duration = Duration::from_mins(2);

/// What the machine said last, for the error that reports its end.
pub trait LastWords: Send {
    /// Called once, when the socket broke; waits for the other side's end if it can.
    fn last_words(&mut self) -> Option<String>;
}

/// A [`Bar`] that sends its batches to a server.
pub struct SocketBar {
    stream: UnixStream,
    welcome: Welcome,
    end: Option<AccessError>,
    last_words: Option<Box<dyn LastWords>>,
}

impl SocketBar {
    /// Connects to a served machine.
    ///
    /// # Errors
    /// `Unreachable` when nobody answers there, `Refused` with the server's reason.
    pub fn connect(path: &Path) -> Result<Self, AccessError> {
        let stream = UnixStream::connect(path)
            .map_err(|error| AccessError::Unreachable(format!("nobody serves there: {error}")))?;
        Self::over(stream, None)
    }

    /// Greets the server at the other end of `stream`.
    ///
    /// # Errors
    /// As [`SocketBar::connect`].
    pub fn over(
        stream: UnixStream,
        last_words: Option<Box<dyn LastWords>>,
    ) -> Result<Self, AccessError> {
        let mut bar = Self { stream, welcome: Welcome::default(), end: None, last_words };
        let client = format!("process {}", std::process::id());
        match bar.call(&Request::Hello { version: VERSION, client })? {
            Reply::Welcome(welcome) => bar.welcome = welcome,
            Reply::Refused(reason) => return Err(AccessError::Refused(reason)),
            Reply::Done { .. } => return Err(bar.broken("it answered a question not asked")),
        }
        Ok(bar)
    }

    /// What the server told of its machine.
    pub fn welcome(&self) -> &Welcome {
        &self.welcome
    }

    fn call(&mut self, request: &Request) -> Result<Reply, AccessError> {
        if let Some(end) = &self.end {
            return Err(end.clone());
        }
        match self.exchange(request) {
            Ok(Some(reply)) => Ok(reply),
            Ok(None) => Err(self.broken("it closed the connection")),
            Err(error) => Err(self.broken(&error.to_string())),
        }
    }

    fn exchange(&mut self, request: &Request) -> io::Result<Option<Reply>> {
        self.stream.set_read_timeout(Some(WATCHDOG))?;
        wire::send(&mut self.stream, request)?;
        wire::receive(&mut self.stream)
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
        match self.call(&Request::Batch(batch.to_vec()))? {
            Reply::Done { error, answer: bytes } => {
                answer.extend_from_slice(&bytes);
                error.map_or(Ok(()), Err)
            }
            Reply::Welcome(_) | Reply::Refused(_) => Err(self.broken("it greeted twice")),
        }
    }
}
