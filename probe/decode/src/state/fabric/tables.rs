//! Routing tables as they stand in the L1 of a router, and the ways of packets by them.

use layouts::EthId;
use machine::fabric::{Direction, RoutingTables};

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

/// One link on the way of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FabricHop {
    /// The router that sends it.
    pub out: EthId,
    /// The router at the other end.
    pub into: EthId,
    /// Where that link leads.
    pub direction: Direction,
    /// In which virtual channel.
    pub virtual_channel: u8,
}

/// Where a way ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RouteEnd {
    /// At the chip that it is for.
    Arrived,
    /// The tables of this router have no entry for it.
    NoEntry(EthId),
    /// The tables of this router say a direction in which its plane has no router.
    NoRouter(EthId, Direction),
    /// The packet comes back to this router: it goes round until its time to live is over.
    Loop(EthId),
    /// Nothing was read of the router that it comes to next, or its link leads nowhere.
    Unread(EthId),
}

/// The way of a packet in one routing plane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FabricRoute {
    /// Link after link.
    pub hops: Vec<FabricHop>,
    /// Where it ends.
    pub end: RouteEnd,
}
