//! Channels and packets.

use crate::shape::xy;
use decode::state::{DownstreamState, HeadState, ReceiverState, SenderState};
use images::fabric::{EdgeFacts, PacketFacts, ReceiverFacts, SenderFacts};
use schemars::JsonSchema;
use serde::Serialize;

/// A sender channel.
#[derive(Serialize, JsonSchema)]
pub(super) struct Sender<'a> {
    /// Its number.
    index: u8,
    /// Its virtual channel; 2 is the control channel.
    virtual_channel: u8,
    /// Its capacity, in packets.
    slots: u64,
    #[serde(flatten)]
    facts: &'a SenderFacts,
    /// If `in_flight` is not known: the most that it can be, by the packets at the peer and the
    /// completions that are not processed.
    in_flight_at_most: Option<u64>,
    /// NOC 0 coordinates of the connected client: x, y; null if there is none.
    client: Option<[u8; 2]>,
    /// Its oldest packet; null if it has none or if the oldest is not known.
    head: Option<Head<'a>>,
    /// If it holds packets and the oldest is not known: all its slots, of which at most as many hold
    /// a packet as it holds.
    at_most: Vec<Head<'a>>,
}

impl<'a> Sender<'a> {
    pub(super) fn of(channel: &'a SenderState) -> Self {
        Self {
            index: channel.index,
            virtual_channel: channel.virtual_channel,
            slots: channel.slots,
            facts: &channel.facts,
            in_flight_at_most: channel.in_flight_at_most,
            client: channel.client().map(xy),
            head: channel.head.as_ref().map(Head::of),
            at_most: channel.candidates.iter().map(Head::of).collect(),
        }
    }
}

/// A receiver channel.
#[derive(Serialize, JsonSchema)]
pub(super) struct Receiver<'a> {
    /// Its number.
    index: u8,
    /// Its virtual channel; 2 is the control channel.
    virtual_channel: u8,
    /// Its capacity, in packets.
    slots: u64,
    #[serde(flatten)]
    facts: &'a ReceiverFacts,
    /// Its oldest packet; null if it has none or if the oldest is not known.
    head: Option<Head<'a>>,
    /// If it holds packets and the oldest is not known: all its slots, of which at most as many hold
    /// a packet as it holds.
    at_most: Vec<Head<'a>>,
}

impl<'a> Receiver<'a> {
    pub(super) fn of(channel: &'a ReceiverState) -> Self {
        Self {
            index: channel.index,
            virtual_channel: channel.virtual_channel,
            slots: channel.slots,
            facts: &channel.facts,
            head: channel.head.as_ref().map(Head::of),
            at_most: channel.candidates.iter().map(Head::of).collect(),
        }
    }
}

/// Credits for the router of this plane towards a direction.
#[derive(Serialize, JsonSchema)]
pub(super) struct Edge<'a> {
    /// EAST, WEST, NORTH or SOUTH.
    direction: &'static str,
    /// Its virtual channel.
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
#[derive(Serialize, JsonSchema)]
pub(super) struct Head<'a> {
    /// Its address in the tile.
    addr: u64,
    /// Its header; null if it was not read.
    packet: Option<Packet<'a>>,
}

/// A packet by its header.
#[derive(Serialize, JsonSchema)]
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
