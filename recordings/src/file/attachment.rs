//! Attachments: ELF images, and the index.

use super::chunk::{MOST_BYTES, decompressed};
use super::source::Budget;
use crate::format::COMPRESSED;
use mcap::records::{Record, op};
use std::sync::Arc;

/// A file attached to a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attachment {
    /// The name of the attachment.
    pub name: String,
    /// Its content.
    pub bytes: Arc<[u8]>,
}

impl Attachment {
    /// Returns the attachment of a record; none if it is damaged, or too large.
    pub(super) fn of(body: &[u8], budget: &mut Budget) -> Option<Self> {
        if !is_whole(body) {
            return None;
        }
        let Ok(Record::Attachment { header, data, .. }) = mcap::parse_record(op::ATTACHMENT, body)
        else {
            return None;
        };
        let (name, bytes) = match header.name.strip_suffix(COMPRESSED) {
            Some(name) => {
                let most = budget.left().min(MOST_BYTES);
                let bytes = decompressed(&data, most);
                // What turns out to be too much has cost as much.
                let cost = bytes.as_ref().map_or(most, |bytes| bytes.len() as u64);
                budget.spend(cost).ok()?;
                (name.to_owned(), bytes.ok()?.into())
            }
            None => (header.name.clone(), data.as_ref().into()),
        };
        Some(Self { name, bytes })
    }
}

/// Whether the lengths in an attachment record fit into it, which its parser does not check, and
/// the checksum is right.
fn is_whole(body: &[u8]) -> bool {
    let word = |at: usize| {
        let bytes = body.get(at..at.checked_add(4)?)?;
        Some(u32::from_le_bytes(bytes.try_into().ok()?) as usize)
    };
    // Two times of 8 bytes, two texts with a length, the 8-byte length of the data, the data, and a
    // checksum of 4 bytes.
    let fixed_end = || {
        let media = 16_usize.checked_add(4)?.checked_add(word(16)?)?;
        media.checked_add(4)?.checked_add(word(media)?)?.checked_add(8 + 4)
    };
    if fixed_end().is_none_or(|end| end > body.len()) {
        return false;
    }
    let (content, checksum) = body.split_at(body.len() - 4);
    crc32fast::hash(content).to_le_bytes() == checksum
}
