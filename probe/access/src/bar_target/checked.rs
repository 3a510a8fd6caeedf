//! Plans that the guard has checked, kept because the same plan is read repeatedly.

use super::reading::ChipRead;
use super::{BarTarget, no_route};
use crate::access::Route;
use crate::planner::{MergedRange, merge};
use layouts::{ChipId, ChipLayout, ReadMode, TileKind};
use machine::snapshot::{Gap, Plan, Span};

/// Number of kept plans: enough for a screen and a recording.
const KEPT: usize = 8;

/// A plan, and the ranges to read for it.
pub(super) struct Checked {
    plan: Plan,
    /// Ranges that must not be read, or cannot be reached.
    pub(super) gaps: Vec<Gap>,
    /// The ranges to read, by chip, in order.
    pub(super) chips: Vec<ChipRead>,
}

/// The plans checked last. The guard's rules and the routes to chips do not change while a target
/// is open, so that a check stays valid; the quarantine is consulted at every read.
#[derive(Default)]
pub(super) struct CheckedPlans(Vec<Checked>);

impl CheckedPlans {
    /// Takes a checked plan.
    fn take(&mut self, plan: &Plan) -> Option<Checked> {
        let index = self.0.iter().rposition(|known| known.plan == *plan)?;
        Some(self.0.remove(index))
    }

    /// Keeps a checked plan, and drops the one that was used the longest ago.
    pub(super) fn keep(&mut self, checked: Checked) {
        if self.0.len() == KEPT {
            self.0.remove(0);
        }
        self.0.push(checked);
    }
}

struct RequestedRange {
    /// The Ethernet tiles of all chips come first: both ends of a link are compared, so that their
    /// reads must be close in time.
    group: (bool, ChipId),
    run: MergedRange,
}

impl RequestedRange {
    fn new(layout: &ChipLayout, span: &Span, stand: ReadMode) -> Self {
        let elsewhere = layout.kind_at(span.addr.tile) != TileKind::Eth;
        Self { group: (elsewhere, span.addr.chip), run: MergedRange::of(span, stand) }
    }
}

impl BarTarget {
    /// Returns a plan as sorted ranges and gaps. The result must be kept after use.
    pub(super) fn checked(&mut self, plan: &Plan) -> Checked {
        self.known.take(plan).unwrap_or_else(|| self.check(plan))
    }

    fn check(&self, plan: &Plan) -> Checked {
        let (mut requested, mut gaps) = (Vec::with_capacity(plan.spans.len()), Vec::new());
        for span in plan.spans.iter().filter(|span| span.len > 0) {
            match self.guard.reading(span) {
                Ok(stand) => requested.push(RequestedRange::new(self.mesh.layout(), span, stand)),
                Err(reason) => gaps.push(Gap { span: *span, reason }),
            }
        }
        requested.sort_unstable_by_key(|requested| (requested.group, requested.run.place()));
        let mut chips = Vec::new();
        for chip in requested.chunk_by(|a, b| a.group == b.group) {
            let Some(RequestedRange { group: (_, id), .. }) = chip.first() else { continue };
            let runs = chip.iter().map(|requested| requested.run);
            match self.routes.get(id).cloned() {
                Some(route) => {
                    let far = matches!(route, Route::Queue { .. });
                    chips.push((*id, route, merge(runs, far)));
                }
                None => {
                    gaps.extend(runs.map(|run| Gap { span: run.span(*id), reason: no_route(*id) }));
                }
            }
        }
        Checked { plan: plan.clone(), gaps, chips }
    }
}
