//! Why a device cannot be opened: one sentence each, from which the exit code follows.

use layouts::ChipKind;
use machine::bar::Holder;
use std::fmt;
use std::io;

/// Why a device cannot be opened.
#[derive(Debug)]
pub enum DeviceError {
    /// There is no device file; the driver is not loaded or found no card.
    NoDevice {
        /// The file or folder that is not there.
        path: String,
    },
    /// The file is none of the driver's.
    NotADevice {
        /// The file.
        path: String,
        /// What it is instead.
        what: String,
    },
    /// This user may not open the device.
    NoPermission {
        /// The device file.
        path: String,
        /// Its permission bits, if they can be seen.
        mode: Option<u32>,
    },
    /// Another client has the device for itself alone.
    Exclusive {
        /// The device file.
        path: String,
        /// Who has it open.
        holders: Vec<Holder>,
    },
    /// The driver has no window interface yet.
    OldDriver {
        /// The device file.
        path: String,
        /// Version of its interface.
        api: u32,
        /// Its own version.
        version: [u8; 3],
    },
    /// It is a chip that this program does not know.
    UnknownDevice {
        /// The device file.
        path: String,
        /// Word 0 of its config space: device and vendor.
        id: u32,
    },
    /// All TLB windows are taken.
    NoWindows {
        /// The device file.
        path: String,
        /// Who has it open.
        holders: Vec<Holder>,
    },
    /// The device was reset or removed while it was opened.
    Gone {
        /// The device file.
        path: String,
    },
    /// The system or the driver refused something else.
    System {
        /// The device file.
        path: String,
        /// What was asked of it.
        what: &'static str,
        /// What it said.
        error: io::Error,
    },
}

/// Permission bits that let everybody read and write.
const ALL_MAY: u32 = 0o666;

impl DeviceError {
    /// Is the named thing itself unusable, so that trying again later is of no use?
    pub fn is_unusable_input(&self) -> bool {
        matches!(self, Self::NotADevice { .. } | Self::UnknownDevice { .. })
    }
}

/// People need names; a list is as long as it is.
pub(crate) fn named(holders: &[Holder]) -> String {
    if holders.is_empty() {
        return "nobody that can be seen from here".to_owned();
    }
    holders.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

impl fmt::Display for DeviceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoDevice { path } => write!(
                f,
                "{path}: there is no such device; is the tenstorrent driver loaded, and does lspci show a card?"
            ),
            Self::NotADevice { path, what } => {
                write!(f, "{path} is {what}, not a device of the tenstorrent driver")
            }
            Self::NoPermission { path, mode } => {
                write!(f, "{path}: no permission to open it for reading and writing; ")?;
                match mode {
                    Some(mode) if mode & ALL_MAY == ALL_MAY => write!(
                        f,
                        "its mode {mode:04o} allows it, so that a container or a security module must forbid it"
                    ),
                    Some(mode) => write!(
                        f,
                        "its mode is {mode:04o}: install the driver's udev rule, which makes it 0666, \
                         or join the group that owns it"
                    ),
                    None => f.write_str("its folder must let you in"),
                }
            }
            Self::Exclusive { path, holders } => {
                write!(f, "{path} is held by one client alone: {}", named(holders))
            }
            Self::OldDriver { path, api, version: [major, minor, patch] } => write!(
                f,
                "{path}: tenstorrent driver {major}.{minor}.{patch} with interface {api} is too old; \
                 2.0.0 with interface 2 is the first that lends windows"
            ),
            Self::UnknownDevice { path, id } => {
                write!(f, "{path} is {}", ChipKind::unknown_device(*id))
            }
            Self::NoWindows { path, holders } => write!(
                f,
                "{path} has no TLB window left: they are held, or leaked by a process that hangs; \
                 it is open in {}",
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
