//! What came of a run.

use super::case::{Ailment, Case, Congestion};
use super::course::Observed;
use super::{MuxRun, MuxWait, SLOW_FACTOR, STARVE_FACTOR};

/// What came of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fate {
    /// About as fast as the healthy one.
    Finishes,
    /// By [`SLOW_FACTOR`].
    Slows,
    /// It came to an end, but a mux left packets behind.
    Loses,
    /// By [`STARVE_FACTOR`].
    Starves,
    /// By [`super::NEVER_FACTOR`].
    NeverEnds,
}

impl Fate {
    /// All five.
    pub const ALL: [Self; 5] =
        [Self::Finishes, Self::Slows, Self::Loses, Self::Starves, Self::NeverEnds];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Finishes => "finishes",
            Self::Slows => "slows",
            Self::Loses => "loses",
            Self::Starves => "starves",
            Self::NeverEnds => "never_ends",
        }
    }
}

/// A healthy run of a seed, and what it is compared with.
pub(super) fn judge(
    seed: u64,
    route: MuxWait,
    (case, healthy): (&Case, &Observed),
    ails: &Congestion,
    observed: Observed,
) -> MuxRun {
    let Observed { cycles, over, undone, figures, chain, .. } = observed;
    let healthy_cycles = healthy.cycles;
    let close = figures.longest(|channel| channel.close_cycles);
    let fate = if !over {
        Fate::NeverEnds
    } else if close > STARVE_FACTOR * healthy_cycles {
        Fate::Starves
    } else if figures.abandoned > 0 {
        Fate::Loses
    } else if cycles > SLOW_FACTOR * healthy_cycles {
        Fate::Slows
    } else {
        Fate::Finishes
    };
    let chain = if fate >= Fate::Starves { chain } else { Vec::new() };
    let most = (0..case.packets.len()).map(|mux| case.packets_of(mux)).max();
    MuxRun {
        seed,
        wait: route,
        fate,
        healthy_cycles,
        cycles,
        packet_cycles: healthy_cycles / u64::from(most.map_or(1, |most| most.max(1))),
        stall_cycles: ails.cycles,
        router_stands: ails.ailment == Ailment::RouterStands,
        undone,
        figures,
        congestion: ails.to_string(),
        chain,
    }
}
