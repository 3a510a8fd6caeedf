//! The run of a recorded mesh, executed again.

use super::Session;
use super::error::OpenError;
use crate::spec::TargetSpec;
use machine::past::{Keeps, PastWatcher, RecordedRun};
use machine::progress::Listener;
use machine::target::Past;
use std::sync::Arc;
use workloads::scene::{Scene, SceneError, Workload};

/// Most chips of a mesh that a recording may name: those of a TG.
const MOST_CHIPS: usize = 36;
/// Longest run that a recording may name, in cycles: it takes minutes.
const MOST_CYCLES: u64 = 10_000_000_000;

/// A recorded run of an emulated mesh.
#[derive(Clone, Debug)]
pub struct Rerun {
    run: Arc<RecordedRun>,
    /// The words of the mesh, if a person named it.
    on: Option<String>,
}

impl Rerun {
    /// Takes the run, and the words of its mesh if a person named it.
    pub fn new(run: RecordedRun, on: Option<String>) -> Self {
        Self { run: Arc::new(run), on }
    }

    /// Returns the run as it was recorded.
    pub fn run(&self) -> &RecordedRun {
        &self.run
    }

    /// Opens the mesh, executes the run, and returns its past. Words of a recording open nothing but
    /// an emulated mesh of built-in parts, and for no longer than minutes.
    ///
    /// # Errors
    /// Why it cannot be executed again; or `watcher` returned false.
    pub fn past(&self, watcher: &mut PastWatcher<'_>) -> Result<Box<dyn Past>, OpenError> {
        let target = self.on.as_ref().unwrap_or(&self.run.target).clone();
        let failed = |reason: OpenError| OpenError::RecordedMesh {
            target: target.clone(),
            reason: Box::new(reason),
        };
        let spec = TargetSpec::parse(&target).map_err(|error| failed(error.into()))?;
        let TargetSpec::Emulator(scene) = spec else { return Err(OpenError::NoRun) };
        if self.on.is_none()
            && let Some(why) = self.unasked(&scene).map_err(|error| failed(error.into()))?
        {
            return Err(OpenError::NotAsked { target, why });
        }
        // A run begins at power-on: nothing else is started than what shows which chips there are.
        let scene = Scene {
            keeps: Keeps::Past,
            run: Some(Workload::Idle),
            tiles: Some(0),
            firmware: None,
            kernels: None,
            faults: Vec::new(),
            at_cycles: None,
            ..scene
        };
        let mesh = Session::open_scene(&target, &scene, &Listener::default());
        let past = mesh.map_err(failed)?.target().past().map_err(OpenError::NotKept)?;
        Ok(past.rerun(&self.run, watcher)?)
    }

    /// Returns why a person must name this scene, which the recording names.
    fn unasked(&self, scene: &Scene) -> Result<Option<&'static str>, SceneError> {
        let cycles = self.run.end_cycles.max(scene.at_cycles.unwrap_or(0));
        Ok(if !scene.is_built_in() {
            Some("needs files of this host")
        } else if cycles > MOST_CYCLES {
            Some("runs for more than 10 s of its own time")
        } else if scene.descriptor()?.chips.len() > MOST_CHIPS {
            Some("has more than 36 chips")
        } else {
            None
        })
    }
}
