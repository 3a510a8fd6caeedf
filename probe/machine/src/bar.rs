//! The one way to a live machine: PCI config space, BARs and time, in batches.

use crate::fault::{ChipAddress, Fault};
use crate::snapshot::AccessError;
use crate::window::{self, Order};
use layouts::ChipKind;
use serde::{Deserialize, Serialize};
use std::fmt;

/// One operation on the bus. Reads append their bytes to the batch's answer, in order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum BarOp {
    /// Reads 4 bytes of PCI config space.
    ConfigRead {
        /// PCIe device in enumeration order.
        device: u8,
        /// Byte offset, 4-aligned.
        offset: u16,
    },
    /// Reads bytes of a BAR; 4 bytes at a 4-aligned offset are one 32-bit load.
    Read {
        /// PCIe device in enumeration order.
        device: u8,
        /// BAR number: 0, 2 or 4.
        bar: u8,
        /// Byte offset in the BAR.
        offset: u64,
        /// How many bytes.
        len: u32,
        /// If the last so many bytes of the answer, these included, are nothing but ones, the batch
        /// ends here without an error, and the answer is short: a dead tile answers so too, and what
        /// comes after might repeat the harm. 0 goes on whatever comes.
        ones: u32,
    },
    /// Writes bytes of a BAR.
    Write {
        /// PCIe device in enumeration order.
        device: u8,
        /// BAR number: 0, 2 or 4.
        bar: u8,
        /// Byte offset in the BAR.
        offset: u64,
        /// The bytes.
        #[serde(with = "serde_bytes")]
        bytes: Vec<u8>,
    },
    /// Points a TLB window at a page of a tile; later accesses in its range of BAR0 go there.
    Point {
        /// PCIe device in enumeration order.
        device: u8,
        /// Index of the window in hardware.
        window: u16,
        /// NOC 0 column of the tile.
        x: u8,
        /// NOC 0 row of the tile.
        y: u8,
        /// First byte to show: a multiple of the window's size, in the tile's address space.
        page: u64,
        /// How the window orders its traffic.
        order: Order,
    },
    /// Lets at least this many device cycles pass (silicon waits, simulators clock).
    Pass {
        /// Device cycles (1 GHz: nanoseconds).
        cycles: u64,
    },
    /// Reads the target's own time: 8 bytes, little-endian, in device cycles.
    Now,
}

/// A batch for one device that goes on beside those for others.
#[derive(Debug)]
pub struct DeviceBatch {
    /// The device; no operation is for another one.
    pub device: u8,
    /// The operations, in order.
    pub batch: Vec<BarOp>,
    /// What the reads gave.
    pub answer: Vec<u8>,
    /// What kept the batch from being carried out to its end.
    pub result: Result<(), AccessError>,
}

impl DeviceBatch {
    /// A batch that is to be carried out.
    pub fn new(device: u8, batch: Vec<BarOp>) -> Self {
        Self { device, batch, answer: Vec::new(), result: Ok(()) }
    }
}

/// Whether others use the routing queues of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sharing {
    /// Nobody else does.
    Alone,
    /// Others may have used them since we last held the lock.
    Shared,
}

/// A process that has a device of the machine open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    /// Its id; 0 if it cannot be seen from here.
    pub pid: u32,
    /// The name of its command.
    pub name: String,
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.pid, self.name)
    }
}

/// A chip that another host reaches, as whoever keeps this machine knows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Elsewhere {
    /// The id that its firmware publishes.
    pub unique_id: u64,
    /// The name of its host.
    pub host: String,
}

/// A bus has no more devices than this, unless its keeper says otherwise: the vendor's simulator ends its
/// process when asked for more.
pub const MOST_DEVICES: u8 = 32;

/// A machine as its bus shows it. Silicon, the vendor's simulator and the emulator meet here.
pub trait Bar: Send {
    /// Carries out the operations in order and appends what the reads gave to `answer`.
    ///
    /// # Errors
    /// The first operation that fails ends the batch; what was read before it stays in `answer`.
    fn submit(&mut self, batch: &[BarOp], answer: &mut Vec<u8>) -> Result<(), AccessError>;

    /// Carries out batches for different devices, each as [`Bar::submit`] does, and returns when all are over. They begin
    /// together on a machine that can do so, on any other they follow one another.
    fn submit_parallel(&mut self, batches: &mut [DeviceBatch]) {
        for DeviceBatch { batch, answer, result, .. } in batches {
            *result = self.submit(batch, answer);
        }
    }

    /// The kind of chip that its devices are.
    fn chip(&self) -> ChipKind;

    /// The TLB windows of a device that may be used, by their indices in hardware.
    ///
    /// # Errors
    /// When the machine has none to give.
    fn windows(&mut self, _device: u8) -> Result<Vec<u16>, AccessError> {
        Ok(window::all_but_the_drivers(self.chip().layout()))
    }

    /// Takes the lock that the clients of a device agreed on for requests through its routing
    /// queues (wormhole.md 2.3). A machine that has one client only needs none.
    ///
    /// # Errors
    /// When another client does not give it back in time, or the device is gone.
    fn lock_queues(&mut self, _device: u8) -> Result<Sharing, AccessError> {
        Ok(Sharing::Alone)
    }

    /// Gives the lock back.
    ///
    /// # Errors
    /// When the device is gone.
    fn unlock_queues(&mut self, _device: u8) -> Result<(), AccessError> {
        Ok(())
    }

    /// Who else has a device open. Nobody has, on a machine that exists for us alone.
    fn holders(&mut self, _device: u8) -> Vec<Holder> {
        Vec::new()
    }

    /// Tells in words what the next batch is about to change because a person asked for it: a
    /// machine that outlives its clients keeps who changed it last.
    fn announce(&mut self, _change: &str) {}

    /// Makes something go wrong at a chip, at the machine's own times; the chip that the fault names is
    /// known to the machine as `at`.
    ///
    /// # Errors
    /// `Refused` where nobody can break anything, and for a link or core that is not there.
    fn disrupt(&mut self, _at: ChipAddress, _fault: &Fault) -> Result<(), AccessError> {
        Err(Fault::refused())
    }

    /// How many devices there are at most.
    fn most_devices(&self) -> u8 {
        MOST_DEVICES
    }

    /// The chips of the same mesh that only other hosts reach, where that is known.
    fn elsewhere(&self) -> Vec<Elsewhere> {
        Vec::new()
    }

    /// What the machine itself found wrong since it was opened, one sentence each: accesses that it
    /// refused, cores that it stopped, devices that could not be opened.
    fn remarks(&mut self) -> Vec<String> {
        Vec::new()
    }
}

/// A machine's own time, in cycles.
pub fn now(bar: &mut dyn Bar) -> Result<u64, AccessError> {
    let mut answer = Vec::new();
    bar.submit(&[BarOp::Now], &mut answer)?;
    let silent = || AccessError::DeviceGone("it does not tell its time".into());
    Ok(u64::from_le_bytes(*answer.first_chunk().ok_or_else(silent)?))
}

impl BarOp {
    /// The device that it is for.
    pub fn device(&self) -> Option<u8> {
        match self {
            Self::ConfigRead { device, .. }
            | Self::Read { device, .. }
            | Self::Write { device, .. }
            | Self::Point { device, .. } => Some(*device),
            Self::Pass { .. } | Self::Now => None,
        }
    }

    /// Bytes that this operation appends to the batch's answer.
    #[inline]
    pub fn answer_len(&self) -> usize {
        match self {
            Self::ConfigRead { .. } => 4,
            Self::Read { len, .. } => *len as usize,
            Self::Now => 8,
            Self::Write { .. } | Self::Point { .. } | Self::Pass { .. } => 0,
        }
    }

    /// Does it cross the bus? Time and the clock do not.
    #[inline]
    pub fn is_transaction(&self) -> bool {
        !matches!(self, Self::Pass { .. } | Self::Now)
    }

    /// Is it a read that ends the batch, now that the answer is this?
    #[inline]
    pub fn ends(&self, answer: &[u8]) -> bool {
        let Self::Read { ones: ones @ 1.., .. } = self else { return false };
        let last = answer.len().checked_sub(*ones as usize).and_then(|start| answer.get(start..));
        last.is_some_and(all_ones)
    }
}

/// Nothing but ones: what a dead tile, a hung NoC or an empty bus answers.
#[inline]
pub fn all_ones(bytes: &[u8]) -> bool {
    bytes.iter().all(|&byte| byte == 0xFF)
}
