//! Totals of all runs of a policy.

use super::{Fate, MuxRun};
use workloads::mux::{ChannelFigures, MuxWait};

/// The runs of one policy.
pub(super) struct Sums<'a> {
    pub(super) route: MuxWait,
    pub(super) runs: Vec<&'a MuxRun>,
}

impl<'a> Sums<'a> {
    pub(super) fn of(route: MuxWait, runs: &'a [MuxRun]) -> Self {
        Self { route, runs: runs.iter().filter(|run| run.wait == route).collect() }
    }

    pub(super) fn count(&self, is: impl Fn(&MuxRun) -> bool) -> u64 {
        self.runs.iter().filter(|run| is(run)).count() as u64
    }

    pub(super) fn all(&self) -> u64 {
        self.runs.len() as u64
    }

    pub(super) fn fate(&self, fate: Fate) -> u64 {
        self.count(|run| run.fate == fate)
    }

    /// Runs in which a packet waited for a slot of the router.
    pub(super) fn waits(&self) -> u64 {
        self.count(|run| run.figures.longest(|c| c.wait_cycles) > 0)
    }

    /// Runs whose routers stay without slots for good.
    pub(super) fn for_ever(&self) -> u64 {
        self.count(|run| run.stall_cycles.is_none())
    }

    /// Runs that never end although the congestion ends.
    pub(super) fn deadlocks(&self) -> u64 {
        self.count(|run| run.fate == Fate::NeverEnds && run.stall_cycles.is_some())
    }

    /// Runs that never end although all workers are done.
    pub(super) fn left_to_muxes(&self) -> u64 {
        self.count(|run| {
            let muxes = run.figures.channels.iter().map(|channel| channel.mux + 1).max();
            run.fate == Fate::NeverEnds && run.undone as usize <= muxes.unwrap_or(0)
        })
    }

    /// Runs in which a close stays unanswered for longer than the healthy run takes.
    pub(super) fn starved(&self) -> u64 {
        self.count(|run| run.figures.longest(|c| c.close_cycles) > run.healthy_cycles)
    }

    /// The maximum over all channels of all runs.
    pub(super) fn longest(&self, of: impl Fn(&ChannelFigures) -> u64) -> u64 {
        self.runs.iter().map(|run| run.figures.longest(&of)).max().unwrap_or(0)
    }

    /// The same, of the runs whose congestion ends; `None` if there are none.
    pub(super) fn longest_of_ending(&self, of: impl Fn(&ChannelFigures) -> u64) -> Option<u64> {
        let ending = self.runs.iter().filter(|run| run.stall_cycles.is_some());
        ending.map(|run| run.figures.longest(&of)).max()
    }

    pub(super) fn longest_stall(&self) -> Option<u64> {
        self.runs.iter().filter_map(|run| run.stall_cycles).max()
    }

    /// Times relative to those of the healthy runs.
    pub(super) fn median_percent(&self) -> u64 {
        median(self.runs.iter().map(|run| 100 * run.cycles / run.healthy_cycles.max(1)).collect())
    }

    /// The same in thousandths, of the runs whose congestion ends.
    pub(super) fn median_thousandths(&self) -> u64 {
        let ending = self.runs.iter().filter(|run| run.stall_cycles.is_some());
        median(ending.map(|run| 1000 * run.cycles / run.healthy_cycles.max(1)).collect())
    }

    /// A packet's time in the router, of the healthy runs: the shortest and the longest.
    pub(super) fn packet_cycles(&self) -> [u64; 2] {
        let each = || self.runs.iter().map(|run| run.packet_cycles);
        [each().min().unwrap_or(0), each().max().unwrap_or(0)]
    }
}

fn median(mut values: Vec<u64>) -> u64 {
    values.sort_unstable();
    values.get(values.len() / 2).copied().unwrap_or(0)
}
