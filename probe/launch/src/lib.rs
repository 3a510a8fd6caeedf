//! Commands that change the machine: boot, launch, pause, tear down.
//!
//! An [`Operation`] is a list of [`Step`]s (writes and words to wait for) that a thread polls
//! between snapshots. Nothing here blocks, and a dropped command stops where it is. [`Firmware`]
//! names the images that boot tiles. [`launch_kernel`] and [`KernelLaunch`] start a kernel as
//! tt-metal's host does, [`elf_kernel`] one of a person's ELF. [`RingPing`] and [`Dispatcher`] are workloads of several kernels.
//! [`pause`] parks kernels and resumes them. [`topology`] finds rings and lines in a mesh. [`occupancy`] reports what uses a tile.
//! [`sampling`] reads program counters. [`debugging`] pauses and steps cores. `fabric`
//! and `collectives` build on this crate.
//!
//! ```
//! use launch::{Condition, Operation};
//! use layouts::{ChipId, NocAddr, NocXy};
//!
//! let addr = NocAddr { chip: ChipId(0), tile: NocXy { x: 1, y: 2 }, offset: 0x2_0000 };
//! let mut start = Operation::new("start");
//! start.write_word(addr, 1);
//! start.wait("the answer", addr, Condition::Masked { mask: 0xFF, value: 2 });
//! assert_eq!(start.steps().len(), 2); // start.poll(target) carries them out
//! ```
//!
//! # Invariants
//!
//! The same steps serve the emulator, ttsim and silicon. Deadlines count the target's own time.

pub mod cause;
pub mod debugging;
pub mod dice;
mod dispatch;
pub mod elf_kernel;
mod erisc;
mod firmware;
mod kernel;
mod l1_range;
pub mod occupancy;
mod operation;
pub mod outcome;
pub mod pause;
pub mod records;
mod ring;
mod ring_ping;
mod running;
pub mod sampling;
mod sentence;
pub mod task;
mod tensix;
mod together;
pub mod topology;
pub mod undebuggable;

pub use dispatch::{
    DispatchCommand, DispatchReport, Dispatcher, HOST_PATIENCE_CYCLES, HOST_POLL_CYCLES,
    HostTimeout, HostView, HostWait,
};
pub use erisc::{return_application, start_application, stop_application};
pub use firmware::Firmware;
pub use kernel::{KernelLaunch, NcriscKernel};
pub use kernel::{await_done, done_condition, semaphore_address};
pub use kernel::{go_kernel, launch_kernel, place_kernel, place_kernels};
pub use l1_range::{arguments, constant_of, mailbox};
pub use operation::{Condition, ControlError, Operation, Step};
pub use ring::{Ring, RingStop};
pub use ring_ping::{RingPing, RingPingSettings};
pub use running::{holding, running};
pub use sentence::{reason, step};
pub use tensix::{CONFIG_BASE, TEXT_OFFSET};
pub use tensix::{Pattern, boot_tensix, launch_worker, running_workers, stop_workers};
pub use together::OperationGroup;

use images::{Image, ImageMap};
use std::sync::Arc;

/// Returns the image of this name.
///
/// # Errors
/// `NoImage`.
pub fn image(images: &ImageMap, name: &str) -> Result<Arc<Image>, ControlError> {
    images.named(name).cloned().ok_or_else(|| ControlError::NoImage(name.to_owned()))
}
