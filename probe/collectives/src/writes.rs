//! The writes of a run, as a preview.

use super::launcher::{Launcher, Layer};
use super::program::Program;
use super::survey::tiles;
use fabric::{Fabric, FabricSettings};
use images::ImageMap;
use launch::outcome::RunError;
use launch::{Firmware, Operation, Step, boot_tensix, start_application};
use machine::snapshot::Span;
use machine::target::Mesh;

/// Returns every range that a run would write up to its transfer, in order, if no tile runs
/// anything yet. Accesses nothing.
///
/// # Errors
/// If an image is missing or lacks a member, or something does not fit.
pub fn writes(program: &Program, mesh: &Mesh, images: &ImageMap) -> Result<Vec<Span>, RunError> {
    // Records changes in a copy, since nothing is carried out.
    let mut images = images.clone();
    let (compute, ethernet) = tiles(program);
    let mut all = Vec::new();
    for place in compute {
        all.push(boot_tensix(&mut images, Firmware::BUILT_IN, place)?);
    }
    for place in ethernet {
        all.push(start_application(&mut images, Firmware::BUILT_IN, place)?);
    }
    let fabric = program.crossing.as_ref().filter(|crossing| !crossing.found);
    if let Some(crossing) = fabric {
        let fabric = Fabric::new(crossing.plan.clone(), FabricSettings::default());
        all.extend(fabric.writes(&mut images)?);
    }
    let mut launcher = Launcher::default();
    for layer in [Layer::Fill, Layer::Transfer] {
        let launch = launcher.launch(mesh, &mut images, program, (layer, None))?;
        all.extend(launch.place);
        all.extend(launch.go.into_iter().flat_map(|(_, go)| go));
    }
    let span = |step: &Step| match step {
        Step::Write { addr, bytes } => Some(Span { addr: *addr, len: bytes.len() as u32 }),
        Step::Await { .. } => None,
    };
    Ok(all.iter().flat_map(Operation::steps).filter_map(span).collect())
}
