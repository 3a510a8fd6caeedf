//! The specification of a packet: what it does at its destination, and how it gets there.

use std::fmt;
use std::str::FromStr;

/// Most chunks of a scatter write (`NOC_SCATTER_WRITE_MAX_CHUNKS`).
pub(super) const MOST_CHUNKS: u32 = 4;

/// The action of a packet at its destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendType {
    /// Writes. Checked when a later packet of the same sender increments the counter.
    Write,
    /// Writes one word. Checked as [`SendType::Write`] is.
    Inline,
    /// Increments the counter.
    Atomic,
    /// Writes, then increments the counter.
    Fused,
    /// Writes this many chunks. Checked as [`SendType::Write`] is.
    Scatter(u32),
}

impl SendType {
    pub(super) fn constant(self) -> &'static str {
        match self {
            Self::Write => "NOC_UNICAST_WRITE",
            Self::Inline => "NOC_UNICAST_INLINE_WRITE",
            Self::Atomic => "NOC_UNICAST_ATOMIC_INC",
            Self::Fused => "NOC_FUSED_UNICAST_ATOMIC_INC",
            Self::Scatter(_) => "NOC_UNICAST_SCATTER_WRITE",
        }
    }

    /// Returns true if the packet increments the receiver's counter.
    pub fn counts(self) -> bool {
        matches!(self, Self::Atomic | Self::Fused)
    }

    /// Returns true if the packet has a payload.
    pub fn has_payload(self) -> bool {
        !matches!(self, Self::Inline | Self::Atomic)
    }
}

impl fmt::Display for SendType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Write => f.write_str("write"),
            Self::Inline => f.write_str("inline"),
            Self::Atomic => f.write_str("atomic"),
            Self::Fused => f.write_str("fused"),
            Self::Scatter(chunks) => write!(f, "scatter:{chunks}"),
        }
    }
}

impl FromStr for SendType {
    type Err = String;

    /// Parses an action such as `fused` or `scatter:3`.
    fn from_str(words: &str) -> Result<Self, String> {
        let all = [Self::Write, Self::Inline, Self::Atomic, Self::Fused];
        let scatters = (1..=MOST_CHUNKS).map(Self::Scatter);
        all.into_iter().chain(scatters).find(|it| it.to_string() == words).ok_or_else(|| {
            format!("'{words}' is not write, inline, atomic, fused or scatter:1 to {MOST_CHUNKS}")
        })
    }
}

/// The routing of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route {
    /// 1D: written to all chips from the first to the last number of hops away.
    Hops(u8, u8),
    /// 2D: by the map in the header.
    Map,
    /// By the tables of every chip on the route.
    Tables,
    /// 2D: to all chips within these hops to the east, west, north and south.
    Rectangle([u8; 4]),
}

/// The specification of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketSpec {
    /// Number of the sender's connection.
    pub connection: usize,
    /// The action at the destination.
    pub send: SendType,
    /// Payload in bytes, a multiple of 16; 0 without one.
    pub bytes: u32,
    /// Time to live in hops.
    pub ttl: u8,
    /// The routing.
    pub route: Route,
    /// Whether it uses the control channel.
    pub control: bool,
    /// Whether it should arrive. The receiver does not wait for a packet that is meant to expire.
    pub arrives: bool,
}
