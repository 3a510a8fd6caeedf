//! A recording as a target: reads are answered from the current moment.

use crate::error::RecordingError;
use crate::excerpt::excerpt;
use crate::file::{self, Attachment};
use crate::format::Moment;
use layouts::NocAddr;
use machine::snapshot::{AccessError, Plan, Snapshot};
use machine::target::{Abilities, Mesh, Target};
use std::path::Path;

/// An open recording. Its time changes only through [`Target::pass`] and [`Replay::seek`].
#[derive(Debug)]
pub struct Replay {
    name: String,
    recorded_target: String,
    made_by: String,
    abilities: Abilities,
    mesh: Mesh,
    attachments: Vec<Attachment>,
    problems: Vec<String>,
    times: Vec<u64>,
    moments: Vec<Snapshot>,
    position: usize,
    cycles: u64,
}

impl Replay {
    /// Opens a recording, or the undamaged part of one (see [`Replay::problems`]).
    ///
    /// # Errors
    /// If the file is not a recording, is newer than this version, or is damaged before its first
    /// moment.
    pub fn open(path: &Path) -> Result<Self, RecordingError> {
        let contents = file::read(path)?;
        let times: Vec<u64> = contents.moments.iter().map(|moment| moment.cycles).collect();
        let session = contents.session;
        Ok(Self {
            name: path.display().to_string(),
            recorded_target: session.target,
            made_by: session.made_by,
            // Time passes on request.
            abilities: Abilities { stepped_time: true, ..session.abilities },
            mesh: session.mesh,
            attachments: contents.attachments,
            problems: contents.problems,
            cycles: times.first().copied().unwrap_or(0),
            times,
            moments: contents.moments.into_iter().map(Moment::into_snapshot).collect(),
            position: 0,
        })
    }

    /// Returns the target time of each moment, in device cycles, in recorded order.
    pub fn moments(&self) -> &[u64] {
        &self.times
    }

    /// Returns the index of the current moment.
    pub fn position(&self) -> usize {
        self.position
    }

    /// Goes to a moment; an index past the end means the last moment.
    pub fn seek(&mut self, index: usize) {
        self.position = index.min(self.times.len().saturating_sub(1));
        self.cycles = self.times.get(self.position).copied().unwrap_or(0);
    }

    /// Returns the whole snapshot of the current moment, as recorded.
    pub fn moment(&self) -> Option<&Snapshot> {
        self.moments.get(self.position)
    }

    /// Returns the words that opened the recorded target, such as `emulator:n300`.
    pub fn recorded_target(&self) -> &str {
        &self.recorded_target
    }

    /// Returns the version of the meshscope that recorded.
    pub fn made_by(&self) -> &str {
        &self.made_by
    }

    /// Returns the attached files, such as ELF images.
    pub fn attachments(&self) -> &[Attachment] {
        &self.attachments
    }

    /// Returns messages about damaged parts of the file, which are not shown.
    pub fn problems(&self) -> &[String] {
        &self.problems
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
        &self.mesh
    }

    fn read(&mut self, plan: &Plan) -> Snapshot {
        self.moment().map(|moment| excerpt(moment, plan)).unwrap_or_default()
    }

    fn write(&mut self, _addr: NocAddr, _bytes: &[u8]) -> Result<(), AccessError> {
        Err(AccessError::Refused("a recording cannot be written to".into()))
    }

    fn now(&mut self) -> Result<u64, AccessError> {
        Ok(self.cycles)
    }

    /// Goes to the last moment that is not later. Time stops at the last moment.
    fn pass(&mut self, cycles: u64) -> Result<(), AccessError> {
        let end = self.times.last().copied().unwrap_or(0);
        self.cycles = self.cycles.saturating_add(cycles).min(end);
        while self.times.get(self.position + 1).is_some_and(|time| *time <= self.cycles) {
            self.position += 1;
        }
        Ok(())
    }
}
