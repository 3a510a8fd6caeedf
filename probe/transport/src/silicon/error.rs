//! Why a device cannot be opened. Each error has one sentence, and determines the exit code.

use layouts::ChipKind;
use machine::clients::Holder;
use std::io;
use thiserror::Error;

/// Why a device cannot be opened.
#[derive(Debug, Error)]
pub enum DeviceError {
    /// There is no device file: the driver is not loaded or found no card.
    #[error(
        "{path}: no such device; check that the tenstorrent driver is loaded and lspci shows a card"
    )]
    NoDevice {
        /// The missing file or folder.
        path: String,
    },
    /// The file is no device of the driver.
    #[error("{path} is {what}, not a device of the tenstorrent driver")]
    NotADevice {
        /// The file.
        path: String,
        /// What it is.
        what: String,
    },
    /// The user has no permission to open the device.
    #[error("{path}: no permission to read and write; {}", denied(*.mode))]
    NoPermission {
        /// The device file.
        path: String,
        /// Its permission bits, if they can be seen.
        mode: Option<u32>,
    },
    /// Another client has opened the device exclusively.
    #[error("{path} is opened exclusively by {}", named(.holders))]
    Exclusive {
        /// The device file.
        path: String,
        /// Processes that have it open.
        holders: Vec<Holder>,
    },
    /// The driver is too old to have the window interface.
    #[error("{path}: tenstorrent driver {}.{}.{} with interface {api} is too old; 2.0.0 with interface 2 is the first that allocates windows", .version[0], .version[1], .version[2])]
    OldDriver {
        /// The device file.
        path: String,
        /// Version of its interface.
        api: u32,
        /// Its own version.
        version: [u8; 3],
    },
    /// The chip is of an unknown kind.
    #[error("{path} is {}", ChipKind::unknown_device(*.id))]
    UnknownDevice {
        /// The device file.
        path: String,
        /// Word 0 of its config space: device and vendor.
        id: u32,
    },
    /// All TLB windows are allocated.
    #[error("{path} has no free TLB window; a hung process may hold some; \
                 processes with the device open: {}", named(.holders))]
    NoWindows {
        /// The device file.
        path: String,
        /// Processes that have it open.
        holders: Vec<Holder>,
    },
    /// The device was reset or removed while it was opened.
    #[error("{path} was reset or removed while it was opened")]
    Gone {
        /// The device file.
        path: String,
    },
    /// Another error of the system or the driver.
    #[error("{path}: {what}: {error}")]
    System {
        /// The device file.
        path: String,
        /// The failed request.
        what: &'static str,
        /// The error.
        #[source]
        error: io::Error,
    },
}

/// Permission bits that let everybody read and write.
const ALL_MAY: u32 = 0o666;

impl DeviceError {
    /// Whether the file itself is unusable, so that a retry is useless.
    pub fn is_unusable_input(&self) -> bool {
        matches!(self, Self::NotADevice { .. } | Self::UnknownDevice { .. })
    }
}

/// Formats the list of holders.
pub(crate) fn named(holders: &[Holder]) -> String {
    if holders.is_empty() {
        return "none visible".to_owned();
    }
    holders.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

fn denied(mode: Option<u32>) -> String {
    match mode {
        Some(mode) if mode & ALL_MAY == ALL_MAY => {
            format!("its mode {mode:04o} allows it: a container or a security module denies it")
        }
        Some(mode) => format!(
            "its mode is {mode:04o}: install the driver's udev rule, which makes it 0666, or join the group that owns it"
        ),
        None => "its folder is not accessible".to_owned(),
    }
}
