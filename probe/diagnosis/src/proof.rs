//! The proof of the routing tables of a fabric: every packet arrives, no channels can wait for each
//! other in a circle, and opposite flows between two meshes use different links.

use decode::inspect::fabric_routes;
use decode::state::{FabricHop, FabricRoute, MeshState, RouteEnd, TablesState};
use layouts::EthId;
use machine::fabric::FabricNode;
use petgraph::graphmap::DiGraphMap;
use std::collections::{BTreeMap, BTreeSet};

/// A channel that packets can wait for: a virtual channel of the router that sends over a link.
type Channel = (EthId, u8);
/// A link, by its ends in order.
type Wire = (EthId, EthId);

/// What the routing tables of a fabric lead to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TablesProof {
    /// The nodes.
    pub nodes: usize,
    /// Ordered pairs of nodes whose packets the tables must carry. In one dimension those of two rows
    /// and columns are none.
    pub pairs: usize,
    /// Number of routes: one of each pair and routing plane.
    pub routes: usize,
    /// Hops of the longest route that arrives.
    pub longest: usize,
    /// The routes that do not arrive.
    pub broken: Vec<BrokenRoute>,
    /// Routes whose end is not known, because a router on them was not read.
    pub unread: usize,
    /// Number of channels on the routes.
    pub channels: usize,
    /// Number of waits that are possible between two of them.
    pub dependencies: usize,
    /// Channels that can wait for each other in a circle, the shortest that there is; empty if there
    /// is none.
    pub circle: Vec<FabricHop>,
    /// The pairs of meshes that links join.
    pub exits: Vec<ExitsProof>,
}

/// A route that does not arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BrokenRoute {
    /// The node that sends.
    pub from: FabricNode,
    /// The destination.
    pub to: FabricNode,
    /// The routing plane.
    pub plane: usize,
    /// Where it ends.
    pub end: RouteEnd,
}

/// The links by which packets leave a mesh for another one and come back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExitsProof {
    /// The meshes, the lower number first.
    pub meshes: (u16, u16),
    /// Number of exits: pairs of nodes that links join.
    pub exits: usize,
    /// Links that packets use in both directions.
    pub shared: Vec<Wire>,
}

impl ExitsProof {
    /// Whether opposite flows share a link although there are several exits.
    pub fn is_shared(&self) -> bool {
        self.exits > 1 && !self.shared.is_empty()
    }
}

impl TablesProof {
    /// Follows a packet of every pair of nodes in every routing plane.
    pub fn of(state: &MeshState) -> Self {
        let nodes: BTreeMap<FabricNode, &TablesState> =
            state.fabric.tables.iter().map(|it| (it.tables.node, it)).collect();
        let mut proof = Self { nodes: nodes.len(), ..Self::default() };
        let mut waits = Dependencies::default();
        let mut flows = Flows::new(state);
        for (from, source) in &nodes {
            for (to, sink) in nodes.iter().filter(|(to, _)| *to != from) {
                if !must_carry(state, source, sink) {
                    continue;
                }
                proof.pairs += 1;
                for (plane, route) in
                    fabric_routes(state, source.at.chip, *to).into_iter().enumerate()
                {
                    proof.add((*from, *to, plane), &route);
                    waits.add(&route);
                    flows.add(*from, *to, &route);
                }
            }
        }
        (proof.channels, proof.dependencies) = (waits.graph.node_count(), waits.graph.edge_count());
        proof.circle = waits.circle();
        proof.exits = flows.exits();
        proof
    }

    /// Whether nothing speaks against the tables, as far as they were read.
    pub fn holds(&self) -> bool {
        self.broken.is_empty()
            && self.circle.is_empty()
            && !self.exits.iter().any(ExitsProof::is_shared)
    }

    fn add(&mut self, (from, to, plane): (FabricNode, FabricNode, usize), route: &FabricRoute) {
        self.routes += 1;
        match route.end {
            RouteEnd::Arrived => self.longest = self.longest.max(route.hops.len()),
            RouteEnd::Unread(_) => self.unread += 1,
            end => self.broken.push(BrokenRoute { from, to, plane, end }),
        }
    }
}

/// Whether packets go from one node to another: in one dimension only along a row or a column, or to
/// another mesh.
fn must_carry(state: &MeshState, from: &TablesState, to: &TablesState) -> bool {
    let of = |router: &&decode::state::RouterState| router.at == from.at;
    let router = state.fabric.routers.iter().find(of);
    let two = router.is_none_or(|router| router.facts.two_dimensional.known() != Some(&false));
    let in_line = from.place.0 == to.place.0 || from.place.1 == to.place.1;
    two || in_line || from.tables.node.mesh != to.tables.node.mesh
}

/// Which channel can wait for which: a packet holds its channel until there is room in the next one.
#[derive(Default)]
struct Dependencies {
    graph: DiGraphMap<Channel, ()>,
    hops: BTreeMap<Channel, FabricHop>,
}

impl Dependencies {
    fn add(&mut self, route: &FabricRoute) {
        let channel = |hop: &FabricHop| (hop.out, hop.virtual_channel);
        for hop in &route.hops {
            self.graph.add_node(channel(hop));
            self.hops.insert(channel(hop), *hop);
        }
        for pair in route.hops.windows(2) {
            if let [hop, next] = pair {
                self.graph.add_edge(channel(hop), channel(next), ());
            }
        }
    }

    /// Returns a shortest circle.
    fn circle(&self) -> Vec<FabricHop> {
        let parts = petgraph::algo::tarjan_scc(&self.graph);
        let loops = parts.iter().filter(|part| part.len() > 1).flatten();
        let circles = loops.filter_map(|start| self.circle_from(*start));
        let shortest = circles.min_by_key(Vec::len).unwrap_or_else(Vec::new);
        shortest.iter().filter_map(|channel| self.hops.get(channel).copied()).collect()
    }

    /// Returns a shortest way from a channel back to it.
    fn circle_from(&self, start: Channel) -> Option<Vec<Channel>> {
        let mut before = BTreeMap::new();
        let mut queue = std::collections::VecDeque::from([start]);
        while let Some(at) = queue.pop_front() {
            for next in self.graph.neighbors(at) {
                if next == start {
                    let back = |at: &Channel| before.get(at).copied();
                    let mut circle: Vec<_> = std::iter::successors(Some(at), back).collect();
                    circle.reverse();
                    return Some(circle);
                }
                if let std::collections::btree_map::Entry::Vacant(vacant) = before.entry(next) {
                    vacant.insert(at);
                    queue.push_back(next);
                }
            }
        }
        None
    }
}

/// The links between meshes that packets use.
struct Flows {
    nodes: BTreeMap<EthId, FabricNode>,
    /// Pairs of nodes that links join, by their meshes.
    joined: BTreeMap<(u16, u16), BTreeSet<(FabricNode, FabricNode)>>,
    /// The links on the routes from one mesh to another.
    used: BTreeMap<(u16, u16), BTreeSet<Wire>>,
}

impl Flows {
    fn new(state: &MeshState) -> Self {
        let routers = state.fabric.routers.iter();
        let nodes: BTreeMap<_, _> =
            routers.filter_map(|it| Some((it.at, *it.facts.node.known()?))).collect();
        let mut joined: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
        for link in state.links.iter().map(|state| state.link) {
            let (Some(a), Some(b)) = (nodes.get(&link.a), nodes.get(&link.b)) else { continue };
            let (low, high) = (*a.min(b), *a.max(b));
            if low.mesh != high.mesh {
                joined.entry((low.mesh, high.mesh)).or_default().insert((low, high));
            }
        }
        Self { nodes, joined, used: BTreeMap::new() }
    }

    fn add(&mut self, from: FabricNode, to: FabricNode, route: &FabricRoute) {
        let ends = |hop: &FabricHop| Some((self.nodes.get(&hop.out)?, self.nodes.get(&hop.into)?));
        let leaves = |hop: &&FabricHop| ends(hop).is_some_and(|(out, into)| out.mesh != into.mesh);
        let wires = route.hops.iter().filter(leaves);
        let wires: Vec<_> =
            wires.map(|hop| (hop.out.min(hop.into), hop.out.max(hop.into))).collect();
        if from.mesh != to.mesh {
            self.used.entry((from.mesh, to.mesh)).or_default().extend(wires);
        }
    }

    fn exits(&self) -> Vec<ExitsProof> {
        let none = BTreeSet::new();
        let of = |&(a, b): &(u16, u16)| {
            let there = self.used.get(&(a, b)).unwrap_or(&none);
            let back = self.used.get(&(b, a)).unwrap_or(&none);
            there.intersection(back).copied().collect()
        };
        let proofs = self.joined.iter().map(|(meshes, exits)| ExitsProof {
            meshes: *meshes,
            exits: exits.len(),
            shared: of(meshes),
        });
        proofs.collect()
    }
}
