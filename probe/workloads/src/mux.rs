//! Muxes of a fabric under congestion, in the experiment of the public write-up of the
//! reduce-scatter hang: several muxes with eight workers each in front of routers that need 5 to 10
//! us for a packet and that run out of slots for a short time, for a long time, or for ever.

mod bench;
mod case;
mod cast;
mod chain;
mod course;
mod figures;
mod posts;
mod scene;
mod stage;

use crate::scene::SceneError;
pub use bench::Bench;
pub use case::{Case, Congestion, CongestionFault};
pub use course::{HostReport, Observed};
use fabric::mux::{Policy, WaitBound};
pub use figures::{ChannelFigures, Figures};
use launch::dice::Random;
use machine::fabric::MuxCore;
pub use scene::MuxScene;
pub use stage::{StagedMux, stage};

/// Limit of a healthy run, in cycles; it ends long before.
const HEALTHY_CYCLES: u64 = 20_000_000;

/// How a mux waits in a run: a policy, and its bounded wait if the wait is not counted in polls as
/// the policy's name says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MuxWait {
    /// Its name.
    pub name: &'static str,
    /// Its policy.
    pub policy: Policy,
    /// Its bounded wait, if it is not counted in polls.
    pub turn: Option<WaitBound>,
}

const fn mux_wait(name: &'static str, policy: Policy, turn: Option<WaitBound>) -> MuxWait {
    MuxWait { name, policy, turn }
}

const fn keeps(wait_cycles: u32) -> WaitBound {
    WaitBound { wait_cycles, keeps_router: true }
}

impl MuxWait {
    /// The five policies as built, and the two bounded ones as the write-up describes them: the
    /// waiting channel takes every slot that the router frees for 130 us or 5 us.
    pub const ALL: [Self; 7] = [
        mux_wait("unbounded", Policy::Unbounded, None),
        mux_wait("no_wait", Policy::NoWait, None),
        mux_wait("unbounded_teardown", Policy::UnboundedTeardown, None),
        mux_wait("bounded_32768", Policy::Bounded32768, None),
        mux_wait("bounded_256", Policy::Bounded256, None),
        mux_wait("captures_130us", Policy::Bounded32768, Some(keeps(130_000))),
        mux_wait("captures_5us", Policy::Bounded256, Some(keeps(5_000))),
    ];
}

/// The mesh, and its muxes.
#[derive(Clone, Copy, Debug)]
pub struct MuxSetup<'a> {
    /// A mesh of two chips or more.
    pub mesh: &'a str,
    /// The kind of core that the muxes run on.
    pub core: MuxCore,
    /// Workers of each mux.
    pub workers: usize,
    /// Links of one chip, each with a mux; none: two, or all if the chip has fewer.
    pub links: Option<usize>,
    /// The first seed.
    pub seed: u64,
}

/// Returns a seed's case, its congestion, and its healthy run.
///
/// # Errors
/// When the mesh does not answer.
pub fn prepared(bench: &mut Bench, seed: u64) -> Result<(Case, Congestion, Observed), SceneError> {
    let mut dice = Random(seed);
    let case = Case::draw(&mut dice, bench.links(), bench.workers());
    let healthy = bench.run(&case, MuxWait::ALL[0], None, HEALTHY_CYCLES)?;
    let congestion = Congestion::draw(&mut dice, healthy.cycles, bench.links());
    Ok((case, congestion, healthy))
}
