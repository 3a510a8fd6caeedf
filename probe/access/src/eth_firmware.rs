//! Base firmware of a Wormhole's Ethernet tiles: the words that it publishes in L1, and its routing
//! queues. Other kinds of chip have no routing queues and publish other words.

use layouts::{ChipKind, Ethernet, Routing};

/// Returns the layout of an Ethernet tile.
pub(crate) fn eth() -> &'static Ethernet {
    &ChipKind::Wormhole.layout().eth
}

/// Returns the constants of the routing protocol.
pub(crate) fn routing() -> &'static Routing {
    &eth().routing
}
