//! From the words of `--target` to a machine: which kind it is, and what comes with that kind.

use crate::args::{DEFAULT_TARGET, DEVICE_TARGET};
use crate::exit::Failure;
use layouts::target_refusals;
use probe::Patience;
use probe::bar::Bar;
use probe::images::ImageMap;
use probe::machine::BarTarget;
use probe::snapshot::AccessError;
use probe::socket_bar::SocketBar;
use probe::target::{Abilities, Refusal, Target};
use probe::ttsim::{self, HostCommand};
use recordings::Replay;
use std::path::Path;

/// Cycles that pass between two looks of the screens at a machine whose time is made to pass.
const PACE_CYCLES: u64 = 20_000;

/// A machine with the images that may run on it.
pub(crate) struct Opened {
    pub(crate) target: Box<dyn Target>,
    pub(crate) images: ImageMap,
    /// What was wrong with the images, one sentence each.
    pub(crate) problems: Vec<String>,
    pub(crate) pace_cycles: u64,
}

/// The target that was asked for, or the default: silicon where device files exist, else the emulated mesh.
pub(crate) fn target_words(asked: Option<&str>) -> String {
    let or_default = || {
        let devices = std::fs::read_dir("/dev/tenstorrent").is_ok_and(|d| d.count() > 0);
        if devices { DEVICE_TARGET } else { DEFAULT_TARGET }.to_owned()
    };
    asked.map_or_else(or_default, str::to_owned)
}

/// Opens what the words name.
///
/// # Errors
/// `Usage` for words that name nothing, `Unreachable` for a machine that does not answer.
pub(crate) fn open(words: &str) -> Result<Opened, Failure> {
    let fault = |error: AccessError| Failure::of_access(words, &error);
    let target: Box<dyn Target> = match words.split_once(':') {
        Some(("ttsim", library)) => {
            let bar = ttsim::open(Path::new(library), &HostCommand::default()).map_err(fault)?;
            over_bar(words, Box::new(bar), ttsim::PROFILE)?
        }
        Some(("socket", path)) => {
            let bar = SocketBar::connect(Path::new(path)).map_err(fault)?;
            let profile = bar.welcome().profile.clone();
            over_bar(words, Box::new(bar), &profile)?
        }
        _ if Path::new(words).is_file() => {
            let replay = Replay::open(Path::new(words));
            Box::new(replay.map_err(|e| Failure::Usage(format!("{words}: {e}")))?)
        }
        _ => return Err(unknown(words)),
    };
    let (images, problems) = ImageMap::firmware();
    Ok(Opened { target, images, problems, pace_cycles: PACE_CYCLES })
}

fn unknown(words: &str) -> Failure {
    if words == DEVICE_TARGET || words.starts_with("/dev/tenstorrent") {
        return Failure::Unreachable(format!("{words}: silicon cannot be opened by this version"));
    }
    Failure::Usage(format!(
        "target '{words}': neither emulator:<mesh>, ttsim:<library>, socket:<path>, silicon nor a recording"
    ))
}

/// A machine over its BAR, to be looked at only.
fn over_bar(words: &str, bar: Box<dyn Bar>, profile: &str) -> Result<Box<dyn Target>, Failure> {
    let refusals = target_refusals(profile).map_err(Failure::Internal)?;
    let refusal = |r: layouts::TargetRefusal| Refusal {
        kind: r.kind,
        start: r.start,
        end: r.end,
        reason: r.reason,
    };
    let refusals = refusals.into_iter().map(refusal).collect();
    let abilities = Abilities { write: false, stepped_time: !profile.is_empty(), refusals };
    let opened = BarTarget::open(words, bar, abilities, Patience::default());
    Ok(Box::new(opened.map_err(|e| Failure::of_access(words, &e))?))
}
