//! Compute tiles: booting their firmware from reset, and the worker that writes a pattern.

use super::firmware::{clear_tables, first_jump, load};
use super::kernel::{await_done, core_of, done_condition};
use super::l1_range::{arguments, constant_of, fresh_mailbox, mailbox};
use super::records::variable;
use super::running::running;
use super::{ControlError, Firmware, KernelLaunch, Operation, image, launch_kernel};
use images::{Image, ImageMap, Provenance};
use machine::place::Place;
use machine::target::Target;
use std::sync::Arc;

const WORKER: &str = "tensix_worker";

/// L1 address of the arguments of the built-in Tensix kernels (firmware/device/LAUNCH.txt 6).
pub const CONFIG_BASE: u64 = 0x14000;
/// Bytes from the arguments of a built-in Tensix kernel to its text.
pub const TEXT_OFFSET: u64 = 0x400;

/// Boots the firmware of a compute tile (wormhole.md 4.2). BRISC starts the other cores.
///
/// # Errors
/// When an image is missing or does not describe its mailbox.
pub fn boot_tensix(
    images: &mut ImageMap,
    firmware: Firmware,
    place: Place,
) -> Result<Operation, ControlError> {
    let all = firmware.tensix.into_iter().map(|name| image(images, name));
    boot_images(images, &all.collect::<Result<Vec<_>, _>>()?, place)
}

/// Boots these images, of which the first has the mailbox.
///
/// # Errors
/// When there is none, or it does not describe its mailbox.
pub(super) fn boot_images(
    images: &mut ImageMap,
    all: &[Arc<Image>],
    place: Place,
) -> Result<Operation, ControlError> {
    let layout = images.layout();
    let tensix = &layout.tensix;
    let reset = place.at(layout.blocks.tensix_debug + layout.debug.soft_reset_0.at);
    let none = || ControlError::NoImage(format!("of the firmware of {place}"));
    let brisc = all.first().ok_or_else(none)?;
    let mut operation = Operation::new(format!("boot {}:{}", place.chip, place.tile));
    operation.write_word(reset, tensix.reset_all);
    let fresh = fresh_mailbox(brisc, 0)?;
    operation.write(place.at(fresh.start), fresh.bytes);
    clear_tables(&mut operation, place, brisc);
    for image in all {
        load(&mut operation, place, image)?;
        images.declare(core_of(place, image.core), &image.name, Provenance::Stated);
    }
    first_jump(&mut operation, place, brisc)?;
    operation.write_word(reset, tensix.reset_all_but_brisc);
    let (go, up) = done_condition(mailbox(brisc)?);
    operation.wait("all five cores are up", place.at(go), up);
    Ok(operation)
}

/// The pattern that the worker writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// Its address in L1.
    pub address: u32,
    /// Number of words.
    pub words: u32,
    /// Pause between two patterns, in cycles.
    pub interval_cycles: u32,
}

/// Launches the worker, which writes a running pattern until its termination signal is set.
///
/// # Errors
/// As [`launch_kernel`].
pub fn launch_worker(
    images: &mut ImageMap,
    firmware: Firmware,
    place: Place,
    pattern: Pattern,
    seed: u32,
) -> Result<Operation, ControlError> {
    let Pattern { address, words, interval_cycles } = pattern;
    let values = [
        ("address", address),
        ("words", words),
        ("interval_cycles", interval_cycles),
        ("seed", seed),
    ];
    let launch = KernelLaunch {
        place,
        kernel: WORKER,
        firmware: firmware.tensix[0],
        core_type: "TENSIX",
        config_base: CONFIG_BASE,
        text_offset: TEXT_OFFSET,
        arguments: arguments(&*image(images, WORKER)?, "tensix_worker_args_t", &values)?,
        semaphores: Vec::new(),
        in_place: false,
        host_assigned_id: seed,
    };
    launch_kernel(images, &launch)
}

/// Returns the compute tiles on which the worker runs. Writes nothing.
///
/// # Errors
/// When a tile cannot be read, or an image is missing.
pub fn running_workers(
    target: &mut dyn Target,
    images: &ImageMap,
) -> Result<Vec<Place>, ControlError> {
    let mesh = target.mesh();
    let places = mesh.chips.iter().flat_map(|chip| mesh.compute_tiles(chip.id)).collect();
    running(target, images, Firmware::BUILT_IN.tensix[0], WORKER, places)
}

/// Ends workers after their current pattern and waits until they have returned: one operation for
/// each.
///
/// # Errors
/// When an image is missing or lacks a member.
pub fn stop_workers(images: &ImageMap, places: &[Place]) -> Result<Vec<Operation>, ControlError> {
    const SIGNAL: &str = "tensix_worker_state.control.termination_signal";
    let signal = variable(&*image(images, WORKER)?, SIGNAL)?.address();
    let gracefully = constant_of(images, WORKER, "GRACEFULLY_TERMINATE")?;
    let stop = |&place: &Place| {
        let mut operation = Operation::new(format!("stop {WORKER} on {place}"));
        operation.write_word(place.at(signal), gracefully);
        operation.then(await_done(images, Firmware::BUILT_IN.tensix[0], place)?);
        Ok(operation)
    };
    places.iter().map(stop).collect()
}
