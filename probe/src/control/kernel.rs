//! Launching a kernel: segments, runtime arguments, launch message, go (tt-metal.md 7.2).

use super::{Condition, ControlError, Operation, Place, Stretch, image, load};
use crate::images::{Image, ImageMap, Mailbox, processor};
use crate::state::ImageEvidence;
use layouts::{CoreId, CoreKind};

/// `go_msg_t.signal`: run.
const RUN_MSG_GO: u32 = 0x80;
/// A runtime-argument offset that is not there.
const NO_OFFSET: u64 = 0xFFFF;
/// `kernel_config.mode`: the host dispatches.
const DISPATCH_MODE_HOST: u64 = 1;

/// What to launch where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelLaunch<'a> {
    /// The tile.
    pub place: Place,
    /// Name of the kernel's image.
    pub kernel: &'a str,
    /// Name of the firmware image whose mailbox is used.
    pub firmware: &'a str,
    /// Index of the core type in `kernel_config_base`: 0 Tensix, 1 active Ethernet.
    pub core_type: u64,
    /// Where the runtime arguments go.
    pub config_base: u64,
    /// Distance of the kernel's text from there, where the firmware looks at it.
    pub text_offset: u64,
    /// Runtime arguments.
    pub arguments: Vec<u32>,
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
    load(&mut operation, place, &kernel);
    let arguments = launch.arguments.iter().flat_map(|word| word.to_le_bytes());
    operation.write(place.at(launch.config_base), arguments.collect());
    let message = message(&firmware, launch, processor(kernel.core))?;
    operation.write(place.at(message.start), message.bytes);
    operation.write_word(place.at(go_word(mailbox(&firmware)?)), RUN_MSG_GO << 24);
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
    let done = Condition::Masked { mask: 0xFF00_0000, value: 0 };
    let word = place.at(go_word(mailbox(&firmware)?));
    operation.wait(format!("{}:{} is done", place.chip, place.tile), word, done);
    Ok(operation)
}

fn mailbox(firmware: &Image) -> Result<&Mailbox, ControlError> {
    let missing = || ControlError::NoMember(firmware.name.clone(), "mailboxes");
    firmware.mailbox.as_ref().ok_or_else(missing)
}

/// The signal is the top byte of the go message.
fn go_word(mailbox: &Mailbox) -> u64 {
    mailbox.go_signal & !3
}

/// Entry 0 of the launch ring, composed by the members' names.
fn message(
    firmware: &Image,
    launch: &KernelLaunch<'_>,
    processor: u64,
) -> Result<Stretch, ControlError> {
    let mailbox = mailbox(firmware)?;
    let member = |name: &'static str, path: &str| {
        let path = format!("mailboxes->launch[0].kernel_config.{path}");
        let place = firmware.symbols.locate(&path);
        let missing = |_| ControlError::NoMember(firmware.name.clone(), name);
        place.map(|place| place.address()).map_err(missing)
    };
    let base = member("kernel_config_base", &format!("kernel_config_base[{}]", launch.core_type))?;
    let rta = member("rta_offset", &format!("rta_offset[{processor}]"))?;
    let text = member("kernel_text_offset", &format!("kernel_text_offset[{processor}]"))?;
    let mut message = Stretch::zeros(mailbox.launch, mailbox.launch_bytes);
    message.put(base, 4, launch.config_base);
    message.put(rta, 4, NO_OFFSET << 16);
    message.put(text, 4, launch.text_offset);
    message.put(mailbox.launch + mailbox.mode, 1, DISPATCH_MODE_HOST);
    message.put_word(mailbox.launch + mailbox.host_assigned_id, launch.host_assigned_id);
    message.put_word(mailbox.launch + mailbox.enables, 1 << processor);
    let id = mailbox.launch + mailbox.kernel_ids + 2 * processor;
    message.put(id, 2, launch.kernel_id.into());
    Ok(message)
}

/// A core's image by the kind of tile.
pub(super) fn core_of(place: Place, core: CoreKind) -> CoreId {
    CoreId { chip: place.chip, tile: place.tile, core }
}
