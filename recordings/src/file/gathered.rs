//! What a walk over the whole file finds.

use super::attachment::Attachment;
use super::chunk::{Chunk, Message, note};
use super::source::{Place, Source};
use super::walk::{Content, Step, Walk};
use crate::error::Damage;
use crate::format::{Channel, EarlierMoment, Entry, INDEX, Index, MomentRecord, SessionRecord};
use machine::history::Mark;
use machine::words::counted;
use std::collections::BTreeMap;
use std::io;

/// The contents found so far.
#[derive(Default)]
pub(super) struct Gathered {
    pub(super) profile: Option<String>,
    pub(super) session: Option<BTreeMap<String, String>>,
    pub(super) chunks: Vec<Place>,
    pub(super) entries: Vec<Entry>,
    pub(super) marks: Vec<Mark>,
    /// The chunks that have notes.
    pub(super) noted: Vec<usize>,
    pub(super) attachments: Vec<Attachment>,
    /// Messages about the damaged parts.
    pub(super) problems: Vec<String>,
    finished: bool,
    /// The number of moments that the index names.
    indexed: usize,
}

impl Gathered {
    /// Reads and checks the whole file.
    ///
    /// # Errors
    /// The file cannot be read.
    pub(super) fn by_walking(source: &Source) -> io::Result<Self> {
        let mut gathered = Self::default();
        let mut walk = Walk::new(source);
        while let Some(step) = walk.step()? {
            match step {
                Step::Record(place, content) => gathered.take(place, content),
                Step::Damaged(from, to) => {
                    let problem = format!("bytes {from} to {to} are damaged and were skipped");
                    gathered.problems.push(problem);
                }
            }
        }
        gathered.judge();
        Ok(gathered)
    }

    fn take(&mut self, place: Place, content: Content) {
        match content {
            Content::Chunk(chunk) => self.take_chunk(place, &chunk),
            Content::DamagedChunk(why) => {
                let (from, to) = (place.body, place.end());
                self.problems.push(format!("the chunk from byte {from} to {to} has {why}"));
            }
            Content::Attachment(Some(file)) if file.name == INDEX => {
                let index = rmp_serde::from_slice(&file.bytes);
                self.indexed = index.map_or(0, |index: Index| index.moments());
            }
            Content::Attachment(Some(file)) => self.attachments.push(file),
            Content::Attachment(None) => {
                self.problems.push("a damaged attachment was skipped".into());
            }
            Content::Session(record) => self.session = self.session.take().or(Some(record)),
            Content::Profile(profile) => self.profile = Some(profile),
            Content::End => self.finished = true,
            Content::Other => {}
        }
    }

    /// The session, which tells the format, comes first, and again at the end.
    fn is_earlier(&self) -> bool {
        let version = self.session.as_ref().and_then(SessionRecord::version);
        version.is_some_and(|(format, _)| format == 1)
    }

    fn take_chunk(&mut self, place: Place, chunk: &Chunk) {
        let index = self.chunks.len();
        self.chunks.push(place);
        let earlier = self.is_earlier();
        for message in chunk.messages() {
            let taken = if earlier {
                self.take_earlier(&message, index)
            } else {
                self.take_message(&message, index)
            };
            if let Err(why) = taken {
                self.problems.push(format!("a damaged message was skipped: {why}"));
            }
        }
    }

    fn take_message(&mut self, message: &Message<'_>, chunk: usize) -> Result<(), Damage> {
        match message.channel {
            Some(Channel::Moments) => {
                let record: MomentRecord =
                    serde_json::from_slice(message.data).map_err(Damage::Json)?;
                self.entries.push(Entry {
                    number: message.number,
                    target_cycles: record.target_cycles,
                    host_micros: record.host_micros,
                    chunk,
                    key_moment: record.key_moment,
                    changed_bytes: record.changed_bytes.into_iter().collect(),
                    partial: record.partial,
                });
            }
            Some(Channel::Marks) => {
                self.marks.push(serde_json::from_slice(message.data).map_err(Damage::Json)?);
            }
            _ => {
                if note(message)?.is_some() && self.noted.last() != Some(&chunk) {
                    self.noted.push(chunk);
                }
            }
        }
        Ok(())
    }

    fn take_earlier(&mut self, message: &Message<'_>, chunk: usize) -> Result<(), Damage> {
        let moment: EarlierMoment = rmp_serde::from_slice(message.data).map_err(Damage::Message)?;
        let number = message.number;
        self.entries.push(Entry {
            number,
            target_cycles: moment.cycles,
            host_micros: moment.host_micros(),
            chunk,
            key_moment: number,
            changed_bytes: Vec::new(),
            partial: false,
        });
        Ok(())
    }

    /// Says what is missing.
    fn judge(&mut self) {
        let count = self.entries.len();
        let last = self.entries.last().map_or(0, |entry| entry.number as usize + 1);
        let lost = last.max(self.indexed).saturating_sub(count);
        if lost > 0 {
            let lost = counted(lost as u64, "moment is", "moments are");
            self.problems.push(format!("{lost} lost"));
        }
        if !self.finished && count > 0 {
            let shown = counted(count as u64, "moment", "moments");
            self.problems
                .push(format!("the recording was not finished; {shown} of it can be read"));
        }
    }
}
