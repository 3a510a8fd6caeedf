//! Commands that change the machine: boot, launch, pause, tear down.
//!
//! Each is a list of steps that a thread polls between samples; nothing here blocks, and a command
//! that is dropped stops where it is. The same steps serve the emulator, ttsim and silicon.

mod dispatch;
mod erisc;
mod firmware;
mod kernel;
mod operation;
mod ring;
mod ring_ping;
mod running;
mod stretch;
mod tensix;
mod together;

pub use dispatch::{
    Command, DispatchReport, Dispatcher, HOST_PATIENCE_CYCLES, HOST_POLL_CYCLES, HostPatience,
    HostView, HostWait,
};
pub use erisc::{start_application, stop_application};
pub use firmware::Firmware;
pub use kernel::{KernelLaunch, go_kernel, launch_kernel, place_kernel};
pub(crate) use kernel::{await_done, done, semaphore_address};
pub use operation::{Condition, ControlError, Operation, Progress, Step};
pub use ring::{Ring, RingStop};
pub use ring_ping::{RingPing, RingPingSettings};
pub(crate) use running::{compute_tiles, running};
pub(crate) use stretch::{arguments, constant_of, mailbox};
pub(crate) use tensix::{CONFIG_BASE, TEXT_OFFSET};
pub use tensix::{Pattern, boot_tensix, launch_worker, running_workers, stop_workers};
pub use together::Together;

use crate::images::{Image, ImageMap};
use layouts::{ChipId, NocAddr, NocXy};
use std::fmt;
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

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.chip, self.tile)
    }
}

pub(crate) fn image(images: &ImageMap, name: &str) -> Result<Arc<Image>, ControlError> {
    images.named(name).cloned().ok_or_else(|| ControlError::NoImage(name.to_owned()))
}
