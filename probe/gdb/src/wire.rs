//! The bytes to and from the client. Threads read and write them, so that the caller's wish to end
//! is seen while the client is silent, and while it takes nothing.

use gdbstub::conn::Connection;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{
    Receiver, RecvTimeoutError, SyncSender, TryRecvError, TrySendError, sync_channel,
};
use std::time::{Duration, Instant};

/// Bytes that may wait to be taken, and packets that may wait to be sent.
const ROOM: usize = 4096;
const PACKETS: usize = 16;
/// A client that takes nothing for this long has left.
const PATIENCE: Duration = Duration::from_secs(2);
/// How often a client that takes nothing is tried.
const PAUSE: Duration = Duration::from_millis(10);

/// A connection to a client.
pub struct Wire {
    bytes: Receiver<u8>,
    /// What is not flushed yet.
    packet: Vec<u8>,
    packets: Option<SyncSender<Vec<u8>>>,
    /// Disconnected once all packets have been written.
    written: Receiver<()>,
    close: Box<dyn FnMut() + Send>,
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
    pub fn new(input: impl Read + Send + 'static, out: impl Write + Send + 'static) -> Self {
        Self::closing(input, out, || ())
    }

    /// Creates a connection of a TCP socket, which is closed at its end.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn of_tcp(socket: TcpStream) -> io::Result<Self> {
        socket.set_nodelay(true)?;
        let (input, out) = (socket.try_clone()?, socket.try_clone()?);
        // The client may have closed it.
        Ok(Self::closing(input, out, move || drop(socket.shutdown(Shutdown::Both))))
    }

    /// Creates a connection of a Unix socket, which is closed at its end.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn of_unix(socket: UnixStream) -> io::Result<Self> {
        let (input, out) = (socket.try_clone()?, socket.try_clone()?);
        Ok(Self::closing(input, out, move || drop(socket.shutdown(Shutdown::Both))))
    }

    /// Creates a connection with what closes it, which also ends its threads.
    fn closing(
        mut input: impl Read + Send + 'static,
        mut out: impl Write + Send + 'static,
        close: impl FnMut() + Send + 'static,
    ) -> Self {
        let (sender, bytes) = sync_channel(ROOM);
        std::thread::spawn(move || {
            let mut byte = [0];
            while let Ok(1) = input.read(&mut byte) {
                if sender.send(byte[0]).is_err() {
                    break;
                }
            }
        });
        let (packets, queued) = sync_channel::<Vec<u8>>(PACKETS);
        let (end, written) = sync_channel(0);
        std::thread::spawn(move || {
            let _end: SyncSender<()> = end;
            for packet in queued {
                if out.write_all(&packet).and_then(|()| out.flush()).is_err() {
                    break;
                }
            }
        });
        let close = Box::new(close);
        Self { bytes, packet: Vec::new(), packets: Some(packets), written, close }
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
        self.packets = None;
        // The last answer is still on its way.
        self.written.recv_timeout(PATIENCE).ok();
        (self.close)();
    }
}

impl Connection for Wire {
    type Error = io::Error;

    fn write(&mut self, byte: u8) -> io::Result<()> {
        self.packet.push(byte);
        // An acknowledgement is no part of a packet, and is not flushed.
        if matches!(self.packet[..], [b'+' | b'-']) { self.flush() } else { Ok(()) }
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.packet.extend(bytes);
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        let (start, mut packet) = (Instant::now(), std::mem::take(&mut self.packet));
        let Some(packets) = &self.packets else { return Ok(()) };
        loop {
            match packets.try_send(packet) {
                Ok(()) => return Ok(()),
                Err(TrySendError::Disconnected(_)) => return Err(io::ErrorKind::BrokenPipe.into()),
                Err(TrySendError::Full(_)) if start.elapsed() > PATIENCE => {
                    return Err(io::ErrorKind::TimedOut.into());
                }
                Err(TrySendError::Full(left)) => packet = left,
            }
            std::thread::sleep(PAUSE);
        }
    }
}
