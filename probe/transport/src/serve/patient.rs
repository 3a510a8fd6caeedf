//! A client's stream, on which a message can be awaited for a limited time, however slowly its bytes
//! come.

use std::io::{self, Read};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

/// A stream with a time limit for all its reads together.
pub(super) struct Patient {
    stream: UnixStream,
    until: Option<Instant>,
}

impl Patient {
    /// Limits the time of the following reads.
    pub(super) fn new(stream: UnixStream, patience: Duration) -> Self {
        Self { stream, until: Some(Instant::now() + patience) }
    }

    /// Returns the stream.
    pub(super) fn stream(&mut self) -> &mut UnixStream {
        &mut self.stream
    }

    /// Ends the limit.
    ///
    /// # Errors
    /// When the system refuses.
    pub(super) fn wait_for_ever(&mut self) -> io::Result<()> {
        self.until = None;
        self.stream.set_read_timeout(None)
    }
}

impl Read for Patient {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if let Some(until) = self.until {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(io::ErrorKind::TimedOut.into());
            }
            self.stream.set_read_timeout(Some(left))?;
        }
        self.stream.read(buf)
    }
}
