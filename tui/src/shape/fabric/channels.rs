//! Channels and packets.

use super::tile;
use decode::state::{
    DownstreamState, EdgeFacts, HeadState, PacketFacts, ReceiverFacts, ReceiverState, SenderFacts,
    SenderState,
};
use serde::Serialize;

/// A sender channel.
#[derive(Serialize)]
pub(super) struct Sender<'a> {
    index: u8,
    virtual_channel: u8,
    slots: u64,
    #[serde(flatten)]
    facts: &'a SenderFacts,
    /// The client that it is connected to.
    client: Option<[u8; 2]>,
    head: Option<Head<'a>>,
}

impl<'a> Sender<'a> {
    pub(super) fn of(channel: &'a SenderState) -> Self {
        Self {
            index: channel.index,
            virtual_channel: channel.virtual_channel,
            slots: channel.slots,
            facts: &channel.facts,
            client: channel.client().map(tile),
            head: channel.head.as_ref().map(Head::of),
        }
    }
}

/// A receiver channel.
#[derive(Serialize)]
pub(super) struct Receiver<'a> {
    index: u8,
    virtual_channel: u8,
    slots: u64,
    #[serde(flatten)]
    facts: &'a ReceiverFacts,
    head: Option<Head<'a>>,
}

impl<'a> Receiver<'a> {
    pub(super) fn of(channel: &'a ReceiverState) -> Self {
        Self {
            index: channel.index,
            virtual_channel: channel.virtual_channel,
            slots: channel.slots,
            facts: &channel.facts,
            head: channel.head.as_ref().map(Head::of),
        }
    }
}

/// Credits for the router of this plane towards a direction.
#[derive(Serialize)]
pub(super) struct Edge<'a> {
    direction: &'static str,
    virtual_channel: u8,
    #[serde(flatten)]
    facts: &'a EdgeFacts,
}

impl<'a> Edge<'a> {
    pub(super) fn of(edge: &'a DownstreamState) -> Self {
        Self {
            direction: edge.direction.name(),
            virtual_channel: edge.virtual_channel,
            facts: &edge.facts,
        }
    }
}

/// The oldest packet of a channel.
#[derive(Serialize)]
pub(super) struct Head<'a> {
    addr: u64,
    packet: Option<Packet<'a>>,
}

/// A packet by its header.
#[derive(Serialize)]
struct Packet<'a> {
    #[serde(flatten)]
    facts: &'a PacketFacts,
    /// The rest of its route in words.
    route: &'a str,
}

impl<'a> Head<'a> {
    pub(super) fn of(head: &'a HeadState) -> Self {
        let packet = head.packet.known();
        Self {
            addr: head.addr,
            packet: packet.map(|it| Packet { facts: &it.facts, route: &it.route }),
        }
    }
}
