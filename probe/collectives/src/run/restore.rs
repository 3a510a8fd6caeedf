//! The end of a run that failed, or whose cleanup did: its tiles are read again, what is left on
//! them is torn down as `clean` does, and the error says whether all of them are idle.

use super::Run;
use super::outcome::RunEnd;
use crate::clean::{Clean, CleanReport, CleanSettings, CleanTile, Found};
use crate::task::RunTask;
use images::ImageMap;
use launch::outcome::RunError;
use launch::task::Progress;
use layouts::ChipLayout;
use machine::place::Place;
use machine::target::Target;
use machine::words::counted;
use std::collections::BTreeSet;

/// How long lost chips may take to be reachable again, and stuck cores to go on, in cycles: 50 ms,
/// some retrainings of a link.
const PATIENCE_CYCLES: u64 = 50_000_000;
/// The time between two attempts, in cycles.
const PAUSE_CYCLES: u64 = 1_000_000;

/// How far it has come.
#[derive(Debug, Default)]
pub(super) enum Restore {
    /// The tiles may be in use by others.
    #[default]
    NotOurs,
    /// They were free when the run began.
    Ours,
    /// They are being torn down, again and again as long as something is left.
    Begun {
        /// The next attempt begins at this time of the target.
        next_cycles: u64,
        /// No attempt begins after this time.
        until_cycles: u64,
    },
    /// The last attempt has ended.
    Done {
        /// Whether it left nothing.
        is_clean: bool,
        /// The result, in a sentence.
        sentence: String,
    },
}

impl Restore {
    /// Notes that the tiles are free, so that all that stands on them later is the run's.
    pub(super) fn are_free(&mut self) {
        *self = Self::Ours;
    }

    pub(super) fn may_begin(&self) -> bool {
        matches!(self, Self::Ours)
    }

    pub(super) fn sentence(&self) -> Option<String> {
        match self {
            Self::Done { sentence, .. } => Some(sentence.clone()),
            _ => None,
        }
    }
}

impl Run {
    /// Whether the run has failed and brought everything back.
    pub fn is_restored(&self) -> bool {
        matches!(self.restore, Restore::Done { is_clean: true, .. })
    }

    /// Begins, unless the run ended well. A second attempt may do what the first has not: the links
    /// that were lost may be up again, and tiles may be reset.
    ///
    /// # Errors
    /// If the machine does not tell the time.
    pub(super) fn begin_restore(&mut self, target: &mut dyn Target) -> Result<(), RunError> {
        let well = !matches!(self.outcome, RunEnd::Failed(_)) && self.left.is_empty();
        if well || !self.restore.may_begin() {
            return Ok(());
        }
        let next_cycles = target.now()?;
        let until_cycles = next_cycles.saturating_add(PATIENCE_CYCLES);
        self.restore = Restore::Begun { next_cycles, until_cycles };
        self.tasks.push_front(RunTask::Clean(Box::new(self.attempt(target)), (0, 1)));
        Ok(())
    }

    /// An attempt asks the chips again that did not answer.
    fn attempt(&self, target: &mut dyn Target) -> Clean {
        if let Some(quarantine) = target.quarantine() {
            quarantine.retry_far();
        }
        Clean::of_tiles(CleanSettings { escalate: true }, self.own())
    }

    /// Continues; returns whether it is done.
    pub(super) fn restore(
        &mut self,
        clean: &mut Clean,
        done: &mut (u64, u64),
        target: &mut dyn Target,
        images: &mut ImageMap,
    ) -> Result<bool, RunError> {
        let now = target.now()?;
        if matches!(self.restore, Restore::Begun { next_cycles, .. } if now < next_cycles) {
            return Ok(false);
        }
        let progress = clean.poll(target, images)?;
        target.commanded_by(self.program.op.name());
        match progress {
            Progress::Running { done: now, of, .. } => {
                *done = (now, of);
                Ok(false)
            }
            Progress::Finished(report) => {
                let next_cycles = target.now()?.saturating_add(PAUSE_CYCLES);
                if let Restore::Begun { until_cycles, .. } = self.restore
                    && !report.is_clean()
                    && next_cycles < until_cycles
                {
                    self.restore = Restore::Begun { next_cycles, until_cycles };
                    *clean = self.attempt(target);
                    return Ok(false);
                }
                let tiles = self.own().len();
                let sentence = sentence(images.layout(), tiles, &report);
                if report.is_clean() {
                    self.left.clear();
                }
                self.restore = Restore::Done { is_clean: report.is_clean(), sentence };
                Ok(true)
            }
        }
    }

    /// The tiles of the run, with those of the routers that it has brought up.
    fn own(&self) -> BTreeSet<Place> {
        let workers = self.program.workers.iter().map(|plan| plan.place);
        let edms = self.program.edms.iter().map(|plan| plan.place);
        let crossing = self.program.crossing.iter();
        let fabric = crossing.flat_map(|crossing| {
            let routers = crossing.plan.routers.iter().map(|router| router.place);
            let routers = routers.filter(|_| !crossing.found);
            routers.chain(crossing.muxes.iter().map(|mux| mux.place))
        });
        workers.chain(edms).chain(fabric).collect()
    }
}

/// Says whether the tiles are idle, and what is left with what comes next.
fn sentence(layout: &ChipLayout, tiles: usize, report: &CleanReport) -> String {
    let of_tile = |tile: &CleanTile| {
        let left = tile.left.as_ref()?;
        let unread = tile.found == Found::Unread;
        let why = if unread { "it cannot be read" } else { left.why.as_str() };
        Some(format!("{}: {why}; {}", tile.place.name(layout), left.next))
    };
    let mut left: Vec<String> = report.tiles.iter().filter_map(of_tile).collect();
    left.extend(report.lost.iter().map(|(chip, why)| format!("chip {chip}: {why}")));
    left.extend_from_slice(&report.problems);
    match left.first() {
        None => format!("the teardown left all {} idle", counted(tiles as u64, "tile", "tiles")),
        Some(first) => {
            let places = counted(left.len() as u64, "place", "places");
            format!(
                "the teardown could not finish in {places}, the first is {first}; `clean` tries again"
            )
        }
    }
}
