//! The JSON of a difference between a mesh and its descriptor.

use diagnosis::Condition;
use diagnosis::expect::{Difference, ExpectedEnd};
use layouts::{ChipCoord, ChipId, EthId};
use schemars::JsonSchema;
use serde::Serialize;

/// A difference between the mesh and its cluster descriptor; keys that do not apply to its kind are
/// omitted.
#[derive(Default, Serialize, JsonSchema)]
pub(crate) struct Differs {
    /// missing-chip (has `expected_chip`, `coord`, `unique_id`), extra-chip (`chip`), other-chip
    /// (`chip`, `unique_id`), moved-chip (`chip`, `coord`, or of
    /// a mesh graph `expected_chip`, `pinned`), missing-link (`a`, `b`, or of a
    /// mesh graph `chips`, `found_links`, `expected_links`), extra-link (`a`, `b`) or swapped-link (`a`, `b`, `found`).
    kind: &'static str,
    /// The chip's id.
    #[serde(skip_serializing_if = "Option::is_none")]
    chip: Option<ChipId>,
    /// The chip's number in the descriptor.
    #[serde(skip_serializing_if = "Option::is_none")]
    expected_chip: Option<u32>,
    /// The described position of the chip: x, y, rack, shelf.
    #[serde(skip_serializing_if = "Option::is_none")]
    coord: Option<ChipCoord>,
    /// The described 64-bit board id of the chip.
    #[serde(skip_serializing_if = "Option::is_none")]
    unique_id: Option<u64>,
    /// Tray and location of each place to which the chip is pinned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pinned: Option<Vec<[u32; 2]>>,
    #[serde(flatten)]
    link: Option<Ends>,
    /// The chips of two sides that have fewer links between them than a mesh graph counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    chips: Option<[Vec<ChipId>; 2]>,
    /// How many links they have.
    #[serde(skip_serializing_if = "Option::is_none")]
    found_links: Option<usize>,
    /// How many they are to have.
    #[serde(skip_serializing_if = "Option::is_none")]
    expected_links: Option<usize>,
    /// The link that was found instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    found: Option<Ends>,
}

/// Differences that are one in words.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Summarized<'a> {
    /// The kind of the differences.
    kind: &'static str,
    /// What differs.
    sentence: &'a str,
}

/// The shape of a line of the summary.
pub(super) fn summarized((condition, sentence): &(Condition, String)) -> Summarized<'_> {
    Summarized { kind: condition.name(), sentence }
}

/// The ends of a link.
#[derive(Serialize, JsonSchema)]
struct Ends {
    /// One end of the link.
    a: DescribedEnd,
    /// The other end.
    b: DescribedEnd,
}

/// An end of a link: on a chip of the mesh, or on a missing chip.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
enum DescribedEnd {
    /// On a chip of the mesh.
    Found(EthId),
    /// On a missing chip.
    Missing {
        /// The chip's number in the descriptor.
        expected_chip: u32,
        /// The Ethernet channel.
        channel: u8,
    },
}

impl Ends {
    fn new(a: ExpectedEnd, b: ExpectedEnd) -> Self {
        let end = |at| match at {
            ExpectedEnd::Found(at) => DescribedEnd::Found(at),
            ExpectedEnd::Missing { file_id, channel } => {
                DescribedEnd::Missing { expected_chip: file_id, channel }
            }
        };
        Self { a: end(a), b: end(b) }
    }

    fn found((a, b): (EthId, EthId)) -> Self {
        Self::new(ExpectedEnd::Found(a), ExpectedEnd::Found(b))
    }
}

/// Builds a difference.
pub(crate) fn difference(difference: &Difference) -> Differs {
    let kind = difference.condition().name();
    match *difference {
        Difference::MissingChip { file_id, coord, unique_id } => {
            Differs { kind, expected_chip: Some(file_id), coord, unique_id, ..Differs::default() }
        }
        Difference::ExtraChip(chip) => Differs { kind, chip: Some(chip), ..Differs::default() },
        Difference::OtherChip { chip, expected } => {
            Differs { kind, chip: Some(chip), unique_id: Some(expected), ..Differs::default() }
        }
        Difference::MovedChip { chip, expected } => {
            Differs { kind, chip: Some(chip), coord: Some(expected), ..Differs::default() }
        }
        Difference::OffPin { chip, file_id, ref pinned, .. } => Differs {
            kind,
            chip: Some(chip),
            expected_chip: Some(file_id),
            pinned: Some(pinned.clone()),
            ..Differs::default()
        },
        Difference::MissingLink(a, b) => {
            Differs { kind, link: Some(Ends::new(a, b)), ..Differs::default() }
        }
        Difference::FewerLinks { ref chips, found, expected } => Differs {
            kind,
            chips: Some(chips.clone()),
            found_links: Some(found),
            expected_links: Some(expected),
            ..Differs::default()
        },
        Difference::ExtraLink(a, b) => {
            Differs { kind, link: Some(Ends::found((a, b))), ..Differs::default() }
        }
        Difference::SwappedLink { expected: (a, b), found } => Differs {
            kind,
            link: Some(Ends::new(a, b)),
            found: Some(Ends::found(found)),
            ..Differs::default()
        },
    }
}
