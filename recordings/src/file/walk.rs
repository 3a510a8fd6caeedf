//! Walks over the records of a file, and finds its way again behind a damaged part.

use super::attachment::Attachment;
use super::chunk::{Chunk, MOST_BYTES};
use super::record::parse;
use super::source::{Budget, HEAD, Place, Source, place};
use crate::error::Damage;
use crate::format::{SESSION, SessionRecord};
use mcap::records::{Record, op};
use std::collections::BTreeMap;
use std::io;

/// Bytes that are searched at a time behind a damaged part.
const WINDOW: u64 = 1 << 20;

/// Limit of the bytes of metadata: those of a session, which names the whole mesh.
const MOST_TEXT: u64 = 16 << 20;

/// What a record holds.
pub(super) enum Content {
    /// A chunk, which is whole.
    Chunk(Chunk),
    /// A chunk whose content is damaged; its length is right.
    DamagedChunk(Damage),
    /// An attachment, or none if it is damaged.
    Attachment(Option<Attachment>),
    /// The metadata of a session.
    Session(BTreeMap<String, String>),
    /// The profile of the file.
    Profile(String),
    /// The end of the data.
    End,
    /// Another record.
    Other,
}

pub(super) enum Step {
    /// A record.
    Record(Place, Content),
    /// Bytes that are no record, from one position to another.
    Damaged(u64, u64),
}

/// A walk from the first record on.
pub(super) struct Walk<'a> {
    source: &'a Source,
    at: u64,
    /// The end of the last record that was checked.
    sure: u64,
    budget: Budget,
}

impl<'a> Walk<'a> {
    pub(super) fn new(source: &'a Source) -> Self {
        let at = mcap::MAGIC.len() as u64;
        Self { source, at, sure: at, budget: Budget::of(source) }
    }

    /// Returns the next record, or the next damaged part; none at the end.
    ///
    /// # Errors
    /// The file cannot be read.
    pub(super) fn step(&mut self) -> io::Result<Option<Step>> {
        // The file ends with the same bytes with which it begins.
        let rest = self.source.len().saturating_sub(self.at);
        if rest == 0 || (rest == 8 && self.source.read(self.at, 8)? == mcap::MAGIC) {
            return Ok(None);
        }
        let place = self.source.record(self.at)?;
        let Some(place) = place else { return self.search().map(Some) };
        match content(place, self.source, &mut self.budget)? {
            // Its length may be wrong.
            Content::DamagedChunk(Damage::Lengths) => self.search().map(Some),
            content => {
                self.at = place.end();
                if is_sure(&content) {
                    self.sure = self.at;
                }
                Ok(Some(Step::Record(place, content)))
            }
        }
    }

    /// Looks for the next record that is certainly one, behind the last one that was.
    fn search(&mut self) -> io::Result<Step> {
        let from = self.sure;
        let mut start = from;
        while start < self.source.len() && self.budget.spend(WINDOW).is_ok() {
            let window = self.source.read(start, WINDOW + HEAD)?;
            for (i, head) in window.windows(HEAD as usize).enumerate() {
                // Records that are checked, and are not met by chance.
                if !matches!(head[0], op::CHUNK | op::ATTACHMENT | op::METADATA) {
                    continue;
                }
                let at = start + i as u64;
                let Some(found) = place(head, at, self.source.len()) else { continue };
                if is_sure(&content(found, self.source, &mut self.budget)?) {
                    (self.at, self.sure) = (at, at);
                    return Ok(Step::Damaged(from, at));
                }
            }
            start += WINDOW;
        }
        let from = self.at;
        (self.at, self.sure) = (self.source.len(), self.source.len());
        Ok(Step::Damaged(from, self.at))
    }
}

/// Returns the content of a record, checked; nothing else is read.
///
/// # Errors
/// The file cannot be read.
pub(super) fn content(place: Place, source: &Source, budget: &mut Budget) -> io::Result<Content> {
    let most = match place.kind {
        op::CHUNK | op::ATTACHMENT => MOST_BYTES,
        op::METADATA | op::HEADER => MOST_TEXT,
        op::DATA_END => return Ok(Content::End),
        _ => return Ok(Content::Other),
    };
    let length = if place.len > most { Err(Damage::Lengths) } else { budget.spend(place.len) };
    if let Err(why) = length {
        return Ok(match place.kind {
            op::CHUNK => Content::DamagedChunk(why),
            op::ATTACHMENT => Content::Attachment(None),
            _ => Content::Other,
        });
    }
    let body = &source.body(place)?;
    Ok(match place.kind {
        op::CHUNK => Chunk::of(body, budget).map_or_else(Content::DamagedChunk, Content::Chunk),
        op::ATTACHMENT => Content::Attachment(Attachment::of(body, budget)),
        kind => text(kind, body),
    })
}

fn is_sure(content: &Content) -> bool {
    matches!(content, Content::Chunk(_) | Content::Attachment(Some(_)) | Content::Session(_))
}

fn text(kind: u8, body: &[u8]) -> Content {
    match parse(kind, body) {
        Ok(Record::Header(header)) => Content::Profile(header.profile),
        Ok(Record::Metadata(record))
            if record.name == SESSION && SessionRecord::is_whole(&record.metadata) =>
        {
            Content::Session(record.metadata)
        }
        _ => Content::Other,
    }
}
