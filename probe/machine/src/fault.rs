//! Faults: what a person makes go wrong on an emulated mesh, in words such as `link:0.8:down@10us..30us`.

mod words;

use crate::snapshot::AccessError;
use layouts::{ChipCoord, ChipId, ChipKind, CoreId, EthId};
use std::fmt;

/// The kind of chip that is emulated: only there can something be made to go wrong.
pub const EMULATED: ChipKind = ChipKind::Wormhole;

/// Something that goes wrong at a place of the mesh, from one moment to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What goes wrong, and where.
    pub what: What,
    /// When it begins, in cycles. In words it counts from the first go message of a run; of a scene it is the emulated time
    /// since power on, and 0 means at the hand-over; for [`crate::target::Target::disrupt`] it is the target's own time, and
    /// what is over means at once.
    pub from_cycles: u64,
    /// When it ends by itself; it stays if not told.
    pub until_cycles: Option<u64>,
}

/// What goes wrong, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// On the link that ends here.
    Link(EthId, LinkFault),
    /// In a core.
    Core(CoreId, CoreFault),
}

/// What goes wrong on a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkFault {
    /// It carries nothing.
    Down,
    /// It is down for the first half of each period, and up for the second.
    Flap {
        /// Length of a period, in cycles.
        period_cycles: u64,
    },
    /// Each packet occupies the line so many times as long, in both directions.
    Slow {
        /// How many times as long.
        factor: u32,
    },
    /// Bits arrive wrong in both directions, and packets with wrong bits are sent again.
    BitErrors {
        /// Wrong bits in 10^12.
        per_terabit: u64,
    },
    /// Packets with 16 bytes of payload or less (acknowledgements, credits) that the named end sends arrive later.
    SlowAck {
        /// How much later, in cycles.
        delay_cycles: u64,
    },
    /// No fault: all that ails the link ends, and it comes up.
    Up,
}

/// What goes wrong in a core.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CoreFault {
    /// It executes nothing until this ends or the core is reset; its memory stays readable.
    Stuck,
    /// No fault: a stuck core goes on.
    Released,
}

/// A chip as the machine knows it, whatever number discovery gave it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum ChipAddress {
    /// The chip of a PCIe device.
    Device(u8),
    /// The chip that its base firmware says stands there: rack, shelf, x, y.
    At([u8; 4]),
}

impl ChipAddress {
    /// The chip at a place.
    pub fn at(coord: ChipCoord) -> Self {
        Self::At([coord.rack, coord.shelf, coord.x, coord.y])
    }
}

/// Why a fault cannot be had: what is wrong with it, in one sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultError(pub String);

impl fmt::Display for FaultError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for FaultError {}

impl Fault {
    /// The same, counted from a moment: what is relative becomes the target's own time.
    #[must_use]
    pub fn counted_from(self, cycles: u64) -> Self {
        Self {
            from_cycles: self.from_cycles.saturating_add(cycles),
            until_cycles: self.until_cycles.map(|until| until.saturating_add(cycles)),
            ..self
        }
    }

    /// The same by the clock of a scene that has booted at `ready` and is handed over at `at`, both in emulated time since
    /// power on: what should have begun before begins as soon as the scene has booted.
    ///
    /// # Errors
    /// When it is over before it can begin.
    pub fn of_scene(self, ready: u64, at: u64) -> Result<Self, FaultError> {
        let from_cycles = if self.from_cycles == 0 { at } else { self.from_cycles.max(ready) };
        if self.until_cycles.is_some_and(|until| until <= from_cycles) {
            let first = from_cycles.div_ceil(1_000);
            let why = format!("{self}: it is over before {first}us, when it could begin");
            return Err(FaultError(why));
        }
        Ok(Self { from_cycles, ..self })
    }

    /// The chip that it is about.
    pub fn chip(&self) -> ChipId {
        match self.what {
            What::Link(end, _) => end.chip,
            What::Core(core, _) => core.chip,
        }
    }

    /// The error of a machine whose links and cores nobody can break.
    pub fn refused() -> AccessError {
        AccessError::Refused("faults are for emulated meshes".into())
    }
}

#[cfg(test)]
mod tests;
