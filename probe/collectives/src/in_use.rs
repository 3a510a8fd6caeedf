//! Refuses a mesh that is in use, or that may not be changed, before anything is written to it.

use super::connect;
use super::launcher;
use super::program::Program;
use super::survey::{survey, tiles};
use images::ImageMap;
use launch::occupancy::{
    Loaded, TileUse, check_holders, check_permissions, check_tiles, reserve_audit,
};
use launch::outcome::{Cause, Misfit, RunError};
use layouts::{TileKind, WritePermission};
use machine::fault::Fault;
use machine::place::Place;
use machine::target::Target;
use std::collections::BTreeMap;

/// Refuses a mesh that is in use, or that may not be changed. Writes nothing.
///
/// # Errors
/// The reason for the refusal.
pub fn refuse_if_in_use(
    target: &mut dyn Target,
    images: &ImageMap,
    program: &Program,
) -> Result<(), RunError> {
    judge(target, images, program, &Loaded::default(), &[]).map(drop)
}

/// Returns the use of each tile of a program, if the program may run.
///
/// # Errors
/// The reason why it may not run.
pub(super) fn judge(
    target: &mut dyn Target,
    images: &ImageMap,
    program: &Program,
    loaded: &Loaded,
    faults: &[Fault],
) -> Result<BTreeMap<Place, TileUse>, RunError> {
    fits(target, program)?;
    let mesh = target.mesh();
    for fault in faults {
        mesh.check_fault(fault)
            .map_err(|error| RunError::new(Cause::Program(Misfit::Fault(error))))?;
    }
    if !faults.is_empty() && !target.abilities().emulated {
        return Err(Fault::unsupported().into());
    }
    launcher::fits(images, program)?;
    check_permissions(target, "a collective", &[WritePermission::Write, WritePermission::Launch])?;
    check_holders(target)?;
    let found = survey(target, images, program, loaded)?;
    check_tiles(&found)?;
    if let Some(crossing) = &program.crossing {
        connect::refuse(target, images, crossing)?;
    }
    let layout = target.mesh().layout();
    let boots = |(place, finding): (&Place, &TileUse)| {
        *finding == TileUse::Cold && layout.kind_at(place.tile) == TileKind::Tensix
    };
    if found.iter().any(boots) {
        let needs = [WritePermission::Write, WritePermission::Launch, WritePermission::Reset];
        check_permissions(target, "a collective", &needs)?;
    }
    reserve_audit(target, "launch a collective")?;
    Ok(found)
}

/// Checks that all tiles of the program exist.
fn fits(target: &dyn Target, program: &Program) -> Result<(), RunError> {
    let (compute, ethernet) = tiles(program);
    let compute = compute.into_iter().map(|place| (place, TileKind::Tensix));
    let ethernet = ethernet.into_iter().map(|place| (place, TileKind::Eth));
    for (place, wanted) in compute.chain(ethernet) {
        let Some(chip) = target.mesh().chip(place.chip) else {
            return Err(RunError::new(Cause::Program(Misfit::NoChip(place.chip))));
        };
        let fused_off =
            wanted == TileKind::Tensix && chip.is_fused_off(place.tile.y) != Some(false);
        if target.mesh().layout().kind_at(place.tile) != wanted || fused_off {
            return Err(RunError::new(Cause::Program(Misfit::NoKernels)).at(place));
        }
    }
    Ok(())
}
