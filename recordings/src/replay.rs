//! A recording as a target: reads are answered from the current moment.

use crate::decoder::Decoder;
use crate::error::{Damage, RecordingError};
use crate::excerpt::excerpt;
use crate::file::{self, Attachment, Chunk, Contents};
use crate::format::{Channel, EarlierMoment, Entry, MomentRecord, SessionRecord};
use crate::marks;
use layouts::NocAddr;
use machine::history::{History, Mark};
use machine::notes::Note;
use machine::past::RecordedRun;
use machine::snapshot::{AccessError, Gap, Plan, Snapshot};
use machine::target::{Abilities, Mesh, Target};
use std::path::{Path, PathBuf};

/// An open recording. Its time changes only through [`Target::pass`] and [`History::seek`].
#[derive(Debug)]
pub struct Replay {
    path: PathBuf,
    name: String,
    abilities: Abilities,
    contents: Contents,
    /// How many of the problems are damage of the file.
    damage: usize,
    times: Vec<u64>,
    position: usize,
    cycles: u64,
    current: Result<Snapshot, Damage>,
    /// The number of the key moment that was read last, and what its chunk says up to it.
    key: Option<(u32, Decoder)>,
}

impl Replay {
    /// Opens a recording, or the undamaged parts of one (see [`Replay::problems`]), at the first
    /// mark of something found, or else at its last moment.
    ///
    /// # Errors
    /// If the file is not a recording, is newer than this version, or contains no readable moment.
    pub fn open(path: &Path) -> Result<Self, RecordingError> {
        let contents = file::open(path)?;
        let times: Vec<u64> = contents.entries.iter().map(|entry| entry.target_cycles).collect();
        let mut replay = Self {
            path: path.to_owned(),
            name: path.display().to_string(),
            // Time passes on request.
            abilities: Abilities { stepped_time: true, ..contents.session.abilities.clone() },
            damage: contents.problems.len(),
            contents,
            times,
            position: 0,
            cycles: 0,
            current: Err(Damage::NoMoment),
            key: None,
        };
        replay.note_clock();
        let [first, last] = [replay.times.iter().min(), replay.times.iter().max()]
            .map(|time| time.copied().unwrap_or(0));
        let (marks, problem) = marks::kept(path, &(first..=last));
        replay.contents.marks.extend(marks);
        replay.contents.problems.extend(problem);
        replay.seek(usize::MAX);
        let found = replay.contents.marks.iter().find(|mark| mark.condition.is_some());
        if let Some(cycles) = found.map(|mark| mark.target_cycles) {
            replay.seek_cycles(cycles);
        }
        Ok(replay)
    }

    /// A board reset starts its clock again: moments stay in the order in which they were recorded.
    fn note_clock(&mut self) {
        let backwards = self.times.windows(2).position(|pair| pair.first() > pair.last());
        if let Some(before) = backwards {
            self.contents.problems.push(format!(
                "the target's clock runs backwards after moment {before}: the chips may have been \
                 reset; moments are in recorded order"
            ));
        }
    }

    pub(crate) fn session(&self) -> &SessionRecord {
        &self.contents.session
    }

    /// Returns what the person who recorded asked for.
    pub fn asked(&self) -> &str {
        &self.contents.session.asked
    }

    /// Goes to the last moment that is not later than a target time; to the first one if all are.
    pub fn seek_cycles(&mut self, cycles: u64) {
        let found = self.times.iter().rposition(|time| *time <= cycles);
        self.seek(found.unwrap_or(0));
    }

    /// Returns the words that opened the recorded target, such as `emulator:n300`.
    pub fn recorded_target(&self) -> &str {
        &self.contents.session.target
    }

    /// Returns the version of the meshscope that recorded.
    pub fn made_by(&self) -> &str {
        &self.contents.session.made_by
    }

    /// Returns the attached files, such as ELF images.
    pub fn attachments(&self) -> &[Attachment] {
        &self.contents.attachments
    }

    /// Returns the run of an emulated mesh from its start, if the recording has it.
    pub fn run(&self) -> Option<RecordedRun> {
        rmp_serde::from_slice(&self.contents.run.as_ref()?.bytes).ok()
    }

    /// Returns messages about damaged parts of the file, which are not shown, and about its clock.
    pub fn problems(&self) -> &[String] {
        &self.contents.problems
    }

    /// Returns how many of the problems are damage of the file, which says nothing of the mesh.
    pub fn damage(&self) -> usize {
        self.damage
    }

    /// Reads a moment: its chunk, and that of its key snapshot.
    fn load(&mut self, index: usize) -> Result<Snapshot, Damage> {
        let before = self.key.take();
        let entry = self.contents.entries.get(index).ok_or(Damage::NoMoment)?;
        let chunk = self.contents.chunk_of(entry)?;
        if self.contents.session.format == 1 {
            return earlier(&chunk, entry.number);
        }
        let mut decoder = Decoder::default();
        if let Some((number, key)) = before.filter(|(number, _)| *number == entry.key_moment) {
            decoder = key.clone();
            self.key = Some((number, key));
        } else if let Some(key) = self.key_chunk(entry) {
            take(&mut decoder, &key, entry.key_moment)?;
            self.key = Some((entry.key_moment, decoder.clone()));
        }
        take(&mut decoder, &chunk, entry.number)?.ok_or(Damage::MessageMissing)
    }

    /// Returns the chunk of a moment's key snapshot; none if that is in the same chunk, or lost.
    fn key_chunk(&self, entry: &Entry) -> Option<Chunk> {
        let entries = &self.contents.entries;
        let index = entries.binary_search_by_key(&entry.key_moment, |key| key.number).ok()?;
        let key = entries.get(index).filter(|key| key.chunk != entry.chunk)?;
        self.contents.chunk_of(key).ok()
    }
}

/// Gives a decoder the messages of a chunk up to a moment, and returns the moment's snapshot.
fn take(decoder: &mut Decoder, chunk: &Chunk, last: u32) -> Result<Option<Snapshot>, Damage> {
    for message in chunk.messages().filter(|message| message.number <= last) {
        match message.channel {
            Some(Channel::Chip(chip)) => decoder.take_chip(chip, message.number, message.data)?,
            Some(Channel::Moments) => {
                let record: MomentRecord =
                    serde_json::from_slice(message.data).map_err(Damage::Json)?;
                if message.number == last {
                    return Ok(Some(decoder.finish(last, record)));
                }
                decoder.take_lasting(record);
            }
            _ => {}
        }
    }
    Ok(None)
}

fn earlier(chunk: &Chunk, number: u32) -> Result<Snapshot, Damage> {
    let message = chunk.messages().find(|message| message.number == number);
    let message = message.ok_or(Damage::MessageMissing)?;
    let moment = rmp_serde::from_slice::<EarlierMoment>(message.data).map_err(Damage::Message)?;
    Ok(moment.into_snapshot())
}

impl History for Replay {
    fn moments(&self) -> &[u64] {
        &self.times
    }

    fn position(&self) -> usize {
        self.position
    }

    fn moment(&self) -> Option<&Snapshot> {
        self.current.as_ref().ok()
    }

    fn seek(&mut self, index: usize) {
        self.position = index.min(self.times.len().saturating_sub(1));
        self.cycles = self.times.get(self.position).copied().unwrap_or(0);
        self.current = self.load(self.position);
    }

    fn changed_bytes(&self, index: usize) -> &[(u16, u32)] {
        self.contents.entries.get(index).map_or(&[], |entry| &entry.changed_bytes)
    }

    fn is_partial(&self, index: usize) -> bool {
        self.contents.entries.get(index).is_some_and(|entry| entry.partial)
    }

    fn marks(&self) -> &[Mark] {
        &self.contents.marks
    }

    fn mark(&mut self, mark: Mark) -> Result<PathBuf, String> {
        let kept = marks::keep(&self.path, &mark);
        self.contents.marks.push(mark);
        kept
    }

    fn notes(&self) -> Vec<(usize, Note)> {
        let last = self.times.len().saturating_sub(1);
        let after = |note: &Note| {
            let before = |it: &Entry| it.host_micros < note.host_micros();
            self.contents.entries.partition_point(before).min(last)
        };
        let notes = self.contents.notes().into_iter();
        let mut notes: Vec<_> = notes.map(|note| (after(&note), note)).collect();
        notes.sort_by_key(|(moment, _)| *moment);
        notes
    }
}

impl Target for Replay {
    fn name(&self) -> &str {
        &self.name
    }

    fn abilities(&self) -> &Abilities {
        &self.abilities
    }

    fn mesh(&self) -> &Mesh {
        &self.contents.session.mesh
    }

    fn read(&mut self, plan: &Plan) -> Snapshot {
        match &self.current {
            Ok(moment) => excerpt(moment, plan),
            Err(why) => {
                let reason = AccessError::Refused(format!("this moment is damaged: {why}"));
                let gap = |span: &_| Gap { span: *span, reason: reason.clone() };
                Snapshot { gaps: plan.spans.iter().map(gap).collect(), ..Snapshot::default() }
            }
        }
    }

    fn write(&mut self, _addr: NocAddr, _bytes: &[u8]) -> Result<(), AccessError> {
        Err(AccessError::Refused("a recording cannot be written to".into()))
    }

    fn now(&mut self) -> Result<u64, AccessError> {
        Ok(self.cycles)
    }

    fn history(&mut self) -> Option<&mut dyn History> {
        Some(self)
    }

    /// Goes to the last moment that is not later. Time stops at the last moment.
    fn pass(&mut self, cycles: u64) -> Result<(), AccessError> {
        let end = self.times.last().copied().unwrap_or(0).max(self.cycles);
        self.cycles = self.cycles.saturating_add(cycles).min(end);
        let mut position = self.position;
        while self.times.get(position + 1).is_some_and(|time| *time <= self.cycles) {
            position += 1;
        }
        if position != self.position {
            self.position = position;
            self.current = self.load(position);
        }
        Ok(())
    }
}
