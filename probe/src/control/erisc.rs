//! Ethernet tiles: the application takes the core over from base firmware, and gives it back.

use super::{Condition, ControlError, Operation, Place, fresh_mailbox, image, load};
use crate::images::ImageMap;
use crate::state::ImageEvidence;
use layouts::{CoreId, CoreKind, wormhole};

/// Name of our application firmware.
const APPLICATION: &str = "erisc_app";

/// A waypoint word.
fn letters(code: [u8; 4]) -> Condition {
    Condition::Masked { mask: u32::MAX, value: u32::from_le_bytes(code) }
}

/// Starts the application firmware on an Ethernet tile (wormhole.md 7.1).
///
/// # Errors
/// When the image is missing or does not describe its mailbox.
pub fn start_application(images: &mut ImageMap, place: Place) -> Result<Operation, ControlError> {
    let app = image(images, APPLICATION)?;
    let l1 = &wormhole().eth.l1;
    let mut operation =
        Operation::new(format!("start {APPLICATION} on {}:{}", place.chip, place.tile));
    operation.wait("base firmware is ready", place.at(l1.yield_pointer.at), Condition::Nonzero);
    // Everything from the routing words over erisc_info to the mailbox's end, in one write.
    let fresh = fresh_mailbox(&app, l1.routing_enabled.at)?;
    operation.write(place.at(fresh.start), fresh.bytes);
    load(&mut operation, place, &app);
    operation.write_word(place.at(l1.launch_flag.at), 1);
    operation.write_word(place.at(l1.routing_enabled.at), 1);
    if let Some(mailbox) = &app.mailbox {
        let waypoint = place.at(mailbox.waypoint(CoreKind::Erisc));
        operation.wait("the application waits for a go message", waypoint, letters(*b"GW\0\0"));
    }
    let core = CoreId { chip: place.chip, tile: place.tile, core: CoreKind::Erisc };
    images.tell(core, APPLICATION, ImageEvidence::Told);
    Ok(operation)
}

/// Gives the core back to base firmware. A kernel must have ended before.
pub fn stop_application(place: Place) -> Operation {
    let l1 = &wormhole().eth.l1;
    let mut operation =
        Operation::new(format!("stop {APPLICATION} on {}:{}", place.chip, place.tile));
    operation.write_word(place.at(l1.routing_enabled.at), 0);
    // The application clears the flag itself: a host's 0 would freeze the core (wormhole.md 7).
    let released = Condition::Masked { mask: u32::MAX, value: 0 };
    operation.wait("the application leaves", place.at(l1.launch_flag.at), released);
    operation
}
