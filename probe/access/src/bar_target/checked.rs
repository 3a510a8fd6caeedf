//! Plans that the guard has judged: who watches asks for the same one again and again.

use super::reading::Chip;
use super::{BarTarget, no_route};
use crate::access::Route;
use crate::planner::{MergedRange, merge};
use layouts::{ChipId, ChipLayout, Stand, TileKind};
use machine::snapshot::{Gap, Plan, Span};

/// Judged plans that are kept: those of a screen and of who records along with it.
const KEPT: usize = 8;

/// A plan, and what of it is read.
pub(super) struct Checked {
    plan: Plan,
    /// What must not be read, or cannot be reached.
    pub(super) gaps: Vec<Gap>,
    /// Whose ranges are read, in this order, and which.
    pub(super) chips: Vec<Chip>,
}

/// The plans judged last. Neither the guard's rules nor the ways to chips change while a target is
/// open, so what was judged once holds; what is latched is asked at every read.
#[derive(Default)]
pub(super) struct Known(Vec<Checked>);

impl Known {
    /// Takes what is known of a plan.
    fn take(&mut self, plan: &Plan) -> Option<Checked> {
        let at = self.0.iter().rposition(|known| known.plan == *plan)?;
        Some(self.0.remove(at))
    }

    /// Keeps it, and forgets what was used the longest ago.
    pub(super) fn keep(&mut self, checked: Checked) {
        if self.0.len() == KEPT {
            self.0.remove(0);
        }
        self.0.push(checked);
    }
}

/// A range that is to be read.
struct Wanted {
    /// The Ethernet tiles of all chips come first: both ends of a link are compared, so their reads
    /// belong close together.
    group: (bool, ChipId),
    run: MergedRange,
}

impl Wanted {
    fn new(layout: &ChipLayout, span: &Span, stand: Stand) -> Self {
        let elsewhere = layout.kind_at(span.addr.tile) != TileKind::Eth;
        Self { group: (elsewhere, span.addr.chip), run: MergedRange::of(span, stand) }
    }
}

impl BarTarget {
    /// What of a plan is read, by chips, tiles and addresses; the rest as gaps. To be kept after use.
    pub(super) fn checked(&mut self, plan: &Plan) -> Checked {
        self.known.take(plan).unwrap_or_else(|| self.check(plan))
    }

    fn check(&self, plan: &Plan) -> Checked {
        let (mut wanted, mut gaps) = (Vec::with_capacity(plan.spans.len()), Vec::new());
        for span in plan.spans.iter().filter(|span| span.len > 0) {
            match self.guard.reading(span) {
                Ok(stand) => wanted.push(Wanted::new(self.mesh.layout(), span, stand)),
                Err(reason) => gaps.push(Gap { span: *span, reason }),
            }
        }
        wanted.sort_unstable_by_key(|wanted| (wanted.group, wanted.run.place()));
        let mut chips = Vec::new();
        for chip in wanted.chunk_by(|a, b| a.group == b.group) {
            let Some(Wanted { group: (_, id), .. }) = chip.first() else { continue };
            let runs = chip.iter().map(|wanted| wanted.run);
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
