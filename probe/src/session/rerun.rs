//! The run of a recorded mesh, executed again.

use super::Session;
use machine::past::{Keeps, PastWatcher, RecordedRun};
use machine::progress::Listener;
use machine::target::{Allow, Past};
use std::sync::Arc;
use transport::ttsim::HostCommand;

/// Why a recorded mesh is not executed again.
pub const NO_RUN: &str = "only a recording of a mesh that meshscope emulated, made while its whole \
                          past was kept, is executed again";

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

    /// Opens the mesh, executes the run, and returns its past.
    ///
    /// # Errors
    /// Why it cannot be executed again, one sentence; or `watcher` returned false.
    pub fn past(&self, watcher: &mut PastWatcher<'_>) -> Result<Box<dyn Past>, String> {
        let (host, quiet) = (HostCommand::default(), Listener::default());
        let words = &self.0.target;
        let mesh = Session::open_telling(words, &host, Allow::default(), &quiet, Keeps::Past);
        let mut mesh = mesh.map_err(|error| format!("{words}: {error}"))?;
        let past = mesh.target().past().map_err(|error| format!("{words}: {error}"))?;
        past.rerun(&self.0, watcher).map_err(|error| error.to_string())
    }
}
