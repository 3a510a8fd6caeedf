//! Ring pings that stand still.

use super::Staged;
use super::ground::{ANY, Bed, Ground, erisc, link_root};
use diagnosis::{Condition, Place as Root};
use launch::{Operation, RingPing, RingPingSettings, Step};
use layouts::ChipId;
use machine::fault::{CoreFault, LinkFault};
use machine::place::Place;
use machine::target::Target;
use workloads::scene::SceneError;

const KERNEL: &str = "ring_ping";
/// No compute tile takes part.
const TILES: usize = 2;

/// A ring ping without end.
pub(super) struct Pinging {
    pub(super) bed: Bed,
    ring: RingPing,
}

impl Pinging {
    /// Launches it; `missing` is the number of a core that is left out.
    fn launch(mut bed: Bed, missing: Option<u64>) -> Result<(Self, Option<Place>), SceneError> {
        let ring = RingPing::on(bed.target.mesh())?;
        let settings = RingPingSettings {
            run_id: 1 + bed.dice.below(1_000) as u32,
            payload_bytes: 16 * bed.between(1, 512) as u32,
            delay_cycles: bed.dice.below(50_000) as u32,
            ..RingPingSettings::default()
        };
        bed.say(format!("ring ping of {} bytes", settings.payload_bytes));
        let stops: Vec<Place> = ring.places().collect();
        let missing =
            missing.and_then(|number| stops.get(number as usize % stops.len().max(1)).copied());
        for place in stops.into_iter().filter(|place| Some(*place) != missing) {
            bed.counts(place, KERNEL)?;
        }
        ring.prepare(&mut bed.images)?.finish(&mut bed.target)?;
        let launch = ring.launch(&mut bed.images, &settings)?;
        without(&launch, missing).finish(&mut bed.target)?;
        Ok((Self { bed, ring }, missing))
    }

    /// Launches it on a random mesh, and lets it run for some time.
    pub(super) fn begun(ground: Ground) -> Result<Self, SceneError> {
        let bed = ground.boot(ANY, TILES)?;
        let (mut run, _) = Self::launch(bed, None)?;
        let cycles = run.bed.pass(50_000, 3_000_000)?;
        run.bed.say(format!("{} us after its launch", cycles / 1_000));
        Ok(run)
    }

    fn member(&mut self) -> Result<Place, SceneError> {
        let places: Vec<Place> = self.ring.places().collect();
        self.bed.one(&places, "core")
    }
}

/// Returns the launch without the steps on one tile.
pub(super) fn without(launch: &Operation, missing: Option<Place>) -> Operation {
    let mut rest = Operation::new(launch.name());
    for step in launch.steps() {
        match step {
            Step::Write { addr, .. } | Step::Await { addr, .. }
                if Some(Place::from(*addr)) == missing => {}
            Step::Write { addr, bytes } => rest.write(*addr, bytes.clone()),
            Step::Await { what, addr, until, .. } => rest.wait(what.clone(), *addr, *until),
        }
    }
    rest
}

pub(super) fn core_stuck(ground: Ground) -> Result<Staged, SceneError> {
    let mut run = Pinging::begun(ground)?;
    let core = erisc(run.member()?);
    run.bed.say(format!("core {core} is stuck"));
    run.bed.core_fault(core, CoreFault::Stuck)?;
    run.bed.hung(Condition::CoreStuck, vec![Root::Core(core)])
}

pub(super) fn link_down(ground: Ground) -> Result<Staged, SceneError> {
    let mut run = Pinging::begun(ground)?;
    let place = run.member()?;
    let link = run.bed.link(run.bed.eth(place)?)?;
    run.bed.say(format!("link {}-{} goes down", link.a, link.b));
    run.bed.link_fault(link.a, LinkFault::Down)?;
    run.bed.hung(Condition::LinkDown, link_root(link))
}

pub(super) fn member_missing(ground: Ground) -> Result<Staged, SceneError> {
    let mut bed = ground.boot(ANY, TILES)?;
    let number = bed.dice.next();
    let (mut run, missing) = Pinging::launch(bed, Some(number))?;
    let none = || SceneError::Wrong("the ring has no core".to_owned());
    let core = erisc(missing.ok_or_else(none)?);
    run.bed.say(format!("nothing is launched on {core}"));
    run.bed.hung(Condition::BringUpStopped, vec![Root::Core(core)])
}

pub(super) fn ends_differ(ground: Ground) -> Result<Staged, SceneError> {
    let mut bed = ground.boot(ANY, TILES)?;
    let ring = RingPing::on(bed.target.mesh())?;
    let places: Vec<Place> = ring.places().collect();
    let place = bed.one(&places, "core")?;
    for place in &places {
        bed.counts(*place, KERNEL)?;
    }
    let run_id = 1 + bed.dice.below(1_000) as u32;
    ring.prepare(&mut bed.images)?.finish(&mut bed.target)?;
    let settings = RingPingSettings { run_id, ..RingPingSettings::default() };
    let launch = ring.launch(&mut bed.images, &settings)?;
    without(&launch, Some(place)).finish(&mut bed.target)?;
    let settings = RingPingSettings { run_id: run_id + 1, ..settings };
    let mut other = ring.launch(&mut bed.images, &settings)?;
    for others in places.iter().filter(|others| **others != place) {
        other = without(&other, Some(*others));
    }
    other.finish(&mut bed.target)?;
    bed.say(format!("the run id is {} on {}, and {run_id} elsewhere", run_id + 1, erisc(place)));
    let link = bed.link(bed.eth(place)?)?;
    let root = [link_root(link), vec![Root::Core(erisc(place))]].concat();
    bed.hung(Condition::EndsDiffer, root)
}

pub(super) fn paused(ground: Ground) -> Result<Staged, SceneError> {
    let mut run = Pinging::begun(ground)?;
    let place = run.member()?;
    let word = run.ring.state(&run.bed.images, "control.pause_at_stage")?;
    run.bed.say(format!("{} is paused and forgotten", erisc(place)));
    run.bed.put(place, word, 0)?;
    run.bed.hung(Condition::Paused, vec![Root::Core(erisc(place))])
}

/// Every link of a chip without PCIe goes down.
pub(super) fn chip_gone(ground: Ground) -> Result<Staged, SceneError> {
    let mut run = Pinging::begun(ground)?;
    let mesh = run.bed.target.mesh();
    let far: Vec<ChipId> = mesh.chips.iter().filter(|chip| !chip.pcie).map(|c| c.id).collect();
    let chip = run.bed.one(&far, "chip without PCIe")?;
    let links = run.bed.target.mesh().links.iter();
    let links = links.filter(|link| link.a.chip == chip || link.b.chip == chip);
    let ends: Vec<_> = links.map(|link| link.a).collect();
    run.bed.say(format!("all {} links of chip {chip} go down", ends.len()));
    for end in ends {
        run.bed.link_fault(end, LinkFault::Down)?;
    }
    run.bed.hung(Condition::ChipGone, vec![Root::Chip(chip)])
}
