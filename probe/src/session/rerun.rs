//! The run of a recorded mesh, executed again.

use super::Session;
use super::error::OpenError;
use crate::spec::TargetSpec;
use machine::past::{Keeps, PastWatcher, RecordedRun};
use machine::progress::Listener;
use machine::target::Past;
use std::sync::Arc;
use workloads::scene::Scene;

/// A recorded run of an emulated mesh.
#[derive(Clone, Debug)]
pub struct Rerun(Arc<RecordedRun>);

impl Rerun {
    /// Takes the run.
    pub fn new(run: RecordedRun) -> Self {
        Self(Arc::new(run))
    }

    /// Returns the run as it was recorded.
    pub fn run(&self) -> &RecordedRun {
        &self.0
    }

    /// Opens the mesh, executes the run, and returns its past. Words of a recording open nothing but
    /// an emulated mesh.
    ///
    /// # Errors
    /// Why it cannot be executed again; or `watcher` returned false.
    pub fn past(&self, watcher: &mut PastWatcher<'_>) -> Result<Box<dyn Past>, OpenError> {
        let words = &self.0.target;
        let mesh = match TargetSpec::parse(words) {
            Ok(TargetSpec::Emulator(scene)) => {
                let scene = Scene { keeps: Keeps::Past, ..scene };
                Session::open_scene(words, &scene, &Listener::default())
            }
            Ok(_) => return Err(OpenError::NoRun),
            Err(error) => Err(error.into()),
        };
        let failed =
            |reason| OpenError::RecordedMesh { target: words.clone(), reason: Box::new(reason) };
        let past = mesh.map_err(failed)?.target().past().map_err(OpenError::NotKept)?;
        Ok(past.rerun(&self.0, watcher)?)
    }
}
