//! Over what the channels of a collective lead: links with an EDM at each end, or the fabric, with muxes where several workers of a
//! chip share a router.

use super::error::CclError;
use super::program::WorkerPlan;
use fabric::mux::Policy;
use fabric::{FabricPlan, MOST_HOPS, Router};
use layouts::{ChipId, ChipKind, EthId};
use machine::fabric::MuxCore;
use machine::fabric::{FabricNode, FabricTopology};
use machine::place::Place;
use machine::target::Mesh;
use std::collections::BTreeMap;

/// Clients of a mux at most: its channels.
const MAX_CLIENTS: usize = 8;

/// How packets get from rank to rank.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Transport {
    /// EDMs at both ends of every link.
    #[default]
    Edm,
    /// The fabric.
    Fabric(FabricWish),
}

impl Transport {
    /// As the command line spells it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Edm => "edm",
            Self::Fabric(_) => "fabric",
        }
    }
}

/// Which fabric, and which muxes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FabricWish {
    /// What its routers are built for; that of the ranks if not told.
    pub topology: Option<FabricTopology>,
    /// Routing planes; one more than links if not told, where there are so many: packets of a link that goes down have another way.
    pub planes: Option<u32>,
    /// What muxes run on.
    pub core: MuxCore,
    /// How they wait for their router.
    pub policy: Policy,
    /// Slots of each of their channels.
    pub slots: u32,
}

impl Default for FabricWish {
    fn default() -> Self {
        let (core, policy) = (MuxCore::Tensix, Policy::Unbounded);
        Self { topology: None, planes: None, core, policy, slots: 4 }
    }
}

/// A mux of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MuxPlan {
    /// Its tile.
    pub place: Place,
    /// The router that it stands in front of.
    pub router: EthId,
    /// Workers by channel; the first one is the termination master.
    pub clients: Vec<Place>,
}

/// Where a worker's packets leave its chip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// It is the only client of this router.
    Router(EthId),
    /// By a channel of the mux of this number.
    Mux {
        /// Index into [`Crossing::muxes`].
        mux: usize,
        /// Its channel.
        channel: u32,
    },
}

/// The worker at the other end of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FarEnd {
    /// Its tile.
    pub place: Place,
    /// Its chip.
    pub node: FabricNode,
    /// Hops from here.
    pub hops: u32,
    /// Index into [`WorkerEnds::exits`].
    pub exit: usize,
}

/// A worker's connections.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorkerEnds {
    /// Its chip.
    pub node: FabricNode,
    /// By which its packets leave.
    pub exits: Vec<Exit>,
    /// Who sends to it.
    pub inbound: Option<FarEnd>,
    /// To whom it sends.
    pub outbound: Option<FarEnd>,
}

/// How the workers of a program use a fabric.
#[derive(Clone, Debug, PartialEq)]
pub struct Crossing {
    /// The fabric.
    pub plan: FabricPlan,
    /// It runs already, and goes on when the program is over.
    pub found: bool,
    /// What was wished.
    pub wish: FabricWish,
    /// Muxes of the run.
    pub muxes: Vec<MuxPlan>,
    /// Connections of each worker.
    pub ends: BTreeMap<Place, WorkerEnds>,
}

impl Crossing {
    /// Finds the way of every channel, and puts a mux in front of every router that several workers use. `tiles`: compute tiles of a
    /// chip without a worker, asked for one by one.
    ///
    /// # Errors
    /// When a worker cannot reach another, or there is no tile for a mux.
    pub(super) fn new(
        mesh: &Mesh,
        (plan, found): (FabricPlan, bool),
        wish: FabricWish,
        workers: &[WorkerPlan],
        tiles: &mut dyn FnMut(ChipId) -> Result<Place, CclError>,
    ) -> Result<Self, CclError> {
        let mut crossing = Self { plan, found, wish, muxes: Vec::new(), ends: BTreeMap::new() };
        // Who sends to whom, and over which plane.
        let outbound = |worker: &WorkerPlan| worker.outbound.map(|to| (to.edm, to.number));
        let pairs: Vec<(Place, Place, u32)> = workers
            .iter()
            .filter_map(|from| outbound(from).map(|(to, link)| (from.place, to, link)))
            .collect();
        let mut clients: BTreeMap<EthId, Vec<Place>> = BTreeMap::new();
        let mut ways = Vec::new();
        for &(from, to, link) in &pairs {
            for (here, there) in [(from, to), (to, from)] {
                let (node, hops, router) = crossing.way(here, there, link)?;
                let of = clients.entry(router.eth).or_default();
                if !of.contains(&here) {
                    of.push(here);
                }
                ways.push((here, there, node, hops, router.eth, here == from));
            }
        }
        let exits = crossing.place_muxes(mesh, clients, tiles)?;
        for (here, there, node, hops, router, sends) in ways {
            let Some(&exit) = exits.get(&(router, here)) else { continue };
            let none = || CclError::NoWay { from: here.chip, to: there.chip };
            let own = crossing.plan.node(here.chip).ok_or_else(none)?;
            let ends = crossing.ends.entry(here).or_default();
            ends.node = own;
            let index = ends.exits.iter().position(|other| *other == exit);
            let index = index.unwrap_or_else(|| {
                ends.exits.push(exit);
                ends.exits.len() - 1
            });
            let far = Some(FarEnd { place: there, node, hops, exit: index });
            if sends {
                ends.outbound = far;
            } else {
                ends.inbound = far;
            }
        }
        Ok(crossing)
    }

    /// The routers that are used, and who has the channel of each: a worker, or a mux.
    pub(super) fn clients(&self) -> BTreeMap<EthId, Place> {
        let direct = self.ends.iter().flat_map(|(&place, ends)| {
            ends.exits.iter().filter_map(move |exit| match exit {
                Exit::Router(router) => Some((*router, place)),
                Exit::Mux { .. } => None,
            })
        });
        direct.chain(self.muxes.iter().map(|mux| (mux.router, mux.place))).collect()
    }

    /// The node, the hops to it and the router by which a packet leaves.
    fn way(
        &self,
        from: Place,
        to: Place,
        link: u32,
    ) -> Result<(FabricNode, u32, &Router), CclError> {
        let none = || CclError::NoWay { from: from.chip, to: to.chip };
        let node = |place: Place| self.plan.node(place.chip).ok_or_else(none);
        let (here, there) = (node(from)?, node(to)?);
        let direction = self.plan.next_hop(here, there).ok_or_else(none)?;
        let plane = link % self.plan.planes.max(1);
        let router = self.plan.router(here, direction, plane).ok_or_else(none)?;
        let hops = if here.mesh == there.mesh { self.plan.hops(here, there.device) } else { 0 };
        if !self.plan.topology.is_2d() && !(1..=MOST_HOPS).contains(&hops) {
            return Err(CclError::TooManyHops {
                from: from.chip,
                to: to.chip,
                hops,
                most: MOST_HOPS,
            });
        }
        Ok((there, hops as u32, router))
    }

    /// By router and client the way out.
    fn place_muxes(
        &mut self,
        mesh: &Mesh,
        clients: BTreeMap<EthId, Vec<Place>>,
        tiles: &mut dyn FnMut(ChipId) -> Result<Place, CclError>,
    ) -> Result<BTreeMap<(EthId, Place), Exit>, CclError> {
        let mut exits = BTreeMap::new();
        let mut idle: BTreeMap<ChipId, Vec<Place>> = BTreeMap::new();
        for (router, clients) in clients {
            if let [client] = clients.as_slice() {
                exits.insert((router, *client), Exit::Router(router));
                continue;
            }
            if clients.len() > MAX_CLIENTS {
                let (clients, most) = (clients.len(), MAX_CLIENTS);
                return Err(CclError::TooManyClients { router, clients, most });
            }
            let chip = router.chip;
            let place = match self.wish.core {
                MuxCore::Tensix => tiles(chip)?,
                MuxCore::Ethernet => {
                    let idle = idle.entry(chip).or_insert_with(|| idle_tiles(mesh, chip));
                    idle.pop().ok_or(CclError::NoIdleTile { chip, router })?
                }
            };
            let mux = self.muxes.len();
            for (channel, &client) in (0..).zip(&clients) {
                exits.insert((router, client), Exit::Mux { mux, channel });
            }
            self.muxes.push(MuxPlan { place, router, clients });
        }
        Ok(exits)
    }
}

/// Ethernet tiles of a chip without a link, the last one first.
pub fn idle_tiles(mesh: &Mesh, chip: ChipId) -> Vec<Place> {
    let linked = |eth| mesh.links.iter().any(|link| link.a == eth || link.b == eth);
    let tiles = ChipKind::Wormhole.layout().eth_tiles().rev();
    let idle = tiles.filter(|&(channel, _)| !linked(EthId { chip, channel }));
    idle.map(|(_, tile)| Place { chip, tile }).collect()
}
