//! Compute tiles: their firmware from reset, and the worker that writes a pattern.

use super::kernel::core_of;
use super::{
    Condition, ControlError, KernelLaunch, Operation, Place, fresh_mailbox, image, launch_kernel,
    load,
};
use crate::images::{ImageMap, core_named};
use crate::state::ImageEvidence;
use layouts::{Space, TileKind, wormhole};

/// Our firmware of the five cores; BRISC's has the mailbox and the jump at L1 0.
const FIRMWARE: [&str; 5] =
    ["tensix_brisc", "tensix_ncrisc", "tensix_trisc0", "tensix_trisc1", "tensix_trisc2"];

/// Where our Tensix kernels find their arguments, and how far behind them their text is linked
/// (firmware/device/LAUNCH.txt 6).
const CONFIG_BASE: u64 = 0x14000;
const TEXT_OFFSET: u64 = 0x400;

/// Boots the firmware of a compute tile (wormhole.md 4.2). The other cores start from BRISC.
///
/// # Errors
/// When an image is missing or does not describe its mailbox.
pub fn boot_tensix(images: &mut ImageMap, place: Place) -> Result<Operation, ControlError> {
    let tensix = &wormhole().tensix;
    let debug = wormhole().block(Space::Tile(TileKind::Tensix), "debug").unwrap_or_default();
    let reset = place.at(debug + wormhole().debug.soft_reset_0.at);
    let brisc = image(images, FIRMWARE[0])?;
    let mut operation = Operation::new(format!("boot {}:{}", place.chip, place.tile));
    operation.write_word(reset, tensix.reset_all);
    let fresh = fresh_mailbox(&brisc, 0)?;
    operation.write(place.at(fresh.start), fresh.bytes);
    for name in FIRMWARE {
        let firmware = image(images, name)?;
        load(&mut operation, place, &firmware);
        if let Some(core) = core_named(firmware.core.name()) {
            images.tell(core_of(place, core), name, ImageEvidence::Told);
        }
    }
    operation.write_word(reset, tensix.reset_all_but_brisc);
    if let Some(mailbox) = &brisc.mailbox {
        let done = Condition::Masked { mask: 0xFF00_0000, value: 0 };
        operation.wait("all five cores are up", place.at(mailbox.go_signal & !3), done);
    }
    Ok(operation)
}

/// Launches the worker: `words` words of a running pattern at `address`, a new one every
/// `interval_cycles`, until it is told to stop.
///
/// # Errors
/// As [`launch_kernel`].
pub fn launch_worker(
    images: &mut ImageMap,
    place: Place,
    address: u32,
    words: u32,
    interval_cycles: u32,
    seed: u32,
) -> Result<Operation, ControlError> {
    let launch = KernelLaunch {
        place,
        kernel: "tensix_worker",
        firmware: FIRMWARE[0],
        core_type: 0,
        config_base: CONFIG_BASE,
        text_offset: TEXT_OFFSET,
        arguments: vec![address, words, 0, interval_cycles, seed, 0],
        host_assigned_id: seed,
        kernel_id: 2,
    };
    launch_kernel(images, &launch)
}
