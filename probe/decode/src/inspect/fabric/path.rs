//! Routes of packets by the tables in the L1 of the routers on the way.

use super::peer;
use super::router::Router;
use crate::state::{FabricHop, FabricRoute, MeshState, RouteEnd, RouterState};
use images::Reading;
use layouts::{ChipId, EthId};
use machine::fabric::{Direction, Entry, FabricNode, RoutingTables};
use machine::target::Mesh;
use std::collections::BTreeMap;

/// Returns the routes from a chip to a node, one for each routing plane: by the tables of the first
/// router, then of each next one.
pub fn fabric_routes(state: &MeshState, from: ChipId, to: FabricNode) -> Vec<FabricRoute> {
    let map = Map(state);
    let own = state.fabric.routers.iter().filter(|router| router.at.chip == from);
    let has_tables = |router: &&RouterState| map.tables(router.at).is_some();
    let Some(first) = own.clone().find(has_tables).or(own.clone().next()) else {
        return Vec::new();
    };
    let end = |end| vec![FabricRoute { hops: Vec::new(), end }];
    match map.next(first.at, to) {
        None => end(RouteEnd::Unread(first.at)),
        Some(Entry::Here) => end(RouteEnd::Arrived),
        Some(Entry::Absent) => end(RouteEnd::NoEntry(first.at)),
        Some(Entry::To(route)) => {
            let starts = own.filter(|router| router.facts.direction == Reading::Known(route));
            let mut starts: Vec<_> = starts.filter(|start| start.plane.is_some()).collect();
            starts.sort_by_key(|start| start.plane);
            let routes: Vec<_> = starts.into_iter().map(|start| map.route(start, to)).collect();
            if routes.is_empty() { end(RouteEnd::NoRouter(first.at, route)) } else { routes }
        }
    }
}

/// Returns the routing planes of routers. They number the links of an edge in the order of the lower
/// chip's channels; further routers are spare.
pub(super) fn planes<'a>(
    mesh: &Mesh,
    routers: impl Iterator<Item = &'a Router<'a>>,
) -> BTreeMap<EthId, usize> {
    let mut edges: BTreeMap<(ChipId, Direction), Vec<(EthId, EthId)>> = BTreeMap::new();
    for router in routers {
        if let Some(direction) = router.facts.direction.known() {
            let lower = peer(mesh, router.at).map_or(router.at, |to| to.min(router.at));
            edges.entry((router.at.chip, *direction)).or_default().push((lower, router.at));
        }
    }
    for edge in edges.values_mut() {
        edge.sort_unstable();
    }
    let count = edges.values().map(Vec::len).min().unwrap_or(0);
    let planes = edges.values().flat_map(|edge| edge.iter().take(count).enumerate());
    planes.map(|(plane, (_, at))| (*at, plane)).collect()
}

struct Map<'a>(&'a MeshState);

impl<'a> Map<'a> {
    fn tables(&self, at: EthId) -> Option<&'a RoutingTables> {
        Some(&self.0.fabric.tables.iter().find(|tables| tables.at == at)?.tables)
    }

    /// Returns the entry of a router's tables.
    fn next(&self, at: EthId, to: FabricNode) -> Option<Entry> {
        let tables = self.tables(at)?;
        let entry = if tables.node.mesh == to.mesh {
            tables.intra_mesh.get(usize::from(to.device))
        } else {
            tables.inter_mesh.get(usize::from(to.mesh))
        };
        Some(entry.copied().unwrap_or(Entry::Absent))
    }

    /// Returns the other end of a link.
    fn peer(&self, at: EthId) -> Option<EthId> {
        self.0.links.iter().find_map(|state| state.link.other_end(at))
    }

    fn router(&self, at: EthId) -> Option<&'a RouterState> {
        self.0.fabric.routers.iter().find(|router| router.at == at)
    }

    fn route(&self, start: &'a RouterState, to: FabricNode) -> FabricRoute {
        let mut hops: Vec<FabricHop> = Vec::new();
        let (mut out, mut virtual_channel) = (start, 0);
        let end = loop {
            if hops.iter().any(|hop| hop.out == out.at) {
                break RouteEnd::Loop(out.at);
            }
            let Some((into, direction)) = self.peer(out.at).zip(out.facts.direction.known()) else {
                break RouteEnd::Unread(out.at);
            };
            hops.push(FabricHop { out: out.at, into, direction: *direction, virtual_channel });
            let Some(there) = self.router(into) else { break RouteEnd::Unread(into) };
            match self.next(into, to) {
                None => break RouteEnd::Unread(into),
                Some(Entry::Here) => break RouteEnd::Arrived,
                Some(Entry::Absent) => break RouteEnd::NoEntry(into),
                Some(Entry::To(towards)) => match self.downstream(there, towards) {
                    Some(next) => {
                        virtual_channel = channel(there, towards, virtual_channel);
                        out = next;
                    }
                    None => break RouteEnd::NoRouter(into, towards),
                },
            }
        };
        FabricRoute { hops, end }
    }

    /// Returns the router of the same plane in a direction.
    fn downstream(&self, router: &RouterState, towards: Direction) -> Option<&'a RouterState> {
        let edge = router.downstream.iter().find(|edge| edge.direction == towards)?;
        let (chip, tile) = (router.at.chip, *edge.facts.tile.known()?);
        self.0.fabric.routers.iter().find(|next| next.at.chip == chip && next.tile == tile)
    }
}

/// Returns the virtual channel: 1 for a packet that has crossed the dateline, if the router has one
/// in the direction: on rings only straight ahead.
fn channel(router: &RouterState, towards: Direction, before: u8) -> u8 {
    let mut edges = router.downstream.iter();
    let has_second = edges.any(|edge| edge.direction == towards && edge.virtual_channel == 1);
    let over = before == 1 || router.facts.dateline == Reading::Known(true);
    (has_second && over).into()
}
