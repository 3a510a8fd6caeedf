//! Silicon behind tt-kmd: the kernel driver's devices as one bus (facts: wormhole.md 1 and wormhole.md 2).
//!
//! The driver's interface is spoken here by hand. The one crate that speaks it, `luwen-kmd` (looked at: 0.10),
//! does not serve a client that only looks and lives long: it panics where BAR0 cannot be mapped or an
//! address is outside of a window; opening a device allocates DMA buffers and maps, writable, all of BAR0
//! behind the windows, registers that can damage the board included; it takes none of the driver's
//! locks, and it dies of SIGBUS when somebody else resets the chip. What a client that looks needs of
//! the driver are six requests.
//!
//! * `kmd` knows requests as bytes, and the small traits that a double can stand in for.
//! * `os`, `mapping` and `sigbus` touch the system; nothing else here is unsafe.
//! * `device` is one open device with its windows, `bar` all of them as a [`machine::bar::Bar`].
//! * `holders` tells who else has a device open.

mod bar;
mod device;
mod error;
mod holders;
mod kmd;
#[allow(unsafe_code, reason = "device memory is mapped, loaded from and stored to")]
mod mapping;
#[allow(unsafe_code, reason = "the driver is asked by ioctl")]
mod os;
#[allow(unsafe_code, reason = "a signal handler is installed")]
mod sigbus;

pub use bar::SiliconBar;
pub use error::DeviceError;

use machine::patience::Patience;
use machine::target::Abilities;
use std::time::Duration;

/// What silicon can do. It must not be asked for what the allow-list lacks, which is silicon's own. A read costs about a
/// microsecond of a real bus (wormhole.md 1.4), which others need too: a twentieth of it is ours.
pub fn abilities() -> Abilities {
    Abilities { budget: Some(50_000), ..Abilities::default() }
}

/// A far chip may have to wait for an application that seldom yields, and this host for its scheduler:
/// the cycles are nanoseconds of host time here. The vendor's library waits for 5 s.
pub const PATIENCE: Patience = Patience {
    deadline_cycles: 250_000_000,
    chip_cycles: 2_000_000_000,
    retry_cycles: 1_000_000_000,
    watchdog: Duration::from_mins(1),
};

#[cfg(test)]
mod tests;
