//! The machine of the process: a scene's mesh, or the vendor's simulator.

use crate::error::MachineError;
use crate::host_memory::{self, Callbacks};
use emulator::{Mesh, MeshConfig};
use images::ImageMap;
use layouts::ChipKind;
use machine::bar::{Bar, BarOp};
use machine::past::{Keeps, RecordedRun};
use machine::snapshot::AccessError;
use machine::target::Abilities;
use probe::spec::TargetSpec;
use std::sync::{Arc, Mutex, PoisonError};
use transport::emulator_bar::{self, EmulatorBar};
use transport::ttsim::{self, Library};
use workloads::scene::Scene;

/// The environment variable that names the mesh.
pub const MESH: &str = "MESHSCOPE_MESH";

/// The mesh if the variable is not set.
pub const DEFAULT_MESH: &str = "n300";

/// Maximum number of reported conditions. A faulty machine has many; the first ones show the cause.
const MOST_REPORTED: usize = 16;

/// Time for base firmware to start and to train its links: 12,000 cycles when measured. A host
/// reaches a card later.
pub const BOOT_CYCLES: u64 = 100_000;

/// Settings that require more than a mesh at power on.
const STARTED_BY: [&str; 3] = ["run=", "at=", "firmware="];

/// The machine that the entry points drive.
pub(crate) struct Machine {
    simulator: Simulator,
    target: String,
}

enum Simulator {
    /// An emulated mesh, and the number of its conditions that were reported.
    Mesh(Box<EmulatorBar>, usize),
    /// The vendor's.
    Vendor(Library),
}

/// What a program does through the entry points.
pub(crate) trait Bus {
    fn config_read(&mut self, device: u8, offset: u32) -> u32;
    fn config_write(&mut self, device: u8, offset: u32, value: u32);
    fn bus_read(&mut self, address: u64, out: &mut [u8]);
    fn bus_write(&mut self, address: u64, data: &[u8]);
    fn clock(&mut self, cycles: u64);
}

impl Bus for Mesh {
    fn config_read(&mut self, device: u8, offset: u32) -> u32 {
        self.config_read(usize::from(device), offset)
    }

    fn config_write(&mut self, device: u8, offset: u32, value: u32) {
        self.config_write(usize::from(device), offset, value);
    }

    fn bus_read(&mut self, address: u64, out: &mut [u8]) {
        self.bus_read(address, out);
    }

    fn bus_write(&mut self, address: u64, data: &[u8]) {
        self.bus_write(address, data);
    }

    fn clock(&mut self, cycles: u64) {
        self.clock(cycles);
    }
}

impl Bus for Library {
    fn config_read(&mut self, device: u8, offset: u32) -> u32 {
        self.config(device, offset)
    }

    fn config_write(&mut self, device: u8, offset: u32, value: u32) {
        self.write_config(device, offset, value);
    }

    fn bus_read(&mut self, address: u64, out: &mut [u8]) {
        self.read(address, out);
    }

    fn bus_write(&mut self, address: u64, data: &[u8]) {
        self.write(address, data);
    }

    fn clock(&mut self, cycles: u64) {
        self.pass(cycles);
    }
}

impl Machine {
    /// Builds the machine that the environment names, which keeps this of its past.
    pub(crate) fn from_environment(keeps: Keeps) -> Result<Self, MachineError> {
        let name = match std::env::var_os(MESH) {
            Some(name) => name.into_string().map_err(|_| MachineError::NotText(MESH))?,
            None => DEFAULT_MESH.to_owned(),
        };
        Self::new(&name, keeps).map_err(|error| MachineError::Variable(MESH, name, Box::new(error)))
    }

    /// Builds the machine that `words` names: the vendor's simulator as a target, a mesh in the form of
    /// one after `emulator:`.
    fn new(words: &str, keeps: Keeps) -> Result<Self, MachineError> {
        if let Ok(TargetSpec::Ttsim(named)) = TargetSpec::parse(words) {
            let library = host_memory::load(&named.library).map_err(MachineError::Library)?;
            return Ok(Self { simulator: Simulator::Vendor(library), target: words.to_owned() });
        }
        let starts = |setting: &str| STARTED_BY.iter().any(|key| setting.starts_with(key));
        let started = words.split(',').any(starts);
        let PoweredOn { scene, mut images, mut mesh } = power_on(words)?;
        let chips = mesh.config().chips.len();
        mesh.keep_history(workloads::scene::history_limits(keeps, chips));
        mesh.set_host_memory(Arc::new(Callbacks));
        let mut bar = EmulatorBar::new(mesh);
        if started {
            bar = start(&scene, bar, &mut images)?;
        } else {
            bar.mesh_mut().clock(BOOT_CYCLES);
        }
        Ok(Self {
            simulator: Simulator::Mesh(Box::new(bar), 0),
            target: format!("emulator:{words}"),
        })
    }

    /// The words of a target that starts alike.
    pub(crate) fn target(&self) -> &str {
        &self.target
    }

    /// Returns its bar.
    pub(crate) fn bar(&mut self) -> &mut dyn Bar {
        match &mut self.simulator {
            Simulator::Mesh(bar, _) => &mut **bar,
            Simulator::Vendor(library) => library,
        }
    }

    /// Returns what it supports.
    pub(crate) fn abilities(&self) -> Result<Abilities, String> {
        match &self.simulator {
            Simulator::Mesh(..) => Ok(emulator_bar::abilities()),
            Simulator::Vendor(_) => ttsim::abilities(),
        }
    }

    /// Returns its run from power-on, if it keeps it.
    pub(crate) fn recorded_run(&mut self) -> Option<Result<RecordedRun, String>> {
        let target = self.target.clone();
        Some(self.bar().recorded_run()?.map(|run| RecordedRun { target, ..run }))
    }

    /// Runs an action on the bus, and reports the new conditions of a mesh.
    pub(crate) fn on_bus<T>(&mut self, action: impl FnOnce(&mut dyn Bus) -> T) -> T {
        let (bar, reported) = match &mut self.simulator {
            Simulator::Vendor(library) => return action(library),
            Simulator::Mesh(bar, reported) => (bar, reported),
        };
        let done = action(bar.mesh_mut());
        let conditions = bar.mesh().conditions();
        if conditions.len() > *reported {
            let last = conditions.len().min(MOST_REPORTED);
            for condition in conditions.get(*reported..last).into_iter().flatten() {
                say(&condition.to_string());
            }
            *reported = conditions.len();
        }
        done
    }

    /// Ends it.
    pub(crate) fn exit(self) {
        if let Simulator::Vendor(library) = self.simulator {
            library.exit();
        }
    }
}

/// A scene, and its mesh at power on.
pub(crate) struct PoweredOn {
    scene: Scene,
    images: ImageMap,
    pub(crate) mesh: Mesh,
}

/// Parses the words and powers the mesh on.
pub(crate) fn power_on(words: &str) -> Result<PoweredOn, MachineError> {
    let spec = TargetSpec::parse(&format!("emulator:{words}"));
    let TargetSpec::Emulator(scene) = spec.map_err(MachineError::Words)? else {
        return Err(MachineError::NotEmulated);
    };
    let (images, _) = ImageMap::firmware();
    let config = scene.config(&images).map_err(MachineError::Scene)?;
    // The library must create no threads: its process may fork, its client may unload it, and
    // callbacks must come on the calling thread.
    let config = MeshConfig { threads: 1, ..config };
    let mesh = Mesh::new(config).map_err(MachineError::Mesh)?;
    Ok(PoweredOn { scene, images, mesh })
}

/// Prints a line to standard error; standard output belongs to the client.
pub(crate) fn say(message: &str) {
    eprintln!("meshscope: {message}");
}

/// Boots the scene over the bus, as on any machine, and takes the mesh back.
fn start(
    scene: &Scene,
    bar: EmulatorBar,
    images: &mut ImageMap,
) -> Result<EmulatorBar, MachineError> {
    let shared = Arc::new(Mutex::new(bar));
    let started = scene.start(Box::new(Lent(Arc::clone(&shared))), images);
    drop(started.map_err(MachineError::Scene)?);
    let alone = Arc::into_inner(shared).ok_or(MachineError::Kept)?;
    Ok(alone.into_inner().unwrap_or_else(PoisonError::into_inner))
}

/// A BAR that its owner takes back after the scene has started.
struct Lent(Arc<Mutex<EmulatorBar>>);

impl Bar for Lent {
    fn submit(&mut self, batch: &[BarOp], answer: &mut Vec<u8>) -> Result<(), AccessError> {
        let mut bar = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        bar.submit(batch, answer)
    }

    fn chip(&self) -> ChipKind {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).chip()
    }
}
