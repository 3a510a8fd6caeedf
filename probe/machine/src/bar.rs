//! Access to a live machine: PCI config space, BARs and time, in batches.

use crate::clients::{Client, Holder};
use crate::fault::{ChipAddress, Fault};
use crate::past::{KeptPast, RecordedRun};
use crate::snapshot::{AccessError, StoppedCore};
use crate::target::{Past, Target};
use crate::window::{self, WindowOrdering};
use layouts::{ChipId, ChipKind};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

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
        /// Number of bytes.
        len: u32,
        /// If the last `ones` bytes of the answer, this read's bytes included, are all 0xFF, the
        /// batch ends here without an error and with a short answer. A dead tile answers with ones,
        /// and further accesses might repeat the harm. 0 disables the check.
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
        order: WindowOrdering,
    },
    /// Lets at least this many device cycles pass (silicon waits, simulators clock).
    Pass {
        /// Device cycles (1 GHz: nanoseconds).
        cycles: u64,
    },
    /// Reads the target's time: 8 bytes, little-endian, in device cycles.
    Now,
}

/// A batch for one device, submitted in parallel with batches for other devices.
#[derive(Debug)]
pub struct DeviceBatch {
    /// The device of all operations.
    pub device: u8,
    /// The operations, in order.
    pub batch: Vec<BarOp>,
    /// The bytes that were read.
    pub answer: Vec<u8>,
    /// The error that ended the batch early.
    pub result: Result<(), AccessError>,
}

impl DeviceBatch {
    /// Creates a batch that has not run yet.
    pub fn new(device: u8, batch: Vec<BarOp>) -> Self {
        Self { device, batch, answer: Vec::new(), result: Ok(()) }
    }
}

/// Whether other clients use the routing queues of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sharing {
    /// No other client uses them.
    Alone,
    /// Another client may have used them since this one last held the lock.
    Shared,
}

/// A chip of the same mesh that another host reaches, as reported by the provider of this machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Elsewhere {
    /// The id that the chip's firmware publishes.
    pub unique_id: u64,
    /// Name of its host.
    pub host: String,
}

/// Returns a target over a copy of a machine.
pub type OverCopy = Arc<dyn Fn(Box<dyn Bar>) -> Box<dyn Target> + Send + Sync>;

/// A target over a machine, as the machine's past shows it.
#[derive(Clone)]
pub struct TargetView {
    /// Its chips, each with the machine's address of it.
    pub chips: Vec<(ChipId, ChipAddress)>,
    /// Returns such a target over a copy of the machine.
    pub over: OverCopy,
}

/// Default limit on the number of devices of a bus. The vendor's simulator ends its process when a
/// higher device number is accessed.
pub const MOST_DEVICES: u8 = 32;

/// The bus of a machine: the common interface of silicon, the vendor's simulator and the emulator.
pub trait Bar: Send {
    /// Carries out the operations in order and appends the bytes they read to `answer`.
    ///
    /// # Errors
    /// The first operation that fails ends the batch; bytes read before it stay in `answer`.
    fn submit(&mut self, batch: &[BarOp], answer: &mut Vec<u8>) -> Result<(), AccessError>;

    /// Carries out batches for different devices, each as [`Bar::submit`] does, and returns when
    /// all have ended. They run in parallel if the machine supports it, otherwise in sequence.
    fn submit_parallel(&mut self, batches: &mut [DeviceBatch]) {
        for DeviceBatch { batch, answer, result, .. } in batches {
            *result = self.submit(batch, answer);
        }
    }

    /// The kind of chip that its devices are.
    fn chip(&self) -> ChipKind;

    /// Returns the hardware indices of the TLB windows of a device that may be used.
    ///
    /// # Errors
    /// When the machine has no free window.
    fn windows(&mut self, _device: u8) -> Result<Vec<u16>, AccessError> {
        Ok(window::all_but_the_drivers(self.chip().layout()))
    }

    /// Takes the lock that the clients of a device share for requests through its routing queues
    /// (wormhole.md 2.3). A machine with a single client needs no lock.
    ///
    /// # Errors
    /// When another client does not release it in time, or the device is gone.
    fn lock_queues(&mut self, _device: u8) -> Result<Sharing, AccessError> {
        Ok(Sharing::Alone)
    }

    /// Releases the lock.
    ///
    /// # Errors
    /// When the device is gone.
    fn unlock_queues(&mut self, _device: u8) -> Result<(), AccessError> {
        Ok(())
    }

    /// Returns the other processes that have a device open; empty on a machine that is private to
    /// this process.
    fn holders(&mut self, _device: u8) -> Vec<Holder> {
        Vec::new()
    }

    /// Returns the number of a device's file in this host's driver; `None` if it has none.
    fn card(&mut self, _device: u8) -> Option<u16> {
        None
    }

    /// Closes the devices until the next access, so that others can reset or flash them. Windows are
    /// then lent anew. A machine for which nobody else waits stays open.
    fn give_back(&mut self) {}

    /// Returns the other client that may change the machine now, if it has one.
    fn writer(&mut self) -> Option<Client> {
        None
    }

    /// Describes the change that the next batch makes at the user's request. A machine that
    /// outlives its clients keeps the last description.
    fn announce(&mut self, _change: &str) {}

    /// Injects a fault at a chip, with times in the machine's own clock. The machine knows the chip
    /// of the fault as `at`.
    ///
    /// # Errors
    /// `Refused` on a machine without fault injection, and for a link or core that does not exist.
    fn disrupt(&mut self, _at: ChipAddress, _fault: &Fault) -> Result<(), AccessError> {
        Err(Fault::unsupported())
    }

    /// Returns the past of a target over the machine up to now; `None` if the machine does not keep it.
    fn past(&mut self, _view: TargetView) -> Option<Box<dyn Past>> {
        None
    }

    /// Returns how much of its past the machine keeps; `None` if it does not keep it.
    fn kept_past(&self) -> Option<KeptPast> {
        None
    }

    /// Returns the machine's run from power-on to now; `None` if it does not keep it.
    ///
    /// # Errors
    /// Why the run cannot be executed again, as a clause.
    fn recorded_run(&mut self) -> Option<Result<RecordedRun, String>> {
        None
    }

    /// Returns the largest possible number of devices.
    fn most_devices(&self) -> u8 {
        MOST_DEVICES
    }

    /// Returns the chips of the same mesh that only other hosts reach, if known.
    fn elsewhere(&self) -> Vec<Elsewhere> {
        Vec::new()
    }

    /// Returns the cores of some chips that the machine has stopped now, since it does not model what
    /// they did, each with the index of its chip in the list.
    fn stopped_cores(&mut self, _chips: &[ChipAddress]) -> Vec<(usize, StoppedCore)> {
        Vec::new()
    }

    /// Returns the problems that the machine found since it was opened, one sentence each: accesses
    /// that it refused, devices that could not be opened.
    fn remarks(&mut self) -> Vec<String> {
        Vec::new()
    }
}

/// Reads a machine's time, in cycles.
pub fn now(bar: &mut dyn Bar) -> Result<u64, AccessError> {
    let mut answer = Vec::new();
    bar.submit(&[BarOp::Now], &mut answer)?;
    let silent = || AccessError::DeviceGone("it does not tell its time".into());
    Ok(u64::from_le_bytes(*answer.first_chunk().ok_or_else(silent)?))
}

impl BarOp {
    /// Returns the device that it accesses.
    pub fn device(&self) -> Option<u8> {
        match self {
            Self::ConfigRead { device, .. }
            | Self::Read { device, .. }
            | Self::Write { device, .. }
            | Self::Point { device, .. } => Some(*device),
            Self::Pass { .. } | Self::Now => None,
        }
    }

    /// Returns the number of bytes that this operation appends to the batch's answer.
    #[inline]
    pub fn answer_len(&self) -> usize {
        match self {
            Self::ConfigRead { .. } => 4,
            Self::Read { len, .. } => *len as usize,
            Self::Now => 8,
            Self::Write { .. } | Self::Point { .. } | Self::Pass { .. } => 0,
        }
    }

    /// Whether it crosses the bus; `Pass` and `Now` do not.
    #[inline]
    pub fn is_transaction(&self) -> bool {
        !matches!(self, Self::Pass { .. } | Self::Now)
    }

    /// Whether it is a read that ends the batch, given the answer so far.
    #[inline]
    pub fn ends(&self, answer: &[u8]) -> bool {
        let Self::Read { ones: ones @ 1.., .. } = self else { return false };
        let last = answer.len().checked_sub(*ones as usize).and_then(|start| answer.get(start..));
        last.is_some_and(all_ones)
    }
}

/// Whether all bytes are 0xFF: the answer of a dead tile, a hung NoC or an empty bus.
#[inline]
pub fn all_ones(bytes: &[u8]) -> bool {
    bytes.iter().all(|&byte| byte == 0xFF)
}
