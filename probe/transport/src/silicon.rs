//! Silicon behind tt-kmd: the kernel driver's devices as one bus (facts: wormhole.md 1 and
//! wormhole.md 2).
//!
//! The driver's interface is implemented here. The only crate for it, `luwen-kmd` (0.10 was
//! reviewed), does not suit a long-lived, read-only client. It panics where BAR0 cannot be mapped
//! or an address is outside of a window. Opening a device allocates DMA buffers and maps all of
//! BAR0 behind the windows as writable, including registers that can damage the board. It takes
//! none of the driver's locks, and it dies of SIGBUS when another client resets the chip. This
//! module needs six requests of the driver.
//!
//! * `kmd` encodes requests, and has the traits that a test double implements.
//! * `os`, `mapping` and `sigbus` touch the system; all `unsafe` is there.
//! * `identity` tells whether a device that was closed for a while is still the same, not reset.
//! * `device` is one open device with its windows, `bar` all of them as a [`machine::bar::Bar`].
//! * `cards` reads what the kernel tells of the cards without opening one, `holders` the processes
//!   that have one open, `host` whether this host is set up for them.

mod attribute;
mod bar;
pub mod cards;
mod device;
mod error;
mod holders;
pub mod host;
mod identity;
mod kmd;
#[allow(unsafe_code, reason = "device memory is mapped, loaded from and stored to")]
mod mapping;
#[allow(unsafe_code, reason = "the driver is called by ioctl")]
mod os;
#[allow(unsafe_code, reason = "a signal handler is installed")]
mod sigbus;

pub use bar::SiliconBar;
pub use error::DeviceError;

use machine::patience::Deadlines;
use machine::target::Abilities;
use std::time::Duration;

/// Returns what silicon supports, and what must not be accessed although the allow-list has it. A
/// read takes about a microsecond of the bus (wormhole.md 1.4), which other clients share:
/// meshscope uses at most a twentieth.
///
/// # Errors
/// When the shipped list is invalid.
pub fn abilities() -> Result<Abilities, String> {
    let refusals = layouts::silicon_refusals()?;
    Ok(Abilities { budget: Some(50_000), refusals, ..Abilities::default() })
}

/// Covers applications that seldom yield and the host's scheduler. The cycles are nanoseconds of
/// host time here. The vendor's library waits for 5 s.
pub const PATIENCE: Deadlines = Deadlines {
    deadline_cycles: 250_000_000,
    chip_cycles: 2_000_000_000,
    retry_cycles: 1_000_000_000,
    watchdog: Duration::from_mins(1),
};

#[cfg(test)]
mod tests;
