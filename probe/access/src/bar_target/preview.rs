//! The accesses of a plan, without making them.

use super::BarTarget;
use crate::access::Route;
use crate::planner::MergedRange;
use crate::queue::{BLOCK_ALIGN, BLOCK_BYTES};
use layouts::{NocXy, ReadMode};
use machine::snapshot::{AccessError, Gap, Plan, Span};
use machine::target::{AccessRoute, PlannedAccess, Preview};
use machine::window::WindowOrdering;
use std::collections::BTreeSet;

/// A command through a queue takes at least its entry, the doorbell, a read of the answer and its
/// acknowledgement (wormhole.md 6.4).
const COMMAND_TRANSACTIONS: u64 = 4;
/// The read of a tile's node id, and its window.
const PROBE_TRANSACTIONS: u64 = 2;
/// The block of a command takes one more.
const BLOCK_TRANSACTIONS: u64 = COMMAND_TRANSACTIONS + 1;

/// Tiles that the preview has already accessed.
type Probed = BTreeSet<(u8, NocXy)>;

impl BarTarget {
    /// Returns the cost of reading the plans one after the other.
    pub(super) fn reads(&mut self, plans: &[Plan]) -> Preview {
        let windows = self.access.bus.windows();
        let (mut preview, mut probed) = (Preview::default(), BTreeSet::new());
        for plan in plans {
            let part = self.read_of(plan, &mut probed);
            preview.accesses.extend(part.accesses);
            preview.gaps.extend(part.gaps);
        }
        self.access.bus.restore(windows);
        preview
    }

    /// Returns the cost of reading a plan; windows are pointed as the reads would.
    fn read_of(&mut self, plan: &Plan, probed: &mut Probed) -> Preview {
        let checked = self.checked(plan);
        let mut preview = Preview { gaps: checked.gaps.clone(), ..Preview::default() };
        for (id, route, runs) in &checked.chips {
            if let Some(reason) = self.quarantined_route(route) {
                let gap = |run: &MergedRange| Gap { span: run.span(*id), reason: reason.clone() };
                preview.gaps.extend(runs.iter().map(gap));
            } else {
                let spans = runs.iter().map(|run| run.span(*id));
                let costs = self.reading_costs(route, runs, probed);
                let visit = |(span, transactions)| PlannedAccess {
                    span,
                    route: access_route(route),
                    write: false,
                    transactions,
                };
                preview.accesses.extend(spans.zip(costs).map(visit));
            }
        }
        self.known.keep(checked);
        preview
    }

    /// Returns the cost of a write, including the read of the old bytes for the log.
    pub(super) fn writes(&mut self, span: Span) -> Preview {
        let windows = self.access.bus.windows();
        let mut preview = Preview::default();
        let route = self.routes.get(&span.addr.chip).cloned();
        if let Err(reason) = self.guard.writing(&span) {
            preview.gaps.push(Gap { span, reason });
        } else if let Some(route) = route {
            let mut transactions = 0;
            if self.guard.reading(&span).is_ok() {
                preview = self.read_of(&Plan { spans: vec![span] }, &mut BTreeSet::new());
            } else if matches!(route, Route::Pcie(device) if !self.access.quarantine.seen(device, span.addr.tile))
            {
                transactions += PROBE_TRANSACTIONS;
            }
            transactions += self.writing_cost(&route, &span);
            preview.accesses.push(PlannedAccess {
                span,
                route: access_route(&route),
                write: true,
                transactions,
            });
        }
        self.access.bus.restore(windows);
        preview
    }

    fn quarantined_route(&self, route: &Route) -> Option<AccessError> {
        let quarantine = &self.access.quarantine;
        match route {
            Route::Pcie(device) => quarantine.device(*device).cloned(),
            Route::Queue { device, coord, .. } => quarantine.far((*device, *coord)).cloned(),
        }
    }

    /// Returns the transactions of each run.
    fn reading_costs(
        &mut self,
        route: &Route,
        runs: &[MergedRange],
        probed: &mut Probed,
    ) -> Vec<u64> {
        let Route::Pcie(device) = *route else {
            return runs.iter().map(|run| commands(run.offset, run.len, run.memory)).collect();
        };
        let quarantine = &self.access.quarantine;
        let mut first = |run: &MergedRange| probed.insert((device, run.tile)) && run.len > 4;
        let probes: Vec<bool> =
            runs.iter().map(|run| !quarantine.seen(device, run.tile) && first(run)).collect();
        let bus = &mut self.access.bus;
        let cost = |(run, probe): (&MergedRange, bool)| {
            let batch = if probe { run.read(bus.batch(), device, 4) } else { bus.batch() };
            run.read(batch, device, run.len).transactions()
        };
        runs.iter().zip(probes).map(cost).collect()
    }

    fn writing_cost(&mut self, route: &Route, span: &Span) -> u64 {
        let run = MergedRange::of(span, self.guard.reading(span).unwrap_or(ReadMode::Registers));
        let Route::Pcie(device) = *route else {
            return commands(run.offset, run.len, run.memory);
        };
        let bytes = vec![0; run.len as usize];
        let bus = &mut self.access.bus;
        if !run.memory {
            let words = (run.offset..).step_by(4).zip(bytes.chunks(4));
            let batch = words.fold(bus.batch(), |batch, (at, word)| {
                batch.write(device, run.tile, at, word, WindowOrdering::Strict)
            });
            return batch.transactions();
        }
        let batch = bus.batch().write(device, run.tile, run.offset, &bytes, WindowOrdering::Memory);
        // The last word is read back, and partial words are read before.
        let merged = u64::from((run.offset, run.len) != (span.addr.offset, span.len));
        batch.transactions() + 1 + merged
    }
}

fn access_route(route: &Route) -> AccessRoute {
    match route {
        Route::Pcie(_) => AccessRoute::Window,
        Route::Queue { .. } => AccessRoute::Queue,
    }
}

/// Returns the least cost of a range through a queue.
fn commands(offset: u64, len: u32, memory: bool) -> u64 {
    let end = offset + u64::from(len);
    if !memory || len <= 4 {
        return u64::from(len.div_ceil(4)) * COMMAND_TRANSACTIONS;
    }
    let bytes = end.next_multiple_of(BLOCK_ALIGN) - offset / BLOCK_ALIGN * BLOCK_ALIGN;
    bytes.div_ceil(BLOCK_BYTES as u64) * BLOCK_TRANSACTIONS
}
