//! Launching a kernel: segments, runtime arguments, launch message, go (tt-metal.md 7.2).

use super::firmware::load;
use super::stretch::{Stretch, constant, mailbox};
use super::{Condition, ControlError, Operation, Place, image};
use crate::images::{Image, ImageMap, Mailbox};
use crate::state::ImageEvidence;
use layouts::{CoreId, CoreKind};
use std::sync::Arc;

/// How tt-metal calls a runtime-argument offset that is not there, and its value (tt-metal.md 1.2) where no image
/// names it.
const NO_OFFSET: (&str, u64) = ("RTA_CRTA_NO_ARGS_SENTINEL", 0xFFFF);

/// What to launch where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelLaunch<'a> {
    /// The tile.
    pub place: Place,
    /// Name of the kernel's image.
    pub kernel: &'a str,
    /// Name of the firmware image whose mailbox is used.
    pub firmware: &'a str,
    /// How `ProgrammableCoreType` calls the tile.
    pub core_type: &'a str,
    /// Where the runtime arguments go.
    pub config_base: u64,
    /// Distance of the kernel's text from there, where the firmware looks at it.
    pub text_offset: u64,
    /// Runtime arguments.
    pub arguments: Vec<u8>,
    /// A number for people that all cores of a run share.
    pub host_assigned_id: u32,
    /// A number that names the kernel.
    pub kernel_id: u16,
}

/// The launch up to, but without, the go message: [`go`] follows when all cores are ready.
///
/// # Errors
/// When an image is missing or lacks a member.
pub fn launch_kernel(
    images: &mut ImageMap,
    launch: &KernelLaunch<'_>,
) -> Result<Operation, ControlError> {
    let kernel = image(images, launch.kernel)?;
    let firmware = image(images, launch.firmware)?;
    let place = launch.place;
    let mut operation =
        Operation::new(format!("launch {} on {}:{}", launch.kernel, place.chip, place.tile));
    load(&mut operation, place, &kernel)?;
    operation.write(place.at(launch.config_base), launch.arguments.clone());
    let message = message(images, &firmware, &kernel, launch)?;
    operation.write(place.at(message.start), message.bytes);
    let go = go(mailbox(&firmware)?);
    operation.write(place.at(go.start), go.bytes);
    let core = CoreId { chip: place.chip, tile: place.tile, core: kernel.core };
    images.tell(core, launch.kernel, ImageEvidence::Told);
    Ok(operation)
}

/// Waits until the go message of a tile shows that its kernels have returned.
///
/// # Errors
/// When the image is missing or has no mailbox.
pub(super) fn await_done(
    images: &ImageMap,
    firmware: &str,
    place: Place,
) -> Result<Operation, ControlError> {
    let firmware = image(images, firmware)?;
    let mut operation = Operation::new("wait for the kernel's end");
    let (word, done) = done(mailbox(&firmware)?);
    operation.wait(format!("{}:{} is done", place.chip, place.tile), place.at(word), done);
    Ok(operation)
}

/// Where and how a go message shows that its kernels have returned, or that firmware is up.
pub(super) fn done(mailbox: &Mailbox) -> (u64, Condition) {
    let (word, shift) = mailbox.go_word();
    let value = u32::from(mailbox.signals.done) << shift;
    (word, Condition::Masked { mask: 0xFF << shift, value })
}

/// The go message that lets kernels run.
fn go(mailbox: &Mailbox) -> Stretch {
    let mut go = Stretch::zeros(mailbox.go_message, mailbox.go_message_bytes);
    go.put(mailbox.go_signal, 1, mailbox.signals.go.into());
    go
}

/// Entry 0 of the launch ring, composed by the members' names.
fn message(
    images: &ImageMap,
    firmware: &Arc<Image>,
    kernel: &Arc<Image>,
    launch: &KernelLaunch<'_>,
) -> Result<Stretch, ControlError> {
    let mailbox = mailbox(firmware)?;
    let processor = mailbox.processor(kernel.core);
    let constant = |name: &str| constant(images, &[firmware, kernel], name);
    let core_type = constant(&format!("ProgrammableCoreType::{}", launch.core_type))?;
    let no_offset = constant(NO_OFFSET.0).unwrap_or(NO_OFFSET.1);
    let mut message = Stretch::zeros(mailbox.launch, mailbox.launch_bytes);
    for (member, value) in [
        (format!("kernel_config_base[{core_type}]"), launch.config_base),
        (format!("rta_offset[{processor}].rta_offset"), 0),
        (format!("rta_offset[{processor}].crta_offset"), no_offset),
        (format!("kernel_text_offset[{processor}]"), launch.text_offset),
        ("mode".to_owned(), constant("DISPATCH_MODE_HOST")?),
        ("host_assigned_id".to_owned(), launch.host_assigned_id.into()),
        ("enables".to_owned(), 1 << processor),
        (format!("watcher_kernel_ids[{processor}]"), launch.kernel_id.into()),
    ] {
        let path = format!("mailboxes->launch[0].kernel_config.{member}");
        message.put_named(firmware, &path, value)?;
    }
    Ok(message)
}

/// A core's image by the kind of tile.
pub(super) fn core_of(place: Place, core: CoreKind) -> CoreId {
    CoreId { chip: place.chip, tile: place.tile, core }
}
