//! The real driver: its device files, opened, asked and mapped.
//!
//! Devices are opened with O_APPEND, the driver's word for "no vote on power": a plain open makes it
//! ask the chip's firmware for high power, and for low power again some seconds after the last close,
//! so that looking at an idle chip would wake it. (One side effect remains: an open within the
//! driver's grace period cancels a power-down that an earlier client's end had scheduled.) O_NONBLOCK makes
//! a device that another client opened with O_EXCL an error instead of a wait without end; O_EXCL itself
//! is never used.

use super::error::DeviceError;
use super::holders::Processes;
use super::kmd::{Call, Driver, Node};
use super::mapping::Mapping;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// tt-kmd on this host.
pub(super) struct KernelDriver {
    /// Where its device files stand.
    pub(super) folder: PathBuf,
}

impl Driver for KernelDriver {
    fn devices(&self) -> Result<Vec<u16>, DeviceError> {
        let path = || self.folder.display().to_string();
        let names = std::fs::read_dir(&self.folder).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => DeviceError::NoDevice { path: path() },
            _ => DeviceError::System { path: path(), what: "listing the devices", error },
        })?;
        let numbers = names.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        let mut numbers: Vec<u16> = numbers.collect();
        numbers.sort_unstable();
        Ok(numbers)
    }

    fn open(&self, number: u16) -> Result<Box<dyn Node>, DeviceError> {
        let path = self.folder.join(number.to_string());
        let file = open(&path).map_err(|error| why(&path, number, error))?;
        let kind = file.metadata().map(|about| about.file_type());
        if !kind.is_ok_and(|kind| kind.is_char_device()) {
            return Err(not_a_device(&path));
        }
        Ok(Box::new(DeviceFile(file)))
    }
}

fn open(path: &Path) -> io::Result<File> {
    // A plain file, and what else may stand there, is not opened at all.
    let kind = std::fs::metadata(path)?.file_type();
    if !kind.is_char_device() {
        return Err(io::Error::from_raw_os_error(libc::ENOTTY));
    }
    OpenOptions::new().read(true).append(true).custom_flags(libc::O_NONBLOCK).open(path)
}

fn not_a_device(path: &Path) -> DeviceError {
    let kind = std::fs::metadata(path).map(|about| about.file_type());
    let what = match kind {
        Ok(kind) if kind.is_file() => "a plain file",
        Ok(kind) if kind.is_dir() => "a folder",
        _ => "something else",
    };
    DeviceError::NotADevice { path: path.display().to_string(), what: what.to_owned() }
}

fn why(file: &Path, number: u16, error: io::Error) -> DeviceError {
    let path = file.display().to_string();
    match error.raw_os_error() {
        Some(libc::ENOENT | libc::ENXIO | libc::ENODEV) => DeviceError::NoDevice { path },
        Some(libc::ENOTTY) => not_a_device(file),
        Some(libc::EACCES | libc::EPERM) => {
            let mode =
                std::fs::metadata(file).ok().map(|about| about.permissions().mode() & 0o7777);
            DeviceError::NoPermission { path, mode }
        }
        Some(libc::EAGAIN) => {
            DeviceError::Exclusive { path, holders: Processes::default().holding(number) }
        }
        _ => DeviceError::System { path, what: "opening it", error },
    }
}

/// An open device file. Dropped after its mappings it gives back windows and locks; so does the kernel
/// if this process dies.
struct DeviceFile(File);

impl Node for DeviceFile {
    fn call(&self, call: &mut Call) -> io::Result<()> {
        let number = call.number();
        let argument = call.argument().as_mut_ptr();
        // SAFETY: a `Call` is made in one place only, with an argument as long as the driver's structure
        // for that number, output size included, and it outlives the call.
        let result = unsafe { libc::ioctl(self.0.as_raw_fd(), number.into(), argument) };
        if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }

    fn map(&self, offset: u64, len: usize) -> io::Result<Mapping> {
        Mapping::of(self.0.as_fd(), offset, len)
    }
}
