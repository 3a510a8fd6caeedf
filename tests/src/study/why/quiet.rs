//! Runs that are healthy, or only slow.

use super::collective::{self, Collective, Length};
use super::ground::{ANY, Bed, Ground, SMALL, STEP_CYCLES, erisc, link_root};
use super::ring::Pinging;
use super::routers::{self, Load, Routed};
use super::{Severity, Staged, Truth};
use collectives::Op;
use diagnosis::{Condition, Place as Root};
use launch::{Firmware, Operation, Pattern, launch_worker};
use layouts::{ChipLayout, EthId};
use machine::fault::{CoreFault, FaultKind, LinkFault};
use machine::place::Place;
use machine::snapshot::Span;
use machine::target::Target;
use workloads::scene::SceneError;

/// Longest time from the launch to the hand-over, in cycles.
const MOST_CYCLES: u64 = 5_000_000;

impl Bed {
    /// Hands over a run in the middle of its work.
    pub(super) fn healthy(mut self) -> Result<Staged, SceneError> {
        let cycles = self.pass(50_000, MOST_CYCLES)?;
        self.say(format!("handed over after {} us", cycles / 1_000));
        Ok(self.staged(None))
    }

    /// Hands over a run that is slow because of a link.
    fn slow(mut self, end: EthId) -> Result<Staged, SceneError> {
        let root = link_root(self.link(end)?);
        self.pass(3_000_000, 8_000_000)?;
        self.check_unfinished()?;
        let (condition, severity) = (Condition::SlowLink, Severity::Slow);
        Ok(self.staged(Some(Truth { condition, severity, root })))
    }

    /// Begins a fault of every link.
    fn everywhere(&mut self, fault: LinkFault) -> Result<(), SceneError> {
        let ends: Vec<EthId> = self.target.mesh().links.iter().map(|link| link.a).collect();
        ends.into_iter().try_for_each(|end| self.link_fault(end, fault))
    }
}

/// A run, and the Ethernet tiles that take part.
struct Moving {
    bed: Bed,
    ends: Vec<EthId>,
}

impl Moving {
    fn new(bed: Bed, layout: &ChipLayout) -> Result<Self, SceneError> {
        let eth = |place: &&Place| layout.kind_at(place.tile) == layouts::TileKind::Eth;
        let places: Vec<Place> = bed.busy.iter().filter(eth).copied().collect();
        let ends = places.into_iter().map(|place| bed.eth(place)).collect::<Result<_, _>>()?;
        Ok(Self { bed, ends })
    }

    fn end(&mut self) -> Result<EthId, SceneError> {
        self.bed.one(&self.ends, "link")
    }
}

fn gathering(ground: Ground, op: Op, length: Length) -> Result<Bed, SceneError> {
    let mut bed = ground.boot(SMALL, collective::TILES)?;
    let program = collective::draw(&mut bed, &[op], length)?;
    Ok(Collective::launch(bed, program, None)?.bed)
}

fn trafficking(ground: Ground) -> Result<Bed, SceneError> {
    let mut bed = ground.boot(SMALL, routers::TILES)?;
    let plan = routers::draw(&mut bed, true)?;
    let mut routed = Routed::up(bed, plan)?;
    routed.send(Load::LONG)?;
    Ok(routed.bed)
}

/// Any run that lasts.
fn moving(mut ground: Ground) -> Result<Moving, SceneError> {
    let bed = match ground.dice.below(3) {
        0 => Pinging::begun(ground)?.bed,
        1 => gathering(ground, Op::AllGather, Length::Long)?,
        _ => trafficking(ground)?,
    };
    let layout = bed.target.mesh().layout();
    Moving::new(bed, layout)
}

/// Firmware, and nothing more.
pub(super) fn idle(ground: Ground) -> Result<Staged, SceneError> {
    let mut bed = ground.boot(ANY, 64)?;
    let mesh = bed.target.mesh();
    let beat = mesh.layout().eth.l1.heartbeat.at;
    let first = mesh.links.first().map(|link| mesh.place(link.a));
    if let Some(place) = first.transpose().map_err(launch::ControlError::from)? {
        bed.work.push(Span { addr: place.at(beat), len: 4 });
    }
    bed.healthy()
}

pub(super) fn firmware_stopped(ground: Ground) -> Result<Staged, SceneError> {
    let mut bed = ground.boot(ANY, 64)?;
    let mesh = bed.target.mesh();
    let ends: Vec<EthId> = mesh.links.iter().flat_map(|link| [link.a, link.b]).collect();
    let end = bed.one(&ends, "link")?;
    let core = erisc(bed.target.mesh().place(end).map_err(launch::ControlError::from)?);
    bed.say(format!("the firmware of {end} stops"));
    let others = ends.iter().filter(|other| **other != end);
    let places = others.filter_map(|other| bed.target.mesh().place(*other).ok());
    let beat = bed.target.mesh().layout().eth.l1.heartbeat.at;
    bed.work = places.map(|place| Span { addr: place.at(beat), len: 4 }).collect();
    bed.core_fault(core, CoreFault::Stuck)?;
    bed.pass(10_000, MOST_CYCLES)?;
    let (condition, severity) = (Condition::CoreStuck, Severity::Fault);
    Ok(bed.staged(Some(Truth { condition, severity, root: vec![Root::Core(core)] })))
}

pub(super) fn ring(ground: Ground) -> Result<Staged, SceneError> {
    Pinging::begun(ground)?.bed.healthy()
}

pub(super) fn all_gather(ground: Ground) -> Result<Staged, SceneError> {
    gathering(ground, Op::AllGather, Length::Long)?.healthy()
}

pub(super) fn reduction(mut ground: Ground) -> Result<Staged, SceneError> {
    let op = if ground.dice.below(2) == 0 { Op::AllReduce } else { Op::ReduceScatter };
    gathering(ground, op, Length::Long)?.healthy()
}

/// Routers without clients.
pub(super) fn fabric_idle(ground: Ground) -> Result<Staged, SceneError> {
    let mut bed = ground.boot(SMALL, routers::TILES)?;
    let plan = routers::draw(&mut bed, true)?;
    let mut routed = Routed::up(bed, plan)?;
    let passes = routed.plan.router_image();
    let (at, len) = routed.bed.variable(passes, "fabric_router_state.passes")?;
    let passes = routed.plan.routers.iter().map(|router| Span { addr: router.place.at(at), len });
    routed.bed.work = passes.collect();
    routed.bed.healthy()
}

pub(super) fn fabric_traffic(ground: Ground) -> Result<Staged, SceneError> {
    trafficking(ground)?.healthy()
}

/// Every link is slower, none slower than the others.
pub(super) fn all_links_slow(ground: Ground) -> Result<Staged, SceneError> {
    let mut run = moving(ground)?;
    run.bed.say("every link is 16 times as slow");
    run.bed.everywhere(LinkFault::Slow { factor: 16 })?;
    run.bed.healthy()
}

pub(super) fn bit_errors(ground: Ground) -> Result<Staged, SceneError> {
    let mut run = moving(ground)?;
    let end = run.end()?;
    let per_terabit = run.bed.between(1_000_000, 20_000_000);
    run.bed.say(format!("{per_terabit} wrong bits in 10^12 on the link of {end}"));
    run.bed.link_fault(end, LinkFault::BitErrors { per_terabit })?;
    run.bed.healthy()
}

/// A link is down for a time that its run survives.
pub(super) fn short_outage(ground: Ground) -> Result<Staged, SceneError> {
    let mut run = moving(ground)?;
    let end = run.end()?;
    let cycles = run.bed.between(10_000, 100_000);
    run.bed.say(format!("the link of {end} is down for {} us", cycles / 1_000));
    run.bed.disrupt_for(FaultKind::Link(end, LinkFault::Down), Some(cycles))?;
    run.bed.target.pass(cycles + 200 * STEP_CYCLES)?;
    run.bed.healthy()
}

/// Workers that rest long between two patterns.
pub(super) fn long_pauses(ground: Ground) -> Result<Staged, SceneError> {
    let mut bed = ground.boot(SMALL, 8)?;
    let tiles = bed.dice.below(8) as usize + 1;
    let chips: Vec<_> = bed.target.mesh().chips.iter().map(|chip| chip.id).collect();
    let tiles = |chip| bed.target.mesh().compute_tiles(chip).take(tiles).collect::<Vec<_>>();
    let places: Vec<Place> = chips.into_iter().flat_map(tiles).collect();
    bed.say(format!("{} workers with long pauses", places.len()));
    let mut launches = Vec::new();
    for place in places {
        let interval_cycles = bed.between(50_000, 1_900_000) as u32;
        let pattern = Pattern { address: 0x2_0000, words: 64, interval_cycles };
        let seed = bed.dice.next() as u32;
        launches.push(launch_worker(&mut bed.images, Firmware::BUILT_IN, place, pattern, seed)?);
        bed.counts(place, "tensix_worker")?;
    }
    Operation::finish_all(launches, &mut bed.target)?;
    bed.healthy()
}

/// One link is a hundred times as slow as the others.
pub(super) fn link_slow(ground: Ground) -> Result<Staged, SceneError> {
    let bed = gathering(ground, Op::AllGather, Length::Fast)?;
    let layout = bed.target.mesh().layout();
    let mut run = Moving::new(bed, layout)?;
    let end = run.end()?;
    let factor = run.bed.between(60, 140) as u32;
    run.bed.say(format!("the link of {end} is {factor} times as slow"));
    run.bed.link_fault(end, LinkFault::Slow { factor })?;
    run.bed.slow(end)
}

/// One end of a link acknowledges 2 ms late what it receives.
pub(super) fn slow_ack(ground: Ground) -> Result<Staged, SceneError> {
    let mut bed = ground.boot(SMALL, collective::TILES)?;
    let program = collective::draw(&mut bed, &[Op::AllGather], Length::Fast)?;
    let place = collective::receiving_edm(&mut bed, &program)?;
    let mut bed = Collective::launch(bed, program, None)?.bed;
    let end = bed.eth(place)?;
    let delay_cycles = bed.between(1_500_000, 2_500_000);
    bed.say(format!("{end} acknowledges {} us late", delay_cycles / 1_000));
    bed.link_fault(end, LinkFault::SlowAck { delay_cycles })?;
    bed.slow(end)
}
