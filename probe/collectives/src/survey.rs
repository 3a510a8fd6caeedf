//! The state of the tiles that a program needs, from one read.

use super::program::Program;
use images::ImageMap;
use launch::occupancy::{Loaded, TileUse, survey_tiles};
use launch::outcome::RunError;
use machine::fabric::MuxCore;
use machine::place::Place;
use machine::target::Target;
use std::collections::{BTreeMap, BTreeSet};

/// Returns the compute tiles and the Ethernet tiles of a program, each once.
pub(super) fn tiles(program: &Program) -> (Vec<Place>, Vec<Place>) {
    let lists = [&program.fills, &program.workers, &program.checks];
    let mut compute: BTreeSet<Place> = lists.into_iter().flatten().map(|plan| plan.place).collect();
    let mut ethernet: BTreeSet<Place> = program.edms.iter().map(|plan| plan.place).collect();
    if let Some(crossing) = &program.crossing {
        let muxes = crossing.muxes.iter().map(|mux| mux.place);
        match crossing.options.core {
            MuxCore::Tensix => compute.extend(muxes),
            MuxCore::Ethernet => ethernet.extend(muxes),
        }
    }
    (compute.into_iter().collect(), ethernet.into_iter().collect())
}

/// Returns the use of every tile of the program. Writes nothing.
///
/// # Errors
/// If a tile cannot be read, or an image is missing.
pub(super) fn survey(
    target: &mut dyn Target,
    images: &ImageMap,
    program: &Program,
    loaded: &Loaded,
) -> Result<BTreeMap<Place, TileUse>, RunError> {
    let (compute, ethernet) = tiles(program);
    survey_tiles(target, images, compute, ethernet, loaded)
}
