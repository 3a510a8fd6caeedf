//! The kinds of topologies, and why chips form none.

use layouts::ChipId;
use std::fmt;

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
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TopologyError {
    /// The mesh has no chip of this number; the number of its chips.
    NoChip(ChipId, usize),
    /// A chip was named twice.
    Twice(ChipId),
    /// A collective needs at least two chips.
    TooFewChips(usize),
    /// The chips do not form the topology.
    NoTopology {
        /// The topology that they should form.
        kind: TopologyKind,
        /// What is missing.
        missing: Missing,
    },
    /// No closed walk of this many hops uses every Ethernet tile at most once.
    NoWalk(usize),
    /// An edge has fewer links than requested.
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

impl fmt::Display for TopologyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoChip(chip, chips) => {
                write!(
                    f,
                    "there is no chip {chip}: the mesh has chips 0 to {}",
                    chips.saturating_sub(1)
                )
            }
            Self::Twice(chip) => write!(f, "chip {chip} is named twice"),
            Self::TooFewChips(chips) => {
                write!(f, "a collective needs two chips or more, not {chips}")
            }
            Self::NoTopology { kind, missing } => write!(f, "the chips form no {kind}: {missing}"),
            Self::NoWalk(hops) => {
                write!(
                    f,
                    "the mesh has no ring of {hops} hops that uses every Ethernet tile at most once"
                )
            }
            Self::TooFewLinks { a, b, wanted, free, reserved } => {
                write!(f, "{wanted} links were requested, and chips {a} and {b} have {free}")?;
                if *reserved > 0 {
                    write!(f, ", not counting {reserved} reserved for dispatch")?;
                }
                Ok(())
            }
        }
    }
}

impl std::error::Error for TopologyError {}

/// What is missing for a ring or a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Missing {
    /// This chip has no link to any of the others.
    Alone(ChipId),
    /// No link leads from the first chips to the second.
    Parted(Vec<ChipId>, Vec<ChipId>),
    /// The first chip, which a ring should contain, has only the second as its neighbour.
    OneNeighbour(ChipId, ChipId),
    /// No link extends the longest path that was found.
    Edge {
        /// Chips of the path.
        path: Vec<ChipId>,
        /// Its end.
        from: ChipId,
        /// The chip that should be next.
        to: ChipId,
    },
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Alone(chip) => write!(f, "chip {chip} has no link to any of the others"),
            Self::Parted(here, there) => {
                write!(f, "no link leads from {} to {}", Chips(here), Chips(there))
            }
            Self::OneNeighbour(chip, neighbour) => {
                write!(f, "chip {chip} has links to chip {neighbour} only")
            }
            Self::Edge { path, from, to } => {
                write!(f, "after {} no link leads from chip {from} to chip {to}", Chips(path))
            }
        }
    }
}

struct Chips<'a>(&'a [ChipId]);

impl fmt::Display for Chips<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<String> = self.0.iter().map(ToString::to_string).collect();
        write!(f, "{} {}", if names.len() == 1 { "chip" } else { "chips" }, names.join(","))
    }
}
