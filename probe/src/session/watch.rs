//! Several snapshots of a target, and what they say about it.

use super::{Inspected, Session};
use decode::inspect::{ReadSet, fabric_read_set};
use diagnosis::{Condition, Diagnosis, Look, Place, Progress, diagnose, wanted};
use layouts::CoreId;
use machine::snapshot::AccessError;
use std::time::Duration;

/// Snapshots of a diagnosis.
const SNAPSHOTS: u64 = 4;
/// Most snapshots that are taken until the read set has everything: a router leads to its clients,
/// they to their words, and kernels to what they wait for.
const MOST_SEARCHES: usize = 6;

/// The snapshots of a diagnosis, the oldest first, and the verdict.
pub struct Watched {
    /// The snapshots.
    pub inspected: Vec<Inspected>,
    /// The verdict.
    pub diagnosis: Diagnosis,
    /// Bus transactions of all snapshots, those that found what to read included.
    pub transactions: u64,
}

impl Session {
    /// Judges the mesh by snapshots that are spread over a time, in device cycles.
    ///
    /// # Errors
    /// When the target is gone.
    pub fn diagnose(&mut self, over_cycles: u64) -> Result<Watched, AccessError> {
        let before = self.target.transactions();
        let (mut read_set, first) = self.search();
        let mut inspected = vec![first];
        let begun = self.target.now()?;
        for number in 1..SNAPSHOTS {
            let due = begun + over_cycles * number / (SNAPSHOTS - 1);
            let now = self.target.now()?;
            self.pass(due.saturating_sub(now))?;
            let next = self.inspect(&read_set);
            read_set = self.follow(&read_set, &next);
            // A recording has no more moments than it has.
            if inspected.last().is_none_or(|last| last.state.cycles != next.state.cycles) {
                inspected.push(next);
            }
        }
        let mut diagnosis = self.judge(&inspected);
        // The texts of cores that stand without another reason are compared whole.
        let suspects = suspects(&diagnosis);
        if !suspects.is_empty() {
            for core in &suspects {
                self.compare_texts(*core);
            }
            let next = self.inspect(&read_set);
            inspected.push(next);
            diagnosis = self.judge(&inspected);
        }
        let transactions = self.target.transactions().saturating_sub(before);
        Ok(Watched { inspected, diagnosis, transactions })
    }

    fn judge(&self, inspected: &[Inspected]) -> Diagnosis {
        let looks: Vec<Look<'_>> = inspected.iter().map(look).collect();
        diagnose(self.target.mesh(), &looks)
    }

    /// Takes snapshots until the read set has everything that a diagnosis wants.
    fn search(&mut self) -> (ReadSet, Inspected) {
        let mesh = self.target.mesh();
        let mut read_set = ReadSet { fabric: true, ..ReadSet::everything(mesh) };
        let mut inspected = self.inspect(&read_set);
        for _ in 0..MOST_SEARCHES {
            let next = self.follow(&read_set, &inspected);
            if next == read_set {
                break;
            }
            read_set = next;
            inspected = self.inspect(&read_set);
        }
        (read_set, inspected)
    }

    /// Returns the read set of the next snapshot.
    fn follow(&self, read_set: &ReadSet, inspected: &Inspected) -> ReadSet {
        let mut next = fabric_read_set(&inspected.state.fabric, read_set);
        next.spans.extend(wanted(self.target.mesh(), look(inspected)));
        next.spans.sort_unstable();
        next.spans.dedup();
        next
    }

    /// Lets time pass: that of the target, or the host's where a target has its own.
    ///
    /// # Errors
    /// When the target is gone.
    pub fn pass(&mut self, cycles: u64) -> Result<(), AccessError> {
        if self.target.abilities().stepped_time {
            return self.target.pass(cycles);
        }
        // A cycle is about a nanosecond.
        std::thread::sleep(Duration::from_nanos(cycles));
        Ok(())
    }
}

/// Most cores whose texts are compared.
const MOST_SUSPECTS: usize = 4;

/// Returns the cores that stand without a reason outside of them.
fn suspects(diagnosis: &Diagnosis) -> Vec<CoreId> {
    let stuck = diagnosis.findings.iter().filter(|it| it.condition == Condition::CoreStuck);
    let stuck = stuck.filter_map(|finding| match finding.place {
        Place::Core(core) => Some(core),
        _ => None,
    });
    let still = diagnosis.progress.iter().filter(|(_, progress)| **progress == Progress::Still);
    let mut cores: Vec<CoreId> = Vec::new();
    for core in stuck.chain(still.map(|(core, _)| *core)) {
        if !cores.contains(&core) && cores.len() < MOST_SUSPECTS {
            cores.push(core);
        }
    }
    cores
}

fn look(inspected: &Inspected) -> Look<'_> {
    Look { snapshot: &inspected.snapshot, state: &inspected.state }
}
