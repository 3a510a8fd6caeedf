//! Chunks: their bytes, decompressed and checked, and the messages in them.

use super::record::parse;
use super::source::{Budget, Place, Source, split_record};
use crate::error::Damage;
use crate::format::Channel;
use machine::notes::Note;
use mcap::records::{Record, op};
use serde::de::DeserializeOwned;
use std::io::Read;
use std::sync::Arc;

/// Limit of a record's bytes, decompressed: those of a run of 256 MiB. A file must not exhaust the
/// host's memory.
pub(super) const MOST_BYTES: u64 = 257 << 20;

/// The decompressed bytes of a chunk.
#[derive(Clone, Debug)]
pub(crate) struct Chunk {
    bytes: Arc<[u8]>,
}

pub(crate) struct Message<'a> {
    /// The number of its channel, and the channel of that number in the present format.
    pub(crate) channel: Option<Channel>,
    /// Its sequence number.
    pub(crate) number: u32,
    pub(crate) data: &'a [u8],
}

impl Chunk {
    pub(super) fn read(source: &Source, place: Place) -> Result<Self, Damage> {
        // It was within the budget when the file was opened.
        Self::of(&source.body(place).map_err(Damage::Io)?, &mut Budget::of(source))
    }

    /// Decompresses the body of a chunk record and checks its checksum. Its lengths must fit
    /// together, so that a record with a damaged length is not taken for a chunk.
    pub(super) fn of(body: &[u8], budget: &mut Budget) -> Result<Self, Damage> {
        let record = parse(op::CHUNK, body)?;
        let Record::Chunk { header, data } = record else { return Err(Damage::NoChunk) };
        // Times, size and checksum, the name of the compression with its length, and the size.
        let head = 28 + 4 + header.compression.len() as u64 + 8;
        if head + header.compressed_size != body.len() as u64 {
            return Err(Damage::Lengths);
        }
        let bytes = match header.compression.as_str() {
            "" => data.into_owned(),
            "zstd" => {
                let len = header.uncompressed_size;
                (len <= MOST_BYTES).then_some(()).ok_or(Damage::Lengths)?;
                budget.spend(len)?;
                let bytes = decompressed(&data, len)?;
                (bytes.len() as u64 == len).then_some(bytes).ok_or(Damage::Lengths)?
            }
            other => return Err(Damage::Compression(other.to_owned())),
        };
        if crc32fast::hash(&bytes) != header.uncompressed_crc {
            return Err(Damage::Checksum);
        }
        Ok(Self { bytes: bytes.into() })
    }

    /// Returns the messages of an attachment, which stand in it as in a chunk.
    pub(super) fn attached(bytes: &Arc<[u8]>) -> Self {
        Self { bytes: Arc::clone(bytes) }
    }

    /// Returns its messages, in their order.
    pub(crate) fn messages(&self) -> impl Iterator<Item = Message<'_>> {
        let mut rest = &*self.bytes;
        std::iter::from_fn(move || {
            loop {
                let (kind, body) = split_record(&mut rest)?;
                if kind == op::MESSAGE {
                    return message(body);
                }
            }
        })
    }
}

/// Channel, sequence number, and two times of 8 bytes stand before the data.
fn message(body: &[u8]) -> Option<Message<'_>> {
    let (head, data) = body.split_at_checked(22)?;
    let channel = u16::from_le_bytes(head.get(..2)?.try_into().ok()?);
    let number = u32::from_le_bytes(head.get(2..6)?.try_into().ok()?);
    Some(Message { channel: Channel::of(channel), number, data })
}

/// Returns the note of a message; none if it is of another channel.
///
/// # Errors
/// What is damaged.
pub(super) fn note(message: &Message<'_>) -> Result<Option<Note>, Damage> {
    fn read<T: DeserializeOwned>(data: &[u8], note: fn(T) -> Note) -> Result<Option<Note>, Damage> {
        serde_json::from_slice(data).map(|read| Some(note(read))).map_err(Damage::Json)
    }
    match message.channel {
        Some(Channel::Commands) => read(message.data, Note::Command),
        Some(Channel::Audit) => read(message.data, Note::Audit),
        Some(Channel::Status) => read(message.data, Note::Status),
        _ => Ok(None),
    }
}

/// Decompresses, if it is no more than this.
pub(super) fn decompressed(data: &[u8], most: u64) -> Result<Vec<u8>, Damage> {
    let mut bytes = Vec::new();
    let decoder = zstd::stream::read::Decoder::new(data).map_err(Damage::Io)?;
    decoder.take(most + 1).read_to_end(&mut bytes).map_err(Damage::Io)?;
    if bytes.len() as u64 > most { Err(Damage::Lengths) } else { Ok(bytes) }
}
