//! Names the core that keeps a launch from ending: what it waits for, and where in its source.

use super::edm_builder::EDM;
use super::launcher::firmware_of;
use super::stuck::standing_worker;
use super::watched::Watched;
use images::{ImageMap, waypoint_code};
use launch::cause::stuck_cores;
use launch::outcome::{Cause, RunError, Stuck, Waypoint};
use launch::{image, mailbox, reason};
use layouts::CoreKind;
use machine::snapshot::{Plan, Span};
use machine::target::Target;

/// The waypoint of a paused kernel.
const PARKED: &str = "PASW";

/// Names a core that does not end, unless a core was paused on request.
///
/// # Errors
/// If an image lacks a word, or time cannot advance.
pub(super) fn blame(
    target: &mut dyn Target,
    images: &ImageMap,
    open: &[&Watched],
    waited_cycles: u64,
) -> Result<Option<RunError>, RunError> {
    let mut waypoints = Vec::new();
    for core in open {
        let firmware = image(images, firmware_of(core.kernel))?;
        let kind = if core.kernel == EDM { CoreKind::Erisc } else { CoreKind::Brisc };
        let own = mailbox(&firmware)?;
        let span = Span { addr: core.place.at(own.waypoint(kind)), len: own.waypoint_bytes as u32 };
        let snapshot = target.read(&Plan { spans: vec![span] });
        waypoints.push(match snapshot.bytes(span.addr, span.len).map(waypoint_code) {
            Ok(code) if code == PARKED => return Ok(None),
            Ok(code) => {
                let line = line_of(images, core.kernel, &code, own.waypoint(kind));
                Waypoint::At(code, line)
            }
            Err(why) => Waypoint::Unread(reason(&why)),
        });
    }
    let edms: Vec<_> = open.iter().filter(|c| c.kernel == EDM).map(|c| c.place).collect();
    let still = stuck_cores(target, &edms)?;
    let stuck = |at: usize, stands_still: Option<String>| {
        let (core, waypoint) = (open.get(at)?, waypoints.get(at)?);
        let role = (core.role != core.kernel).then(|| core.role.clone());
        let stuck = Stuck::Kernel { kernel: core.kernel, role, waited_cycles, stands_still };
        let mut error = RunError::new(Cause::TookTooLong(stuck)).at(core.place);
        error.waypoint = Some(waypoint.clone());
        Some(error)
    };
    // A core that executes nothing is the cause before the cores that wait for it.
    if let Some(at) = open.iter().position(|core| still.contains(&core.place)) {
        return Ok(stuck(at, Some("its heartbeat does not move".to_owned())));
    }
    if let Some((at, why)) = standing_worker(target, images, open, &waypoints)? {
        return Ok(stuck(at, Some(why)));
    }
    // An EDM whose link does not answer blocks all other cores; its workers only wait for it.
    let guilty = |core: &&Watched| core.kernel == EDM && core.values.unanswered();
    let first = open.iter().position(guilty);
    let first = first.or_else(|| open.iter().position(|core| core.kernel == EDM));
    let Some((at, core)) = open.iter().enumerate().find(|(at, _)| first.is_none_or(|it| it == *at))
    else {
        return Ok(None);
    };
    let waits = if core.kernel == EDM {
        core.values.of_edm()
    } else {
        core.values.of_worker(core.has_channel)
    };
    Ok(stuck(at, None).map(|mut error| {
        error.waiting_for = Some(waits);
        error
    }))
}

/// Returns where the kernel's source sets a waypoint.
fn line_of(images: &ImageMap, kernel: &str, code: &str, word: u64) -> Option<String> {
    let image = images.named(kernel)?;
    let place = image.waypoint_places(code, word).next()?;
    let line = place.lines.first()?;
    Some(format!("{}:{}", line.file.as_ref()?, line.line?))
}
