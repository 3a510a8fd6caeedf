//! Names the core that keeps a launch from its end: what it waits for, and where in its source.

use super::edm_builder::EDM;
use super::launcher::firmware_of;
use super::stuck::{sentence, standing_worker};
use super::watch::Watched;
use decode::images::{ImageMap, waypoint_code};
use launch::cause::{reason, still};
use launch::occupancy::name;
use launch::outcome::RunError;
use launch::{image, mailbox};
use layouts::CoreKind;
use machine::snapshot::{Plan, Span};
use machine::target::Target;

/// The waypoint of a kernel that somebody parked.
const PARKED: &str = "PASW";

/// Names a core that does not come to its end, unless one was parked by somebody.
///
/// # Errors
/// `TookTooLong`.
pub(super) fn blame(
    target: &mut dyn Target,
    images: &ImageMap,
    open: &[&Watched],
    waited: u64,
) -> Result<(), RunError> {
    let waited_us = waited / 1_000;
    let (mut codes, mut sentences) = (Vec::new(), Vec::new());
    for core in open {
        let firmware = image(images, firmware_of(core.kernel))?;
        let kind = if core.kernel == EDM { CoreKind::Erisc } else { CoreKind::Brisc };
        let own = mailbox(&firmware)?;
        let span = Span { addr: core.place.at(own.waypoint(kind)), len: own.waypoint_bytes as u32 };
        let shot = target.read(&Plan { spans: vec![span] });
        let code = shot.bytes(span.addr, span.len).map(waypoint_code);
        if code.as_deref() == Ok(PARKED) {
            return Ok(());
        }
        sentences.push(match &code {
            Ok(code) => format!("at waypoint {code}{}", line_of(images, core.kernel, code)),
            Err(why) => format!("its waypoint cannot be read ({})", reason(why)),
        });
        codes.push(code.ok());
    }
    let edms: Vec<_> = open.iter().filter(|c| c.kernel == EDM).map(|c| c.place).collect();
    let still = still(target, &edms)?;
    // A core that executes nothing is to blame before those that wait for it.
    if let Some(at) = open.iter().position(|core| still.contains(&core.place))
        && let (Some(core), Some(code)) = (open.get(at), sentences.get(at))
    {
        return Err(RunError::TookTooLong(format!(
            "{}: {} makes no progress for {waited_us} us: its core stands still, its heartbeat does not move ({code})",
            name(core.place),
            core.kernel
        )));
    }
    if let Some((at, why)) = standing_worker(target, images, open, &codes)?
        && let (Some(core), Some(code)) = (open.get(at), sentences.get(at))
    {
        return Err(sentence(core, waited_us, &why, code));
    }
    // An EDM whose link does not answer keeps everybody waiting; its workers only wait for it.
    let guilty = |core: &&&Watched| core.kernel == EDM && core.values.unanswered();
    let first = open.iter().find(guilty).or_else(|| open.iter().find(|c| c.kernel == EDM));
    let Some(core) = first.or_else(|| open.first()) else { return Ok(()) };
    let at = open.iter().position(|other| other.place == core.place).unwrap_or_default();
    let code = sentences.get(at).map_or("", String::as_str);
    let role = if core.role == core.kernel { String::new() } else { format!(" ({})", core.role) };
    Err(RunError::TookTooLong(format!(
        "{}: {}{role} makes no progress for {waited_us} us: {code}, {}",
        name(core.place),
        core.kernel,
        if core.kernel == EDM {
            core.values.of_edm()
        } else {
            core.values.of_worker(core.has_channel)
        },
    )))
}

/// Where the kernel's source sets a waypoint.
fn line_of(images: &ImageMap, kernel: &str, code: &str) -> String {
    let found = images.named(kernel).and_then(|image| {
        let place = image.waypoints.iter().find(|place| place.code == code)?;
        let line = place.lines.first()?;
        Some(format!(" ({}:{})", line.file.as_ref()?, line.line?))
    });
    found.unwrap_or_default()
}
