//! Commands that change the machine: boot, launch, pause, tear down.
//!
//! Each is a list of steps that a thread polls between samples; nothing here blocks, and a command
//! that is dropped stops where it is. The same steps serve the emulator, ttsim and silicon.

mod erisc;
mod kernel;
mod operation;
mod ring;
mod ring_ping;
mod tensix;

pub use erisc::{start_application, stop_application};
pub use kernel::{KernelLaunch, launch_kernel};
pub use operation::{Condition, ControlError, Operation, Progress, Step};
pub use ring::{Ring, RingStop};
pub use ring_ping::{RingPing, RingPingSettings};
pub use tensix::{boot_tensix, launch_worker};

use crate::images::{Image, ImageMap};
use layouts::{ChipId, NocAddr, NocXy};
use std::sync::Arc;

/// A tile that a command works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The chip.
    pub chip: ChipId,
    /// The tile, NOC 0 coordinates.
    pub tile: NocXy,
}

impl Place {
    /// An address in the tile.
    pub fn at(self, offset: u64) -> NocAddr {
        NocAddr { chip: self.chip, tile: self.tile, offset }
    }
}

fn image(images: &ImageMap, name: &str) -> Result<Arc<Image>, ControlError> {
    images.named(name).cloned().ok_or_else(|| ControlError::NoImage(name.to_owned()))
}

/// Writes the loadable segments of an image; what is more than their bytes the image clears itself.
fn load(operation: &mut Operation, place: Place, image: &Image) {
    for segment in image.symbols.segments() {
        if !segment.bytes.is_empty() {
            operation.write(place.at(segment.load_address), segment.bytes.to_vec());
        }
    }
}

/// Bytes of a stretch of L1 that are put together by name and then written in one go.
struct Stretch {
    start: u64,
    bytes: Vec<u8>,
}

impl Stretch {
    fn zeros(start: u64, len: u64) -> Self {
        Self { start, bytes: vec![0; len as usize] }
    }

    /// Puts the low `size` bytes of a value at an address; outside the stretch nothing happens.
    fn put(&mut self, at: u64, size: usize, value: u64) {
        let start = at.checked_sub(self.start).map(|start| start as usize);
        let place = start.and_then(|start| self.bytes.get_mut(start..start + size));
        if let Some(place) = place {
            place.copy_from_slice(&value.to_le_bytes()[..size]);
        }
    }

    fn put_word(&mut self, at: u64, value: u32) {
        self.put(at, 4, value.into());
    }
}

/// The mailbox of a tile at rest: zeros, unset waypoints, and INIT to be acknowledged.
fn fresh_mailbox(image: &Image, start: u64) -> Result<Stretch, ControlError> {
    const UNSET: u32 = u32::from_le_bytes(*b"XXXX");
    const RUN_MSG_INIT: u64 = 0x40;
    let mailbox = image.mailbox.as_ref();
    let mailbox = mailbox.ok_or_else(|| ControlError::NoMember(image.name.clone(), "mailboxes"))?;
    let start = start.min(mailbox.base);
    let mut stretch = Stretch::zeros(start, mailbox.base + mailbox.bytes - start);
    for core in 0..5 {
        stretch.put_word(mailbox.waypoints + 4 * core, UNSET);
    }
    stretch.put(mailbox.go_signal, 1, RUN_MSG_INIT);
    Ok(stretch)
}
