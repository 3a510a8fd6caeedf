//! Conditions: what the machine refused or could not do, each with a citable name. None ends the
//! process.

/// An error in the machine, or something it does not model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// Cycle at which it happened.
    pub cycle: u64,
    /// Chip index.
    pub chip: usize,
    /// Tile on NOC 0, if it happened at one: column, row.
    pub tile: Option<(u8, u8)>,
    /// What caused it.
    pub actor: Actor,
    /// Citable name, such as `unmapped-address`.
    pub name: &'static str,
    /// Tile-local address, BAR offset or link number, as the name suggests.
    pub addr: u64,
    /// An optional further sentence.
    pub detail: String,
}

/// The cause of a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Actor {
    /// The host, over this PCIe device.
    Host {
        /// PCIe device.
        device: usize,
    },
    /// A hart of the tile, by name (`brisc`, `erisc`, ...). It has stopped.
    Hart(&'static str),
    /// A NoC packet from this tile.
    Noc {
        /// Column of the sender.
        x: u8,
        /// Row of the sender.
        y: u8,
    },
    /// A packet from the Ethernet peer.
    Link,
    /// A block of the tile, such as its mover or a transmit queue.
    Block(&'static str),
}

impl std::fmt::Display for Actor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Host { device } => write!(f, "host (device {device})"),
            Self::Hart(name) | Self::Block(name) => write!(f, "{name}"),
            Self::Noc { x, y } => write!(f, "noc packet from {x}-{y}"),
            Self::Link => write!(f, "ethernet peer"),
        }
    }
}

impl std::fmt::Display for Condition {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "cycle {}: chip {}", self.cycle, self.chip)?;
        if let Some((x, y)) = self.tile {
            write!(f, " tile {x}-{y}")?;
        }
        write!(f, ": {}: {} at {:#x}", self.actor, self.name, self.addr)?;
        if self.detail.is_empty() { Ok(()) } else { write!(f, " ({})", self.detail) }
    }
}

/// Why an access was refused, and what it does to the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    /// Citable name.
    pub(crate) name: &'static str,
    /// Silicon would never answer; the tile is lost until reset (wormhole.md 1.7).
    pub(crate) hangs: bool,
}

impl Refusal {
    /// An access that is refused and leaves the tile usable.
    pub(crate) const fn refused(name: &'static str) -> Self {
        Self { name, hangs: false }
    }

    /// An access that is never answered.
    pub(crate) const fn hang(name: &'static str) -> Self {
        Self { name, hangs: true }
    }
}

/// An address that the tile does not map: never answered (wormhole.md 1.7 "gaps in tile maps").
pub(crate) const UNMAPPED: Refusal = Refusal::hang("unmapped-address");
/// A register that exists on silicon and is not modelled.
pub(crate) const NOT_MODELLED: Refusal = Refusal::refused("register-not-modelled");
/// An access of another width than 4 bytes to a register: undefined on silicon.
pub(crate) const REGISTER_WIDTH: Refusal = Refusal::refused("register-access-width");
/// A store to a read-only register.
pub(crate) const READ_ONLY: Refusal = Refusal::refused("register-read-only");
/// Memory that only the core itself reaches (local RAM, IRAM, backend configuration).
pub(crate) const CORE_PRIVATE: Refusal = Refusal::hang("private-to-the-core");
/// The tile is fused off: its clock does not run.
pub(crate) const HARVESTED: Refusal = Refusal::hang("harvested-tile");
/// Reads of TDMA registers can block on an empty FIFO (tt-umd issue 1673).
pub(crate) const TDMA_READ: Refusal = Refusal::hang("tdma-read-over-noc");
/// MAC and PCS must not be read over the NoC (exalens marks them unsafe).
pub(crate) const MAC_READ: Refusal = Refusal::hang("mac-pcs-read-over-noc");
