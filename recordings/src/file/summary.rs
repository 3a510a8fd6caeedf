//! What a finished file says of itself at its end.

use super::attachment::Attachment;
use super::chunk::MOST_BYTES;
use super::gathered::{Gathered, MOST_ATTACHMENTS};
use super::record::parse;
use super::source::{Budget, HEAD, Source, split_record};
use super::walk::{Content, content};
use crate::format::{Channel, INDEX, Index};
use mcap::records::{Record, op};

/// Bytes of the footer's body.
const FOOTER: u64 = 20;

/// Returns the contents that the summary names; none if the file was not finished, or its end is
/// damaged.
pub(super) fn read(source: &Source) -> Option<Gathered> {
    let mut gathered = Gathered::default();
    let (mut index, budget) = (None, &mut Budget::of(source));
    let summary = checked_summary(source)?;
    let mut rest = summary.as_slice();
    while let Some((kind, body)) = split_record(&mut rest) {
        match parse(kind, body).ok()? {
            Record::ChunkIndex(chunk) => {
                let mut channels = chunk.message_index_offsets.keys();
                if channels.any(|id| Channel::of(*id).is_some_and(Channel::has_notes)) {
                    gathered.noted.push(gathered.chunks.len());
                }
                gathered.chunks.push(source.record(chunk.chunk_start_offset).ok()??);
            }
            Record::MetadataIndex(at) => {
                if let Content::Session(session) = record(source, at.offset, budget)? {
                    gathered.session = Some(session);
                }
            }
            Record::AttachmentIndex(at) => match record(source, at.offset, budget)? {
                Content::Attachment(Some(file)) if file.name == INDEX => index = Some(file),
                Content::Attachment(Some(file))
                    if gathered.attachments.len() < MOST_ATTACHMENTS =>
                {
                    gathered.attachments.push(file);
                }
                _ => gathered.complain("a damaged attachment was skipped".into()),
            },
            _ => {}
        }
    }
    gathered.session.is_some().then_some(())?;
    gathered.take_index(&index?)?;
    Some(gathered)
}

impl Gathered {
    fn take_index(&mut self, file: &Attachment) -> Option<()> {
        let mut index = Index::of(&file.bytes)?;
        self.entries = index.entries(self.chunks.len())?;
        self.marks = index.marks;
        Some(())
    }
}

fn record(source: &Source, at: u64, budget: &mut Budget) -> Option<Content> {
    content(source.record(at).ok()??, source, budget).ok()
}

/// Returns the bytes of the summary's records, whose checksum is right.
fn checked_summary(source: &Source) -> Option<Vec<u8>> {
    let magic = mcap::MAGIC.len() as u64;
    let footer = source.len().checked_sub(magic + FOOTER + HEAD)?;
    let place = source.record(footer).ok()?.filter(|place| place.kind == op::FOOTER)?;
    let body = source.body(place).ok()?;
    let Ok(Record::Footer(fields)) = parse(op::FOOTER, &body) else { return None };
    let start = fields.summary_start;
    // The checksum covers everything up to itself, the last 4 bytes of the footer.
    let len = (place.end() - 4).checked_sub(start).filter(|len| *len <= MOST_BYTES)?;
    let covered = source.read(start, len).ok()?;
    (crc32fast::hash(&covered) == fields.summary_crc).then_some(())?;
    let records = covered.get(..footer.checked_sub(start)? as usize)?;
    Some(records.to_vec())
}
