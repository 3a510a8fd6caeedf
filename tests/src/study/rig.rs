//! An emulated mesh with a ring ping, which can be read over the bus and, without an access,
//! through the emulator.

use access::bar_target::BarTarget;
use decode::inspect::{ReadSet, plan};
use decode::state::MemberState;
use images::{ImageMap, Member, Reading};
use launch::{RingPing, RingPingSettings};
use layouts::{ChipId, ChipKind, NocAddr, NocXy};
use machine::bar::{Bar, BarOp};
use machine::fault::{ChipAddress, Fault};
use machine::place::Place;
use machine::snapshot::AccessError;
use machine::target::Target;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use transport::emulator_bar::EmulatorBar;
use workloads::scene::{Scene, SceneError, Workload};

/// The kernel that runs.
const KERNEL: &str = "ring_ping";

/// The bus of a mesh that the study also reads directly.
pub(super) struct Shared(pub(super) Arc<Mutex<EmulatorBar>>);

pub(super) fn lock(mesh: &Mutex<EmulatorBar>) -> MutexGuard<'_, EmulatorBar> {
    mesh.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Bar for Shared {
    fn submit(&mut self, batch: &[BarOp], answer: &mut Vec<u8>) -> Result<(), AccessError> {
        lock(&self.0).submit(batch, answer)
    }

    fn chip(&self) -> ChipKind {
        lock(&self.0).chip()
    }

    fn disrupt(&mut self, at: ChipAddress, fault: &Fault) -> Result<(), AccessError> {
        lock(&self.0).disrupt(at, fault)
    }
}

/// The run is handed over at a multiple of this many cycles.
const START_CYCLES: u64 = 100_000;

/// A running ring ping without delays.
pub struct Rig {
    target: BarTarget,
    images: ImageMap,
    mesh: Arc<Mutex<EmulatorBar>>,
    ring: RingPing,
    /// Address of the master's lap counter.
    laps: NocAddr,
}

impl Rig {
    /// Builds it for a number of laps; 0: without end. The same mesh, seed and laps give the same
    /// bytes at the same cycle.
    ///
    /// # Errors
    /// As [`Scene::build`].
    pub fn new(mesh: &str, seed: u64, laps: u32) -> Result<Self, SceneError> {
        let (mut images, _) = ImageMap::firmware();
        let scene = Scene { run: Some(Workload::Idle), seed, ..Scene::new(mesh) };
        let mesh = Arc::new(Mutex::new(EmulatorBar::new(scene.power_on(&images)?)));
        let bar = Box::new(Shared(Arc::clone(&mesh)));
        let mut target = scene.start(bar, &mut images)?;
        let ring = RingPing::on(target.mesh())?;
        let settings = RingPingSettings { laps, ..RingPingSettings::default() };
        ring.prepare(&mut images)?.finish(&mut target)?;
        ring.launch(&mut images, &settings)?.finish(&mut target)?;
        let now = target.now()?;
        target.pass(now.next_multiple_of(START_CYCLES) - now)?;
        let laps = ring.state(&images, "laps")?;
        let laps = ring.places().next().map(|master| master.at(laps));
        let no_ring = || SceneError::NoRing(scene.mesh.clone());
        Ok(Self { target, images, mesh, laps: laps.ok_or_else(no_ring)?, ring })
    }

    /// Takes a snapshot every `period_cycles` until `end_cycles` and returns the number of
    /// snapshots. A late snapshot is taken at once; a snapshot that is in progress at the end is
    /// finished.
    ///
    /// # Errors
    /// When the mesh is gone.
    pub fn watch(
        &mut self,
        read_set: &ReadSet,
        period_cycles: u64,
        end_cycles: u64,
    ) -> Result<u64, AccessError> {
        let mut due = self.target.now()?;
        let mut snapshots = 0;
        loop {
            let now = self.target.now()?;
            if due.max(now) >= end_cycles {
                self.target.pass(end_cycles.saturating_sub(now))?;
                return Ok(snapshots);
            }
            self.target.pass(due.saturating_sub(now))?;
            let plan = plan(self.target.mesh(), &self.images, read_set);
            let snapshot = self.target.read(&plan);
            if let Some(gap) = snapshot.gaps.into_iter().next() {
                return Err(gap.reason);
            }
            snapshots += 1;
            due += period_cycles;
        }
    }

    /// Returns the present cycle.
    pub fn cycles(&self) -> u64 {
        lock(&self.mesh).mesh().now()
    }

    /// Lets time pass up to this cycle without a snapshot.
    ///
    /// # Errors
    /// When the mesh is gone.
    pub fn pass_until(&mut self, cycles: u64) -> Result<(), AccessError> {
        let left = cycles.saturating_sub(self.cycles());
        self.target.pass(left)
    }

    /// Returns the laps of the ring so far, without an access.
    pub fn laps(&self) -> u64 {
        let NocAddr { chip, tile, offset } = self.laps;
        let bytes = self.l1(chip, tile);
        let word = bytes.get(offset as usize..).and_then(|rest| rest.first_chunk()).copied();
        word.map_or(0, |word| u32::from_le_bytes(word).into())
    }

    /// Returns the progress words of the kernel on each core of the ring, without an access.
    pub fn progress(&self) -> Vec<(Place, MemberState)> {
        let spots = self.images.named(KERNEL).map(|image| image.state.as_slice());
        let word = |place: Place, bytes: &[u8], spot: &Member| {
            let at = spot.addr as usize;
            let value = Reading::Known(Member::value(bytes.get(at..at + spot.size as usize)?));
            let Member { name, addr, size } = spot.clone();
            Some((place, MemberState { name, addr, size, value }))
        };
        let words_of = |place: Place| {
            let bytes = self.l1(place.chip, place.tile);
            let spots = spots.into_iter().flatten();
            spots.filter_map(|spot| word(place, &bytes, spot)).collect::<Vec<_>>()
        };
        self.ring.places().flat_map(words_of).collect()
    }

    /// Returns the L1 of a tile, without an access; empty if the tile has no cores.
    pub fn l1(&self, chip: ChipId, tile: NocXy) -> Vec<u8> {
        let mut bar = lock(&self.mesh);
        let memory = bar.mesh_mut().l1(usize::from(chip.0), tile.x, tile.y);
        let whole = memory.and_then(|memory| memory.slice(0, memory.len() as usize).ok());
        whole.map_or_else(Vec::new, <[u8]>::to_vec)
    }

    /// Returns the target.
    pub fn target(&mut self) -> &mut BarTarget {
        &mut self.target
    }

    /// Returns the ring.
    pub fn ring(&self) -> &RingPing {
        &self.ring
    }
}
