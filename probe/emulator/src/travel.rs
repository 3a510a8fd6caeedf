//! The past of a mesh, run again.
//!
//! A run is determined by its start and the host's actions, so a mesh that starts from a checkpoint
//! and repeats the actions since is the mesh of the past, byte for byte. At a cycle T everything
//! before T has happened, and the host's actions of T.

mod packets;
pub(crate) mod rerun;
mod step;
mod write;

pub use write::LastChanges;

use crate::mesh::Mesh;
use crate::past::checkpoint::Checkpoint;
use crate::past::journal::{HostAction, JournalEntry};
use crate::past::{History, Moment, WORTH_CHECKPOINT};
use std::iter::Peekable;
use std::sync::Arc;

/// Checkpoints of visits and searches that are kept.
const MOST_VISITS: usize = 16;

/// Parts of a piece of the past that is executed, with checkpoints between them.
const PARTS: u64 = 4;

/// Cycles between two questions whether to go on.
const PIECE_CYCLES: u64 = 1 << 16;

/// How far a mesh of the past has run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// The cycle at which the present piece of the past begins. A search goes back piece by piece.
    pub from: u64,
    /// The cycle at which it ends.
    pub to: u64,
    /// The cycle that is reached.
    pub cycle: u64,
}

/// Receives progress and returns whether to go on.
pub type Watcher<'a> = dyn FnMut(Progress) -> bool + 'a;

/// Why the past is not shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TravelError {
    /// The cycle is not in the history, which has these: first and last.
    Outside {
        /// The first cycle of the history.
        first: u64,
        /// Its last.
        last: u64,
    },
    /// The mesh has no such memory or hart.
    NoSuchPlace,
    /// The caller did not want to go on.
    Cancelled,
}

impl std::fmt::Display for TravelError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Outside { first, last } => {
                write!(f, "the history of the mesh is from cycle {first} to cycle {last}")
            }
            Self::NoSuchPlace => f.write_str("the mesh has no such memory or core"),
            Self::Cancelled => f.write_str("cancelled"),
        }
    }
}

impl std::error::Error for TravelError {}

/// A mesh of the past that runs forward.
pub(crate) struct Rerun<I: Iterator> {
    pub(crate) mesh: Mesh,
    /// The host's actions to come.
    actions: Peekable<I>,
    /// The number of the next of them.
    entry: u64,
    answers: Vec<u8>,
}

impl<I: Iterator<Item = JournalEntry>> Rerun<I> {
    /// Begins to repeat these actions.
    pub(crate) fn new(mesh: Mesh, actions: I) -> Self {
        Self { mesh, actions: actions.peekable(), entry: 0, answers: Vec::new() }
    }

    /// Runs to a cycle, with the host's actions of that cycle only if `at_end`.
    pub(crate) fn run(
        &mut self,
        to: u64,
        at_end: bool,
        watcher: &mut Watcher<'_>,
    ) -> Result<(), TravelError> {
        let from = self.mesh.now();
        loop {
            let due = |entry: &JournalEntry| entry.cycle < to || at_end && entry.cycle == to;
            let entry = self.actions.next_if(due);
            let stop = entry.as_ref().map_or(to, |entry| entry.cycle);
            while self.mesh.now() < stop {
                let now = self.mesh.now();
                if !watcher(Progress { from, to, cycle: now }) {
                    return Err(TravelError::Cancelled);
                }
                self.mesh.clock((stop - now).min(PIECE_CYCLES));
            }
            let Some(entry) = entry else { return Ok(()) };
            self.act(&entry.action);
        }
    }

    fn act(&mut self, action: &HostAction) {
        self.answers.clear();
        self.entry += 1;
        self.mesh.act(action, &mut self.answers);
    }
}

impl History {
    /// Returns the mesh exactly as it was at a cycle. It is a copy: what is done with it has no
    /// effect on the mesh that the history is of.
    ///
    /// # Errors
    /// The cycle is not in the history, or `watcher` returned false.
    pub fn at(&self, cycle: u64, watcher: &mut Watcher<'_>) -> Result<Mesh, TravelError> {
        let mut rerun = self.rerun_at(cycle)?;
        rerun.run(cycle, true, watcher)?;
        Ok(rerun.mesh)
    }

    /// Returns the mesh as [`History::at`] does, and keeps a checkpoint there, so that going back
    /// there, and on from there, is quick; and some on the way there, as the next visit is often to a
    /// cycle shortly before this. The last few checkpoints of visits and searches are kept.
    ///
    /// # Errors
    /// As [`History::at`].
    pub fn visit(&mut self, cycle: u64, watcher: &mut Watcher<'_>) -> Result<Mesh, TravelError> {
        let which = self.moment(cycle)?;
        self.run_on(which, (cycle, true), |_| Ok(()), watcher)
    }

    /// Runs on from a checkpoint to a cycle, after `prepare`, and keeps some checkpoints on the way. With
    /// the host's actions of that cycle only if `at_end`, and then with a checkpoint there.
    fn run_on(
        &mut self,
        which: usize,
        (to, at_end): (u64, bool),
        prepare: impl FnOnce(&mut Mesh) -> Result<(), TravelError>,
        watcher: &mut Watcher<'_>,
    ) -> Result<Mesh, TravelError> {
        let Moment { checkpoint, entry, .. } = self.moments[which].clone();
        let distance = to - checkpoint.now;
        let part = (distance / PARTS).max(WORTH_CHECKPOINT);
        let on_the_way = (1..=PARTS).map(|parts| checkpoint.now + parts * part);
        let mut visits = Vec::new();
        let mesh = {
            let mut rerun = self.rerun(&checkpoint, entry);
            prepare(&mut rerun.mesh)?;
            let stops = on_the_way.take_while(|stop| stop + part <= to);
            for stop in stops.chain((at_end && distance > 0).then_some(to)) {
                // The host's actions of the cycle come after the checkpoint, as after those of the
                // run.
                rerun.run(stop, false, watcher)?;
                let checkpoint = Arc::new(rerun.mesh.checkpoint());
                visits.push((checkpoint, rerun.entry));
            }
            rerun.run(to, at_end, watcher)?;
            rerun.mesh
        };
        self.keep_visits(visits);
        Ok(mesh)
    }

    /// Keeps checkpoints of the past, in place of the oldest that were kept so.
    fn keep_visits(&mut self, visits: impl IntoIterator<Item = (Arc<Checkpoint>, u64)>) {
        for (checkpoint, entry) in visits {
            let now = checkpoint.now;
            if let Err(at) = self.find(now) {
                self.insert_moment(at, checkpoint, entry);
                self.visited.push_back(now);
            }
        }
        while self.visited.len() > MOST_VISITS || self.visits_too_much() {
            let oldest = self.visited.pop_front();
            if let Some(Ok(which)) = oldest.map(|oldest| self.find(oldest)) {
                self.drop_moment(which);
            }
        }
    }

    /// Returns the index of the checkpoint of a cycle, or the one that it would have.
    pub(crate) fn find(&self, cycle: u64) -> Result<usize, usize> {
        self.moments.binary_search_by_key(&cycle, |moment| moment.checkpoint.now)
    }

    /// Keeps the checkpoints that a copy of this history has of its visits and searches.
    pub fn learn(&mut self, copy: &Self) {
        let visits = copy.visited.iter().filter_map(|cycle| {
            let moment = &copy.moments[copy.find(*cycle).ok()?];
            Some((Arc::clone(&moment.checkpoint), moment.entry))
        });
        self.keep_visits(visits);
    }

    /// Returns the index of the last checkpoint at or before a cycle.
    fn moment(&self, cycle: u64) -> Result<usize, TravelError> {
        let after = self.moments.partition_point(|moment| moment.checkpoint.now <= cycle);
        let outside = TravelError::Outside { first: self.first(), last: self.end };
        after.checked_sub(1).filter(|_| cycle <= self.end).ok_or(outside)
    }

    /// Returns the mesh of the last checkpoint at or before a cycle, with the host's actions since.
    pub(crate) fn rerun_at(
        &self,
        cycle: u64,
    ) -> Result<Rerun<impl Iterator<Item = JournalEntry> + use<'_>>, TravelError> {
        let moment = &self.moments[self.moment(cycle)?];
        Ok(self.rerun(&moment.checkpoint, moment.entry))
    }

    /// Returns the mesh of a checkpoint, with the host's actions from number `entry` on.
    fn rerun<'a>(
        &'a self,
        from: &Checkpoint,
        entry: u64,
    ) -> Rerun<impl Iterator<Item = JournalEntry> + use<'a>> {
        let mesh = Mesh::from_checkpoint(from);
        Rerun { entry, ..Rerun::new(mesh, self.journal.since(entry)) }
    }
}
