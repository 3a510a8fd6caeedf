//! A mesh with routers, and one run after the other on it.

use super::case::{Ailment, Case, Congestion};
use super::cast::{Cast, Post, neighbourhood, posts};
use super::chain::chain;
use super::figures::{Figures, figures};
use super::{Asked, HostSeen, Way};
use crate::scene::{Scene, SceneError, Workload};
use access::bar_target::BarTarget;
use collectives::idle_tiles;
use decode::images::ImageMap;
use fabric::{Fabric, FabricPlan, FabricSettings};
use launch::{
    ControlError, DispatchReport, Dispatcher, Firmware, HostPatience, HostView, HostWait,
    Operation, start_application,
};
use layouts::{ChipId, ChipKind, CoreId, CoreKind};
use machine::fabric::MuxCore;
use machine::fault::{CoreFault, Fault, LinkFault, What};
use machine::place::Place;
use machine::target::Target;

/// Between two polls of a bring-up.
const STEP_CYCLES: u64 = 2_000;
/// Between two looks at the dispatcher, which tells by its own clock when a run was over.
const LOOK_CYCLES: u64 = 50_000;
/// Looks at a receiver until its packets are there; and after how many nothing more comes of a mux that has left packets behind.
const LOOKS: u64 = 2_000;
const LAST_LOOKS: u64 = 100;

/// What was seen of a run.
#[derive(Clone, Debug, Default)]
pub(super) struct Observed {
    /// From the dispatcher's start to its event, by its clock; of one that was given up until then.
    pub(super) cycles: u64,
    /// It was over in time.
    pub(super) over: bool,
    /// It came to its end at last, so that the bench can be used again.
    pub(super) settled: bool,
    /// Cores that have not told the dispatcher.
    pub(super) undone: u32,
    pub(super) figures: Figures,
    pub(super) chain: Vec<String>,
}

/// A line of chips with its fabric up.
pub(super) struct Bench {
    pub(super) target: BarTarget,
    pub(super) images: ImageMap,
    pub(super) plan: FabricPlan,
    pub(super) posts: Vec<Post>,
    pub(super) dispatcher: Dispatcher,
    pub(super) core: MuxCore,
    run_id: u32,
}

impl Bench {
    pub(super) fn new(asked: &Asked<'_>) -> Result<Self, SceneError> {
        let (mut images, _) = ImageMap::firmware();
        let seed = asked.seed;
        let scene = Scene { run: Some(Workload::Idle), seed, ..Scene::new(asked.mesh) };
        let mut target = scene.build(&mut images)?;
        let (routers, plan) = neighbourhood(target.mesh(), asked)?;
        let (posts, dispatcher) = posts(target.mesh(), &routers, asked)?;
        if asked.core == MuxCore::Ethernet {
            for post in &posts {
                let start = start_application(&mut images, Firmware::OURS, post.mux)?;
                start.finish(&mut target)?;
            }
        }
        let mut fabric = Fabric::new(plan.clone(), FabricSettings::default());
        fabric.finish(&mut target, &mut images, STEP_CYCLES).map_err(SceneError::Run)?;
        let core = asked.core;
        let mut bench = Self { target, images, plan, posts, dispatcher, core, run_id: 0 };
        bench.hold_idle_cores()?;
        Ok(bench)
    }

    pub(super) fn links(&self) -> usize {
        self.posts.len()
    }

    /// Of each mux.
    pub(super) fn workers(&self) -> usize {
        self.posts.first().map_or(0, |post| post.senders.len())
    }

    /// The Ethernet cores without a part in this would do nothing but beat, and be most of what a run costs: those without a link, and
    /// those of other chips where no chip of the fabric is reached through them.
    fn hold_idle_cores(&mut self) -> Result<(), SceneError> {
        let mesh = self.target.mesh();
        let mut used: Vec<Place> = self.posts.iter().map(|post| post.mux).collect();
        used.extend(self.plan.routers.iter().map(|router| router.place));
        let in_fabric = |chip: ChipId| self.plan.node(chip).is_some();
        let alone = mesh.chips.iter().all(|chip| chip.pcie || !in_fabric(chip.id));
        let held = |chip: ChipId| if alone { eth_tiles(chip) } else { idle_tiles(mesh, chip) };
        let idle = mesh.chips.iter().flat_map(|chip| held(chip.id));
        let idle: Vec<Place> = idle.filter(|tile| !used.contains(tile)).collect();
        let now = self.target.now()?;
        for tile in idle {
            self.disrupt(stands(tile), now, None)?;
        }
        Ok(())
    }

    /// Runs a case until it is over or has taken so long. One that has not settled leaves a bench that nobody can use.
    pub(super) fn run(
        &mut self,
        case: &Case,
        way: Way,
        ails: Option<&Congestion>,
        never_cycles: u64,
    ) -> Result<Observed, SceneError> {
        let cast = self.start(case, way)?;
        let start = self.target.now()?;
        self.ail(case, ails, start)?;
        let mut observed = Observed::default();
        // Who waits for whom is seen best right before the congestion ends.
        let ends = ails.and_then(|ails| Some(ails.from_cycles + ails.cycles?));
        let last = ends.map_or(never_cycles, |ends| ends.saturating_sub(LOOK_CYCLES));
        let mut report = self.watch(start + last.min(never_cycles))?;
        if report.written == 0 {
            observed.chain = chain(self, case, &cast)?;
            report = self.watch(start + never_cycles)?;
        }
        observed.over = report.written != 0;
        observed.undone =
            if observed.over { 0 } else { report.wait_count.saturating_sub(report.done) };
        observed.cycles = if observed.over {
            report.event_cycles - report.started_cycles
        } else {
            self.target.now()? - start
        };
        self.mend(ails, start)?;
        let again = self.target.now()? + never_cycles;
        observed.settled = self.watch(again)?.written != 0;
        observed.figures = figures(self, &cast)?;
        if observed.settled {
            observed.settled = self.receive(&cast, &mut observed)?;
        }
        Ok(observed)
    }

    /// Lets a case run into its congestion, and waits for it as a host does: until there is an event, or nothing has moved for too long.
    pub(super) fn wait_as_host(
        &mut self,
        case: &Case,
        way: Way,
        ails: &Congestion,
        patience: HostPatience,
        seed: u64,
    ) -> Result<HostSeen, SceneError> {
        let cast = self.start(case, way)?;
        let start = self.target.now()?;
        self.ail(case, Some(ails), start)?;
        let mut host = HostWait::new(patience, start, 0);
        let (report, view) = loop {
            self.target.pass(patience.poll_cycles)?;
            let report = self.report()?;
            match host.look(self.target.now()?, &report) {
                HostView::Waits => {}
                view => break (report, view),
            }
        };
        let waited = self.target.now()? - start;
        Ok(HostSeen {
            seed,
            way,
            looks: host.looks,
            progress: report.progress,
            commands: cast.commands,
            done: report.done,
            wait_count: report.wait_count,
            gave_up_cycles: (view == HostView::GaveUp).then_some(waited),
            chain: chain(self, case, &cast)?,
        })
    }

    /// Places everything, slows the lines down, and lets the dispatcher go.
    fn start(&mut self, case: &Case, way: Way) -> Result<Cast, SceneError> {
        self.run_id += 1;
        let mut cast = Cast::new(self, case, way)?;
        let [place, go] = cast.launch(self, self.run_id)?;
        Operation::finish_all(place, &mut self.target)?;
        let now = self.target.now()?;
        for post in self.posts.clone() {
            let fault = LinkFault::Slow { factor: case.line_factor };
            self.disrupt(What::Link(post.router.eth, fault), now, None)?;
        }
        Operation::finish_all(go, &mut self.target)?;
        Ok(cast)
    }

    fn report(&mut self) -> Result<DispatchReport, ControlError> {
        self.dispatcher.report(&mut self.target, &self.images)
    }

    /// Until the dispatcher has written its event, or that moment has come.
    fn watch(&mut self, until_cycles: u64) -> Result<DispatchReport, SceneError> {
        loop {
            let report = self.report()?;
            let left = until_cycles.saturating_sub(self.target.now()?);
            if report.written != 0 || left == 0 {
                return Ok(report);
            }
            self.target.pass(left.min(LOOK_CYCLES))?;
        }
    }

    fn disrupt(&mut self, what: What, from: u64, until: Option<u64>) -> Result<(), SceneError> {
        Ok(self.target.disrupt(&Fault { what, from_cycles: from, until_cycles: until })?)
    }

    /// A late acknowledge is one of the other end; a slower line is slower than the case's own.
    fn ail(
        &mut self,
        case: &Case,
        ails: Option<&Congestion>,
        start: u64,
    ) -> Result<(), SceneError> {
        let Some(ails) = ails else { return Ok(()) };
        let from = start + ails.from_cycles;
        let until = ails.cycles.map(|cycles| from + cycles);
        for post in self.posts.iter().take(ails.links).cloned().collect::<Vec<_>>() {
            let router = post.router;
            let what = match ails.ailment {
                Ailment::LateCredits { delay_cycles } => {
                    What::Link(router.peer, LinkFault::SlowAck { delay_cycles })
                }
                Ailment::SlowLink { factor } => {
                    let factor = factor * case.line_factor;
                    What::Link(router.eth, LinkFault::Slow { factor })
                }
                Ailment::PeerStands => stands(router.peer_place),
                Ailment::RouterStands => stands(router.place),
            };
            self.disrupt(what, from, until)?;
        }
        Ok(())
    }

    /// Nothing ails the links and routers any more; what was to begin later has begun before.
    fn mend(&mut self, ails: Option<&Congestion>, start: u64) -> Result<(), SceneError> {
        let begun = start + ails.map_or(0, |ails| ails.from_cycles + 1);
        let now = self.target.now()?;
        self.target.pass(begun.saturating_sub(now))?;
        let now = self.target.now()?;
        for post in self.posts.clone() {
            self.disrupt(What::Link(post.router.eth, LinkFault::Up), now, None)?;
            for place in [post.router.place, post.router.peer_place] {
                self.disrupt(What::Core(erisc(place), CoreFault::Released), now, None)?;
            }
        }
        Ok(())
    }

    /// The far chip can be asked only when its links are well again, and not at once then: has everything arrived? What the muxes
    /// left behind never does.
    fn receive(&mut self, cast: &Cast, observed: &mut Observed) -> Result<bool, SceneError> {
        for id in cast.receivers.iter().copied() {
            let mut last = None;
            for look in 0..LOOKS {
                last = match cast.traffic.outcome(&mut self.target, &self.images, id) {
                    Ok(outcome) => Some(outcome),
                    Err(ControlError::Access { .. }) => last,
                    Err(error) => return Err(error.into()),
                };
                if last.is_some_and(|outcome| outcome.is_over()) {
                    break;
                }
                if observed.figures.abandoned > 0 && look == LAST_LOOKS {
                    cast.stop(self, id)?;
                }
                self.target.pass(STEP_CYCLES)?;
            }
            let last = last.unwrap_or_default();
            observed.figures.missing += u64::from(last.missing);
            if !last.is_over() || last.wrong_words != 0 {
                let (arrived, wrong) = (last.arrived, last.wrong_words);
                observed.chain.push(format!(
                    "the far worker has {arrived} packets with {wrong} wrong words and waits for the rest"
                ));
                return Ok(false);
            }
        }
        Ok(true)
    }
}

fn eth_tiles(chip: ChipId) -> Vec<Place> {
    ChipKind::Wormhole.layout().eth_tiles().map(|(_, tile)| Place { chip, tile }).collect()
}

fn erisc(place: Place) -> CoreId {
    CoreId { chip: place.chip, tile: place.tile, core: CoreKind::Erisc }
}

fn stands(place: Place) -> What {
    What::Core(erisc(place), CoreFault::Stuck)
}
