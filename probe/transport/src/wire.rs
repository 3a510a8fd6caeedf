//! The BAR protocol: length-prefixed messages over a Unix socket, each with a batch of operations.
//!
//! A frame is two little-endian `u32`, the lengths of its two parts: a message in MessagePack,
//! and plain bytes. The client sends `Hello` first and `Bye` last. Every request in between gets
//! exactly one reply, after signs of life while it waits; a released lock gets none. Bytes that were read travel as plain
//! bytes, which saves a copy. A reply without a message is a batch that succeeded.

pub mod bounds;

use layouts::ChipKind;
use machine::bar::{BarOp, Elsewhere};
use machine::clients::{Client, ServedHistory};
use machine::fault::ChipAddress;
use machine::past::RecordedRun;
use machine::snapshot::{AccessError, StoppedCore};
use machine::target::Abilities;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::io::{self, BufRead, Read, Write};

/// Version of the protocol; both sides must have the same.
pub const VERSION: u32 = 17;

/// A longer part of a frame is invalid.
pub(crate) const MAX_BYTES: u32 = 256 << 20;

/// Bytes of the two lengths.
const PREFIX_BYTES: usize = 8;

/// A message of a client.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum WireRequest<'a> {
    /// The first message.
    Hello {
        /// [`VERSION`] of the client.
        version: u32,
        /// The client.
        client: Client,
        /// Whether it requests the right to write, which one client at a time has.
        writes: bool,
    },
    /// Operations to carry out in order.
    Batch {
        /// The operations.
        ops: Cow<'a, [BarOp]>,
        /// The change that the operations make, if the user requested one.
        change: Option<Cow<'a, str>>,
    },
    /// Operations for different devices, by device: those of one device in order, the devices in
    /// parallel.
    Parallel(Vec<(u8, Cow<'a, [BarOp]>)>),
    /// Takes the lock for requests through the routing queues of a device; answered when the client
    /// has it.
    LockQueues(u8),
    /// Releases the lock; has no reply.
    UnlockQueues(u8),
    /// Injects a fault; requires the right to write.
    Disrupt {
        /// The chip of the fault.
        at: ChipAddress,
        /// The text of the fault; its times are the machine's own.
        fault: Cow<'a, str>,
    },
    /// Asks which other client has the right to write.
    Writer,
    /// Asks for the cores of some chips that the machine has stopped.
    StoppedCores(Cow<'a, [ChipAddress]>),
    /// Asks for the machine's run from power-on.
    RecordedRun,
    /// The last message of a client that disconnects in order; has no reply.
    Bye,
}

/// A message of the server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum WireReply {
    /// The client may use the machine, whose chips are of this kind, as it asked for, until it leaves.
    Welcome(Box<Welcome>, ChipKind),
    /// The machine is not ready yet, and why; a welcome or a refusal follows.
    Wait(String),
    /// The client is refused, and why.
    Refused(String),
    /// The client has the lock of the routing queues.
    Locked,
    /// This client has the lock; the reply follows.
    Held(Client),
    /// The other client that has the right to write.
    Writer(Option<Client>),
    /// Those cores, each with the index of its chip.
    StoppedCores(Vec<(usize, StoppedCore)>),
    /// That run, or why it is lost; none: the machine does not keep it.
    RecordedRun(Option<Result<Box<RecordedRun>, String>>),
    /// A batch ended at its first error; the bytes read before it are attached.
    Failed(AccessError),
    /// The length of each device's answer in the plain bytes, and the error that ended it.
    Parallel(Vec<(u32, Result<(), AccessError>)>),
}

/// The server's description of the machine for a new client.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Welcome {
    /// [`VERSION`] of the server.
    pub version: u32,
    /// The argument that opened the machine, such as `emulator:n300`.
    pub machine: String,
    /// What it supports, and what must not be read.
    pub abilities: Abilities,
    /// Number of devices, if the server knows it.
    pub devices: Option<u8>,
    /// Indices of the TLB windows of each device that clients use, where others are somebody else's;
    /// empty if they use all but the driver's.
    pub windows: Vec<u16>,
    /// Chips of its mesh that only other hosts reach.
    pub elsewhere: Vec<Elsewhere>,
    /// Whether other clients may use the machine at the same time.
    pub shared: bool,
    /// The previous client of the machine, and the present writer.
    pub before: ServedHistory,
}

/// Encodes and sends frames, in a buffer that is reused.
#[derive(Debug, Default)]
pub struct Outbox {
    frame: Vec<u8>,
}

impl Outbox {
    /// Sends a message.
    ///
    /// # Errors
    /// The stream's error; `InvalidData` for a message that is too long.
    pub fn send(&mut self, stream: &mut impl Write, message: &impl Serialize) -> io::Result<()> {
        self.begin(message)?;
        self.finish(stream, self.frame.len())
    }

    /// Sends the plain bytes that `fill` appends, with the message that it returns for them, if
    /// any.
    ///
    /// # Errors
    /// As [`Outbox::send`].
    pub fn answer<T: Serialize>(
        &mut self,
        stream: &mut impl Write,
        fill: impl FnOnce(&mut Vec<u8>) -> Option<T>,
    ) -> io::Result<()> {
        self.frame.clear();
        self.frame.resize(PREFIX_BYTES, 0);
        let Some(message) = fill(&mut self.frame) else {
            return self.finish(stream, PREFIX_BYTES);
        };
        let plain = self.frame.split_off(PREFIX_BYTES);
        self.begin(&message)?;
        let message_end = self.frame.len();
        self.frame.extend(plain);
        self.finish(stream, message_end)
    }

    fn begin(&mut self, message: &impl Serialize) -> io::Result<()> {
        self.frame.clear();
        self.frame.resize(PREFIX_BYTES, 0);
        rmp_serde::encode::write(&mut self.frame, message).map_err(io::Error::other)
    }

    fn finish(&mut self, stream: &mut impl Write, message_end: usize) -> io::Result<()> {
        let message = len_of(message_end - PREFIX_BYTES)?;
        let plain = len_of(self.frame.len() - message_end)?;
        self.frame[..4].copy_from_slice(&message.to_le_bytes());
        self.frame[4..PREFIX_BYTES].copy_from_slice(&plain.to_le_bytes());
        stream.write_all(&self.frame)
    }
}

fn len_of(len: usize) -> io::Result<u32> {
    let fits = u32::try_from(len).ok().filter(|&len| len <= MAX_BYTES);
    fits.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "message too long"))
}

/// A received frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Received<T> {
    /// A message, possibly with plain bytes.
    Message(T),
    /// Plain bytes alone.
    Plain,
    /// The other side closed the stream between frames.
    End,
}

/// Receives one frame; its plain bytes are appended to `plain`.
///
/// # Errors
/// The stream's error; `InvalidData` for bytes that are not a frame.
pub fn receive<T: DeserializeOwned>(
    stream: &mut impl BufRead,
    plain: &mut Vec<u8>,
) -> io::Result<Received<T>> {
    receive_at_most(stream, plain, MAX_BYTES)
}

/// Receives one frame of which no part is longer than `most` bytes.
///
/// # Errors
/// As [`receive`].
pub fn receive_at_most<T: DeserializeOwned>(
    stream: &mut impl BufRead,
    plain: &mut Vec<u8>,
    most: u32,
) -> io::Result<Received<T>> {
    if is_at_end(stream)? {
        return Ok(Received::End);
    }
    let (mut message, mut bytes) = ([0; 4], [0; 4]);
    stream.read_exact(&mut message)?;
    stream.read_exact(&mut bytes)?;
    let (message, bytes) = (u32::from_le_bytes(message), u32::from_le_bytes(bytes));
    let longest = message.max(bytes);
    if longest > most {
        let why = format!("a message has at most {most} bytes, this one {longest}");
        return Err(io::Error::new(io::ErrorKind::InvalidData, why));
    }
    let mut encoded = Vec::new();
    read_whole(stream, message, &mut encoded)?;
    read_whole(stream, bytes, plain)?;
    if message == 0 {
        return Ok(Received::Plain);
    }
    let message = rmp_serde::from_slice(&encoded)
        .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
    Ok(Received::Message(message))
}

/// Waits for the first byte; returns whether the stream has ended. A signal such as that of Ctrl-C
/// interrupts a wait with a timeout, and does not end the stream.
fn is_at_end(stream: &mut impl BufRead) -> io::Result<bool> {
    loop {
        match stream.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            waited => return waited.map(<[u8]>::is_empty),
        }
    }
}

/// Appends exactly `len` bytes of the stream to `out`.
fn read_whole(stream: &mut impl BufRead, len: u32, out: &mut Vec<u8>) -> io::Result<()> {
    let len = u64::from(len);
    if stream.take(len).read_to_end(out)? as u64 == len {
        return Ok(());
    }
    Err(io::ErrorKind::UnexpectedEof.into())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn a_batch_survives_encoding() {
        let ops = vec![
            BarOp::ConfigRead { device: 3, offset: 0x10 },
            BarOp::Write { device: 0, bar: 0, offset: 1 << 28, bytes: vec![1, 2, 3] },
            BarOp::Pass { cycles: u64::MAX },
            BarOp::Read { device: 1, bar: 4, offset: 1 << 40, len: 8, ones: 4 },
            BarOp::Now,
        ];
        let batch = WireRequest::Batch { ops: ops.into(), change: Some("a change".into()) };
        let mut stream = Vec::new();
        Outbox::default().send(&mut stream, &batch).unwrap();
        let (mut reader, mut plain) = (stream.as_slice(), Vec::new());
        assert_eq!(receive(&mut reader, &mut plain).unwrap(), Received::Message(batch));
        assert_eq!(receive::<WireRequest>(&mut reader, &mut plain).unwrap(), Received::End);
        assert!(plain.is_empty());
    }

    #[test]
    fn answers_come_whole_with_their_error_or_without() {
        let mut outbox = Outbox::default();
        let mut stream = Vec::new();
        let long = vec![7; 100_000];
        let fill = |frame: &mut Vec<u8>| frame.extend(&long);
        outbox.answer(&mut stream, |frame| (fill(frame), None::<WireReply>).1).unwrap();
        let failed = WireReply::Failed(AccessError::InReset);
        outbox.answer(&mut stream, |frame| (fill(frame), Some(failed.clone())).1).unwrap();
        outbox.answer(&mut stream, |_| None::<WireReply>).unwrap();
        let (mut reader, mut plain) = (stream.as_slice(), vec![1]);
        assert_eq!(receive::<WireReply>(&mut reader, &mut plain).unwrap(), Received::Plain);
        assert_eq!(plain, [vec![1], long.clone()].concat());
        plain.clear();
        let got = receive(&mut reader, &mut plain).unwrap();
        assert_eq!((got, &plain), (Received::Message(failed), &long));
        assert_eq!(receive::<WireReply>(&mut reader, &mut plain).unwrap(), Received::Plain);
        assert_eq!(receive::<WireReply>(&mut reader, &mut plain).unwrap(), Received::End);
    }

    /// A stream whose every second read is interrupted by a signal.
    struct Signalled<'a>(&'a [u8], bool);

    impl Read for Signalled<'_> {
        fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
            self.1 = !self.1;
            let few = buf.len().min(3);
            if self.1 {
                Err(io::ErrorKind::Interrupted.into())
            } else {
                self.0.read(&mut buf[..few])
            }
        }
    }

    #[test]
    fn a_signal_is_no_end_of_the_stream() {
        let mut stream = Vec::new();
        let failed = WireReply::Failed(AccessError::InReset);
        let fill = |frame: &mut Vec<u8>| {
            frame.extend([7; 50]);
            Some(failed.clone())
        };
        Outbox::default().answer(&mut stream, fill).unwrap();
        let mut reader = io::BufReader::with_capacity(4, Signalled(&stream, false));
        let mut plain = Vec::new();
        let got = receive(&mut reader, &mut plain).unwrap();
        assert_eq!((got, plain), (Received::Message(failed), vec![7; 50]));
        assert_eq!(receive::<WireReply>(&mut reader, &mut Vec::new()).unwrap(), Received::End);
    }

    #[test]
    fn foreign_bytes_are_an_error_not_a_panic() {
        let mut noise = vec![5, 0, 0, 0, 0, 0, 0, 0];
        noise.extend([0xFF; 5]);
        let short = [9, 0, 0, 0, 0, 0, 0, 0, 1];
        for bytes in [noise.as_slice(), &[0xFF; 8], &short, &short[..5]] {
            let mut stream = bytes;
            assert!(receive::<WireRequest>(&mut stream, &mut Vec::new()).is_err(), "{bytes:?}");
        }
    }
}
