//! The promised shape of a difference between a mesh and its descriptor.

use access::expect::{Difference, ExpectedEnd};
use layouts::{ChipCoord, ChipId, EthId};
use serde::Serialize;

/// One difference; the keys that its kind does not have are left out.
#[derive(Default, Serialize)]
pub(crate) struct Differs {
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    chip: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expected_chip: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    coord: Option<[u8; 4]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    unique_id: Option<u64>,
    #[serde(flatten)]
    link: Option<Ends>,
    #[serde(skip_serializing_if = "Option::is_none")]
    found: Option<Ends>,
}

#[derive(Serialize)]
struct Ends {
    a: LinkEnd,
    b: LinkEnd,
}

#[derive(Serialize)]
#[serde(untagged)]
enum LinkEnd {
    Found { chip: u16, channel: u8 },
    Missing { expected_chip: u32, channel: u8 },
}

impl Ends {
    fn new(a: ExpectedEnd, b: ExpectedEnd) -> Self {
        let end = |end| match end {
            ExpectedEnd::Found(EthId { chip, channel }) => LinkEnd::Found { chip: chip.0, channel },
            ExpectedEnd::Missing { file_id, channel } => {
                LinkEnd::Missing { expected_chip: file_id, channel }
            }
        };
        Self { a: end(a), b: end(b) }
    }

    fn found((a, b): (EthId, EthId)) -> Self {
        Self::new(ExpectedEnd::Found(a), ExpectedEnd::Found(b))
    }
}

/// The shape of a difference.
pub(crate) fn difference(difference: &Difference) -> Differs {
    let place = |c: ChipCoord| [c.x, c.y, c.rack, c.shelf];
    let of = |chip: ChipId| Some(chip.0);
    let kind = difference.kind();
    match *difference {
        Difference::MissingChip { file_id, coord, unique_id } => {
            let coord = coord.map(place);
            Differs { kind, expected_chip: Some(file_id), coord, unique_id, ..Differs::default() }
        }
        Difference::ExtraChip(chip) => Differs { kind, chip: of(chip), ..Differs::default() },
        Difference::OtherChip { chip, expected } => {
            Differs { kind, chip: of(chip), unique_id: Some(expected), ..Differs::default() }
        }
        Difference::MovedChip { chip, expected } => {
            Differs { kind, chip: of(chip), coord: Some(place(expected)), ..Differs::default() }
        }
        Difference::MissingLink(a, b) => {
            Differs { kind, link: Some(Ends::new(a, b)), ..Differs::default() }
        }
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
