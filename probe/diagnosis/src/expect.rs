//! What is expected of a mesh: its description, and the most CRC errors of a link. Chips and links are
//! compared with a description: they are missing, extra, or moved.
//!
//! The author of a descriptor chose its chip numbers, so that chips are matched first: by unique
//! id; without known ids, by coordinates if at least half of the chips and some links agree; else
//! by structure, which works because both ends of each link have channels. A matched chip whose
//! coordinates differ from the description has moved, however it was matched.
//!
//! A description that only counts links ([`ClusterDescriptor::counted`]) is laid on the grid of the
//! machine's coordinates; chips and links beyond it are no differences.

mod matching;
mod summary;

use crate::condition::Condition;
use crate::finding::Finding;
use crate::place::Place;
use decode::state::MeshState;
use layouts::{ChipCoord, ChipId, ClusterDescriptor, DescribedChip, EthId, Seat};
use machine::target::Mesh;
use matching::Matching;
use matching::grid::{self, Edge};
use std::collections::BTreeMap;
use std::fmt;

/// An end of a link in a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ExpectedEnd {
    /// An end on a chip that was found.
    Found(EthId),
    /// An end on a missing chip, by its number in the descriptor.
    Missing {
        /// The chip's number in the descriptor.
        file_id: u32,
        /// Its channel.
        channel: u8,
    },
}

/// A difference between a mesh and its description.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Difference {
    /// A described chip was not found.
    MissingChip {
        /// Its number in the descriptor.
        file_id: u32,
        /// Its described position, if any.
        coord: Option<ChipCoord>,
        /// Its described unique id, if any.
        unique_id: Option<u64>,
    },
    /// A chip was found that is not described.
    ExtraChip(ChipId),
    /// A chip has another unique id than described.
    OtherChip {
        /// The chip that was found.
        chip: ChipId,
        /// The described unique id.
        expected: u64,
    },
    /// A chip, matched by its unique id or its links, has another position.
    MovedChip {
        /// The chip.
        chip: ChipId,
        /// The described position.
        expected: ChipCoord,
    },
    /// A chip stands where it is not pinned.
    OffPin {
        /// The chip.
        chip: ChipId,
        /// Its number in the descriptor.
        file_id: u32,
        /// Tray and location at which it stands.
        stands: [u32; 2],
        /// Those to which it is pinned.
        pinned: Vec<[u32; 2]>,
    },
    /// A described link was not found, and its ends have no other link.
    MissingLink(ExpectedEnd, ExpectedEnd),
    /// Two chips, or two meshes, have fewer links between them than a description counts that names
    /// no channels.
    FewerLinks {
        /// The chips of each side.
        chips: [Vec<ChipId>; 2],
        /// Their links.
        found: usize,
        /// Those of the description.
        expected: usize,
    },
    /// A link was found that is not described.
    ExtraLink(EthId, EthId),
    /// An end is linked to another end than described.
    SwappedLink {
        /// The described link.
        expected: (ExpectedEnd, ExpectedEnd),
        /// The link that was found at one of its ends.
        found: (EthId, EthId),
    },
}

impl ExpectedEnd {
    /// The chip, which sorts and equals as the end, and the channel.
    fn parts(self) -> (Self, u8) {
        match self {
            Self::Found(EthId { chip, channel }) => {
                (Self::Found(EthId { chip, channel: 0 }), channel)
            }
            Self::Missing { file_id, channel } => (Self::Missing { file_id, channel: 0 }, channel),
        }
    }
}

/// Links between the same two chips in words, such as `0:e0,e1 to 3:e0,e1 (2 links)`.
pub fn links_in_words(links: &[(ExpectedEnd, ExpectedEnd)]) -> String {
    let Some((a, b)) = links.first() else { return String::new() };
    let more = |end: fn(&(ExpectedEnd, ExpectedEnd)) -> ExpectedEnd| {
        let channels = links.iter().skip(1).map(|link| format!(",e{}", end(link).parts().1));
        channels.collect::<String>()
    };
    let count = if links.len() > 1 { format!(" ({} links)", links.len()) } else { String::new() };
    format!("{a}{} to {b}{}{count}", more(|link| link.0), more(|link| link.1))
}

impl Difference {
    /// The link that is missing or extra.
    fn link(&self) -> Option<(ExpectedEnd, ExpectedEnd)> {
        match *self {
            Self::MissingLink(a, b) => Some((a, b)),
            Self::ExtraLink(a, b) => Some((ExpectedEnd::Found(a), ExpectedEnd::Found(b))),
            _ => None,
        }
    }

    /// Returns the condition that it is.
    pub fn condition(&self) -> Condition {
        match self {
            Self::MissingChip { .. } => Condition::MissingChip,
            Self::ExtraChip(_) => Condition::ExtraChip,
            Self::OtherChip { .. } => Condition::OtherChip,
            Self::MovedChip { .. } | Self::OffPin { .. } => Condition::MovedChip,
            Self::MissingLink(..) | Self::FewerLinks { .. } => Condition::MissingLink,
            Self::ExtraLink(..) => Condition::ExtraLink,
            Self::SwappedLink { .. } => Condition::SwappedLink,
        }
    }

    /// Returns the finding that it is.
    pub fn finding(&self) -> Finding {
        Finding::fault(self.condition(), Place::Mesh, self.to_string())
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place =
            |ChipCoord { x, y, rack, shelf }| format!("x {x} y {y} rack {rack} shelf {shelf}");
        match self {
            Self::MissingChip { file_id, coord, unique_id } => {
                let at = coord.map_or(String::new(), |coord| format!(" at {}", place(coord)));
                let id = unique_id.map_or(String::new(), |id| format!(" (unique id {id})"));
                write!(f, "its chip {file_id}{at}{id}")
            }
            Self::ExtraChip(chip) => write!(f, "chip {chip}"),
            Self::OtherChip { chip, expected } => {
                write!(f, "chip {chip} is in the place of unique id {expected}")
            }
            Self::MovedChip { chip, expected } => {
                write!(f, "chip {chip} should be at {}", place(*expected))
            }
            Self::OffPin { chip, file_id, stands, pinned } => {
                let place =
                    |[tray, location]: &[u32; 2]| format!("tray {tray} location {location}");
                let stands = place(stands);
                let pinned = pinned.iter().map(place).collect::<Vec<_>>().join(" or ");
                write!(f, "chip {chip} is its chip {file_id}, pinned to {pinned}, at {stands}")
            }
            Self::MissingLink(a, b) => write!(f, "{a} to {b}"),
            Self::FewerLinks { chips: [a, b], found, expected } => {
                let side = |chips: &[ChipId]| {
                    let chips: Vec<_> = chips.iter().map(ToString::to_string).collect();
                    chips.join(",")
                };
                write!(f, "chips {} and {} have {found} of {expected} links", side(a), side(b))
            }
            Self::ExtraLink(a, b) => write!(f, "{a} to {b}"),
            Self::SwappedLink { expected: (a, b), found: (c, d) } => {
                write!(f, "{c} to {d} instead of {a} to {b}")
            }
        }
    }
}

impl fmt::Display for ExpectedEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Found(end) => write!(f, "{end}"),
            Self::Missing { file_id, channel } => write!(f, "missing chip {file_id}:e{channel}"),
        }
    }
}

/// Returns a finding for each end of a link that has counted more CRC errors than may be.
pub fn crc_errors(state: &MeshState, most: u32) -> Vec<Finding> {
    let ends = state.links.iter().flat_map(|link| [link.link.a, link.link.b]);
    let counted = |end: EthId| {
        let count = *state.eth(end)?.eth.as_ref()?.crc_errors.known()?;
        (count > most).then(|| {
            let words = format!("{count} CRC errors, {most} allowed");
            Finding::fault(Condition::CrcErrors, Place::End(end), words)
        })
    };
    ends.filter_map(counted).collect()
}

/// A mesh that was compared with its description.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Comparison {
    /// The differences, chips first.
    pub differences: Vec<Difference>,
    /// The differences in words: what is missing as a whole, then the rest, in which the missing
    /// links between two chips, and the extra ones, are one.
    pub summary: Vec<(Condition, String)>,
}

/// Compares a mesh with its description.
pub fn compare(found: &Mesh, expected: &ClusterDescriptor) -> Comparison {
    let matching = Matching::of(found, expected);
    let differences = of_matching(found, expected, &matching);
    let summary = summary::of(found, expected, &matching, &differences);
    Comparison { differences, summary }
}

/// Returns the differences, chips first.
pub fn differences(found: &Mesh, expected: &ClusterDescriptor) -> Vec<Difference> {
    of_matching(found, expected, &Matching::of(found, expected))
}

/// Returns where the chips of a mesh stand by its description, and in how many ways the wiring fits it: more than one means
/// that another tray or host may be meant.
pub fn seats(found: &Mesh, expected: &ClusterDescriptor) -> (BTreeMap<ChipId, Seat>, usize) {
    let matching = Matching::of(found, expected);
    let seat = |chip: &DescribedChip| Some((matching.found(chip.id)?, chip.seat.clone()?));
    (expected.chips.iter().filter_map(seat).collect(), matching.ways)
}

fn of_matching(found: &Mesh, expected: &ClusterDescriptor, matching: &Matching) -> Vec<Difference> {
    let mut all = chips(found, expected, matching);
    all.extend(if expected.counted {
        fewer(found, expected, matching)
    } else {
        links(found, expected, matching)
    });
    all.sort();
    all
}

fn ends(mesh: &Mesh) -> Vec<(EthId, EthId)> {
    mesh.links.iter().map(|link| (link.a, link.b)).collect()
}

fn fewer(found: &Mesh, expected: &ClusterDescriptor, matching: &Matching) -> Vec<Difference> {
    let there = grid::counts(found);
    let edge = |edge: &Edge| {
        let mut chips = edge.found(|chip| matching.found(chip));
        chips.sort();
        let found = grid::between(&chips, &there);
        // What is missing as a whole has its own difference.
        let both = chips.iter().all(|party| !party.is_empty());
        let expected = edge.links;
        (both && found < expected).then_some(Difference::FewerLinks { chips, found, expected })
    };
    grid::edges(expected).iter().filter_map(edge).collect()
}

fn chips(found: &Mesh, expected: &ClusterDescriptor, matching: &Matching) -> Vec<Difference> {
    let counted = expected.counted;
    let mut all = Vec::new();
    for described in &expected.chips {
        let Some(id) = matching.found(described.id) else {
            let (file_id, coord) = (described.file_id, described.coord);
            let unique_id = described.unique_id.filter(|_| !counted);
            all.push(Difference::MissingChip { file_id, coord, unique_id });
            continue;
        };
        let Some(chip) = found.chip(id) else { continue };
        if let Some(seat) = chip.seat.as_deref().filter(|seat| !described.fits_pin(seat)) {
            let (file_id, pinned) = (described.file_id, described.pinned.clone());
            let stands = [seat.tray, seat.asic_location];
            all.push(Difference::OffPin { chip: id, file_id, stands, pinned });
        }
        // If no id matches, the descriptor is of another machine of the same kind.
        let other = described.unique_id.filter(|wanted| {
            matching.by_ids && chip.unique_id.is_some_and(|there| there != *wanted)
        });
        if let Some(expected) = other {
            all.push(Difference::OtherChip { chip: id, expected });
        } else if let (Some(at), Some(expected)) = (chip.coord, described.coord)
            && at != expected
            && !counted
        {
            all.push(Difference::MovedChip { chip: id, expected });
        }
    }
    let extra = found.chips.iter().filter(|chip| !counted && !matching.knows(chip.id));
    all.extend(extra.map(|chip| Difference::ExtraChip(chip.id)));
    all
}

fn links(found: &Mesh, expected: &ClusterDescriptor, matching: &Matching) -> Vec<Difference> {
    let end = |at: EthId| matching.end(expected, at);
    let mut extra = ends(found);
    let mut missing = Vec::new();
    for &(a, b) in &expected.links {
        let (a, b) = (end(a).min(end(b)), end(a).max(end(b)));
        let is = |link: &(EthId, EthId)| {
            (ExpectedEnd::Found(link.0), ExpectedEnd::Found(link.1)) == (a, b)
        };
        match extra.iter().position(is) {
            Some(at) => drop(extra.remove(at)),
            None => missing.push((a, b)),
        }
    }
    let mut all = Vec::new();
    for (a, b) in missing {
        let shares = |link: &(EthId, EthId)| {
            [link.0, link.1]
                .into_iter()
                .map(ExpectedEnd::Found)
                .any(|found| found == a || found == b)
        };
        all.push(match extra.iter().position(shares) {
            Some(at) => Difference::SwappedLink { expected: (a, b), found: extra.remove(at) },
            None => Difference::MissingLink(a, b),
        });
    }
    all.extend(extra.into_iter().map(|(a, b)| Difference::ExtraLink(a, b)));
    all
}

#[cfg(test)]
mod tests;
