//! The kinds of topologies, and why chips form none.

use layouts::ChipId;
use std::fmt;
use thiserror::Error;

/// How the chips are joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TopologyKind {
    /// The last chip is joined to the first.
    Ring,
    /// The last chip is not joined to the first.
    Line,
}

impl TopologyKind {
    /// Returns its name, as on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ring => "ring",
            Self::Line => "line",
        }
    }
}

impl fmt::Display for TopologyKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Why chips form no ring or line.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TopologyError {
    /// The mesh has no chip of this number; the number of its chips.
    #[error("there is no chip {}: the mesh has chips 0 to {}", .0, .1.saturating_sub(1))]
    NoChip(ChipId, usize),
    /// A chip was named twice.
    #[error("chip {0} is named twice")]
    Twice(ChipId),
    /// A collective needs at least two chips.
    #[error("a collective needs two chips or more, not {0}")]
    TooFewChips(usize),
    /// The chips do not form the topology.
    #[error("the chips form no {kind}: {missing}")]
    NoTopology {
        /// The topology that they should form.
        kind: TopologyKind,
        /// What is missing.
        missing: Missing,
    },
    /// No closed walk of this many hops uses every Ethernet tile at most once.
    #[error("the mesh has no ring of {0} hops that uses every Ethernet tile at most once")]
    NoWalk(usize),
    /// An edge has fewer links than requested.
    #[error("{wanted} links were requested, and chips {a} and {b} have {free}{}", not_counted(*.reserved))]
    TooFewLinks {
        /// One end of the edge.
        a: ChipId,
        /// The other end.
        b: ChipId,
        /// Links requested.
        wanted: u32,
        /// Links that are free.
        free: usize,
        /// Links that are reserved for dispatch.
        reserved: usize,
    },
}

/// Returns the end of a sentence about free links: how many others dispatch reserves.
pub fn not_counted(reserved: usize) -> String {
    let reserved = (reserved > 0).then_some(reserved);
    reserved.map_or_else(String::new, |it| format!(", not counting {it} reserved for dispatch"))
}

/// What is missing for a ring or a line.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Missing {
    /// This chip has no link to any of the others.
    #[error("chip {0} has no link to any of the others")]
    Alone(ChipId),
    /// No link leads from the first chips to the second.
    #[error("no link leads from {} to {}", Chips(.0), Chips(.1))]
    Parted(Vec<ChipId>, Vec<ChipId>),
    /// The first chip, which a ring should contain, has only the second as its neighbour.
    #[error("chip {0} has links to chip {1} only")]
    OneNeighbour(ChipId, ChipId),
    /// No link extends the longest path that was found.
    #[error("after {} no link leads from chip {from} to chip {to}", Chips(.path))]
    Edge {
        /// Chips of the path.
        path: Vec<ChipId>,
        /// Its end.
        from: ChipId,
        /// The chip that should be next.
        to: ChipId,
    },
}

struct Chips<'a>(&'a [ChipId]);

impl fmt::Display for Chips<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<String> = self.0.iter().map(ToString::to_string).collect();
        write!(f, "{} {}", if names.len() == 1 { "chip" } else { "chips" }, names.join(","))
    }
}
