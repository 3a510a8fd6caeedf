//! The baby RISC-V harts of a tile: RV32IM, one instruction a cycle, asleep whenever nothing they read changes.
//!
//! **Order.** The result is as if in every cycle the running harts of the tile executed one instruction each, in index order.
//! How far one call of [`HartGroup::run`] goes never shows.
//!
//! **Boundaries.** What changes the execution of a hart from outside takes effect at the next multiple of [`BOUNDARY_CYCLES`]:
//! stores into instructions that are already decoded, by whomever (decoding stands for the instruction cache; lines of 32
//! bytes are decoded when first fetched), and each [`Order`]. So harts may run ahead of each other up to there.
//!
//! **Sleep.** A hart that repeats a loop without effect is not executed. No byte and no cycle depends on it.

mod burst;
pub(crate) mod core;
mod group;
pub(crate) mod mode;
mod record;
mod schedule;
mod search;
mod sleep;
mod step;
mod stride;
#[cfg(test)]
mod tests;

pub use group::HartGroup;

use crate::memory::TileMemory;

/// Cycles between the moments at which stores into code and orders reach the harts of a tile.
pub const BOUNDARY_CYCLES: u64 = 32;
/// Where each hart sees its private RAM.
pub const LOCAL_RAM: u32 = 0xFFB0_0000;
/// Where NCRISC and ERISC fetch from their instruction RAM.
pub const IRAM: u32 = 0xFFC0_0000;
/// Bytes of the instruction RAM.
pub const IRAM_BYTES: u32 = 16 * 1024;

/// Index of the only hart of an Ethernet tile.
pub const ERISC: u8 = 0;
/// Index of a Tensix tile's BRISC (soft reset bit 11, wormhole.md 4.2).
pub const BRISC: u8 = 0;
/// Index of a Tensix tile's NCRISC (soft reset bit 18).
pub const NCRISC: u8 = 1;
/// Index of a Tensix tile's first TRISC (soft reset bits 12 to 14); the other two follow.
pub const TRISC0: u8 = 2;

/// What a device answered to a load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Load {
    /// The value, in the low bits for loads of less than four bytes (sign extension is the hart's).
    pub value: u32,
    /// What a later load of the same address would answer.
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

/// How the value of a device register goes on. It decides which loops may sleep, never what a load answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Nature {
    /// Changes only by an event after which the machine calls [`HartGroup::devices_changed`], or by a store of a hart of this
    /// tile that answered [`Stored::Changed`]. Loading it has no effect.
    Stable,
    /// Like `Stable`, and may also change by itself at this cycle (the high half of a clock whose low half wraps then; a busy bit).
    Until(u64),
    /// Grows by one each cycle, modulo 2^32 (the low half of a wall clock).
    Clock,
    /// The load has an effect (a FIFO). Nobody sleeps over it, and harts that wait for devices are woken by it.
    Volatile,
}

/// What a device did with a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stored {
    /// Nothing that a load by a hart of this tile could see has changed (yet).
    Quiet,
    /// A register that a hart of this tile may be waiting for can have changed.
    Changed,
    /// Nothing at all has changed, nor would it by the same store again, until an event as of [`Nature::Stable`]. A loop with
    /// such a store may sleep.
    Same,
}

/// Why a device refused; the name is shown to the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fault(pub &'static str);

/// Who accesses a device, and when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Access {
    /// Index of the hart in its group.
    pub hart: u8,
    /// Cycle of the mesh.
    pub cycle: u64,
    /// Address as the hart sees it, aligned to `bytes`.
    pub addr: u32,
    /// 1, 2 or 4.
    pub bytes: u8,
}

/// Everything a hart can address that is neither L1 nor its own RAM.
///
/// Calls come in the order (cycle, hart). Both may change the tile's L1 through [`TileMemory::write`].
pub trait Devices {
    /// A load.
    fn load(&mut self, at: Access, memory: &mut TileMemory) -> Result<Load, Fault>;

    /// A store of the low `bytes` of `value`. What it does to harts of the tile goes to `orders`.
    fn store(
        &mut self,
        at: Access,
        value: u32,
        memory: &mut TileMemory,
        orders: &mut Vec<Order>,
    ) -> Result<Stored, Fault>;

    /// The cycle at which a block of the tile touches L1 or a register by itself, `u64::MAX` if none will: a run ends there at
    /// the latest. A store may bring it nearer, but never to its own cycle or before.
    fn deadline(&self) -> u64 {
        u64::MAX
    }
}

/// What is asked to be done to a hart at the next boundary, in the order given: by a store of a hart of its tile, or by
/// [`HartGroup::order`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Order {
    /// Hold a hart in reset.
    Assert {
        /// Index in the group.
        hart: u8,
    },
    /// Let a hart go from reset; nothing if it is not held.
    Release {
        /// Index in the group.
        hart: u8,
    },
    /// Change where a hart starts after reset.
    ResetPc {
        /// Index in the group.
        hart: u8,
        /// The new reset pc.
        pc: u32,
    },
    /// Hold a running hart between two instructions.
    Pause {
        /// Index in the group.
        hart: u8,
    },
    /// Let a paused hart go on.
    Resume {
        /// Index in the group.
        hart: u8,
    },
    /// Fill instruction RAM.
    LoadIram {
        /// Index in the group.
        hart: u8,
        /// Byte offset in the instruction RAM.
        offset: u32,
        /// The bytes.
        bytes: Vec<u8>,
    },
}

impl Order {
    /// The hart concerned.
    pub fn hart(&self) -> u8 {
        match *self {
            Self::Assert { hart }
            | Self::Release { hart }
            | Self::Pause { hart }
            | Self::Resume { hart }
            | Self::ResetPc { hart, .. }
            | Self::LoadIram { hart, .. } => hart,
        }
    }
}

/// Why a hart stopped. It stays stopped until it is reset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stop {
    /// What happened.
    pub cause: Cause,
    /// Index in the group.
    pub hart: u8,
    /// Address of the instruction.
    pub pc: u32,
    /// The address it accessed or jumped to; for an instruction that is not executed, its word.
    pub address: u32,
    /// When.
    pub cycle: u64,
}

/// What stops a hart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// A word that is no RV32IM instruction.
    IllegalInstruction,
    /// A Tensix coprocessor instruction, which is not modelled.
    TensixInstruction,
    /// A CSR that firmware is not known to use.
    UnknownCsr,
    /// An instruction fetch outside L1 and instruction RAM.
    UnmappedFetch,
    /// A jump to an address that is no multiple of four.
    MisalignedFetch,
    /// A load or store that is not aligned to its size.
    MisalignedAccess,
    /// `ecall`.
    Ecall,
    /// `ebreak`.
    Ebreak,
    /// A device refused.
    Device(Fault),
}

impl Cause {
    /// The citable name.
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
            Self::Device(Fault(name)) => name,
        }
    }
}
