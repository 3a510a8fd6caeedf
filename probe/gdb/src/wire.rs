//! The bytes to and from the client. A thread reads them, so that the caller's wish to end is seen
//! while the client is silent.

use gdbstub::conn::Connection;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError, sync_channel};
use std::time::Duration;

/// Bytes that may wait to be taken.
const ROOM: usize = 4096;

/// A connection to a client.
pub struct Wire {
    bytes: Receiver<u8>,
    /// Closed at the end, which also ends the thread.
    socket: Option<TcpStream>,
    out: Box<dyn Write + Send>,
}

/// What a client has sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Received {
    /// A byte.
    Byte(u8),
    /// Nothing.
    Nothing,
    /// Nothing ever again.
    End,
}

impl Wire {
    /// Creates a connection of two streams.
    pub fn new(mut input: impl Read + Send + 'static, out: impl Write + Send + 'static) -> Self {
        let (sender, bytes) = sync_channel(ROOM);
        std::thread::spawn(move || {
            let mut byte = [0];
            while let Ok(1) = input.read(&mut byte) {
                if sender.send(byte[0]).is_err() {
                    break;
                }
            }
        });
        Self { bytes, socket: None, out: Box::new(out) }
    }

    /// Creates a connection of a socket, which is closed at its end.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn of_socket(socket: TcpStream) -> io::Result<Self> {
        socket.set_nodelay(true)?;
        let mut wire = Self::new(socket.try_clone()?, socket.try_clone()?);
        wire.socket = Some(socket);
        Ok(wire)
    }

    /// Waits for a byte.
    pub(crate) fn wait(&self, at_most: Duration) -> Received {
        match self.bytes.recv_timeout(at_most) {
            Ok(byte) => Received::Byte(byte),
            Err(RecvTimeoutError::Timeout) => Received::Nothing,
            Err(RecvTimeoutError::Disconnected) => Received::End,
        }
    }

    /// Takes a byte that has arrived.
    pub(crate) fn take(&self) -> Received {
        match self.bytes.try_recv() {
            Ok(byte) => Received::Byte(byte),
            Err(TryRecvError::Empty) => Received::Nothing,
            Err(TryRecvError::Disconnected) => Received::End,
        }
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        if let Some(socket) = &self.socket {
            // The client may have closed it.
            socket.shutdown(Shutdown::Both).ok();
        }
    }
}

impl Connection for Wire {
    type Error = io::Error;

    fn write(&mut self, byte: u8) -> io::Result<()> {
        self.out.write_all(&[byte])
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.out.write_all(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
