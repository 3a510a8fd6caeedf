//! A mesh that somebody uses, or that may not be changed, is refused before anything is written to it.

use super::connect;
use super::launch;
use super::program::Program;
use super::report::RunError;
use super::survey::{Finding, Loaded, survey, tiles};
use crate::control::Place;
use crate::fault::Fault;
use crate::images::ImageMap;
use crate::target::{Allow, Target};
use layouts::{TileKind, Writing, wormhole};
use std::collections::BTreeMap;

/// Refuses a mesh that somebody uses, or that may not be changed; nothing is written.
///
/// # Errors
/// Why not.
pub fn refuse_if_in_use(
    target: &mut dyn Target,
    images: &ImageMap,
    program: &Program,
) -> Result<(), RunError> {
    judge(target, images, program, &Loaded::default(), &[]).map(drop)
}

/// What is on the tiles of a program that may be carried out.
///
/// # Errors
/// Why it may not.
pub(super) fn judge(
    target: &mut dyn Target,
    images: &ImageMap,
    program: &Program,
    loaded: &Loaded,
    faults: &[Fault],
) -> Result<BTreeMap<Place, Finding>, RunError> {
    fits(target, program)?;
    let mesh = target.mesh();
    for fault in faults {
        fault.check(mesh).map_err(|error| RunError::Program(error.to_string()))?;
    }
    if !faults.is_empty() && !target.abilities().faults {
        return Err(Fault::refused().into());
    }
    launch::fits(images, program)?;
    allowed(target, "a collective", &[Writing::Write, Writing::Launch])?;
    held(target)?;
    let found = survey(target, images, program, loaded)?;
    used(&found)?;
    if let Some(crossing) = &program.crossing {
        connect::refuse(target, images, crossing)?;
    }
    let boots = |(place, finding): (&Place, &Finding)| {
        *finding == Finding::Cold && kind(*place) == Some(TileKind::Tensix)
    };
    if found.iter().any(boots) {
        let needs = [Writing::Write, Writing::Launch, Writing::Reset];
        allowed(target, "a collective", &needs)?;
    }
    Ok(found)
}

/// Somebody else has a device open.
pub(crate) fn held(target: &mut dyn Target) -> Result<(), RunError> {
    let holders = target.holders();
    let Some((chip, holder)) = holders.first() else { return Ok(()) };
    Err(RunError::InUse(format!("chip {chip} is in use: process {holder} has it open")))
}

/// Something runs on one of the tiles.
pub(crate) fn used(found: &BTreeMap<Place, Finding>) -> Result<(), RunError> {
    for (place, finding) in found {
        let tile = name(*place);
        let why = match finding {
            Finding::Ready | Finding::Cold => continue,
            Finding::Runs(Some(kernel)) => format!("{tile} is in use: {kernel} runs there"),
            Finding::Runs(None) => format!("{tile} is in use: a kernel runs there"),
            Finding::Stranger => {
                format!("{tile} is in use: an application that is not ours has the core")
            }
        };
        return Err(RunError::InUse(why));
    }
    Ok(())
}

/// Are all tiles of the program there?
fn fits(target: &dyn Target, program: &Program) -> Result<(), RunError> {
    let (compute, ethernet) = tiles(program);
    let compute = compute.into_iter().map(|place| (place, TileKind::Tensix));
    let ethernet = ethernet.into_iter().map(|place| (place, TileKind::Eth));
    for (place, wanted) in compute.chain(ethernet) {
        let Some(chip) = target.mesh().chip(place.chip) else {
            return Err(RunError::Program(format!("there is no chip {}", place.chip)));
        };
        let fused_off = wanted == TileKind::Tensix && chip.harvested_rows.contains(&place.tile.y);
        if kind(place) != Some(wanted) || fused_off {
            return Err(RunError::Program(format!("{place} is no tile that runs kernels")));
        }
    }
    Ok(())
}

/// Each word that is missing is named, and what needs it.
pub(crate) fn allowed(target: &dyn Target, what: &str, needs: &[Writing]) -> Result<(), RunError> {
    let abilities = target.abilities();
    if let Some(why) = &abilities.unchangeable {
        return Err(RunError::NotAllowed(format!("{}: {why}", target.name())));
    }
    let allow: Allow = abilities.allow;
    let missing: Vec<&str> =
        needs.iter().filter(|need| !allow.covers(**need)).map(|need| need.word()).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let (target, missing) = (target.name(), missing.join(","));
    Err(RunError::NotAllowed(format!(
        "{target} may not be changed so far: {what} needs --allow {missing}"
    )))
}

/// What stands there.
pub(super) fn kind(place: Place) -> Option<TileKind> {
    wormhole().tile_at(place.tile).map(|tile| tile.kind)
}

/// `0:e8` for an Ethernet tile, else the tile's coordinates.
pub(crate) fn name(place: Place) -> String {
    match wormhole().tile_at(place.tile).and_then(|tile| tile.channel) {
        Some(channel) if kind(place) == Some(TileKind::Eth) => format!("{}:e{channel}", place.chip),
        _ => place.to_string(),
    }
}
