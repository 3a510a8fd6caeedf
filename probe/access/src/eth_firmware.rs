//! Base firmware of a Wormhole's Ethernet tiles: what it publishes in L1, and its routing queues. It is Wormhole's alone: another
//! kind of chip has no routing queues, and publishes other words.

use layouts::{ChipKind, Ethernet, Routing};

/// What is where on an Ethernet tile.
pub(crate) fn eth() -> &'static Ethernet {
    &ChipKind::Wormhole.layout().eth
}

/// The numbers of the routing protocol.
pub(crate) fn routing() -> &'static Routing {
    &eth().routing
}
