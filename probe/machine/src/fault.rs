//! Faults that a user injects into an emulated mesh, written such as `link:0.8:down@10us..30us`.

mod words;

use crate::place::Place;
use crate::snapshot::AccessError;
use layouts::{ChipCoord, ChipId, ChipKind, CoreId, EthId};
use std::fmt;

/// The kind of chip that is emulated: only there can something be made to go wrong.
pub const EMULATED: ChipKind = ChipKind::Wormhole;

/// Something that goes wrong at a place of the mesh, from one moment to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The link, core, stream or chip, and its fault.
    pub kind: FaultKind,
    /// When it begins, in cycles. As parsed, it counts from the first go message of a run. In a
    /// scene it is the emulated time since power on, and 0 means at the hand-over. For
    /// [`crate::target::Target::disrupt`] it is the target's own time, and a time in the past means
    /// at once.
    pub from_cycles: u64,
    /// When it ends; none if it is permanent.
    pub until_cycles: Option<u64>,
}

/// A link, core, stream or chip, and its fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// A fault of the link that ends at this Ethernet tile.
    Link(EthId, LinkFault),
    /// A fault of a core.
    Core(CoreId, CoreFault),
    /// A fault of the stream with this number of a tile.
    Stream(Place, u8, StreamFault),
    /// The chip is dead until it is reset: its cores execute nothing, its links are down, and it does
    /// not answer over PCIe.
    Dead(ChipId),
}

/// A fault of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkFault {
    /// It carries nothing.
    Down,
    /// It is down for the first half of each period, and up for the second.
    Flap {
        /// Length of a period, in cycles.
        period_cycles: u64,
    },
    /// Each packet occupies the line longer by this factor, in both directions.
    Slow {
        /// The factor.
        factor: u32,
    },
    /// Bits are corrupted in both directions, and corrupted packets are sent again.
    BitErrors {
        /// Wrong bits in 10^12.
        per_terabit: u64,
    },
    /// Packets with 16 bytes of payload or less (acknowledgements, credits) sent by the named end
    /// are delayed.
    SlowAck {
        /// The delay, in cycles.
        delay_cycles: u64,
    },
    /// Ends all faults of the link and brings it up.
    Up,
}

/// A fault of a core.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CoreFault {
    /// It executes nothing until the fault ends or the core is reset; its memory stays readable.
    Stuck,
    /// Ends the fault: a stuck core continues.
    Released,
}

/// A fault of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamFault {
    /// Its counter reads as 0 until the fault ends, so that nobody sees the credits in it. It still
    /// counts.
    Held,
    /// Ends the fault: the counter reads as what it has counted.
    Released,
}

/// A chip as the machine addresses it, independent of the id from discovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum ChipAddress {
    /// The chip of a PCIe device.
    Device(u8),
    /// The chip at a position that its base firmware reports: rack, shelf, x, y.
    Position([u8; 4]),
}

impl ChipAddress {
    /// Returns the address of the chip at a position.
    pub fn at(coord: ChipCoord) -> Self {
        Self::Position([coord.rack, coord.shelf, coord.x, coord.y])
    }
}

/// Why a fault is invalid, in one sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultError(pub String);

impl fmt::Display for FaultError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for FaultError {}

impl Fault {
    /// Returns the fault with its relative times counted from `cycles`, in the target's own time.
    #[must_use]
    pub fn counted_from(self, cycles: u64) -> Self {
        Self {
            from_cycles: self.from_cycles.saturating_add(cycles),
            until_cycles: self.until_cycles.map(|until| until.saturating_add(cycles)),
            ..self
        }
    }

    /// Returns the fault by the clock of a scene that has booted at `ready` and is handed over at
    /// `at`, both in emulated time since power on. A fault due before `ready` begins at `ready`.
    ///
    /// # Errors
    /// When it would end before it can begin.
    pub fn of_scene(self, ready: u64, at: u64) -> Result<Self, FaultError> {
        let from_cycles = if self.from_cycles == 0 { at } else { self.from_cycles.max(ready) };
        if self.until_cycles.is_some_and(|until| until <= from_cycles) {
            let first = from_cycles.div_ceil(1_000);
            let why = format!("{self}: it ends before {first}us, when it could begin");
            return Err(FaultError(why));
        }
        Ok(Self { from_cycles, ..self })
    }

    /// Returns the chip of the link, core or stream, or the dead one.
    pub fn chip(&self) -> ChipId {
        match self.kind {
            FaultKind::Link(end, _) => end.chip,
            FaultKind::Core(core, _) => core.chip,
            FaultKind::Stream(place, ..) => place.chip,
            FaultKind::Dead(chip) => chip,
        }
    }

    /// Returns the error of a machine that does not support faults.
    pub fn unsupported() -> AccessError {
        AccessError::Refused("faults are for emulated meshes".into())
    }
}

#[cfg(test)]
mod tests;
