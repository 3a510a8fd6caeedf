//! A fabric snapshot as a target: its samples are its moments.

use crate::excerpt::excerpt;
use layouts::NocAddr;
use machine::history::{History, Mark};
use machine::snapshot::{AccessError, Plan, Snapshot};
use machine::target::{Abilities, Mesh, Target};
use std::path::PathBuf;

/// An open fabric snapshot, at its last sample.
#[derive(Debug)]
pub struct FabricSnapshotTarget {
    pub(super) name: String,
    pub(super) abilities: Abilities,
    pub(super) mesh: Mesh,
    /// The samples, in the order of their times.
    moments: Vec<Snapshot>,
    /// The times of the samples, in device cycles.
    times: Vec<u64>,
    position: usize,
    cycles: u64,
    marks: Vec<Mark>,
}

impl FabricSnapshotTarget {
    pub(super) fn new(name: String, mesh: Mesh, mut moments: Vec<(Snapshot, u64)>) -> Self {
        moments.sort_by_key(|(_, cycles)| *cycles);
        let why = "a fabric snapshot cannot be changed".to_owned();
        let abilities =
            Abilities { stepped_time: true, unchangeable: Some(why), ..Abilities::default() };
        let (moments, times): (Vec<Snapshot>, Vec<u64>) = moments.into_iter().unzip();
        let mut target = Self {
            name,
            abilities,
            mesh,
            moments,
            times,
            position: 0,
            cycles: 0,
            marks: Vec::new(),
        };
        target.seek(usize::MAX);
        target
    }
}

impl History for FabricSnapshotTarget {
    fn moments(&self) -> &[u64] {
        &self.times
    }

    fn position(&self) -> usize {
        self.position
    }

    fn moment(&self) -> Option<&Snapshot> {
        self.moments.get(self.position)
    }

    fn seek(&mut self, index: usize) {
        self.position = index.min(self.times.len().saturating_sub(1));
        self.cycles = self.times.get(self.position).copied().unwrap_or(0);
    }

    fn changed_bytes(&self, _index: usize) -> &[(u16, u32)] {
        &[]
    }

    fn marks(&self) -> &[Mark] {
        &self.marks
    }

    fn mark(&mut self, mark: Mark) -> Result<PathBuf, String> {
        self.marks.push(mark);
        Err("a fabric snapshot has no file of marks".to_owned())
    }
}

impl Target for FabricSnapshotTarget {
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
        Err(AccessError::Refused("a fabric snapshot cannot be written to".into()))
    }

    fn history(&mut self) -> Option<&mut dyn History> {
        Some(self)
    }

    fn now(&mut self) -> Result<u64, AccessError> {
        Ok(self.cycles)
    }

    /// Time stops at the last sample.
    fn pass(&mut self, cycles: u64) -> Result<(), AccessError> {
        let end = self.times.last().copied().unwrap_or(0).max(self.cycles);
        self.cycles = self.cycles.saturating_add(cycles).min(end);
        let passed = self.times.iter().rposition(|time| *time <= self.cycles);
        self.position = passed.unwrap_or(0).max(self.position);
        Ok(())
    }
}
