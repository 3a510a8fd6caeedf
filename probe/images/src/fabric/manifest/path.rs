//! The paths by which a manifest names a router or a channel, such as `M0/C7/E0`.

use super::cursor::{Cursor, Parsed, decimal, quoted};
use machine::fabric::{Direction, FabricNode};
use std::fmt;

const LETTERS: [(char, Option<Direction>); 5] = [
    ('E', Some(Direction::East)),
    ('W', Some(Direction::West)),
    ('N', Some(Direction::North)),
    ('S', Some(Direction::South)),
    ('Z', None),
];

/// A router by its chip and by its key there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RouterPath {
    /// The chip.
    pub node: FabricNode,
    /// The direction of the router's link; none for `Z`, a link that leaves the grid.
    pub direction: Option<Direction>,
    /// The routing plane.
    pub plane: u8,
}

/// A sender channel by its router, virtual channel and index there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChannelPath {
    /// The router.
    pub router: RouterPath,
    /// The virtual channel.
    pub virtual_channel: u8,
    /// The index within the virtual channel.
    pub channel: u8,
}

impl fmt::Display for RouterPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { node, direction, plane } = self;
        let letter =
            LETTERS.iter().find(|(_, of)| of == direction).map_or('Z', |(letter, _)| *letter);
        write!(f, "M{}/C{}/{letter}{plane}", node.mesh, node.device)
    }
}

/// Parses the key of a router: its direction and its routing plane.
pub(super) fn router_key(key: &str) -> Option<(Option<Direction>, u8)> {
    let (_, direction) = LETTERS.iter().find(|(letter, _)| key.starts_with(*letter))?;
    Some((*direction, number(key.get(1..)?)?))
}

/// Reads a router's path.
pub(super) fn router(at: &Cursor<'_>) -> Parsed<RouterPath> {
    let text = at.text()?;
    let what = || at.refused(format!("is {}, no path of a router", quoted(text)));
    parse_router(text).ok_or_else(what)
}

/// Reads a sender channel's path.
pub(super) fn sender_channel(at: &Cursor<'_>) -> Parsed<ChannelPath> {
    let text = at.text()?;
    let what = || at.refused(format!("is {}, no path of a sender channel", quoted(text)));
    parse_sender_channel(text).ok_or_else(what)
}

fn parse_router(text: &str) -> Option<RouterPath> {
    let (mesh, rest) = text.split_once('/')?;
    let (chip, key) = rest.split_once('/')?;
    let (direction, plane) = router_key(key)?;
    let node = FabricNode { mesh: prefixed(mesh, "M")?, device: prefixed(chip, "C")? };
    Some(RouterPath { node, direction, plane })
}

fn parse_sender_channel(text: &str) -> Option<ChannelPath> {
    let (router, rest) = text.split_once("/channels/senders/")?;
    let (virtual_channel, channel) = rest.split_once('/')?;
    Some(ChannelPath {
        router: parse_router(router)?,
        virtual_channel: prefixed(virtual_channel, "vc")?,
        channel: prefixed(channel, "ch")?,
    })
}

/// Parses a word that is a prefix and a number.
pub(super) fn prefixed<T: TryFrom<u64>>(text: &str, prefix: &str) -> Option<T> {
    number(text.strip_prefix(prefix)?)
}

fn number<T: TryFrom<u64>>(digits: &str) -> Option<T> {
    T::try_from(decimal(digits)?).ok()
}
