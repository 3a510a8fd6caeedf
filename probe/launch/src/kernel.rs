//! Launching a kernel: segments, runtime arguments, launch message, go message (tt-metal.md 7.2).

use super::firmware::{load, load_data, load_ncrisc};
use super::l1_range::{L1Range, constant, constant_in, mailbox};
use super::{Condition, ControlError, Operation, image};
use images::{Image, ImageMap, Mailbox, Provenance};
use layouts::{CoreId, CoreKind};
use machine::place::Place;
use std::sync::Arc;

/// tt-metal's name of the absent runtime-argument offset, and its value (tt-metal.md 1.2) if
/// neither firmware nor kernel defines it.
const NO_OFFSET: (&str, u64) = ("RTA_CRTA_NO_ARGS_SENTINEL", 0xFFFF);

/// The array of circular buffers in tt-metal's firmware of compute tiles.
const CIRCULAR_BUFFERS: &str = "cb_interface";

/// Distance between two semaphores of a program, in bytes (tt-metal.md 7.2).
const SEMAPHORE_BYTES: u64 = 16;

/// A kernel to launch on a tile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelLaunch<'a> {
    /// The tile.
    pub place: Place,
    /// Name of the kernel's image.
    pub kernel: &'a str,
    /// Name of the firmware image that describes the mailbox.
    pub firmware: &'a str,
    /// The tile's name in `ProgrammableCoreType`.
    pub core_type: &'a str,
    /// Address of the runtime arguments.
    pub config_base: u64,
    /// Distance of the kernel's text from the config base, if the firmware uses it.
    pub text_offset: u64,
    /// Runtime arguments.
    pub arguments: Vec<u8>,
    /// Initial values of the program's semaphores, which follow the arguments.
    pub semaphores: Vec<u32>,
    /// Whether the kernel's text is already in place, so that only its data is written.
    pub in_place: bool,
    /// An identifier for display, the same on all cores of a run.
    pub host_assigned_id: u32,
}

/// A kernel for NCRISC, launched on a tile together with BRISC's, with the same arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NcriscKernel<'a> {
    /// Name of the kernel's image.
    pub kernel: &'a str,
    /// Distance of the kernel's text from the config base.
    pub text_offset: u64,
}

/// Returns the address of a semaphore of the program behind `argument_bytes` of arguments.
pub fn semaphore_address(config_base: u64, argument_bytes: u64, number: u32) -> u64 {
    let first = argument_bytes.next_multiple_of(SEMAPHORE_BYTES);
    config_base + first + SEMAPHORE_BYTES * u64::from(number)
}

impl KernelLaunch<'_> {
    /// Returns the offset of the semaphores from the config base.
    fn semaphore_offset(&self) -> u64 {
        (self.arguments.len() as u64).next_multiple_of(SEMAPHORE_BYTES)
    }

    /// Returns the bytes at the config base: arguments and semaphores.
    pub(super) fn config(&self) -> Vec<u8> {
        let mut config = self.arguments.clone();
        for value in &self.semaphores {
            config.resize(config.len().next_multiple_of(SEMAPHORE_BYTES as usize), 0);
            config.extend(value.to_le_bytes());
        }
        config.resize(config.len().next_multiple_of(4), 0);
        config
    }
}

/// Returns a whole launch: [`place_kernel`], then the go message.
///
/// # Errors
/// When an image is missing or lacks a member.
pub fn launch_kernel(
    images: &mut ImageMap,
    launch: &KernelLaunch<'_>,
) -> Result<Operation, ControlError> {
    let mut operation = place_kernel(images, launch)?;
    operation.then(go_kernel(images, launch.firmware, launch.place)?);
    Ok(operation)
}

/// Returns a launch without the go message; [`go_kernel`] follows when all cores are ready.
///
/// # Errors
/// When an image is missing or lacks a member.
pub fn place_kernel(
    images: &mut ImageMap,
    launch: &KernelLaunch<'_>,
) -> Result<Operation, ControlError> {
    place_kernels(images, launch, None)
}

/// As [`place_kernel`], with a kernel for NCRISC.
///
/// # Errors
/// When an image is missing or lacks a member.
pub fn place_kernels(
    images: &mut ImageMap,
    launch: &KernelLaunch<'_>,
    ncrisc: Option<NcriscKernel<'_>>,
) -> Result<Operation, ControlError> {
    let kernel = image(images, launch.kernel)?;
    let firmware = image(images, launch.firmware)?;
    let place = launch.place;
    let mut operation =
        Operation::new(format!("launch {} on {}:{}", launch.kernel, place.chip, place.tile));
    if launch.in_place {
        load_data(&mut operation, place, &kernel)?;
    } else {
        load(&mut operation, place, &kernel)?;
    }
    operation.write(place.at(launch.config_base), launch.config());
    let mut message = message(images, &firmware, &kernel, launch)?;
    if let Some(ncrisc) = ncrisc {
        let second = image(images, ncrisc.kernel)?;
        let text = launch.config_base + ncrisc.text_offset;
        let bytes = load_ncrisc(&mut operation, place, &second, text)?;
        let processor = mailbox(&firmware)?.processor(second.core);
        let both = 1 << processor | 1 << mailbox(&firmware)?.processor(kernel.core);
        for (member, value) in [
            (format!("rta_offset[{processor}].rta_offset"), 0),
            (format!("kernel_text_offset[{processor}]"), ncrisc.text_offset),
            ("ncrisc_kernel_size16".to_owned(), bytes.div_ceil(16)),
            ("enables".to_owned(), both),
            (format!("watcher_kernel_ids[{processor}]"), second.kernel_id.into()),
        ] {
            let path = format!("mailboxes->launch[0].kernel_config.{member}");
            message.put_named(&firmware, &path, value)?;
        }
        let core = CoreId { chip: place.chip, tile: place.tile, core: second.core };
        images.declare(core, ncrisc.kernel, Provenance::Stated);
    }
    operation.write(place.at(message.start), message.bytes);
    let core = CoreId { chip: place.chip, tile: place.tile, core: kernel.core };
    images.declare(core, launch.kernel, Provenance::Stated);
    Ok(operation)
}

/// Sends the go message of a placed kernel.
///
/// # Errors
/// When the firmware's image is missing or has no mailbox.
pub fn go_kernel(
    images: &ImageMap,
    firmware: &str,
    place: Place,
) -> Result<Operation, ControlError> {
    let go = go(mailbox(&*image(images, firmware)?)?);
    let mut operation = Operation::new(format!("go {}:{}", place.chip, place.tile));
    operation.write(place.at(go.start), go.bytes);
    Ok(operation)
}

/// Waits until the go message of a tile shows that its kernels have returned.
///
/// # Errors
/// When the image is missing or has no mailbox.
pub fn await_done(
    images: &ImageMap,
    firmware: &str,
    place: Place,
) -> Result<Operation, ControlError> {
    let firmware = image(images, firmware)?;
    let mut operation = Operation::new("wait for the end of the kernel");
    let (word, done) = done_condition(mailbox(&firmware)?);
    operation.wait(format!("{}:{} is done", place.chip, place.tile), place.at(word), done);
    Ok(operation)
}

/// Returns the word of the go message and the condition that its kernels have returned or that
/// firmware is up.
pub fn done_condition(mailbox: &Mailbox) -> (u64, Condition) {
    let (word, shift) = mailbox.go_word();
    let value = u32::from(mailbox.signals.done) << shift;
    (word, Condition::Masked { mask: 0xFF << shift, value })
}

/// Returns the go message that lets kernels run.
fn go(mailbox: &Mailbox) -> L1Range {
    let mut go = L1Range::zeros(mailbox.go_message, mailbox.go_message_bytes);
    go.put(mailbox.go_signal, 1, mailbox.signals.go.into());
    go
}

/// Returns entry 0 of the launch ring, composed by the members' names.
pub(super) fn message(
    images: &ImageMap,
    firmware: &Arc<Image>,
    kernel: &Arc<Image>,
    launch: &KernelLaunch<'_>,
) -> Result<L1Range, ControlError> {
    let mailbox = mailbox(firmware)?;
    let processor = mailbox.processor(kernel.core);
    let constant = |name: &str| constant(images, &[firmware, kernel], name);
    let core_type = constant(&format!("ProgrammableCoreType::{}", launch.core_type))?;
    let no_offset = constant_in([firmware, kernel].into_iter(), NO_OFFSET.0);
    let no_offset = no_offset.unwrap_or(NO_OFFSET.1);
    let semaphores = if launch.semaphores.is_empty() { 0 } else { launch.semaphore_offset() };
    let mut message = L1Range::zeros(mailbox.launch, mailbox.launch_bytes);
    for (member, value) in [
        (format!("kernel_config_base[{core_type}]"), launch.config_base),
        (format!("rta_offset[{processor}].rta_offset"), 0),
        (format!("rta_offset[{processor}].crta_offset"), no_offset),
        (format!("kernel_text_offset[{processor}]"), launch.text_offset),
        (format!("sem_offset[{core_type}]"), semaphores),
        ("mode".to_owned(), constant("DISPATCH_MODE_HOST")?),
        ("host_assigned_id".to_owned(), launch.host_assigned_id.into()),
        ("enables".to_owned(), 1 << processor),
        (format!("watcher_kernel_ids[{processor}]"), kernel.kernel_id.into()),
    ] {
        let path = format!("mailboxes->launch[0].kernel_config.{member}");
        message.put_named(firmware, &path, value)?;
    }
    // tt-metal's firmware sets up remote circular buffers from this number on; there are none.
    if let Ok(buffers) = firmware.symbols.locate(CIRCULAR_BUFFERS) {
        let path = "mailboxes->launch[0].kernel_config.min_remote_cb_start_index";
        message.put_named(firmware, path, buffers.field.count)?;
    }
    Ok(message)
}

/// Returns a core of a tile.
pub(super) fn core_of(place: Place, core: CoreKind) -> CoreId {
    CoreId { chip: place.chip, tile: place.tile, core }
}
