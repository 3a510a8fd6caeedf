//! The plan of a fabric: its meshes, and the routers on Ethernet cores.

use super::meshes::{Exits, exits, meshes};
use super::{FabricError, FabricMesh, FabricRequest};
use launch::topology::FreeLinks;
use layouts::{ChipId, ChipKind, ChipLayout, EthId};
use machine::fabric::FabricNode;
use machine::fabric::{Direction, FabricTopology};
use machine::place::Place;
use machine::target::Mesh;
use std::fmt;

/// Most routers of one chip and direction that are fallbacks of each other
/// (`FABRIC_MAX_FALLBACKS`).
const MOST_LINKS: u32 = 4;

/// Most hops in a packet's header on a line or ring (`LOW_LATENCY_MAX_HOPS`).
pub const MOST_HOPS: usize = 16;

/// A router: one end of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Router {
    /// The router's Ethernet core.
    pub eth: EthId,
    /// The tile of that core.
    pub place: Place,
    /// The node of its chip.
    pub node: FabricNode,
    /// The direction of its link.
    pub direction: Direction,
    /// The routing plane, from 0. A router beyond the plan's planes is spare: it takes over from
    /// others of its direction.
    pub plane: u32,
    /// The other end of the link.
    pub peer: EthId,
    /// The tile of that core.
    pub peer_place: Place,
    /// The node at the other end.
    pub neighbor: FabricNode,
    /// Whether packets that arrive over the link continue in virtual channel 1: it closes a ring,
    /// or leads to another mesh by [exits apart](FabricPlan::exits_apart).
    pub dateline: bool,
    /// Whether the link leads to another mesh.
    pub inter_mesh: bool,
    /// Whether it is the router of its chip with which the host communicates.
    pub master: bool,
}

impl fmt::Display for Router {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { eth, node, direction, plane, .. } = self;
        write!(f, "{eth} ({node} {direction} plane {plane})")
    }
}

/// Returns chips and hops of a line or ring that is longer than a packet's route.
fn too_long(topology: FabricTopology, meshes: &[FabricMesh]) -> Option<(usize, usize)> {
    let lengths = meshes
        .iter()
        .flat_map(|mesh| [(mesh.columns, mesh.closed_rows), (mesh.rows, mesh.closed_columns)]);
    let hops = |(chips, closed): (usize, bool)| {
        (chips, if closed { chips / 2 } else { chips.saturating_sub(1) })
    };
    lengths.map(hops).filter(|(_, hops)| !topology.is_2d() && *hops > MOST_HOPS).max()
}

/// The plan of a fabric.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FabricPlan {
    /// The kind of the chips.
    pub chip_kind: ChipKind,
    /// The topology of the routers' image.
    pub topology: FabricTopology,
    /// Number of routing planes.
    pub planes: u32,
    /// The meshes, by number.
    pub meshes: Vec<FabricMesh>,
    /// Whether opposite flows between two meshes that several links join take different ones.
    pub exits_apart: bool,
    /// The routers, by chip; the master of each chip first, the others by channel.
    pub routers: Vec<Router>,
}

impl FabricPlan {
    /// Chooses nodes and routers. The k-th free link of every edge belongs to plane k; links
    /// reserved for dispatch are not used unless requested. Without a requested number of planes, an edge's links
    /// beyond the planes that all edges have are spare.
    ///
    /// # Errors
    /// When the chips cannot form the requested fabric.
    pub fn new(mesh: &Mesh, request: &FabricRequest) -> Result<Self, FabricError> {
        let free =
            if request.with_dispatch_links { FreeLinks::all(mesh) } else { FreeLinks::of(mesh) };
        let topology = request.topology;
        let (meshes, planes) = meshes(mesh, &free, request)?;
        if let Some((chips, hops)) = too_long(topology, &meshes) {
            return Err(FabricError::TooLong { topology, chips, hops, most: MOST_HOPS });
        }
        let found = exits(&free, topology, &meshes, planes, request.planes)?;
        let exits_apart = topology == FabricTopology::Mesh && found.can_be_apart();
        let Exits { exits, planes } = found;
        let routers = Vec::new();
        let mut plan =
            Self { chip_kind: mesh.kind, topology, planes, meshes, exits_apart, routers };
        let most = request.planes.unwrap_or(MOST_LINKS).max(planes);
        for number in 0..plan.meshes.len() {
            plan.add_mesh(&free, number, (most, request.dateline))?;
        }
        let crosses = exits_apart && request.dateline;
        for exit in exits {
            for (plane, &(near, far)) in (0..planes).zip(&exit.sockets) {
                plan.add_router(exit.from, exit.direction, plane, (near, far), exit.to, crosses)?;
                plan.add_router(exit.to, exit.back, plane, (far, near), exit.from, crosses)?;
            }
        }
        plan.routers.sort_unstable_by_key(|router| router.eth);
        let mut last = None;
        for router in &mut plan.routers {
            router.master = last.replace(router.eth.chip) != Some(router.eth.chip);
        }
        Ok(plan)
    }

    fn add_mesh(
        &mut self,
        free: &FreeLinks,
        number: usize,
        (most, dateline): (u32, bool),
    ) -> Result<(), FabricError> {
        let Some(mesh) = self.meshes.get(number).cloned() else { return Ok(()) };
        let node = |device: usize| FabricNode { mesh: number as u16, device: device as u16 };
        for device in 0..mesh.chips.len() {
            for direction in Direction::ALL {
                let edge = mesh.sockets(free, device, direction);
                let Some((neighbor, wraps, sockets)) = edge else { continue };
                for (plane, &socket) in (0..most).zip(&sockets) {
                    let far = node(neighbor);
                    self.add_router(
                        node(device),
                        direction,
                        plane,
                        socket,
                        far,
                        wraps && dateline,
                    )?;
                }
            }
        }
        Ok(())
    }

    fn add_router(
        &mut self,
        node: FabricNode,
        direction: Direction,
        plane: u32,
        (eth, peer): (EthId, EthId),
        neighbor: FabricNode,
        dateline: bool,
    ) -> Result<(), FabricError> {
        self.routers.push(Router {
            eth,
            place: Place::of(self.layout(), eth)?,
            node,
            direction,
            plane,
            peer,
            peer_place: Place::of(self.layout(), peer)?,
            neighbor,
            dateline,
            inter_mesh: node.mesh != neighbor.mesh,
            master: false,
        });
        Ok(())
    }

    /// Returns the layout of the chips.
    pub fn layout(&self) -> &'static ChipLayout {
        self.chip_kind.layout()
    }

    /// Returns every node, mesh after mesh.
    pub fn nodes(&self) -> impl Iterator<Item = FabricNode> {
        (0..).zip(&self.meshes).flat_map(|(mesh, it)| {
            (0..it.chips.len() as u16).map(move |device| FabricNode { mesh, device })
        })
    }

    /// Returns the mesh of a node.
    pub fn mesh_of(&self, node: FabricNode) -> Option<&FabricMesh> {
        self.meshes.get(usize::from(node.mesh))
    }

    /// Returns the chip of a node.
    pub fn chip(&self, node: FabricNode) -> Option<ChipId> {
        self.mesh_of(node)?.chips.get(usize::from(node.device)).copied()
    }

    /// Returns the node of a chip.
    pub fn node(&self, chip: ChipId) -> Option<FabricNode> {
        (0..).zip(&self.meshes).find_map(|(mesh, it)| {
            let device = it.device(chip)? as u16;
            Some(FabricNode { mesh, device })
        })
    }

    /// Returns the routers of a chip, the master first.
    pub fn routers_of(&self, chip: ChipId) -> impl Iterator<Item = &Router> {
        self.routers.iter().filter(move |router| router.eth.chip == chip)
    }

    /// Returns the master routers.
    pub fn masters(&self) -> impl Iterator<Item = &Router> {
        self.routers.iter().filter(|router| router.master)
    }

    /// Returns the router of an Ethernet core.
    pub fn router_at(&self, eth: EthId) -> Option<&Router> {
        self.routers.iter().find(|router| router.eth == eth)
    }

    /// Returns the router of a node in a direction and a plane.
    pub fn router(&self, node: FabricNode, direction: Direction, plane: u32) -> Option<&Router> {
        let wanted = |router: &&Router| (router.node, router.plane) == (node, plane);
        self.routers.iter().filter(wanted).find(|router| router.direction == direction)
    }

    /// Returns the routers of the same chip and direction, the next plane first: they take over
    /// when this router's link goes down.
    pub fn fallbacks(&self, router: &Router) -> Vec<&Router> {
        let alike = |other: &&Router| {
            (other.node, other.direction, other.neighbor)
                == (router.node, router.direction, router.neighbor)
        };
        let links = self.routers.iter().filter(alike).count() as u32;
        let planes = (1..links).map(|distance| (router.plane + distance) % links);
        planes.filter_map(|plane| self.router(router.node, router.direction, plane)).collect()
    }
}
