//! The real driver: opens, calls and maps its device files.
//!
//! Devices are opened with O_APPEND, which for the driver means "no vote on power". After a plain
//! open the driver requests high power of the chip's firmware, and low power some seconds after the
//! last close, so that reading an idle chip would wake it. (One side effect remains: an open within
//! the driver's grace period cancels a power-down that the end of an earlier client scheduled.)
//! O_NONBLOCK turns a device that another client opened with O_EXCL into an error instead of an
//! endless wait. meshscope never uses O_EXCL.

use super::cards;
use super::error::DeviceError;
use super::holders::Processes;
use super::identity::Identity;
use super::kmd::{Driver, DriverFile, Ioctl};
use super::mapping::Mapping;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// tt-kmd on this host.
pub(super) struct KernelDriver {
    /// Folder of its device files.
    pub(super) folder: PathBuf,
}

impl Driver for KernelDriver {
    fn devices(&self) -> Result<Vec<u16>, DeviceError> {
        let path = || self.folder.display().to_string();
        let names = std::fs::read_dir(&self.folder).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => DeviceError::NoDevice { path: path() },
            _ => DeviceError::System { path: path(), what: "listing devices", error },
        })?;
        let numbers = names.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        let mut numbers: Vec<u16> = numbers.collect();
        numbers.sort_unstable();
        Ok(numbers)
    }

    fn open(&self, number: u16) -> Result<Box<dyn DriverFile>, DeviceError> {
        let path = self.folder.join(number.to_string());
        let file = open(&path).map_err(|error| open_error(&path, number, error))?;
        let kind = file.metadata().map(|about| about.file_type());
        if !kind.is_ok_and(|kind| kind.is_char_device()) {
            return Err(not_a_device(&path));
        }
        Ok(Box::new(DeviceFile(file)))
    }

    fn identity(&self, number: u16) -> Option<Identity> {
        cards::identity(Path::new("/"), number)
    }
}

fn open(path: &Path) -> io::Result<File> {
    // A file that is no character device is not opened.
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
        _ => "a special file",
    };
    DeviceError::NotADevice { path: path.display().to_string(), what: what.to_owned() }
}

fn open_error(file: &Path, number: u16, error: io::Error) -> DeviceError {
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
        _ => DeviceError::System { path, what: "open", error },
    }
}

/// An open device file. Dropped after its mappings, it releases windows and locks, as the kernel
/// does if this process dies.
struct DeviceFile(File);

impl DriverFile for DeviceFile {
    fn call(&self, call: &mut Ioctl) -> io::Result<()> {
        let number = call.number();
        let argument = call.argument().as_mut_ptr();
        // SAFETY: `Ioctl::new` makes each argument as long as the driver's structure for its number,
        // output included, and the argument outlives the call.
        let result = unsafe { libc::ioctl(self.0.as_raw_fd(), number.into(), argument) };
        if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }

    fn map(&self, offset: u64, len: usize) -> io::Result<Mapping> {
        Mapping::of(self.0.as_fd(), offset, len)
    }
}
