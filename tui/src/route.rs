//! The path of a packet.

use decode::state::{FabricRoute, PacketState};
use layouts::{ChipId, EthId, NocXy};
use machine::fabric::FabricNode;
use std::collections::BTreeSet;

/// A path, in each routing plane.
#[derive(Clone, Debug)]
pub(crate) struct Route {
    /// Where it begins.
    pub(crate) from: ChipId,
    /// The packet that goes it, if it is that of one.
    pub(crate) packet: Option<PacketState>,
    /// Its end, and the routes to it; or why there are none.
    pub(crate) found: Result<(FabricNode, Vec<FabricRoute>), String>,
    /// The tiles that it touches.
    pub(crate) tiles: BTreeSet<(ChipId, NocXy)>,
    /// The ends that send.
    pub(crate) sends: BTreeSet<EthId>,
}

impl Default for Route {
    fn default() -> Self {
        Self {
            from: ChipId(0),
            packet: None,
            found: Err(String::new()),
            tiles: BTreeSet::new(),
            sends: BTreeSet::new(),
        }
    }
}
