//! A mesh with its fabric up, on which runs follow each other.

use super::MuxSetup;
use super::posts::{Post, neighbourhood, posts};
use crate::scene::{Scene, SceneError, Workload};
use access::bar_target::BarTarget;
use collectives::idle_tiles;
use fabric::{Fabric, FabricPlan, FabricSettings};
use images::ImageMap;
use launch::{ControlError, DispatchReport, Dispatcher, Firmware, start_application};
use layouts::{ChipId, ChipLayout, CoreId, CoreKind};
use machine::fabric::MuxCore;
use machine::fault::{CoreFault, Fault, FaultKind};
use machine::place::Place;
use machine::target::Target;

/// Interval between two polls of a bring-up, in cycles.
pub(super) const STEP_CYCLES: u64 = 2_000;
/// Interval between two polls of the dispatcher, which records the end of a run by its own clock,
/// in cycles.
pub(super) const POLL_CYCLES: u64 = 50_000;

/// A line of chips with its fabric up.
pub struct Bench {
    pub(super) target: BarTarget,
    pub(super) images: ImageMap,
    pub(super) plan: FabricPlan,
    pub(super) posts: Vec<Post>,
    pub(super) dispatcher: Dispatcher,
    pub(super) core: MuxCore,
    pub(super) run_id: u32,
}

impl Bench {
    /// Brings the fabric up and halts the Ethernet cores that no run needs.
    ///
    /// # Errors
    /// When the mesh or its fabric cannot be built.
    pub fn new(setup: &MuxSetup<'_>) -> Result<Self, SceneError> {
        let mut bench = Self::open(setup)?;
        bench.hold_idle_cores()?;
        Ok(bench)
    }

    /// Brings the fabric up; every core runs.
    pub(super) fn open(setup: &MuxSetup<'_>) -> Result<Self, SceneError> {
        let (mut images, _) = ImageMap::firmware();
        let seed = setup.seed;
        let scene = Scene { run: Some(Workload::Idle), seed, ..Scene::new(setup.mesh) };
        let mut target = scene.build(&mut images)?;
        let (routers, plan) = neighbourhood(target.mesh(), setup)?;
        let (posts, dispatcher) = posts(target.mesh(), &routers, setup)?;
        if setup.core == MuxCore::Ethernet {
            for post in &posts {
                let start = start_application(&mut images, Firmware::BUILT_IN, post.mux)?;
                start.finish(&mut target)?;
            }
        }
        let mut fabric = Fabric::new(plan.clone(), FabricSettings::default());
        fabric
            .finish(&mut target, &mut images, STEP_CYCLES)
            .map_err(SceneError::of_run(&target))?;
        let core = setup.core;
        Ok(Self { target, images, plan, posts, dispatcher, core, run_id: 0 })
    }

    /// Returns the number of links that take part.
    pub fn links(&self) -> usize {
        self.posts.len()
    }

    /// Returns the number of workers of each mux.
    pub(super) fn workers(&self) -> usize {
        self.posts.first().map_or(0, |post| post.senders.len())
    }

    /// Halts the Ethernet cores that no run needs: those without a link, and those of
    /// other chips unless a chip of the fabric is reached through them. They would only beat, at
    /// most of the cost of a run.
    fn hold_idle_cores(&mut self) -> Result<(), SceneError> {
        let mesh = self.target.mesh();
        let mut used: Vec<Place> = self.posts.iter().map(|post| post.mux).collect();
        used.extend(self.plan.routers.iter().map(|router| router.place));
        let in_fabric = |chip: ChipId| self.plan.node(chip).is_some();
        let alone = mesh.chips.iter().all(|chip| chip.pcie || !in_fabric(chip.id));
        let held = |chip: ChipId| {
            if alone { eth_tiles(mesh.layout(), chip) } else { idle_tiles(mesh, chip) }
        };
        let idle = mesh.chips.iter().flat_map(|chip| held(chip.id));
        let idle: Vec<Place> = idle.filter(|tile| !used.contains(tile)).collect();
        let now = self.target.now()?;
        for tile in idle {
            self.disrupt(stuck(tile), now, None)?;
        }
        Ok(())
    }

    pub(super) fn report(&mut self) -> Result<DispatchReport, ControlError> {
        self.dispatcher.report(&mut self.target, &self.images)
    }

    /// Lets time pass until the dispatcher has written its event or the time has come.
    pub(super) fn watch(&mut self, until_cycles: u64) -> Result<DispatchReport, SceneError> {
        loop {
            let report = self.report()?;
            let left = until_cycles.saturating_sub(self.target.now()?);
            if report.written != 0 || left == 0 {
                return Ok(report);
            }
            self.target.pass(left.min(POLL_CYCLES))?;
        }
    }

    pub(super) fn disrupt(
        &mut self,
        what: FaultKind,
        from: u64,
        until: Option<u64>,
    ) -> Result<(), SceneError> {
        Ok(self.target.disrupt(&Fault { kind: what, from_cycles: from, until_cycles: until })?)
    }
}

fn eth_tiles(layout: &ChipLayout, chip: ChipId) -> Vec<Place> {
    layout.eth_tiles().map(|(_, tile)| Place { chip, tile }).collect()
}

pub(super) fn erisc(place: Place) -> CoreId {
    CoreId { chip: place.chip, tile: place.tile, core: CoreKind::Erisc }
}

pub(super) fn stuck(place: Place) -> FaultKind {
    FaultKind::Core(erisc(place), CoreFault::Stuck)
}
