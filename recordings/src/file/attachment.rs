//! Attachments: ELF images, and the index.

use super::chunk::{MOST_BYTES, decompressed};
use super::record::parse;
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
        let Ok(Record::Attachment { header, data, .. }) = parse(op::ATTACHMENT, body) else {
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

/// Whether the checksum of an attachment record, its last 4 bytes, is right.
fn is_whole(body: &[u8]) -> bool {
    let at = body.len().saturating_sub(4);
    let (content, checksum) = body.split_at(at);
    crc32fast::hash(content).to_le_bytes() == checksum
}
