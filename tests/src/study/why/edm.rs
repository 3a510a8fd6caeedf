//! Collectives over EDMs that stand still.

use super::collective::{
    Collective, FOR_EVER, Length, OPS, TILES, WORKER, draw, edm_link, receiving_edm,
};
use super::ground::{ANY, Bed, Ground, SMALL, brisc, erisc, link_root};
use super::{Severity, Staged, Truth};
use diagnosis::Condition;
use layouts::TileKind;
use machine::fault::{CoreFault, Fault, FaultKind, LinkFault};
use machine::place::Place;
use machine::target::{Link, Target};
use workloads::scene::SceneError;

pub(super) fn link_down(ground: Ground) -> Result<Staged, SceneError> {
    let Collective { mut bed, program } = Collective::begun(ground)?.run_on()?;
    let link = edm_link(&mut bed, &program)?;
    bed.say(format!("link {}-{} goes down", link.a, link.b));
    bed.link_fault(link.a, LinkFault::Down)?;
    bed.hung(Condition::LinkDown, link_root(link))
}

pub(super) fn link_down_before(ground: Ground) -> Result<Staged, SceneError> {
    let mut bed = ground.boot(ANY, TILES)?;
    let program = draw(&mut bed, &OPS, Length::Middle)?;
    let link = edm_link(&mut bed, &program)?;
    bed.say(format!("link {}-{} is down from before the launch", link.a, link.b));
    bed.link_fault(link.a, LinkFault::Down)?;
    let bed = Collective::launch(bed, program, None)?.bed;
    bed.hung(Condition::LinkDown, link_root(link))
}

pub(super) fn edm_stuck(ground: Ground) -> Result<Staged, SceneError> {
    let mut run = Collective::begun(ground)?.run_on()?;
    let core = erisc(run.edm()?);
    run.bed.say(format!("core {core} is stuck"));
    run.bed.core_fault(core, CoreFault::Stuck)?;
    run.core_stands(Condition::CoreStuck, core)
}

pub(super) fn worker_stuck(ground: Ground) -> Result<Staged, SceneError> {
    let mut run = Collective::begun(ground)?.run_on()?;
    let core = brisc(run.worker()?);
    run.bed.say(format!("core {core} is stuck"));
    run.bed.core_fault(core, CoreFault::Stuck)?;
    run.core_stands(Condition::CoreStuck, core)
}

pub(super) fn worker_stuck_before_go(ground: Ground) -> Result<Staged, SceneError> {
    let mut bed = ground.boot(ANY, TILES)?;
    let program = draw(&mut bed, &OPS, Length::Middle)?;
    let places: Vec<Place> = program.workers.iter().map(|plan| plan.place).collect();
    let core = brisc(bed.one(&places, "worker")?);
    bed.say(format!("core {core} is stuck before its go message"));
    Collective::launch(bed, program, Some(core))?.core_stands(Condition::CoreStuck, core)
}

pub(super) fn core_in_reset(ground: Ground) -> Result<Staged, SceneError> {
    let mut run = Collective::begun(ground)?.run_on()?;
    let layout = run.bed.target.mesh().layout();
    let tensix = &layout.tensix;
    let (core, kind, bits) = match run.bed.dice.below(3) {
        0 => {
            let bit = 1 << layout.eth.values.reset_bit;
            (erisc(run.edm()?), TileKind::Eth, bit)
        }
        1 => (brisc(run.worker()?), TileKind::Tensix, tensix.reset_all),
        _ => {
            let bit = tensix.reset_all & !tensix.reset_all_but_brisc;
            (brisc(run.worker()?), TileKind::Tensix, bit)
        }
    };
    let none = || SceneError::Wrong(format!("{core} has no reset register"));
    let register = layout.soft_reset(kind).ok_or_else(none)?;
    run.bed.say(format!("core {core} is held in reset"));
    run.bed.put(Place { chip: core.chip, tile: core.tile }, register, bits)?;
    run.core_stands(Condition::CoreInReset, core)
}

/// A collective that runs for longer than it is watched, and one of its links.
fn long_run(ground: Ground) -> Result<(Bed, Link), SceneError> {
    let mut bed = ground.boot(SMALL, TILES)?;
    let program = draw(&mut bed, &OPS, Length::Long)?;
    let Collective { mut bed, program } = Collective::launch(bed, program, None)?.run_on()?;
    let link = edm_link(&mut bed, &program)?;
    Ok((bed, link))
}

/// The link goes down and up again once while the run is watched, and the run goes on.
pub(super) fn link_retrains(ground: Ground) -> Result<Staged, SceneError> {
    let (mut bed, link) = long_run(ground)?;
    let (after, cycles) = (bed.between(5_000_000, 40_000_000), bed.between(200_000, 2_000_000));
    let (in_us, for_us) = (after / 1_000, cycles / 1_000);
    bed.say(format!("link {}-{} is down for {for_us} us in {in_us} us", link.a, link.b));
    let from_cycles = bed.target.now()? + after;
    let until_cycles = Some(from_cycles + cycles);
    let kind = FaultKind::Link(link.a, LinkFault::Down);
    bed.target.disrupt(&Fault { kind, from_cycles, until_cycles })?;
    let (condition, severity) = (Condition::LinkRetraining, Severity::Fault);
    Ok(bed.staged(Some(Truth { condition, severity, root: link_root(link) })))
}

/// The link goes down and up again and again, and the run moves in between.
pub(super) fn link_flaps(ground: Ground) -> Result<Staged, SceneError> {
    let (mut bed, link) = long_run(ground)?;
    let period_cycles = bed.between(2_000_000, 9_000_000);
    bed.say(format!("link {}-{} flaps with {} us", link.a, link.b, period_cycles / 1_000));
    bed.link_fault(link.a, LinkFault::Flap { period_cycles })?;
    bed.pass(20_000_000, 30_000_000)?;
    let (condition, severity) = (Condition::LinkFlapping, Severity::Fault);
    Ok(bed.staged(Some(Truth { condition, severity, root: link_root(link) })))
}

/// What one end of a link returns never arrives, while everything else does.
pub(super) fn acks_lost(ground: Ground) -> Result<Staged, SceneError> {
    let mut run = Collective::begun(ground)?.run_on()?;
    let place = receiving_edm(&mut run.bed, &run.program)?;
    let end = run.bed.eth(place)?;
    let link = run.bed.link(end)?;
    run.bed.say(format!("nothing that {end} acknowledges arrives any more"));
    run.bed.link_fault(end, LinkFault::SlowAck { delay_cycles: FOR_EVER })?;
    run.bed.hung(Condition::CreditsWrong, link_root(link))
}

/// The link goes down for a time, is up again, and carries nothing more.
pub(super) fn link_broken(ground: Ground) -> Result<Staged, SceneError> {
    /// So slow that the first packet does not arrive.
    const NEVER: u32 = 1 << 30;
    let Collective { mut bed, program } = Collective::begun(ground)?.run_on()?;
    let link = edm_link(&mut bed, &program)?;
    let cycles = bed.between(200_000, 2_000_000);
    bed.say(format!("link {}-{} is down for {} us and then dead", link.a, link.b, cycles / 1_000));
    bed.link_fault(link.a, LinkFault::Slow { factor: NEVER })?;
    bed.disrupt_for(FaultKind::Link(link.a, LinkFault::Down), Some(cycles))?;
    bed.target.pass(2 * cycles)?;
    bed.hung(Condition::LinkBrokenAfterRetrain, link_root(link))
}

pub(super) fn worker_paused(ground: Ground) -> Result<Staged, SceneError> {
    let mut run = Collective::begun(ground)?.run_on()?;
    let place = run.worker()?;
    let (word, _) = run.bed.variable(WORKER, "ccl_worker_state.control.pause_at_stage")?;
    run.bed.say(format!("{} is paused and forgotten", brisc(place)));
    run.bed.put(place, word, 0)?;
    run.core_stands(Condition::Paused, brisc(place))
}

pub(super) fn worker_halted(ground: Ground) -> Result<Staged, SceneError> {
    let mut run = Collective::begun(ground)?.run_on()?;
    let core = brisc(run.worker()?);
    run.bed.halt(core)?;
    run.core_stands(Condition::CoreHalted, core)
}
