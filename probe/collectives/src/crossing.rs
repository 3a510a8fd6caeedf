//! How the channels of workers cross a fabric: the way of each, and a mux in front of every router that several workers use.

use super::error::CclError;
use super::program::WorkerPlan;
use super::transport::{Crossing, Exit, FabricOptions, FarEnd, MuxPlan};
use fabric::{FabricPlan, MOST_HOPS, Router};
use layouts::{ChipId, EthId};
use machine::fabric::{FabricNode, MuxCore};
use machine::place::Place;
use machine::target::Mesh;
use std::collections::BTreeMap;

/// Clients of a mux at most: its channels.
const MAX_CLIENTS: usize = 8;

impl Crossing {
    /// Finds the way of every channel, and puts a mux in front of every router that several workers use. `tiles`: compute tiles of a
    /// chip without a worker, asked for one by one.
    ///
    /// # Errors
    /// When a worker cannot reach another, or there is no tile for a mux.
    pub(super) fn new(
        mesh: &Mesh,
        (plan, found): (FabricPlan, bool),
        options: FabricOptions,
        workers: &[WorkerPlan],
        tiles: &mut dyn FnMut(ChipId) -> Result<Place, CclError>,
    ) -> Result<Self, CclError> {
        let mut crossing = Self { plan, found, options, muxes: Vec::new(), ends: BTreeMap::new() };
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
                let (node, hops, router) = crossing.route(here, there, link)?;
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
            let none = || CclError::NoRoute { from: here.chip, to: there.chip };
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

    /// The node, the hops to it and the router by which a packet leaves.
    fn route(
        &self,
        from: Place,
        to: Place,
        link: u32,
    ) -> Result<(FabricNode, u32, &Router), CclError> {
        let none = || CclError::NoRoute { from: from.chip, to: to.chip };
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
            let place = match self.options.core {
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
    let tiles = mesh.layout().eth_tiles().rev();
    let idle = tiles.filter(|&(channel, _)| !linked(EthId { chip, channel }));
    idle.map(|(_, tile)| Place { chip, tile }).collect()
}
