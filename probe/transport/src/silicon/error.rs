//! Why a device cannot be opened. Each error has one sentence, and determines the exit code.

use layouts::ChipKind;
use machine::clients::Holder;
use std::fmt;
use std::io;

/// Why a device cannot be opened.
#[derive(Debug)]
pub enum DeviceError {
    /// There is no device file: the driver is not loaded or found no card.
    NoDevice {
        /// The missing file or folder.
        path: String,
    },
    /// The file is no device of the driver.
    NotADevice {
        /// The file.
        path: String,
        /// What it is.
        what: String,
    },
    /// The user has no permission to open the device.
    NoPermission {
        /// The device file.
        path: String,
        /// Its permission bits, if they can be seen.
        mode: Option<u32>,
    },
    /// Another client has opened the device exclusively.
    Exclusive {
        /// The device file.
        path: String,
        /// Processes that have it open.
        holders: Vec<Holder>,
    },
    /// The driver is too old to have the window interface.
    OldDriver {
        /// The device file.
        path: String,
        /// Version of its interface.
        api: u32,
        /// Its own version.
        version: [u8; 3],
    },
    /// The chip is of an unknown kind.
    UnknownDevice {
        /// The device file.
        path: String,
        /// Word 0 of its config space: device and vendor.
        id: u32,
    },
    /// All TLB windows are allocated.
    NoWindows {
        /// The device file.
        path: String,
        /// Processes that have it open.
        holders: Vec<Holder>,
    },
    /// The device was reset or removed while it was opened.
    Gone {
        /// The device file.
        path: String,
    },
    /// Another error of the system or the driver.
    System {
        /// The device file.
        path: String,
        /// The failed request.
        what: &'static str,
        /// The error.
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

impl fmt::Display for DeviceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoDevice { path } => write!(
                f,
                "{path}: no such device; check that the tenstorrent driver is loaded and lspci shows a card"
            ),
            Self::NotADevice { path, what } => {
                write!(f, "{path} is {what}, not a device of the tenstorrent driver")
            }
            Self::NoPermission { path, mode } => {
                write!(f, "{path}: no permission to read and write; ")?;
                match mode {
                    Some(mode) if mode & ALL_MAY == ALL_MAY => write!(
                        f,
                        "its mode {mode:04o} allows it: a container or a security module denies it"
                    ),
                    Some(mode) => write!(
                        f,
                        "its mode is {mode:04o}: install the driver's udev rule, which makes it 0666, \
                         or join the group that owns it"
                    ),
                    None => f.write_str("its folder is not accessible"),
                }
            }
            Self::Exclusive { path, holders } => {
                write!(f, "{path} is opened exclusively by {}", named(holders))
            }
            Self::OldDriver { path, api, version: [major, minor, patch] } => write!(
                f,
                "{path}: tenstorrent driver {major}.{minor}.{patch} with interface {api} is too old; \
                 2.0.0 with interface 2 is the first that allocates windows"
            ),
            Self::UnknownDevice { path, id } => {
                write!(f, "{path} is {}", ChipKind::unknown_device(*id))
            }
            Self::NoWindows { path, holders } => write!(
                f,
                "{path} has no free TLB window; a hung process may hold some; \
                 processes with the device open: {}",
                named(holders)
            ),
            Self::Gone { path } => write!(f, "{path} was reset or removed while it was opened"),
            Self::System { path, what, error } => write!(f, "{path}: {what}: {error}"),
        }
    }
}

impl std::error::Error for DeviceError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::System { error, .. } => Some(error),
            _ => None,
        }
    }
}
