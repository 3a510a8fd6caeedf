//! Judges the outcome of a run.

use super::{MuxRun, SLOW_FACTOR, STARVE_FACTOR};
use workloads::mux::{Case, Congestion, CongestionFault, MuxWait, Observed};

/// The outcome of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum Fate {
    /// It ends about as fast as the healthy run.
    Finishes,
    /// It takes more than [`SLOW_FACTOR`] times as long as the healthy run.
    Slows,
    /// It ends, but a mux abandoned packets.
    Loses,
    /// A client starves, by [`STARVE_FACTOR`].
    Starves,
    /// It has not ended after [`super::NEVER_FACTOR`] times the healthy run.
    NeverEnds,
}

impl Fate {
    /// Returns its name.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// Judges a run by the healthy run of its seed.
pub(super) fn judge(
    seed: u64,
    wait: MuxWait,
    (case, healthy): (&Case, &Observed),
    congestion: &Congestion,
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
        wait,
        fate,
        healthy_cycles,
        cycles,
        packet_cycles: healthy_cycles / u64::from(most.map_or(1, |most| most.max(1))),
        stall_cycles: congestion.cycles,
        router_stands: congestion.fault == CongestionFault::RouterStuck,
        undone,
        figures,
        congestion: congestion.to_string(),
        chain,
    }
}
