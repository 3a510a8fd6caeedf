//! Where a finding is.

use crate::finding::Evidence;
use decode::state::MeshState;
use layouts::{ChipId, CoreId, EthId};
use machine::target::Link;
use std::fmt;

/// The place of a finding: what a person looks at first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Place {
    /// A core.
    Core(CoreId),
    /// A router, by its Ethernet tile.
    Router(EthId),
    /// A link, by both ends.
    Link(EthId, EthId),
    /// A chip.
    Chip(ChipId),
    /// The end of a link, by its Ethernet tile.
    End(EthId),
    /// The whole mesh.
    Mesh,
    /// The host, or the dispatcher that acts for it.
    Host,
}

impl Place {
    /// Returns the place of a link; its lower end comes first.
    pub fn link(link: &Link) -> Self {
        Self::Link(link.a.min(link.b), link.a.max(link.b))
    }

    /// Returns the place as an argument of a verb; empty if it is no part of the mesh.
    pub fn argument(self) -> String {
        match self {
            Self::Core(core) => core.to_string(),
            Self::Router(at) | Self::Link(at, _) | Self::End(at) => at.to_string(),
            Self::Chip(chip) => chip.to_string(),
            Self::Mesh | Self::Host => String::new(),
        }
    }

    /// Returns where each end or chip of the place stands, if that is known.
    pub(crate) fn stands(self, state: &MeshState) -> Vec<Evidence> {
        let evidence = |name: String, value| Evidence { at: None, name, value };
        let end = |end: EthId| Some(evidence(format!("port of {end}"), state.port(end)?));
        match self {
            Self::Link(a, b) => [end(a), end(b)].into_iter().flatten().collect(),
            Self::Router(at) | Self::End(at) => end(at).into_iter().collect(),
            _ => {
                let place = |chip| {
                    Some(evidence(format!("place of chip {chip}"), state.seat(chip)?.to_string()))
                };
                self.chips().filter_map(place).collect()
            }
        }
    }

    /// Returns the chips that it is on.
    pub fn chips(self) -> impl Iterator<Item = ChipId> {
        let (one, other) = match self {
            Self::Core(core) => (Some(core.chip), None),
            Self::Router(at) | Self::End(at) => (Some(at.chip), None),
            Self::Link(a, b) => (Some(a.chip), Some(b.chip)),
            Self::Chip(chip) => (Some(chip), None),
            Self::Mesh | Self::Host => (None, None),
        };
        [one, other].into_iter().flatten()
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Core(core) => write!(f, "core {core}"),
            Self::Router(at) => write!(f, "router {at}"),
            Self::Link(a, b) => write!(f, "link {a}-{b}"),
            Self::Chip(chip) => write!(f, "chip {chip}"),
            Self::End(at) => write!(f, "{at}"),
            Self::Mesh => f.write_str("mesh"),
            Self::Host => f.write_str("the host"),
        }
    }
}
