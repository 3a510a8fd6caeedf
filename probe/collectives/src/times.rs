//! The transfer times of the chips of a launch. Each chip has its own clock, so only durations are
//! compared: of kernels, and of the host between the go messages of two chips.

use super::edm_builder::EDM;
use super::report::{ChipTimes, RunReport};
use super::watch::Watch;
use super::worker::WORKER;
use layouts::ChipId;
use std::collections::{BTreeMap, BTreeSet};

/// The times of the measured launches.
#[derive(Clone, Debug, Default)]
pub(super) struct Times {
    /// Launches still to come that are not measured.
    warmups: u32,
    counted: u64,
    transfer_cycles: u64,
    skew_cycles: u64,
    chips: Vec<ChipTimes>,
    /// When the go messages of each chip were sent, by the clock of the target.
    goes: BTreeMap<ChipId, u64>,
    last: Option<ChipId>,
    /// Whether the kernels of this launch were paused.
    paused: bool,
}

impl Times {
    pub(super) fn new(warmups: u32) -> Self {
        Self { warmups, ..Self::default() }
    }

    /// Notes when the go messages of a chip are sent.
    pub(super) fn goes(&mut self, chip: ChipId, now_cycles: u64) {
        self.goes.insert(chip, now_cycles);
    }

    /// Notes that the kernels of this launch were paused.
    pub(super) fn paused(&mut self) {
        self.paused = true;
    }

    /// Whether a launch is still to be measured, as those that were to be were paused.
    pub(super) fn lacks_launch(&self) -> bool {
        self.warmups == 0 && self.counted == 0
    }

    /// Takes the times of a finished launch: of every chip from when the one launched last was ready.
    /// One that was paused has none; returns whether this one was.
    pub(super) fn take(&mut self, watch: &Watch, launched_last: ChipId) -> bool {
        let paused = std::mem::take(&mut self.paused);
        if self.warmups > 0 {
            self.warmups -= 1;
            return false;
        }
        if paused {
            return true;
        }
        self.chips = chips(watch);
        let last = self.chips.iter().find(|times| times.chip == launched_last);
        let Some(last) = last.or(self.chips.last()).copied() else { return false };
        let sent = |chip| self.goes.get(&chip).copied().unwrap_or(0);
        for times in self.chips.iter_mut().filter(|times| times.chip != last.chip) {
            let later = sent(last.chip).saturating_sub(sent(times.chip));
            times.ready_cycles = times.started_cycles
                + later
                + last.ready_cycles.saturating_sub(last.started_cycles);
        }
        let longest = self.chips.iter().map(ChipTimes::kernel_cycles).fold(0, u64::max);
        self.counted += 1;
        self.transfer_cycles += self.chips.iter().map(ChipTimes::transfer_cycles).fold(0, u64::max);
        self.skew_cycles += longest.saturating_sub(last.kernel_cycles());
        self.last = Some(last.chip);
        false
    }

    /// Writes the means and the last launch's times to the report.
    pub(super) fn report(&self, report: &mut RunReport) {
        let count = self.counted.max(1);
        report.time_cycles = self.transfer_cycles / count;
        report.start_skew_cycles = self.skew_cycles / count;
        report.chips.clone_from(&self.chips);
        report.last = self.last.unwrap_or(report.last);
    }
}

/// Returns the first start, the first link and the last end of each chip's workers. A chip that
/// only sends is done when its EDMs, or its workers over the fabric, have every credit back: its
/// workers end before the data have arrived.
fn chips(watch: &Watch) -> Vec<ChipTimes> {
    let mut chips: BTreeMap<ChipId, ChipTimes> = BTreeMap::new();
    for core in watch.cores().iter().filter(|core| core.kernel == WORKER) {
        let (chip, values) = (core.place.chip, &core.values);
        // The first credit of a worker that only receives comes with data.
        let waits = values.packets_out > 0 && values.ready_cycles > 0;
        let ready_cycles = if waits { values.ready_cycles } else { values.started_cycles };
        let (started_cycles, finished_cycles) = (values.started_cycles, values.finished_cycles);
        let own = ChipTimes { chip, started_cycles, ready_cycles, finished_cycles };
        let times = chips.entry(chip).or_insert(own);
        times.started_cycles = times.started_cycles.min(started_cycles);
        times.ready_cycles = times.ready_cycles.min(ready_cycles);
        times.finished_cycles = times.finished_cycles.max(finished_cycles);
    }
    let edms = || watch.cores().iter().filter(|core| core.kernel == EDM);
    for times in chips.values_mut() {
        let own = edms().filter(|core| core.place.chip == times.chip);
        let ready = own.map(|core| core.values.ready_cycles).min();
        times.ready_cycles = ready.unwrap_or(times.ready_cycles);
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
    chips.into_values().collect()
}
