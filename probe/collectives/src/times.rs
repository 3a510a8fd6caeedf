//! When the chips of a launch moved data: each by its own clock, so that only durations are compared.

use super::edm_builder::EDM;
use super::report::{ChipTimes, RunReport};
use super::watch::Watch;
use super::worker::WORKER;
use layouts::ChipId;
use std::collections::{BTreeMap, BTreeSet};

/// The times of the launches that count.
#[derive(Clone, Debug, Default)]
pub(super) struct Times {
    /// Launches that do not count, still to come.
    warmups: u32,
    counted: u64,
    transfer_cycles: u64,
    skew_cycles: u64,
    chips: Vec<ChipTimes>,
    last: Option<ChipId>,
}

impl Times {
    pub(super) fn new(warmups: u32) -> Self {
        Self { warmups, ..Self::default() }
    }

    /// Takes the times of a launch that is over.
    pub(super) fn take(&mut self, watch: &Watch, launched_last: ChipId) {
        if self.warmups > 0 {
            self.warmups -= 1;
            return;
        }
        self.chips = chips(watch);
        let last = self.chips.iter().find(|times| times.chip == launched_last);
        let Some(last) = last.or(self.chips.last()) else { return };
        let longest = self.chips.iter().map(ChipTimes::kernel_cycles).fold(0, u64::max);
        self.counted += 1;
        self.transfer_cycles += last.transfer_cycles();
        self.skew_cycles += longest.saturating_sub(last.kernel_cycles());
        self.last = Some(last.chip);
    }

    /// Puts means and the last launch's times into the report.
    pub(super) fn report(&self, report: &mut RunReport) {
        let count = self.counted.max(1);
        report.time_cycles = self.transfer_cycles / count;
        report.start_skew_cycles = self.skew_cycles / count;
        report.chips.clone_from(&self.chips);
        report.last = self.last.unwrap_or(report.last);
    }
}

/// The first start, the first link and the last end of each chip's workers. A chip that only sends is done when its EDMs, or its workers
/// over the fabric, have every credit back: its workers end before the data have arrived.
fn chips(watch: &Watch) -> Vec<ChipTimes> {
    let mut chips: BTreeMap<ChipId, ChipTimes> = BTreeMap::new();
    for core in watch.cores().iter().filter(|core| core.kernel == WORKER) {
        let (chip, values) = (core.place.chip, &core.values);
        // A worker without a channel never waits for a link.
        let ready = if values.ready_cycles == 0 { u64::MAX } else { values.ready_cycles };
        let times = chips.entry(chip).or_insert(ChipTimes {
            chip,
            started_cycles: values.started_cycles,
            ready_cycles: ready,
            finished_cycles: values.finished_cycles,
        });
        times.started_cycles = times.started_cycles.min(values.started_cycles);
        times.ready_cycles = times.ready_cycles.min(ready);
        times.finished_cycles = times.finished_cycles.max(values.finished_cycles);
    }
    let takes: BTreeSet<ChipId> =
        watch.cores().iter().filter(|core| core.takes).map(|core| core.place.chip).collect();
    for core in watch.cores() {
        let values = &core.values;
        let back =
            if core.kernel == EDM { values.finished_cycles } else { values.acknowledged_cycles };
        if let Some(times) = chips.get_mut(&core.place.chip).filter(|t| !takes.contains(&t.chip)) {
            times.finished_cycles = times.finished_cycles.max(back);
        }
    }
    let known = |times: ChipTimes| match times.ready_cycles {
        u64::MAX => ChipTimes { ready_cycles: times.started_cycles, ..times },
        _ => times,
    };
    chips.into_values().map(known).collect()
}
