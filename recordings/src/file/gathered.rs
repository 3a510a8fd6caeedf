//! What a walk over the whole file finds.

use super::attachment::Attachment;
use super::chunk::{Chunk, Message, note};
use super::source::{Place, Source};
use super::walk::{Content, Step, Walk};
use crate::error::Damage;
use crate::format::{
    Channel, EarlierMoment, Entry, INDEX, Index, KEY, MomentRecord, SessionRecord,
};
use machine::history::Mark;
use machine::words::counted;
use std::collections::BTreeMap;
use std::io;

/// The place of a chunk that stands for the copy of the first moment.
const COPY: usize = usize::MAX;

/// Attachments at most: every ELF of a core, twice.
pub(super) const MOST_ATTACHMENTS: usize = 4096;

/// Damaged parts that are named.
const MOST_PROBLEMS: usize = 32;

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
    /// The number of those that are not in the list.
    more_problems: u64,
    /// Whether a part was not read because it has more content than the file may have.
    pub(super) has_too_much: bool,
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
                    gathered.complain(problem);
                }
            }
        }
        gathered.restore_key();
        gathered.judge();
        Ok(gathered)
    }

    fn take(&mut self, place: Place, content: Content) {
        match content {
            Content::Chunk(chunk) => self.take_chunk(place, &chunk),
            Content::DamagedChunk(why) => {
                let (from, to) = (place.body, place.end());
                self.has_too_much |= matches!(why, Damage::TooMuch);
                self.complain(format!("the chunk from byte {from} to {to} has {why}"));
            }
            Content::Attachment(Some(file)) if file.name == INDEX => {
                self.indexed = Index::of(&file.bytes).map_or(0, |index| index.moments());
            }
            Content::Attachment(Some(file)) if self.attachments.len() < MOST_ATTACHMENTS => {
                self.attachments.push(file);
            }
            Content::Attachment(Some(_)) => {
                self.complain(format!("an attachment after {MOST_ATTACHMENTS} others was skipped"));
            }
            Content::Attachment(None) => {
                self.complain("a damaged attachment was skipped".into());
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
                self.complain(format!("a damaged message was skipped: {why}"));
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

    /// Takes the first moment from its copy, if its chunk is damaged.
    fn restore_key(&mut self) {
        let Some(copy) = self.attachments.iter().find(|file| file.name == KEY) else { return };
        let first = self.entries.first().map(|entry| entry.number);
        let (copy, mut known) = (Chunk::attached(&copy.bytes), std::mem::take(&mut self.entries));
        if let Some(message) = copy.messages().last()
            && first.is_none_or(|first| message.number < first)
        {
            // One that is damaged is as lost as the chunk.
            let _ = self.take_message(&message, COPY);
        }
        self.entries.append(&mut known);
    }

    /// Adds a message about a damaged part.
    pub(super) fn complain(&mut self, problem: String) {
        if self.problems.len() < MOST_PROBLEMS {
            self.problems.push(problem);
        } else {
            self.more_problems += 1;
        }
    }

    /// Says what is missing.
    fn judge(&mut self) {
        if self.more_problems > 0 {
            let more = counted(self.more_problems, "part is", "parts are");
            self.problems.push(format!("{more} damaged, too"));
        }
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
