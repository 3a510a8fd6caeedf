//! Recordings as targets, and the meshes of recorded runs.

use super::error::OpenError;
use super::rerun::Rerun;
use super::{RecordedFile, RecordingHead, Session};
use crate::spec::Moment;
use images::{Catalog, ImageMap};
use machine::progress::{Listener, Progress};
use recordings::Replay;
use std::path::Path;

/// Opens a recording, at a moment if one is named, and adds the ELFs that it has to the catalog.
pub(super) fn replay(
    path: &Path,
    moment: Option<Moment>,
    catalog: &mut Catalog,
    on: Option<&str>,
) -> Result<Session, OpenError> {
    let (mut replay, run) = opened(path, catalog, on)?;
    moment.map_or(Ok(()), |moment| moment.seek(&mut replay))?;
    let (images, mut problems) = ImageMap::firmware();
    problems.extend(replay.problems().iter().cloned());
    let head = RecordingHead {
        made_by: replay.made_by().to_owned(),
        target: replay.recorded_target().to_owned(),
        asked: replay.asked().to_owned(),
        attached: replay.attachments().iter().map(|file| file.name.clone()).collect(),
        run,
    };
    let damage = replay.damage();
    let file = RecordedFile { path: path.to_owned(), head: Some(head) };
    let session = Session::with_target(Box::new(replay), images);
    Ok(Session { problems, damage, file: Some(file), ..session })
}

/// Opens a copy of a recorded mesh as it was at a time: its run is executed again.
pub(super) fn rerun(
    path: &Path,
    moment: Moment,
    catalog: &mut Catalog,
    (on, listener): (Option<&str>, &Listener),
) -> Result<Session, OpenError> {
    let (_, run) = opened(path, catalog, on)?;
    let run = run.ok_or(OpenError::NoRun)?;
    listener.tell(Progress::Start("the recorded mesh, whose run is executed again"));
    let past = run.past(&mut |_| true)?;
    let (first, last) = past.cycles();
    let cycles = moment.cycle_in((first, last)).ok_or(OpenError::OutsideRun(first, last))?;
    let copy = past.at(cycles, &mut |_| true)?;
    let (images, problems) = ImageMap::firmware();
    Ok(Session { problems, ..Session::with_target(copy, images) })
}

fn opened(
    path: &Path,
    catalog: &mut Catalog,
    on: Option<&str>,
) -> Result<(Replay, Option<Rerun>), OpenError> {
    let replay = Replay::open(path)?;
    for file in replay.attachments() {
        catalog.attach(path, &file.name, file.bytes.clone());
    }
    let run = replay.run().map(|run| Rerun::new(run, on.map(str::to_owned)));
    Ok((replay, run))
}
