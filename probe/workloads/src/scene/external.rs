//! What is started on a machine outside this program, such as the vendor's simulator: tt-metal's
//! firmware, and a fabric of its kernels.

use super::firmware::{self, FirmwareFolder};
use super::tt_fabric::MetalFabric;
use super::{SceneError, compute_tiles, time_left};
use access::bar_target::BarTarget;
use images::ImageMap;
use machine::target::Target as _;
use std::path::Path;

/// Folders that were read and are ready to be started.
pub struct External {
    firmware: FirmwareFolder,
    fabric: Option<MetalFabric>,
    /// The number of packets that each worker of the fabric sends.
    packets: u64,
    at_cycles: Option<u64>,
}

impl External {
    /// Reads folders of firmware and of kernels, which name their firmware; none if there is
    /// neither.
    ///
    /// # Errors
    /// `Firmware` or `Kernels`, with the file and what is missing or wrong.
    pub fn read(
        firmware: Option<&Path>,
        kernels: Option<&Path>,
        packets: u64,
        at_cycles: Option<u64>,
    ) -> Result<Option<Self>, SceneError> {
        let fabric = kernels.map(MetalFabric::read).transpose()?;
        let firmware = firmware.map(Path::to_owned);
        let firmware = firmware.or_else(|| fabric.as_ref().map(MetalFabric::firmware));
        let Some(folder) = firmware else { return Ok(None) };
        let firmware = FirmwareFolder::read(ImageMap::FIRMWARE_CHIP, &folder)?;
        Ok(Some(Self { firmware, fabric, packets, at_cycles }))
    }

    /// Boots the firmware, brings the fabric up, and lets time pass up to `at_cycles`, if given.
    ///
    /// # Errors
    /// What did not boot.
    pub fn start(self, target: &mut BarTarget, images: &mut ImageMap) -> Result<(), SceneError> {
        let (packets, at_cycles) = (self.packets, self.at_cycles);
        if let Some(fabric) = self.boot(target, images)? {
            fabric.start(packets, target, images)?;
        }
        if at_cycles.is_some() {
            let now = target.now()?;
            let left = time_left(at_cycles, now, target)?;
            target.pass(left)?;
        }
        Ok(())
    }

    /// Boots the firmware, and returns the fabric, which is not launched yet.
    ///
    /// # Errors
    /// What did not boot.
    pub fn boot(
        self,
        target: &mut BarTarget,
        images: &mut ImageMap,
    ) -> Result<Option<MetalFabric>, SceneError> {
        let Self { firmware, fabric, .. } = self;
        fabric.as_ref().map(|fabric| fabric.check(target.mesh())).transpose()?;
        fabric.as_ref().map(|fabric| fabric.add_to(target.mesh().kind, images)).transpose()?;
        let firmware = firmware.add_to(images);
        // Every running core slows down an external simulator.
        let mut tiles = compute_tiles(target, true, usize::MAX);
        if let Some(fabric) = &fabric {
            fabric.add_tiles(&mut tiles);
        }
        firmware::boot(firmware, &tiles, target, images)?;
        Ok(fabric)
    }
}
