//! Where a finding is.

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
