//! Faults in the middle of an all-gather, how it then ends, and what its own teardown leaves.

use super::{Bench, MOST_SENTENCES, Site, transports};
use collectives::{Run, RunSettings, Transport};
use launch::dice::Random;
use layouts::{ChipId, CoreId, CoreKind};
use machine::fault::{CoreFault, Fault, FaultKind, LinkFault};
use machine::place::Place;
use machine::target::{Link, Target};
use workloads::scene::SceneError;

/// The length of a short outage, in cycles: 10 us.
const OUTAGE_CYCLES: u64 = 10_000;
/// Lengths of a loss: shorter than a deadline of the run, and longer than it.
const LOSSES_CYCLES: [u64; 4] = [10_000, 100_000, 1_000_000, 20_000_000];
/// The lengths of a period of a link that flaps, and the number of periods.
const PERIODS_CYCLES: [u64; 3] = [5_000, 50_000, 500_000];
const PERIODS: u64 = 4;

/// A kind of fault, which ends by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A link is down for 10 us.
    Outage,
    /// A link is down for half of each of several periods.
    Flap,
    /// A core of the run executes nothing for a while.
    StuckCore,
    /// All links between two chips are down for a while.
    LinksLost,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Self; 4] = [Self::Outage, Self::Flap, Self::StuckCore, Self::LinksLost];

    /// Returns the name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Outage => "outage",
            Self::Flap => "flap",
            Self::StuckCore => "stuck core",
            Self::LinksLost => "links lost",
        }
    }
}

/// The outcome of the moments of one kind of fault over one transport.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Faulted {
    /// The kind.
    pub kind: Kind,
    /// The transport.
    pub transport: Transport,
    /// Moments at which a fault began.
    pub moments: u64,
    /// Of them, moments that the all-gather survived, with the right data.
    pub survived: u64,
    /// Of them, moments at which it failed, and said that all of its tiles are idle again.
    pub restored: u64,
    /// Moments after which something was left.
    pub left: u64,
    /// Moments after which it, or the next one, had wrong data or the next one failed.
    pub wrong: u64,
    /// The first that were not restored, left or wrong, one sentence each.
    pub sentences: Vec<String>,
}

/// Disturbs `count` all-gathers with each kind of fault over each transport. The seed draws moments,
/// places and lengths. `report` is called with the number of moments.
///
/// # Errors
/// When the mesh cannot be built or run an all-gather.
pub fn study(
    mesh: &str,
    seed: u64,
    count: u64,
    report: &mut dyn FnMut(u64),
) -> Result<Vec<Faulted>, SceneError> {
    let (mut done, mut rows) = (0, Vec::new());
    for transport in transports() {
        let whole_cycles = Bench::new(mesh, seed, transport, 0)?.transfer_cycles()?;
        for kind in Kind::ALL {
            let mut random = Random(seed);
            let sentences = Vec::new();
            let [moments, survived, restored, left, wrong] = [0; 5];
            let mut row =
                Faulted { kind, transport, moments, survived, restored, left, wrong, sentences };
            for _ in 0..count {
                let mut bench = Bench::new(mesh, seed, transport, whole_cycles)?;
                row.add(&mut bench, &mut random)?;
                done += 1;
                report(done);
            }
            rows.push(row);
        }
    }
    Ok(rows)
}

impl Faulted {
    fn add(&mut self, bench: &mut Bench, random: &mut Random) -> Result<(), SceneError> {
        let run = bench.run(0)?;
        let faults = bench.faults(self.kind, &run, random);
        let names: Vec<String> = faults.iter().map(ToString::to_string).collect();
        let settings = RunSettings { faults, ..RunSettings::default() };
        let mut run = Run::new(run.program().clone(), settings);
        let layout = bench.target.mesh().layout();
        let (mut bad, mut wrong, mut left) = (Vec::new(), Vec::new(), Vec::new());
        self.moments += 1;
        match bench.finish(&mut run) {
            Ok(Some(0)) => self.survived += 1,
            Ok(elements) => wrong.push(format!("its data was wrong: {elements:?}")),
            Err(_) if run.is_restored() => self.restored += 1,
            Err(error) => bad.push(error.sentence(layout)),
        }
        let cleaned = bench.clean(false)?;
        if cleaned.tiles > 0 || !cleaned.clean {
            left.push(format!("then {}", cleaned.sentence));
        }
        left.extend(bench.in_flight()?);
        wrong.extend(bench.all_gather()?);
        self.left += u64::from(!left.is_empty());
        self.wrong += u64::from(!wrong.is_empty());
        let room = MOST_SENTENCES.saturating_sub(self.sentences.len());
        let all = bad.into_iter().chain(left).chain(wrong);
        self.sentences.extend(all.map(|what| format!("{}: {what}", names.join(" "))).take(room));
        Ok(())
    }
}

impl Bench {
    /// Returns the time from the first go message of an all-gather to its last data.
    fn transfer_cycles(&mut self) -> Result<u64, SceneError> {
        let mut run = self.run(0)?;
        let report = run.finish(&mut self.target, &mut self.images, super::STEP_CYCLES);
        let report = report.map_err(SceneError::of_run(&self.target))?;
        Ok(report.map_or(0, |report| report.time_cycles + report.start_skew_cycles))
    }

    /// Draws faults of a kind.
    fn faults(&self, kind: Kind, run: &Run, random: &mut Random) -> Vec<Fault> {
        let from_cycles = random.below(self.whole_cycles);
        let mesh = self.target.mesh();
        let Some(&link) = pick(random, &mesh.links) else { return Vec::new() };
        let (kinds, cycles) = match kind {
            Kind::Outage => (vec![FaultKind::Link(link.a, LinkFault::Down)], OUTAGE_CYCLES),
            Kind::Flap => {
                let period_cycles = pick(random, &PERIODS_CYCLES).copied().unwrap_or(1);
                let flap = LinkFault::Flap { period_cycles };
                (vec![FaultKind::Link(link.a, flap)], PERIODS * period_cycles)
            }
            Kind::StuckCore => {
                let program = run.program();
                let edms = program.edms.iter().map(|plan| plan.place);
                let crossing = program.crossing.iter();
                let routers = crossing.flat_map(|crossing| &crossing.plan.routers);
                let eth = edms.chain(routers.map(|router| router.place));
                let eth = eth.map(|place| core(place, CoreKind::Erisc));
                let workers = program.workers.iter().map(|plan| core(plan.place, CoreKind::Brisc));
                let cores: Vec<CoreId> = eth.chain(workers).collect();
                let stuck = |core: &CoreId| FaultKind::Core(*core, CoreFault::Stuck);
                (pick(random, &cores).map(stuck).into_iter().collect(), loss(random))
            }
            Kind::LinksLost => {
                let parallel = mesh.links.iter().filter(|other| between(**other) == between(link));
                let down = parallel.map(|link| FaultKind::Link(link.a, LinkFault::Down));
                (down.collect(), loss(random))
            }
        };
        let until_cycles = Some(from_cycles + cycles);
        kinds.into_iter().map(|kind| Fault { kind, from_cycles, until_cycles }).collect()
    }
}

fn pick<'a, T>(random: &mut Random, all: &'a [T]) -> Option<&'a T> {
    all.get(random.below(all.len() as u64) as usize)
}

fn loss(random: &mut Random) -> u64 {
    pick(random, &LOSSES_CYCLES).copied().unwrap_or(OUTAGE_CYCLES)
}

fn core(Place { chip, tile }: Place, core: CoreKind) -> CoreId {
    CoreId { chip, tile, core }
}

/// The two chips of a link, in order.
fn between(link: Link) -> [ChipId; 2] {
    let (a, b) = (link.a.chip, link.b.chip);
    [a.min(b), a.max(b)]
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn a_run_survives_a_fault_or_brings_everything_back() {
        let rows = study("n300", 5, 3, &mut |_| ()).unwrap();
        for row in &rows {
            assert_eq!((row.survived + row.restored, row.left, row.wrong), (3, 0, 0), "{row:?}");
        }
        let total = |of: fn(&Faulted) -> u64| rows.iter().map(of).sum::<u64>();
        assert!(total(|row| row.survived) > 0 && total(|row| row.restored) > 0, "{rows:?}");
    }
}
