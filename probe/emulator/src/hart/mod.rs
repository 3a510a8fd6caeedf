//! The baby RISC-V harts of a tile: RV32IM, one instruction per cycle; a hart sleeps while nothing
//! it reads changes.
//!
//! **Order.** The result is as if in each cycle every running hart of the tile executed one
//! instruction, in index order. The extent of one [`HartGroup::run`] call has no effect.
//!
//! **Boundaries.** Changes to the execution of a hart from outside take effect at the next multiple
//! of [`BOUNDARY_CYCLES`]: each [`HartOrder`], and any store into instructions that are already decoded
//! (decoding models the instruction cache; lines of 32 bytes are decoded when first fetched). So
//! harts may run ahead of each other up to a boundary.
//!
//! **Sleep.** A hart that repeats a loop without effect is not executed. Sleep changes no byte and
//! no cycle.

mod ahead;
mod before;
mod burst;
pub(crate) mod core;
mod debug_state;
mod debugger;
mod device_set;
mod group;
mod inner;
pub(crate) mod mode;
mod record;
mod schedule;
mod search;
mod sleep;
mod step;
mod steps;
mod stride;
#[cfg(test)]
mod tests;
mod tick;

pub use debugger::DebugOrder;
pub use device_set::DeviceSet;
pub use group::HartGroup;

use crate::memory::TileMemory;

/// Cycles between the boundaries at which orders and stores into code reach the harts of a tile.
pub const BOUNDARY_CYCLES: u64 = 32;
/// Address of each hart's private RAM.
pub const LOCAL_RAM: u32 = 0xFFB0_0000;
/// Largest private RAM. TRISCs have only the lower half.
pub(crate) const LOCAL_BYTES: usize = 4096;
/// Address of the instruction RAM of NCRISC and ERISC.
pub const IRAM: u32 = 0xFFC0_0000;
/// Size of the instruction RAM.
pub const IRAM_BYTES: u32 = 16 * 1024;

/// Index of the only hart of an Ethernet tile.
pub const ERISC: u8 = 0;
/// Index of a Tensix tile's BRISC (soft reset bit 11, wormhole.md 4.2).
pub const BRISC: u8 = 0;
/// Index of a Tensix tile's NCRISC (soft reset bit 18).
pub const NCRISC: u8 = 1;
/// Index of a Tensix tile's first TRISC (soft reset bits 12 to 14); the other two follow.
pub const TRISC0: u8 = 2;

/// A device's answer to a load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Load {
    /// The value, in the low bits for loads of less than four bytes (the hart extends the sign).
    pub value: u32,
    /// What a later load of the same address would return.
    pub nature: Nature,
}

impl Load {
    /// See [`Nature::Stable`].
    pub fn stable(value: u32) -> Self {
        Self { value, nature: Nature::Stable }
    }

    /// See [`Nature::Until`].
    pub fn until(value: u32, cycle: u64) -> Self {
        Self { value, nature: Nature::Until(cycle) }
    }

    /// See [`Nature::Clock`].
    pub fn clock(value: u32) -> Self {
        Self { value, nature: Nature::Clock }
    }

    /// See [`Nature::Volatile`].
    pub fn volatile(value: u32) -> Self {
        Self { value, nature: Nature::Volatile }
    }
}

/// How the value of a device register changes. It decides which loops may sleep, never what a load
/// returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Nature {
    /// Changes only by an event after which the machine calls [`HartGroup::devices_changed`], or by
    /// a store of a hart of this tile that returned [`Stored::Changed`]. Loading it has no effect.
    Stable,
    /// Like `Stable`, but may also change at this cycle (the high half of a clock whose low half
    /// wraps then; a busy bit).
    Until(u64),
    /// Grows by one each cycle, modulo 2^32 (the low half of a wall clock).
    Clock,
    /// The load has an effect (a FIFO). A loop that contains it never sleeps, and the load wakes
    /// harts that wait for devices.
    Volatile,
}

/// The effect of a store to a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stored {
    /// No value that a hart of this tile can load has changed (yet).
    Quiet,
    /// A register that a hart of this tile may wait for may have changed.
    Changed,
    /// Nothing has changed, and the same store would change nothing until an event as in
    /// [`Nature::Stable`]. A loop with such a store may sleep.
    Same,
}

/// Why a device refused an access; the name is shown to the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeviceFault(pub &'static str);

/// An access to a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeviceAccess {
    /// Index of the hart in its group.
    pub hart: u8,
    /// Cycle of the mesh.
    pub cycle: u64,
    /// Address as the hart sees it, aligned to `bytes`.
    pub addr: u32,
    /// 1, 2 or 4.
    pub bytes: u8,
}

/// Everything a hart can address except L1 and its own RAM.
///
/// Calls come in the order (cycle, hart). Both methods may change the tile's L1 through
/// [`TileMemory::write`].
pub trait Devices {
    /// Loads a register.
    fn load(&mut self, at: DeviceAccess, memory: &mut TileMemory) -> Result<Load, DeviceFault>;

    /// Returns the device that has the register at an address: the value of the register changes only
    /// when this device changes.
    fn device(addr: u32) -> DeviceSet;

    /// Stores the low `bytes` of `value`. Effects on harts of the tile go to `orders`.
    fn store(
        &mut self,
        at: DeviceAccess,
        value: u32,
        memory: &mut TileMemory,
        orders: &mut Vec<HartOrder>,
    ) -> Result<Stored, DeviceFault>;

    /// Returns the cycle at which a block of the tile next touches L1 or a register, `u64::MAX` if
    /// none will. A run ends there at the latest. A store may bring the cycle nearer, but only to a
    /// cycle after its own.
    fn deadline(&self) -> u64 {
        u64::MAX
    }
}

/// A change to a hart at the next boundary, in the order given by stores of the tile's harts or by
/// [`HartGroup::order`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HartOrder {
    /// Hold a hart in reset.
    Assert {
        /// Index in the group.
        hart: u8,
    },
    /// Release a hart from reset; no effect if it is not in reset.
    Release {
        /// Index in the group.
        hart: u8,
    },
    /// Change the pc at which a hart starts after reset.
    ResetPc {
        /// Index in the group.
        hart: u8,
        /// The new reset pc.
        pc: u32,
    },
    /// Hold a running hart between two instructions: it is stuck, for whatever reason.
    Pause {
        /// Index in the group.
        hart: u8,
    },
    /// Resume a paused hart.
    Resume {
        /// Index in the group.
        hart: u8,
    },
    /// An order of the RISC debug interface.
    Debug {
        /// Index in the group.
        hart: u8,
        /// The order.
        order: DebugOrder,
    },
    /// Load instruction RAM.
    LoadIram {
        /// Index in the group.
        hart: u8,
        /// Byte offset in the instruction RAM.
        offset: u32,
        /// The bytes.
        bytes: Vec<u8>,
    },
}

impl HartOrder {
    /// Returns the index of the hart.
    pub fn hart(&self) -> u8 {
        match *self {
            Self::Assert { hart }
            | Self::Release { hart }
            | Self::Pause { hart }
            | Self::Resume { hart }
            | Self::ResetPc { hart, .. }
            | Self::Debug { hart, .. }
            | Self::LoadIram { hart, .. } => hart,
        }
    }
}

/// Why a hart stopped. It stays stopped until reset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HartStop {
    /// The cause.
    pub cause: Cause,
    /// Index in the group.
    pub hart: u8,
    /// Address of the instruction.
    pub pc: u32,
    /// The address of the access or jump; for an instruction that is not executed, its word.
    pub address: u32,
    /// The cycle.
    pub cycle: u64,
}

/// What stops a hart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// A word that is not an RV32IM instruction.
    IllegalInstruction,
    /// A Tensix coprocessor instruction, which is not modelled.
    TensixInstruction,
    /// A CSR that firmware is not known to use.
    UnknownCsr,
    /// An instruction fetch outside L1 and instruction RAM.
    UnmappedFetch,
    /// A jump to an address that is not a multiple of four.
    MisalignedFetch,
    /// A load or store that is not aligned to its size.
    MisalignedAccess,
    /// `ecall`.
    Ecall,
    /// `ebreak`.
    Ebreak,
    /// A device refused the access.
    Device(DeviceFault),
}

impl Cause {
    /// Returns the citable name.
    pub fn name(self) -> &'static str {
        match self {
            Self::IllegalInstruction => "illegal-instruction",
            Self::TensixInstruction => "tensix-instruction-not-modelled",
            Self::UnknownCsr => "csr-not-modelled",
            Self::UnmappedFetch => "fetch-from-unmapped-address",
            Self::MisalignedFetch => "misaligned-fetch",
            Self::MisalignedAccess => "misaligned-access",
            Self::Ecall => "ecall",
            Self::Ebreak => "ebreak",
            Self::Device(DeviceFault(name)) => name,
        }
    }
}
