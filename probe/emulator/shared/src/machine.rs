//! The machine of the process: a scene's mesh, and the count of its conditions already reported.

use crate::error::MachineError;
use crate::host_memory::Callbacks;
use emulator::{Mesh, MeshConfig};
use images::ImageMap;
use layouts::ChipKind;
use machine::bar::{Bar, BarOp};
use machine::past::{Keeps, RecordedRun};
use machine::snapshot::AccessError;
use probe::spec::TargetSpec;
use std::sync::{Arc, Mutex, PoisonError};
use transport::emulator_bar::EmulatorBar;
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
    bar: EmulatorBar,
    reported: usize,
    words: String,
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

    /// Builds the machine that `words` names, in the form of a target after `emulator:`.
    pub(crate) fn new(words: &str, keeps: Keeps) -> Result<Self, MachineError> {
        let starts = |setting: &str| STARTED_BY.iter().any(|key| setting.starts_with(key));
        let started = words.split(',').any(starts);
        let PoweredOn { scene, mut images, mut mesh } = power_on(words)?;
        mesh.keep_history(workloads::scene::history_limits(keeps));
        mesh.set_host_memory(Arc::new(Callbacks));
        let mut bar = EmulatorBar::new(mesh);
        if started {
            bar = start(&scene, bar, &mut images)?;
        } else {
            bar.mesh_mut().clock(BOOT_CYCLES);
        }
        Ok(Self { bar, reported: 0, words: words.to_owned() })
    }

    /// The words that name it.
    pub(crate) fn words(&self) -> &str {
        &self.words
    }

    /// The kind of its chips.
    pub(crate) fn chip(&self) -> ChipKind {
        self.bar.chip()
    }

    /// The number of its PCIe devices.
    pub(crate) fn devices(&self) -> u8 {
        self.bar.most_devices()
    }

    /// Returns its bar.
    pub(crate) fn bar(&mut self) -> &mut EmulatorBar {
        &mut self.bar
    }

    /// Returns its run from power-on, if it keeps it, with the words of a target that starts alike.
    pub(crate) fn recorded_run(&mut self) -> Option<Result<RecordedRun, String>> {
        let target = format!("emulator:{}", self.words);
        Some(self.bar.recorded_run()?.map(|run| RecordedRun { target, ..run }))
    }

    /// Runs an action on the mesh, and reports the new conditions.
    pub(crate) fn on_mesh<T>(&mut self, action: impl FnOnce(&mut Mesh) -> T) -> T {
        let done = action(self.bar.mesh_mut());
        let conditions = self.bar.mesh().conditions();
        if conditions.len() > self.reported {
            let last = conditions.len().min(MOST_REPORTED);
            for condition in conditions.get(self.reported..last).into_iter().flatten() {
                say(&condition.to_string());
            }
            self.reported = conditions.len();
        }
        done
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
