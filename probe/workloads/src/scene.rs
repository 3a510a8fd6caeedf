//! A scene: a mesh, its workload, its faults, and a seed; built here and run by the emulator.
//!
//! At power on, base firmware, its boot parameters and its routing table are in the Ethernet tiles,
//! where flash and ARC put them on silicon. Everything after that goes through the bus, by the same
//! control code as on any machine.

mod describe;
pub mod external;
pub mod firmware;
pub mod power_on;
mod telemetry;
pub mod tt_fabric;

use access::bar_target::BarTarget;
pub use describe::{described, hosts};
use emulator::HistoryLimits;
use fabric::random::{Draw, RandomTraffic, TTL, TrafficPattern};
use fabric::{Fabric, FabricError, FabricPlan, FabricRequest, FabricSettings};
use firmware::FirmwareFolder;
use images::ImageMap;
use launch::outcome::RunError;
use launch::{
    self, ControlError, Firmware, Operation, Pattern, RingPing, RingPingSettings, boot_tensix,
    launch_worker,
};
use layouts::{ChipKind, ClusterDescriptor, DescriptorError, SystemSpec};
use machine::bar::Bar;
use machine::fabric::FabricTopology;
use machine::fault::{Fault, FaultError};
use machine::past::Keeps;
use machine::patience::Deadlines;
use machine::place::Place;
use machine::progress::{Listener, Progress};
use machine::snapshot::AccessError;
use machine::target::{Abilities, Allow, Mesh, Target};
use std::path::PathBuf;
use std::time::Duration;
use thiserror::Error;
use transport::emulator_bar::{self, EmulatorBar};
use transport::hosts::HostBar;
use tt_fabric::MetalFabric;

/// The workload of a mesh.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Workload {
    /// Base firmware and Tensix firmware only.
    Idle,
    /// A payload circles a ring of links without end, and compute tiles write patterns.
    RingPing,
    /// Routers of a fabric, ready for traffic; compute tiles are free.
    Fabric,
    /// Routers of tt-metal, compiled for the mesh, and their clients.
    TtFabric,
}

/// How fast emulated time passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// As fast as the host can.
    Max,
    /// This many cycles in each host second.
    CyclesPerSecond(u64),
}

/// Most chips of an emulated mesh: the number of a PCIe device is a byte, and so is their count. An
/// idle chip takes about 10 MB of host memory.
const MOST_EMULATED_CHIPS: usize = 255;

/// Default pace. At this pace each hop of the default ring ping takes half a second, which the eye
/// can follow.
pub const DEFAULT_PACE: Pace = Pace::CyclesPerSecond(10_000_000);
/// Default hand-over of a scene, in cycles: 10 ms. It leaves room for the boot of a small mesh, so
/// that the output of one-shot verbs does not depend on the boot time.
pub const HANDOVER_CYCLES: u64 = 10_000_000;
/// Most chips of a small mesh. Larger meshes boot only a few compute tiles of each chip, because
/// booting 2,560 tiles, most of them through queues over several hops, would take minutes. The
/// other tiles stay in reset.
const SMALL_MESH_CHIPS: usize = 8;
/// Compute tiles that boot on each chip of a larger mesh: chips with PCIe, and far chips.
const LARGE_MESH_TILES: usize = 2;
const LARGE_MESH_FAR_TILES: usize = 1;
/// Default hand-over of a larger mesh, in cycles. It is earlier because its cycles cost the host
/// more.
const LARGE_HANDOVER_CYCLES: u64 = 1_000_000;
/// Delay of the ring ping at each hop, in cycles.
const DELAY_CYCLES: u32 = 5_000_000;
/// Pause of the worker between two patterns, in cycles.
const WORKER_REST_CYCLES: u32 = 2_000_000;
/// Interval at which a fabric is polled, in cycles.
const FABRIC_STEP_CYCLES: u64 = 2_000;
/// The worker's pattern.
const PATTERN: Pattern =
    Pattern { address: 0x2_0000, words: 16, interval_cycles: WORKER_REST_CYCLES };

/// What an emulated mesh keeps of its past, at least: a step back takes less than a second, and longer
/// the farther back the moment is.
const PAST: HistoryLimits = HistoryLimits {
    bytes: 128 << 20,
    checkpoints: 32,
    interval: Duration::from_millis(100),
    interval_cycles: 20_000,
};

/// The memory for the past of a larger mesh, for each of its chips: the fewest checkpoints of one on
/// which much was read need about 10 MB.
const PAST_BYTES_OF_CHIP: usize = 12 << 20;

/// What it keeps of its run: the journal of the host, minutes of a mesh that is read all the time.
const RUN: HistoryLimits =
    HistoryLimits { bytes: 256 << 20, checkpoints: 1, interval: Duration::MAX, ..PAST };

/// A scene.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scene {
    /// Name of a shipped mesh, or path of a cluster descriptor or system specification.
    pub mesh: String,
    /// Its cabling, by the name in its system specification; none: the plain cabling.
    pub cabling: Option<String>,
    /// Number of the host whose PCIe devices the mesh has; none: those of all hosts.
    pub host: Option<u16>,
    /// The workload; none: the ring ping if the mesh has a ring and runs built-in firmware, else
    /// firmware only.
    pub run: Option<Workload>,
    /// The fabric, if the workload is one.
    pub fabric: FabricRequest,
    /// Cycles between two rate reports of each router of the fabric; 0: no reports.
    pub fabric_rate_cycles: u32,
    /// Cycles after which routers drop a packet at the head of a channel; 0: never.
    pub packet_timeout_cycles: u32,
    /// Time to live of random packets, in hops.
    pub ttl: u8,
    /// Number of random packets that workers send each other over the fabric, drawn by the seed; of
    /// a fabric of tt-metal's kernels, the number that each of its workers sends.
    pub traffic: u64,
    /// Pairs of chips that exchange packets.
    pub pattern: TrafficPattern,
    /// Most compute tiles of each chip that run firmware; none: depends on the size of the mesh.
    pub tiles: Option<usize>,
    /// A folder with tt-metal's firmware, which runs over built-in base firmware instead of the
    /// other built-in firmware.
    pub firmware: Option<PathBuf>,
    /// A folder with the kernels of a fabric of tt-metal, which names its firmware.
    pub kernels: Option<PathBuf>,
    /// Emulated time at which the scene is handed over; none: the first multiple of
    /// [`HANDOVER_CYCLES`] at which it runs.
    pub at_cycles: Option<u64>,
    /// How fast emulated time passes in the live view.
    pub pace: Pace,
    /// What the mesh keeps of its past, from power on.
    pub keeps: Keeps,
    /// Seed of all behaviour that a real machine does not specify.
    pub seed: u64,
    /// Faults, in emulated time since power on as `at_cycles`. A fault without a time begins at the
    /// hand-over.
    pub faults: Vec<Fault>,
}

impl Scene {
    /// Returns the default scene of a mesh.
    pub fn new(mesh: impl Into<String>) -> Self {
        Self {
            mesh: mesh.into(),
            cabling: None,
            host: None,
            run: None,
            fabric: FabricRequest::new(FabricTopology::Mesh),
            fabric_rate_cycles: 0,
            packet_timeout_cycles: 0,
            ttl: TTL,
            traffic: 0,
            pattern: TrafficPattern::default(),
            tiles: None,
            firmware: None,
            kernels: None,
            at_cycles: None,
            pace: DEFAULT_PACE,
            keeps: Keeps::Nothing,
            seed: 0,
            faults: Vec::new(),
        }
    }

    /// Whether it names no file of the host: its mesh is a shipped one, and its firmware is built in.
    pub fn is_built_in(&self) -> bool {
        let shipped = SystemSpec::shipped(&self.mesh).is_some();
        shipped && self.firmware.is_none() && self.kernels.is_none()
    }

    /// Builds the mesh, powers it on, and launches the workload through the bus.
    ///
    /// # Errors
    /// Why the scene cannot be built.
    pub fn build(&self, images: &mut ImageMap) -> Result<BarTarget, SceneError> {
        self.build_telling(images, &Listener::default())
    }

    /// Builds the mesh as [`Scene::build`] does, and tells how far it has come.
    ///
    /// # Errors
    /// As [`Scene::build`].
    pub fn build_telling(
        &self,
        images: &mut ImageMap,
        listener: &Listener,
    ) -> Result<BarTarget, SceneError> {
        listener.tell(Progress::Start("an emulated mesh"));
        let bar = Box::new(EmulatorBar::new(self.power_on(images)?));
        self.start_telling(bar, images, listener)
    }

    /// Boots firmware and launches the workload over the bus of a mesh at power on.
    ///
    /// # Errors
    /// Why the scene cannot be started.
    pub fn start(&self, bar: Box<dyn Bar>, images: &mut ImageMap) -> Result<BarTarget, SceneError> {
        self.start_telling(bar, images, &Listener::default())
    }

    fn start_telling(
        &self,
        bar: Box<dyn Bar>,
        images: &mut ImageMap,
        listener: &Listener,
    ) -> Result<BarTarget, SceneError> {
        // A mesh in this process affects no other user.
        let abilities = Abilities { allow: Allow::ALL, budget: None, ..emulator_bar::abilities() };
        let name = format!("emulator:{}", self.mesh);
        let host = self.host.map(|host| self.descriptor().map(|mesh| (host, mesh))).transpose()?;
        if let Some((host, mesh)) = &host {
            describe::checked(*host, &name, mesh)?;
        }
        let patience = Deadlines::default();
        let open =
            |bar, abilities| BarTarget::open_telling(&name, bar, abilities, patience, listener);
        let mut target = open(bar, abilities.clone())?;
        target.tell_boot(listener);
        if host.is_none() {
            self.faults.iter().try_for_each(|fault| target.mesh().check_fault(fault))?;
        }
        self.boot(&mut target, images)?;
        if let Some((host, mesh)) = &host {
            // Every host has booted its own chips; from here on the target is that of one host.
            let bar = Box::new(HostBar::of(mesh, *host, target.into_bar()));
            target = open(bar, abilities)?;
            target.tell_boot(listener);
            self.faults.iter().try_for_each(|fault| target.mesh().check_fault(fault))?;
        }
        let ready = target.now()?;
        let left = time_left(self.at_cycles, ready, &target)?;
        for fault in &self.faults {
            target.disrupt(&fault.of_scene(ready, ready + left)?)?;
        }
        target.pass(left)?;
        target.tell_boot(&Listener::default());
        Ok(target)
    }

    /// Returns the mesh at power on.
    ///
    /// # Errors
    /// What is wrong with the mesh or its description.
    pub fn power_on(&self, images: &ImageMap) -> Result<emulator::Mesh, SceneError> {
        let mesh = emulator::Mesh::new(self.config(images)?);
        let mut mesh = mesh.map_err(|e| SceneError::Mesh(e.to_string()))?;
        let chips = mesh.config().chips.len();
        mesh.keep_history(history_limits(self.keeps, chips));
        Ok(mesh)
    }

    /// Returns the emulator's configuration of the mesh.
    ///
    /// # Errors
    /// What is wrong with the mesh or its description.
    pub fn config(&self, images: &ImageMap) -> Result<emulator::MeshConfig, SceneError> {
        power_on::config(&self.descriptor()?, images, self.seed)
    }

    /// Returns the descriptor of the whole mesh, with all its hosts.
    ///
    /// # Errors
    /// What is wrong with the mesh or its description.
    pub fn descriptor(&self) -> Result<ClusterDescriptor, SceneError> {
        let called = format!("emulator:{}", self.mesh);
        let mut described = describe::cabled(&self.mesh, self.cabling.as_deref(), &called)?;
        descriptors::place(&mut described);
        match described.chips.len() {
            0..=MOST_EMULATED_CHIPS => Ok(described),
            chips => Err(SceneError::Mesh(format!(
                "{called} has {chips} chips; at most {MOST_EMULATED_CHIPS} are emulated"
            ))),
        }
    }

    /// Boots firmware on compute tiles and launches the workload.
    fn boot(&self, target: &mut BarTarget, images: &mut ImageMap) -> Result<(), SceneError> {
        let ring = self.ring(target.mesh())?;
        let fabric = (self.run == Some(Workload::Fabric))
            .then(|| FabricPlan::new(target.mesh(), &self.fabric).map_err(SceneError::Fabric));
        let fabric = fabric.transpose()?;
        let kind = target.mesh().kind;
        let metal = self.kernels.as_deref().map(MetalFabric::read).transpose()?;
        metal.as_ref().map(|metal| metal.check(target.mesh())).transpose()?;
        let firmware = self.firmware.clone().or_else(|| metal.as_ref().map(MetalFabric::firmware));
        let given = firmware.map(|folder| FirmwareFolder::read(kind, &folder)).transpose()?;
        metal.as_ref().map(|metal| metal.add_to(kind, images)).transpose()?;
        let given = given.map(|given| given.add_to(images));
        let large = target.mesh().chips.len() > SMALL_MESH_CHIPS;
        let mut tiles = compute_tiles(target, large, self.tiles.unwrap_or(usize::MAX));
        if let Some(metal) = &metal {
            metal.add_tiles(&mut tiles);
        }
        if let Some(firmware) = given {
            firmware::boot(firmware, &tiles, target, images)?;
        } else {
            let boots = tiles.iter().map(|&place| boot_tensix(images, Firmware::BUILT_IN, place));
            Operation::finish_all(boots.collect::<Result<_, _>>()?, target)?;
        }
        if let Some(plan) = fabric {
            let settings = FabricSettings {
                rate_interval_cycles: self.fabric_rate_cycles,
                packet_timeout_cycles: self.packet_timeout_cycles,
                ..FabricSettings::default()
            };
            let mut fabric = Fabric::new(plan.clone(), settings);
            fabric
                .finish(target, images, FABRIC_STEP_CYCLES)
                .map_err(SceneError::of_run(target))?;
            self.send_at_random(&plan, target, images)?;
        }
        if let Some(metal) = metal {
            metal.start(self.traffic, target, images)?;
        }
        let Some(ring) = ring else { return Ok(()) };
        let workers = (1..)
            .zip(&tiles)
            .map(|(seed, &place)| launch_worker(images, Firmware::BUILT_IN, place, PATTERN, seed));
        Operation::finish_all(workers.collect::<Result<_, _>>()?, target)?;
        ring.prepare(images)?.finish(target)?;
        let settings =
            RingPingSettings { delay_cycles: DELAY_CYCLES, ..RingPingSettings::default() };
        ring.launch(images, &settings)?.finish(target)?;
        Ok(())
    }

    /// Launches workers that send each other random packets over the fabric.
    fn send_at_random(
        &self,
        plan: &FabricPlan,
        target: &mut BarTarget,
        images: &mut ImageMap,
    ) -> Result<(), SceneError> {
        if self.traffic == 0 {
            return Ok(());
        }
        let random = RandomTraffic::new(target.mesh(), plan)?;
        let Self { seed, traffic: packets, pattern, ttl, .. } = *self;
        let draw = Draw { seed, packets, pattern, ttl, mux_percent: 0 };
        let load = random.draw(images, draw)?;
        for stage in random.launch(images, &load, 1)? {
            Operation::finish_all(stage, target)?;
        }
        Ok(())
    }

    /// Returns the ring ping, if it runs. If it was requested explicitly, a mesh without a ring is
    /// an error.
    fn ring(&self, mesh: &Mesh) -> Result<Option<RingPing>, SceneError> {
        if let Some(folder) = &self.firmware {
            return match self.run {
                Some(run @ (Workload::RingPing | Workload::Fabric)) => {
                    Err(SceneError::Firmware(format!(
                        "{}: run={} needs built-in firmware: tt-metal's runs kernels out of instruction RAM, for which \
                        the built-in kernels are not linked",
                        folder.display(),
                        if run == Workload::Fabric { "fabric" } else { "ring-ping" }
                    )))
                }
                _ => Ok(None),
            };
        }
        if let Some(Workload::Idle | Workload::Fabric | Workload::TtFabric) = self.run {
            return Ok(None);
        }
        match RingPing::on(mesh) {
            Ok(ring) => Ok(Some(ring)),
            Err(ControlError::NoRing) if self.run.is_none() => Ok(None),
            Err(ControlError::NoRing) => Err(SceneError::NoRing(self.mesh.clone())),
            Err(other) => Err(other.into()),
        }
    }
}

/// Returns how much of its past an emulated mesh of so many chips keeps.
pub fn history_limits(keeps: Keeps, chips: usize) -> Option<HistoryLimits> {
    let bytes = PAST.bytes.max(chips * PAST_BYTES_OF_CHIP);
    match keeps {
        Keeps::Nothing => None,
        Keeps::Run => Some(RUN),
        Keeps::Past => Some(HistoryLimits { bytes, ..PAST }),
    }
}

/// Returns the cycles from now to the hand-over: to `at_cycles`, or to the next round time.
fn time_left(at_cycles: Option<u64>, now: u64, target: &dyn Target) -> Result<u64, SceneError> {
    let large = target.mesh().chips.len() > SMALL_MESH_CHIPS;
    let round = if large { LARGE_HANDOVER_CYCLES } else { HANDOVER_CYCLES };
    let at_cycles = at_cycles.unwrap_or_else(|| now.next_multiple_of(round));
    at_cycles.checked_sub(now).ok_or(SceneError::TooEarly { at_cycles, earliest_cycles: now })
}

/// Returns the compute tiles to boot: all that are not fused off, or a few of each chip; at most
/// `most` of each.
fn compute_tiles(target: &dyn Target, large: bool, most: usize) -> Vec<Place> {
    let of_chip = |chip: &machine::target::Chip| {
        let room = match (large, chip.pcie) {
            (false, _) => usize::MAX,
            (true, true) => LARGE_MESH_TILES,
            (true, false) => LARGE_MESH_FAR_TILES,
        };
        target.mesh().compute_tiles(chip.id).take(most.min(room))
    };
    target.mesh().chips.iter().flat_map(of_chip).collect()
}

/// Why a scene cannot be built.
#[derive(Debug, Error)]
pub enum SceneError {
    /// No shipped mesh has this name; the shipped names.
    #[error("no mesh is called {0}; there is {1}")]
    NoMesh(String, String),
    /// The mesh has no such cabling or host.
    #[error("{0}")]
    BadOption(String),
    /// The descriptor's file cannot be read.
    #[error("{0}")]
    File(String),
    /// The descriptor is wrong.
    #[error("{0}")]
    Descriptor(#[from] DescriptorError),
    /// The emulator refuses the mesh.
    #[error("{0}")]
    Mesh(String),
    /// The image of base firmware is missing or lacks something.
    #[error("{0}")]
    Image(String),
    /// The given firmware folder, or a file in it, cannot be used.
    #[error("{0}")]
    Firmware(String),
    /// The given folder of kernels, or a file in it, cannot be used.
    #[error("{0}")]
    Kernels(String),
    /// A kernel of that folder did not come up.
    #[error("{0}")]
    Stopped(String),
    /// The workload could not be launched.
    #[error("{0}")]
    Control(#[from] ControlError),
    /// A collective of a study was not finished, or a fabric did not come up; the kind of its
    /// chips.
    #[error("{}", .1.sentence(.0.layout()))]
    Run(ChipKind, RunError),
    /// A study's data did not arrive as sent, in one sentence.
    #[error("{0}")]
    Wrong(String),
    /// The mesh has no such fabric.
    #[error("{0}")]
    Fabric(FabricError),
    /// The mesh of this name has no ring of links for the workload.
    #[error("{0} has no ring of links for ring-ping; run=idle shows it without")]
    NoRing(String),
    /// The requested hand-over is before the scene is ready. The printed time is rounded up, so that
    /// it is valid as `at`.
    #[error("at: {}us is too early: the scene is ready at {}us", .at_cycles / 1_000, .earliest_cycles.div_ceil(1_000))]
    TooEarly {
        /// The requested hand-over, in cycles.
        at_cycles: u64,
        /// The earliest possible hand-over, in cycles.
        earliest_cycles: u64,
    },
    /// The mesh cannot have this fault.
    #[error("{0}")]
    Fault(#[from] FaultError),
    /// The machine did not answer.
    #[error("{0}")]
    Access(#[from] AccessError),
}

impl SceneError {
    /// Returns a conversion of errors of runs on this target.
    pub fn of_run(target: &dyn Target) -> impl FnOnce(RunError) -> Self + use<> {
        let kind = target.mesh().kind;
        move |error| Self::Run(kind, error)
    }
}

#[cfg(test)]
mod tests;
