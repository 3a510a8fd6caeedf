//! How chips are joined, and why they are not.

use layouts::ChipId;
use std::fmt;

/// How the chips are joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TopologyKind {
    /// The last chip is joined to the first.
    Ring,
    /// It is not.
    Line,
}

impl TopologyKind {
    /// As the command line spells it.
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
    /// The mesh has no chip of this number; how many it has.
    NoChip(ChipId, usize),
    /// A chip was named twice.
    Twice(ChipId),
    /// A collective needs two chips.
    TooFewChips(usize),
    /// The chips do not form the topology, and what is missing.
    NoTopology {
        /// What they should form.
        kind: TopologyKind,
        /// What keeps them from it.
        missing: Missing,
    },
    /// No closed walk of so many hops exists that uses no Ethernet tile twice.
    NoWalk(usize),
    /// An edge has fewer links than asked for.
    TooFewLinks {
        /// One end of the edge.
        a: ChipId,
        /// The other.
        b: ChipId,
        /// Links asked for.
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
                    "no ring of {hops} hops exists in this mesh that enters no Ethernet tile twice"
                )
            }
            Self::TooFewLinks { a, b, wanted, free, reserved } => {
                write!(f, "{wanted} links were asked for, and chips {a} and {b} have {free}")?;
                if *reserved > 0 {
                    write!(f, ", not counting {reserved} reserved for dispatch")?;
                }
                Ok(())
            }
        }
    }
}

impl std::error::Error for TopologyError {}

/// What keeps chips from being a ring or a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Missing {
    /// This chip has no link to any of the others.
    Alone(ChipId),
    /// No link leads from these chips to those.
    Parted(Vec<ChipId>, Vec<ChipId>),
    /// In a ring this chip has only one neighbour.
    OneNeighbour(ChipId, ChipId),
    /// The longest way that was found, and the first chips that no link joins: its end and a chip that it should go to.
    Edge {
        /// Chips of the way.
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
            Self::Alone(chip) => write!(f, "chip {chip} has no link to any other of them"),
            Self::Parted(here, there) => {
                write!(f, "no link leads from {} to {}", Chips(here), Chips(there))
            }
            Self::OneNeighbour(chip, neighbour) => {
                write!(f, "chip {chip} has links to chip {neighbour} only")
            }
            Self::Edge { path: way, from, to } => {
                write!(f, "after {} no link leads from chip {from} to chip {to}", Chips(way))
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
