//! The one BAR protocol: length-prefixed messages over a Unix socket, a batch of operations in each.
//!
//! A frame is a little-endian `u32` length and that many bytes of postcard. The client says `Hello`
//! first; every later request gets exactly one reply.

use crate::bar::BarOp;
use crate::snapshot::AccessError;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::io::{self, Read, Write};

/// Version of the protocol; both sides must have the same.
pub const VERSION: u32 = 3;

/// A longer frame than this is not ours.
const MAX_FRAME_BYTES: u32 = 256 << 20;

/// What a client says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Request {
    /// The first words.
    Hello {
        /// [`VERSION`] of the client.
        version: u32,
        /// Who asks, for the sentence that a refused client sees.
        client: String,
    },
    /// Operations to carry out in order.
    Batch(Vec<BarOp>),
}

/// What the server answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Reply {
    /// The client has the machine, with the right to write, until it leaves.
    Welcome(Welcome),
    /// The client cannot have the machine, and why.
    Refused(String),
    /// A batch was carried out, or broken off at its first error.
    Done {
        /// What ended the batch early.
        error: Option<AccessError>,
        /// What the reads before that gave.
        #[serde(with = "serde_bytes")]
        answer: Vec<u8>,
    },
}

/// What a new client learns of the machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Welcome {
    /// [`VERSION`] of the server.
    pub version: u32,
    /// What is served, in the words that opened it, such as `emulator:n300`.
    pub machine: String,
    /// Name of the list of refusals that goes with the machine, such as `ttsim`.
    pub profile: String,
    /// Who held the machine before.
    pub last_client: Option<String>,
}

/// Sends one message.
///
/// # Errors
/// What the stream says; `InvalidData` for a message that is too long.
pub fn send(stream: &mut impl Write, message: &impl Serialize) -> io::Result<()> {
    let mut frame = postcard::to_extend(message, vec![0; 4]).map_err(io::Error::other)?;
    let len = u32::try_from(frame.len() - 4).ok().filter(|&len| len <= MAX_FRAME_BYTES);
    let len = len.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "message too long"))?;
    frame[..4].copy_from_slice(&len.to_le_bytes());
    stream.write_all(&frame)
}

/// Receives one message; `None` when the other side has closed the stream between messages.
///
/// # Errors
/// What the stream says; `InvalidData` for bytes that are no message.
pub fn receive<T: DeserializeOwned>(stream: &mut impl Read) -> io::Result<Option<T>> {
    let mut prefix = [0; 4];
    match stream.read_exact(&mut prefix) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        other => other?,
    }
    let len = u32::from_le_bytes(prefix);
    if len > MAX_FRAME_BYTES {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "frame too long"));
    }
    let mut frame = vec![0; len as usize];
    stream.read_exact(&mut frame)?;
    let message = postcard::from_bytes(&frame)
        .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
    Ok(Some(message))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn a_batch_survives_the_way() {
        let batch = Request::Batch(vec![
            BarOp::ConfigRead { device: 3, offset: 0x10 },
            BarOp::Write { device: 0, bar: 0, offset: 1 << 28, bytes: vec![1, 2, 3] },
            BarOp::Pass { cycles: u64::MAX },
            BarOp::EndIfOnes { len: 4 },
            BarOp::Now,
        ]);
        let mut stream = Vec::new();
        send(&mut stream, &batch).unwrap();
        let mut reader = stream.as_slice();
        assert_eq!(receive::<Request>(&mut reader).unwrap(), Some(batch));
        assert_eq!(receive::<Request>(&mut reader).unwrap(), None);
    }

    #[test]
    fn foreign_bytes_are_an_error_not_a_panic() {
        let noise = [5, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF];
        assert!(receive::<Request>(&mut noise.as_slice()).is_err());
        let huge = [0xFF; 8];
        assert!(receive::<Request>(&mut huge.as_slice()).is_err());
        let short = [9, 0, 0, 0, 1];
        assert!(receive::<Request>(&mut short.as_slice()).is_err());
    }
}
