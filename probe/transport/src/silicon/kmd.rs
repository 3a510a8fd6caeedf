//! Requests to tt-kmd as bytes: request numbers, sizes and offsets of its interface version 2
//! (wormhole.md 2.1).
//!
//! All numbers are little-endian, as on every host that a card can be plugged into.

use super::error::DeviceError;
use super::identity::Identity;
use super::mapping::Mapping;
use machine::window::WindowOrdering;
use std::io;

/// Folder of the device files.
pub(super) const FOLDER: &str = "/dev/tenstorrent";

/// Base of the request numbers; they encode no size.
const BASE: u32 = 0xFA00;
/// Length of the longest argument: the six mappings.
const LONGEST: usize = 8 + MAPPINGS * MAPPING_BYTES;
const MAPPINGS: usize = 6;
const MAPPING_BYTES: usize = 24;

/// The interface of the driver.
pub(crate) trait Driver: Send + Sync {
    /// Lists the numbers of the device files, ascending.
    fn devices(&self) -> Result<Vec<u16>, DeviceError>;
    /// Opens a device without changing its power and without excluding other clients.
    fn open(&self, number: u16) -> Result<Box<dyn DriverFile>, DeviceError>;
    /// Tells by what the card is known again, if its driver and firmware say enough for that.
    fn identity(&self, number: u16) -> Option<Identity>;
}

/// An open device file.
pub(crate) trait DriverFile: Send {
    /// Makes a request.
    fn call(&self, call: &mut Ioctl) -> io::Result<()>;
    /// Maps `len` bytes, uncached, from an offset that the driver returned.
    fn map(&self, offset: u64, len: usize) -> io::Result<Mapping>;
}

/// A request with its argument: the input, followed by the output.
#[derive(Clone, Debug)]
pub(crate) struct Ioctl {
    number: u32,
    argument: [u8; LONGEST],
    len: usize,
}

impl Ioctl {
    fn new(number: u32, input: usize, output: usize) -> Self {
        Self { number: BASE + number, argument: [0; LONGEST], len: input + output }
    }

    /// Returns the request number for `ioctl`.
    pub(crate) fn number(&self) -> u32 {
        self.number
    }

    /// Returns the argument, in the length that the driver expects.
    pub(crate) fn argument(&mut self) -> &mut [u8] {
        &mut self.argument[..self.len]
    }

    fn put(mut self, at: usize, bytes: &[u8]) -> Self {
        self.argument[at..at + bytes.len()].copy_from_slice(bytes);
        self
    }

    fn made(mut self, node: &dyn DriverFile) -> io::Result<Self> {
        node.call(&mut self)?;
        Ok(self)
    }

    fn bytes<const N: usize>(&self, at: usize) -> [u8; N] {
        let mut bytes = [0; N];
        bytes.copy_from_slice(&self.argument[at..at + N]);
        bytes
    }

    fn u16(&self, at: usize) -> u16 {
        u16::from_le_bytes(self.bytes(at))
    }

    fn u32(&self, at: usize) -> u32 {
        u32::from_le_bytes(self.bytes(at))
    }

    fn u64(&self, at: usize) -> u64 {
        u64::from_le_bytes(self.bytes(at))
    }
}

/// GET_DEVICE_INFO: vendor and device id.
pub(crate) fn device_ids(node: &dyn DriverFile) -> io::Result<(u16, u16)> {
    let call = Ioctl::new(0, 4, 20).put(0, &20_u32.to_le_bytes()).made(node)?;
    Ok((call.u16(8), call.u16(10)))
}

/// GET_DRIVER_INFO: version of the interface and of the driver.
pub(crate) fn driver_version(node: &dyn DriverFile) -> io::Result<(u32, [u8; 3])> {
    let call = Ioctl::new(5, 4, 12).put(0, &12_u32.to_le_bytes()).made(node)?;
    Ok((call.u32(8), call.bytes(12)))
}

/// QUERY_MAPPINGS: offset for mapping BAR0 uncached, and its size.
pub(crate) fn bar0(node: &dyn DriverFile) -> io::Result<Option<(u64, u64)>> {
    const BAR0_UNCACHED: u32 = 1;
    let count = (MAPPINGS as u32).to_le_bytes();
    let call = Ioctl::new(2, 8, MAPPINGS * MAPPING_BYTES).put(0, &count).made(node)?;
    let entries = (0..MAPPINGS).map(|index| 8 + index * MAPPING_BYTES);
    let found = entries.into_iter().find(|&at| call.u32(at) == BAR0_UNCACHED);
    Ok(found.map(|at| (call.u64(at + 8), call.u64(at + 16))))
}

/// ALLOCATE_TLB: allocates a window of exactly this size; returns its hardware index and the offset
/// for mapping it uncached.
pub(crate) fn allocate_window(node: &dyn DriverFile, bytes: u64) -> io::Result<(u16, u64)> {
    let call = Ioctl::new(11, 16, 32).put(0, &bytes.to_le_bytes()).made(node)?;
    Ok((call.u32(16) as u16, call.u64(24)))
}

/// CONFIGURE_TLB: points an allocated window at a page of a tile, unicast on NoC 0.
pub(crate) fn point_window(
    node: &dyn DriverFile,
    window: u16,
    (x, y): (u8, u8),
    page: u64,
    order: WindowOrdering,
) -> io::Result<()> {
    let ordering = match order {
        WindowOrdering::Memory => 0,
        WindowOrdering::Strict => 1,
    };
    let call = Ioctl::new(13, 40, 8)
        .put(0, &u32::from(window).to_le_bytes())
        .put(8, &page.to_le_bytes())
        .put(16, &u16::from(x).to_le_bytes())
        .put(18, &u16::from(y).to_le_bytes())
        .put(26, &[ordering]);
    call.made(node).map(drop)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LockAction {
    /// Takes the lock if it is free.
    Acquire,
    /// Releases the lock.
    Release,
}

/// LOCK_CTL: returns whether the lock was taken, or was held and released.
pub(crate) fn lock(node: &dyn DriverFile, index: u8, action: LockAction) -> io::Result<bool> {
    let flags: u32 = match action {
        LockAction::Acquire => 0,
        LockAction::Release => 1,
    };
    let call = Ioctl::new(8, 12, 4)
        .put(0, &4_u32.to_le_bytes())
        .put(4, &flags.to_le_bytes())
        .put(8, &[index]);
    Ok(call.made(node)?.bytes::<1>(12) == [1])
}
