//! A mesh beside its description: chips and links that are missing, too many, or elsewhere.
//!
//! A descriptor's chip numbers are those of whoever wrote it, so chips are matched first: by their
//! unique ids; if no id is known, by coordinates where at least half of the chips agree on them and
//! some link does; else by structure, which tells because both ends of each link have channels. A
//! chip that was matched and has other coordinates than described has moved, however it was matched.

mod matching;

use layouts::{ChipCoord, ChipId, ClusterDescriptor, EthId};
use machine::target::Mesh;
use matching::Matching;
use std::fmt;

/// An end of a link in a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ExpectedEnd {
    /// On a chip that was found.
    Found(EthId),
    /// On a chip that was not, by its number in the descriptor.
    Missing {
        /// The chip's number in the descriptor.
        file_id: u32,
        /// Its channel.
        channel: u8,
    },
}

/// Something in which a mesh differs from its description.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Difference {
    /// A described chip was not found.
    MissingChip {
        /// Its number in the descriptor.
        file_id: u32,
        /// Where it should stand, if told.
        coord: Option<ChipCoord>,
        /// Its unique id, if told.
        unique_id: Option<u64>,
    },
    /// A chip was found that is not described.
    ExtraChip(ChipId),
    /// A chip stands in another's place, by their unique ids.
    OtherChip {
        /// The chip that was found.
        chip: ChipId,
        /// The unique id that should be there.
        expected: u64,
    },
    /// A chip, known by its unique id or by its links, stands elsewhere.
    MovedChip {
        /// The chip.
        chip: ChipId,
        /// Where it should stand.
        expected: ChipCoord,
    },
    /// A described link was not found, and nothing else is at its ends.
    MissingLink(ExpectedEnd, ExpectedEnd),
    /// A link was found that is not described.
    ExtraLink(EthId, EthId),
    /// An end is linked to another one than it should be.
    SwappedLink {
        /// The described link.
        expected: (ExpectedEnd, ExpectedEnd),
        /// The link that was found at one of its ends.
        found: (EthId, EthId),
    },
}

impl Difference {
    /// Its name in tables and JSON.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::MissingChip { .. } => "missing-chip",
            Self::ExtraChip(_) => "extra-chip",
            Self::OtherChip { .. } => "other-chip",
            Self::MovedChip { .. } => "moved-chip",
            Self::MissingLink(..) => "missing-link",
            Self::ExtraLink(..) => "extra-link",
            Self::SwappedLink { .. } => "swapped-link",
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

/// What differs, chips first.
pub fn differences(found: &Mesh, expected: &ClusterDescriptor) -> Vec<Difference> {
    let matching = Matching::of(found, expected);
    let mut all = chips(found, expected, &matching);
    all.extend(links(found, expected, &matching));
    all.sort();
    all
}

fn chips(found: &Mesh, expected: &ClusterDescriptor, matching: &Matching) -> Vec<Difference> {
    let mut all = Vec::new();
    for described in &expected.chips {
        let Some(id) = matching.found(described.id) else {
            let (file_id, coord) = (described.file_id, described.coord);
            let unique_id = described.unique_id;
            all.push(Difference::MissingChip { file_id, coord, unique_id });
            continue;
        };
        let Some(chip) = found.chip(id) else { continue };
        // Where no id at all is the described one, the descriptor is of another machine of this kind.
        let other = described.unique_id.filter(|wanted| {
            matching.by_ids && chip.unique_id.is_some_and(|there| there != *wanted)
        });
        if let Some(expected) = other {
            all.push(Difference::OtherChip { chip: id, expected });
        } else if let (Some(at), Some(expected)) = (chip.coord, described.coord)
            && at != expected
        {
            all.push(Difference::MovedChip { chip: id, expected });
        }
    }
    let extra = found.chips.iter().filter(|chip| !matching.knows(chip.id));
    all.extend(extra.map(|chip| Difference::ExtraChip(chip.id)));
    all
}

fn links(found: &Mesh, expected: &ClusterDescriptor, matching: &Matching) -> Vec<Difference> {
    let number = |chip| expected.chip(chip).map_or(0, |chip| chip.file_id);
    let end = |EthId { chip, channel }: EthId| {
        let missing = ExpectedEnd::Missing { file_id: number(chip), channel };
        matching.found(chip).map_or(missing, |chip| ExpectedEnd::Found(EthId { chip, channel }))
    };
    let mut extra: Vec<(EthId, EthId)> = found.links.iter().map(|link| (link.a, link.b)).collect();
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
