//! `:clean`: a teardown of whatever stands on the mesh, polled between snapshots.

use crate::exit::Failure;
use collectives::clean::CleanReport;
use collectives::{Clean, CleanSettings};
use launch::task::Progress;
use machine::target::Target;
use probe::session::Session;

/// A teardown in progress.
pub(super) struct Cleaning {
    clean: Clean,
    /// The notice shown last.
    shown: String,
}

impl Cleaning {
    /// Verifies what runs; writes nothing yet.
    ///
    /// # Errors
    /// `Refused` if the mesh may not be changed.
    pub(super) fn begin(settings: CleanSettings, session: &mut Session) -> Result<Self, Failure> {
        let target = session.target();
        Clean::refuse(target).map_err(|error| failure(target, &error))?;
        session.verify_all();
        Ok(Self { clean: Clean::new(settings), shown: String::new() })
    }

    /// Continues; returns a notice if there is a new one, and whether this was the end.
    pub(super) fn poll(&mut self, session: &mut Session) -> (Option<String>, bool) {
        let (target, images) = session.parts();
        match self.clean.poll(target, images) {
            Ok(Progress::Running { stage, .. }) => {
                let notice = format!("clean: {}", stage.words());
                let fresh = self.shown != notice;
                self.shown.clone_from(&notice);
                (fresh.then_some(notice), false)
            }
            Ok(Progress::Finished(report)) => (Some(sentence(target, &report)), true),
            Err(error) => (Some(failure(target, &error).to_string()), true),
        }
    }
}

fn failure(target: &dyn Target, error: &launch::outcome::RunError) -> Failure {
    Failure::of_run(target.name(), target.mesh().layout(), error)
}

/// The result in one line, with the first thing that is left.
fn sentence(target: &mut dyn Target, report: &CleanReport) -> String {
    let layout = target.mesh().layout();
    let left = report.tiles.iter().find_map(|tile| Some((tile, tile.left.as_ref()?)));
    let left = left.map(|(tile, left)| {
        format!("; {}, {}: {}; {}", tile.place.name(layout), tile.found, left.why, left.next)
    });
    format!("clean: {}{}", report.sentence(), left.unwrap_or_default())
}
