//! A fabric snapshot as a target: reads are answered from its newest sample so far.

use crate::excerpt::excerpt;
use layouts::NocAddr;
use machine::snapshot::{AccessError, Plan, Snapshot};
use machine::target::{Abilities, Mesh, Target};

/// An open fabric snapshot. Its time changes only through [`Target::pass`].
#[derive(Debug)]
pub struct FabricSnapshotTarget {
    pub(super) name: String,
    pub(super) abilities: Abilities,
    pub(super) mesh: Mesh,
    /// The samples, each with its time in device cycles, in order.
    pub(super) moments: Vec<(Snapshot, u64)>,
    pub(super) cycles: u64,
}

impl FabricSnapshotTarget {
    pub(super) fn new(name: String, mesh: Mesh, mut moments: Vec<(Snapshot, u64)>) -> Self {
        moments.sort_by_key(|(_, cycles)| *cycles);
        let cycles = moments.first().map_or(0, |(_, cycles)| *cycles);
        let why = "a fabric snapshot cannot be changed".to_owned();
        let abilities =
            Abilities { stepped_time: true, unchangeable: Some(why), ..Abilities::default() };
        Self { name, abilities, mesh, moments, cycles }
    }

    /// Returns the time from the first sample to the last, in device cycles.
    pub fn span_cycles(&self) -> u64 {
        let last = self.moments.last().map_or(0, |(_, cycles)| *cycles);
        last - self.moments.first().map_or(last, |(_, cycles)| *cycles)
    }

    /// Returns the last sample that is not later than the current time.
    fn moment(&self) -> Option<&Snapshot> {
        let passed = self.moments.iter().rev().find(|(_, cycles)| *cycles <= self.cycles);
        passed.map(|(snapshot, _)| snapshot)
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

    fn now(&mut self) -> Result<u64, AccessError> {
        Ok(self.cycles)
    }

    /// Time stops at the last sample.
    fn pass(&mut self, cycles: u64) -> Result<(), AccessError> {
        let end = self.moments.last().map_or(self.cycles, |(_, cycles)| *cycles);
        self.cycles = self.cycles.saturating_add(cycles).min(end);
        Ok(())
    }
}
