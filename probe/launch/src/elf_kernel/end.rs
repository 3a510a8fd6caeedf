//! Taking a kernel away: by its termination word, else by what its tile offers.

use super::site::KernelSite;
use crate::l1_range::constant_in;
use crate::occupancy::check_permissions;
use crate::outcome::RunError;
use crate::{ControlError, Firmware, Operation, boot_tensix, done_condition, image, mailbox};
use decode::images::{Image, ImageMap};
use layouts::{CoreKind, NocAddr, TileKind, WritePermission};
use machine::place::Place;
use machine::snapshot::{Plan, Span};
use machine::target::Target;
use std::sync::Arc;

/// The member by which built-in kernels are ended (firmware/device/LAUNCH.txt 4).
const SIGNAL: &str = "control.termination_signal";
/// The values of the word, with those of firmware/device/LAUNCH.txt 4.
const SIGNALS: [(&str, u64); 2] = [("GRACEFULLY_TERMINATE", 1), ("IMMEDIATELY_TERMINATE", 2)];
/// How long a kernel may take to end after a signal, in cycles: 5 ms.
const PATIENCE_CYCLES: u64 = 5_000_000;

/// What is left of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Left {
    /// It ended when it was told to.
    Ended,
    /// It ended when it was told to, and with it the application of its Ethernet core.
    EndedWithApplication,
    /// Its tile was reset, and its firmware booted again.
    Rebooted,
    /// Its tile was reset, and stays in reset: its firmware is not one that can be booted.
    InReset,
    /// It still runs; why.
    Stays(String),
}

/// Ends the kernel of a tile. `kernel` is its image, if known.
///
/// # Errors
/// When the tile cannot be written, or firmware does not boot.
pub fn take_away(
    target: &mut dyn Target,
    images: &mut ImageMap,
    site: &KernelSite,
    kernel: Option<&str>,
) -> Result<Left, RunError> {
    target.never_stop_for_audit();
    let (place, firmware) = (site.place, image(images, site.firmware_name()?)?);
    let own = kernel.and_then(|name| images.named(name)).cloned();
    let word = own.as_deref().and_then(termination_word);
    for (name, usual) in SIGNALS {
        let Some(word) = word else { break };
        let value = constant_in(own.iter(), name).unwrap_or(usual);
        if ends(target, &firmware, place, place.at(word), value as u32)? {
            return Ok(Left::Ended);
        }
    }
    if firmware.core == CoreKind::Erisc {
        return leave_ethernet(target, &firmware, place);
    }
    let needs = [WritePermission::Reset];
    if let Err(error) = check_permissions(target, "resetting its tile", &needs) {
        return Ok(Left::Stays(error.headline(site.layout())));
    }
    reset(target, images, site, &firmware)
}

/// Writes a word that ends the kernel; returns whether it has returned in time.
fn ends(
    target: &mut dyn Target,
    firmware: &Arc<Image>,
    place: Place,
    word: NocAddr,
    value: u32,
) -> Result<bool, ControlError> {
    let (go, done) = done_condition(mailbox(firmware)?);
    let mut operation = Operation::new(format!("end the kernel on {place}"));
    operation.write_word(word, value);
    operation.wait_for("the kernel has returned", place.at(go), done, PATIENCE_CYCLES);
    match operation.finish(target) {
        Ok(()) => Ok(true),
        Err(ControlError::TookTooLong { .. }) => Ok(false),
        Err(error) => Err(error),
    }
}

/// An Ethernet core is never reset: it serves its link, and the chips behind it.
fn leave_ethernet(
    target: &mut dyn Target,
    firmware: &Arc<Image>,
    place: Place,
) -> Result<Left, RunError> {
    let path = "mailboxes->launch[0].kernel_config.exit_erisc_kernel";
    if let Ok(exit) = firmware.symbols.locate(path) {
        let at = exit.address();
        let addr = place.at(at & !3);
        let word = target.read(&Plan { spans: vec![Span { addr, len: 4 }] });
        let old = word.word(addr)?;
        if ends(target, firmware, place, addr, old | 1 << (8 * (at & 3)))? {
            return Ok(Left::EndedWithApplication);
        }
    }
    let why = "an Ethernet core is not reset, because it serves its link".to_owned();
    Ok(Left::Stays(why))
}

fn reset(
    target: &mut dyn Target,
    images: &mut ImageMap,
    site: &KernelSite,
    firmware: &Image,
) -> Result<Left, RunError> {
    let known = [Firmware::BUILT_IN, Firmware::METAL];
    let known = known.into_iter().find(|known| known.tensix[0] == firmware.name);
    if let Some(known) = known {
        boot_tensix(images, known, site.place)?.finish(target)?;
        return Ok(Left::Rebooted);
    }
    let tensix = &site.layout().tensix;
    let Some(at) = site.layout().soft_reset(TileKind::Tensix) else {
        return Ok(Left::Stays("its tile has no reset".to_owned()));
    };
    let mut operation = Operation::new(format!("reset {}", site.place));
    operation.write_word(site.place.at(at), tensix.reset_all);
    operation.finish(target)?;
    Ok(Left::InReset)
}

/// Returns the address of the word that ends a kernel.
fn termination_word(kernel: &Image) -> Option<u64> {
    let names = kernel.symbols.variable_names();
    let word = |name: &String| kernel.symbols.locate(&format!("{name}.{SIGNAL}")).ok();
    Some(names.iter().find_map(word)?.address())
}
