//! Routing tables in the L1 of routers, and the routes of packets by them.

use layouts::EthId;
use machine::fabric::{Direction, RoutingTables};
use schemars::JsonSchema;
use serde::Serialize;

/// The tables in the L1 of a router.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TablesState {
    /// The router.
    pub at: EthId,
    /// Row and column of its chip.
    pub place: (u64, u64),
    /// Rows and columns of its mesh.
    pub shape: (u64, u64),
    /// L0, L1 and exit nodes.
    pub tables: RoutingTables,
}

/// A link on the route of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FabricHop {
    /// The router that sends over the link.
    pub out: EthId,
    /// The router at the other end.
    pub into: EthId,
    /// The direction of the link.
    pub direction: Direction,
    /// The virtual channel.
    pub virtual_channel: u8,
}

/// The end of a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RouteEnd {
    /// The destination.
    Arrived,
    /// The tables of this router have no entry for the destination.
    NoEntry(EthId),
    /// The tables of this router name a direction in which its plane has no router.
    NoRouter(EthId, Direction),
    /// The packet returns to this router: it circulates until its time to live expires.
    Loop(EthId),
    /// The next router was not read, or the link has no other end.
    Unread(EthId),
}

/// The route of a packet in one routing plane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FabricRoute {
    /// The links, in order.
    pub hops: Vec<FabricHop>,
    /// The end of the route.
    pub end: RouteEnd,
}
