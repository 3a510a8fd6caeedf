//! The one machine of the process: a scene's mesh, and what was already said of its conditions.

use crate::host_memory::Callbacks;
use decode::images::ImageMap;
use emulator::{Mesh, MeshConfig};
use layouts::ChipKind;
use machine::bar::{Bar, BarOp};
use machine::snapshot::AccessError;
use probe::spec::TargetSpec;
use std::sync::{Arc, Mutex, PoisonError};
use transport::emulator_bar::EmulatorBar;
use workloads::scene::Scene;

/// The environment variable that names the mesh.
pub const MESH: &str = "MESHSCOPE_MESH";

/// The mesh if the variable is not set.
pub const DEFAULT_MESH: &str = "n300";

/// A machine that goes wrong goes wrong often; the first conditions tell why.
const MOST_REMARKS: usize = 16;

/// Time for base firmware to come up and to train its links (it took 12,000 cycles when this was written): nobody
/// reaches a card earlier.
pub const BOOT_CYCLES: u64 = 100_000;

/// Settings that ask for more than a mesh at power on.
const STARTED_BY: [&str; 3] = ["run=", "at=", "firmware="];

/// The machine that the entry points drive.
pub(crate) struct Machine {
    bar: EmulatorBar,
    said: usize,
}

impl Machine {
    /// The machine that the environment names.
    pub(crate) fn from_environment() -> Result<Self, String> {
        let words = match std::env::var_os(MESH) {
            Some(words) => words.into_string().map_err(|_| format!("{MESH} is no text"))?,
            None => DEFAULT_MESH.to_owned(),
        };
        Self::new(&words).map_err(|why| format!("{MESH}={words}: {why}"))
    }

    /// The machine that these words name, as they stand after `emulator:`.
    pub(crate) fn new(words: &str) -> Result<Self, String> {
        let starts = |setting: &str| STARTED_BY.iter().any(|key| setting.starts_with(key));
        let started = words.split(',').any(starts);
        let PoweredOn { scene, mut images, mut mesh } = power_on(words)?;
        mesh.set_host_memory(Arc::new(Callbacks));
        let mut bar = EmulatorBar::new(mesh);
        if started {
            bar = start(&scene, bar, &mut images)?;
        } else {
            bar.mesh_mut().clock(BOOT_CYCLES);
        }
        Ok(Self { bar, said: 0 })
    }

    /// Does something with the mesh, and says what new conditions came of it.
    pub(crate) fn on_mesh<T>(&mut self, action: impl FnOnce(&mut Mesh) -> T) -> T {
        let done = action(self.bar.mesh_mut());
        let conditions = self.bar.mesh().conditions();
        if conditions.len() > self.said {
            let last = conditions.len().min(MOST_REMARKS);
            for condition in conditions.get(self.said..last).into_iter().flatten() {
                say(&condition.to_string());
            }
            self.said = conditions.len();
        }
        done
    }
}

/// A scene, and its mesh before anything ran on it.
pub(crate) struct PoweredOn {
    scene: Scene,
    images: ImageMap,
    pub(crate) mesh: Mesh,
}

/// Understands the words and powers the mesh on.
pub(crate) fn power_on(words: &str) -> Result<PoweredOn, String> {
    let spec = TargetSpec::parse(&format!("emulator:{words}"));
    let TargetSpec::Emulator(scene) = spec.map_err(|error| error.to_string())? else {
        return Err("that is no emulated mesh".to_owned());
    };
    let (images, _) = ImageMap::firmware();
    let config = scene.config(&images).map_err(|error| error.to_string())?;
    // The library promises to make no threads: its process may fork, its client may unload it, and callbacks
    // come on the thread that called.
    let config = MeshConfig { threads: 1, ..config };
    let mesh = Mesh::new(config).map_err(|error| error.to_string())?;
    Ok(PoweredOn { scene, images, mesh })
}

/// One line to whoever runs the client; its standard output belongs to itself.
pub(crate) fn say(what: &str) {
    eprintln!("meshscope: {what}");
}

/// Boots the scene over the bus, as on any machine, and takes the mesh back.
fn start(scene: &Scene, bar: EmulatorBar, images: &mut ImageMap) -> Result<EmulatorBar, String> {
    let shared = Arc::new(Mutex::new(bar));
    let started = scene.start(Box::new(Lent(Arc::clone(&shared))), images);
    drop(started.map_err(|error| error.to_string())?);
    let alone = Arc::into_inner(shared).ok_or("the scene did not give its mesh back")?;
    Ok(alone.into_inner().unwrap_or_else(PoisonError::into_inner))
}

/// A bar that its owner gets back when the scene has started.
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
