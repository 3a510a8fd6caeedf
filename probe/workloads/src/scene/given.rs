//! What is loaded on a machine outside this program.

use super::firmware::{self, FirmwareFolder};
use super::tt_fabric::MetalFabric;
use super::{SceneError, compute_tiles, time_left};
use decode::images::ImageMap;
use layouts::ChipKind;
use machine::target::Target;
use std::path::Path;

/// What is loaded on a machine outside this program: tt-metal's firmware, and perhaps a fabric.
pub struct Given {
    firmware: FirmwareFolder,
    fabric: Option<MetalFabric>,
}

impl Given {
    /// Reads folders of firmware and of a fabric's kernels, which name their firmware; none if
    /// neither is given.
    ///
    /// # Errors
    /// What is missing or wrong.
    pub fn read(
        chip: ChipKind,
        firmware: Option<&Path>,
        kernels: Option<&Path>,
    ) -> Result<Option<Self>, SceneError> {
        let fabric = kernels.map(MetalFabric::read).transpose()?;
        let named = fabric.as_ref().map(MetalFabric::firmware);
        let Some(folder) = firmware.map(Path::to_owned).or(named) else { return Ok(None) };
        Ok(Some(Self { firmware: FirmwareFolder::read(chip, &folder)?, fabric }))
    }

    /// Boots, brings the fabric up, has each of its workers send packets, and lets time pass up to
    /// `at_cycles`, if given. Returns why the fabric's bring-up has stopped.
    ///
    /// # Errors
    /// What did not boot, or does not fit the mesh.
    pub fn boot(
        self,
        packets: u64,
        at_cycles: Option<u64>,
        target: &mut dyn Target,
        images: &mut ImageMap,
    ) -> Result<Option<String>, SceneError> {
        let Self { firmware, fabric } = self;
        let kind = target.mesh().kind;
        fabric.as_ref().map(|fabric| fabric.check(target.mesh())).transpose()?;
        fabric.as_ref().map(|fabric| fabric.add_to(kind, images)).transpose()?;
        let firmware = firmware.add_to(images);
        // Every running core slows down an external simulator.
        let mut tiles = compute_tiles(target, true, usize::MAX);
        tiles.extend(fabric.iter().flat_map(MetalFabric::compute_tiles));
        tiles.sort_unstable();
        tiles.dedup();
        firmware::boot(firmware, &tiles, target, images)?;
        let stopped = match fabric.map(|fabric| fabric.bring_up(packets, target, images)) {
            Some(Err(SceneError::Stopped(what))) => Some(what),
            Some(other) => other.map(|()| None)?,
            None => None,
        };
        if at_cycles.is_some() {
            let now = target.now()?;
            let left = time_left(at_cycles, now, target)?;
            target.pass(left)?;
        }
        Ok(stopped)
    }
}
