//! Ethernet tiles: starting application firmware over base firmware, and stopping it.

use super::firmware::{clear_tables, load};
use super::l1_range::{fresh_mailbox, mailbox};
use super::{Condition, ControlError, Firmware, Operation, image};
use images::{Image, ImageMap, Provenance, member};
use layouts::{CoreId, CoreKind};
use machine::place::Place;
use machine::target::Target;

/// The waypoint of an application that waits for a go message.
const WAITS_FOR_GO: &str = "GW";

/// Starts the application firmware on an Ethernet tile (wormhole.md 7.1).
///
/// # Errors
/// When the image is missing or does not describe its mailbox.
pub fn start_application(
    images: &mut ImageMap,
    firmware: Firmware,
    place: Place,
) -> Result<Operation, ControlError> {
    let app = image(images, firmware.application)?;
    let layout = images.layout();
    let l1 = &layout.eth.l1;
    let mut operation =
        Operation::new(format!("start {} on {}:{}", app.name, place.chip, place.tile));
    operation.wait("base firmware is ready", place.at(l1.yield_pointer.at), Condition::Nonzero);
    // One write covers everything from the routing words over erisc_info to the end of the mailbox.
    let routing = routing_enabled(&app)?;
    let fresh = fresh_mailbox(&app, routing)?;
    operation.write(place.at(fresh.start), fresh.bytes);
    clear_tables(&mut operation, place, &app);
    load(&mut operation, place, &app)?;
    operation.write_word(place.at(l1.launch_flag.at), 1);
    enable_routing(&mut operation, &app, place)?;
    let core = CoreId { chip: place.chip, tile: place.tile, core: CoreKind::Erisc };
    images.declare(core, firmware.application, Provenance::Stated);
    Ok(operation)
}

/// Returns the core to base firmware. Kernels must have ended.
///
/// # Errors
/// When the image is missing or does not describe its routing word.
pub fn stop_application(
    images: &ImageMap,
    firmware: Firmware,
    place: Place,
) -> Result<Operation, ControlError> {
    let app = image(images, firmware.application)?;
    let mut operation =
        Operation::new(format!("stop {} on {}:{}", app.name, place.chip, place.tile));
    operation.write_word(place.at(routing_enabled(&app)?), 0);
    // The application clears the flag itself: a host's 0 would freeze the core (wormhole.md 7).
    let released = Condition::Masked { mask: u32::MAX, value: 0 };
    let flag = images.layout().eth.l1.launch_flag.at;
    operation.wait("the application returns the core", place.at(flag), released);
    Ok(operation)
}

/// Lets an application that has just started run kernels, and waits until it does.
fn enable_routing(
    operation: &mut Operation,
    app: &Image,
    place: Place,
) -> Result<(), ControlError> {
    let layout = app.layout;
    let routing = routing_enabled(app)?;
    let waypoint = mailbox(app)?.waypoint(CoreKind::Erisc);
    let has_waypoint = app.waypoint_places(WAITS_FOR_GO, waypoint).next().is_some();
    if !has_waypoint {
        // Without waypoints this is the only sign of life.
        let sign = place.at(layout.blocks.eth_niu0 + layout.niu.router_cfg_2.at);
        let waits = u32::from(layout.eth.values.application_waits) << 16;
        let waits = Condition::Masked { mask: 0xFFFF_0000, value: waits };
        operation.wait("the application waits for routing", sign, waits);
    }
    operation.write_word(place.at(routing), 1);
    if has_waypoint {
        let mut letters = [0; 4];
        letters[..WAITS_FOR_GO.len()].copy_from_slice(WAITS_FOR_GO.as_bytes());
        let waits = Condition::Masked { mask: u32::MAX, value: u32::from_le_bytes(letters) };
        operation.wait("the application waits for a go message", place.at(waypoint), waits);
    }
    Ok(())
}

/// Returns the core to base firmware as [`stop_application`] does, also from an application whose
/// start was cut off before it was let run kernels.
///
/// # Errors
/// As [`stop_application`], or when the core cannot be read.
pub fn return_application(
    target: &mut dyn Target,
    images: &ImageMap,
    firmware: Firmware,
    place: Place,
) -> Result<Operation, ControlError> {
    let app = image(images, firmware.application)?;
    let addr = place.at(routing_enabled(&app)?);
    let enabled = target.read_word(addr).map_err(|reason| ControlError::Access { addr, reason })?;
    let mut operation = Operation::new(format!("return {place} to base firmware"));
    if enabled == 0 {
        enable_routing(&mut operation, &app, place)?;
    }
    operation.then(stop_application(images, firmware, place)?);
    Ok(operation)
}

/// Returns the address of the word that lets the application run kernels.
fn routing_enabled(app: &Image) -> Result<u64, ControlError> {
    let word = member(app.layout, &app.symbols, "routing_info", "routing_enabled");
    word.ok_or_else(|| ControlError::NoMember(app.name.clone(), "routing_enabled".to_owned()))
}
