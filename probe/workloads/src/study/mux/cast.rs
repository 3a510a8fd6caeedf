//! Who does what in a run: muxes with their workers, a dispatcher for them, and workers that receive at the other end.

use super::bench::Bench;
use super::case::Case;
use super::{Asked, Way};
use crate::scene::SceneError;
use collectives::idle_tiles;
use fabric::mux::{Mux, MuxTerms};
use fabric::traffic::{Route, SendType, Shipment, Termination, Traffic, WorkerId};
use fabric::{FabricPlan, FabricRequest, Router, connection};
use launch::records::size;
use launch::{
    Command, ControlError, Dispatcher, Firmware, Operation, compute_tiles, go_kernel, image,
};
use layouts::ChipId;
use machine::fabric::FabricTopology;
use machine::fabric::MuxCore;
use machine::place::Place;
use machine::target::Mesh;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Hops that a packet may take.
const TTL: u8 = 8;
/// Links that take part if nobody says how many.
const MOST_LINKS: usize = 2;

/// A router of the first chip, the mux in front of it, its workers, and who receives at the other end.
#[derive(Clone, Debug)]
pub(super) struct Post {
    pub(super) router: Router,
    pub(super) mux: Place,
    pub(super) senders: Vec<Place>,
    pub(super) receiver: Place,
}

/// A run under way.
pub(super) struct Cast {
    pub(super) traffic: Traffic,
    pub(super) muxes: Vec<Mux>,
    /// By mux.
    pub(super) senders: Vec<Vec<WorkerId>>,
    pub(super) receivers: Vec<WorkerId>,
    way: Way,
    /// Of the dispatcher.
    pub(super) commands: u32,
}

impl Cast {
    pub(super) fn new(bench: &Bench, case: &Case, way: Way) -> Result<Self, ControlError> {
        let mut cast = Self {
            traffic: Traffic::new(false),
            muxes: Vec::new(),
            senders: Vec::new(),
            receivers: Vec::new(),
            way,
            commands: 0,
        };
        for (number, post) in bench.posts.iter().enumerate() {
            cast.join(bench, case, number, post)?;
        }
        Ok(cast)
    }

    /// A mux with its workers and their packets. The first worker ends the mux.
    fn join(
        &mut self,
        bench: &Bench,
        case: &Case,
        number: usize,
        post: &Post,
    ) -> Result<(), ControlError> {
        let images = &bench.images;
        let header = size(&*image(images, "fabric_traffic")?, "LowLatencyPacketHeader")?;
        let channels = post.senders.len() as u32;
        let mux = Mux {
            place: post.mux,
            core: bench.core,
            policy: self.way.policy,
            channels,
            buffer_count: case.slots,
            header_bytes: header as u32,
            router: connection(images, &bench.plan, &post.router)?,
        };
        let traffic = &mut self.traffic;
        let receiver = traffic.add_worker(post.receiver, post.router.neighbor);
        let add = |place: &Place| traffic.add_worker(*place, post.router.node);
        let senders: Vec<WorkerId> = post.senders.iter().map(add).collect();
        let master = senders.first().copied().unwrap_or(receiver);
        let signal = mux.word(images, "termination_signal")?;
        let ends = Termination { master, master_connection: 0, clients: channels, signal };
        for (channel, &id) in senders.iter().enumerate() {
            traffic.connect(id, mux.connection(images, channel as u32)?, Some(ends))?;
            let of = |each: &[Vec<u32>]| each.get(number).and_then(|of| of.get(channel)).copied();
            let rest = of(&case.interval_cycles).unwrap_or_default();
            traffic.behave(id, rest, false)?;
            let (send, route) = (SendType::Fused, Route::Hops(1, 1));
            let (bytes, ttl, control, arrives) = (case.bytes, TTL, false, true);
            for _ in 0..of(&case.packets).unwrap_or_default() {
                let shipment =
                    Shipment { connection: 0, send, bytes, ttl, route, control, arrives };
                traffic.send(id, &[receiver], shipment)?;
            }
        }
        self.muxes.push(mux);
        self.senders.push(senders);
        self.receivers.push(receiver);
        Ok(())
    }

    /// What places everything, and what lets it go: the receivers by the host, as the other chip's business; the dispatcher by the host,
    /// and everybody else by the dispatcher.
    pub(super) fn launch(
        &mut self,
        bench: &mut Bench,
        run_id: u32,
    ) -> Result<[Vec<Operation>; 2], ControlError> {
        let tensix = Firmware::OURS.tensix[0];
        let (images, dispatcher) = (&mut bench.images, bench.dispatcher);
        let (mut places, mut gos, mut commands) = (Vec::new(), Vec::new(), Vec::new());
        for mux in &self.muxes {
            let on_tensix = mux.core == MuxCore::Tensix;
            let tells = (!on_tensix).then_some(dispatcher.place.tile);
            let terms = MuxTerms { turn: self.way.turn, tells, in_place: false };
            let mut place = mux.place_on(images, run_id, terms)?;
            if on_tensix {
                place.then(Dispatcher::takes(images, tensix, mux.place)?);
            }
            places.push(place);
            commands.push(Command::Go(mux.place, mux.firmware()));
        }
        for &id in self.senders.iter().flatten() {
            let at = self.traffic.place(id)?;
            let mut place = self.traffic.place_kernel(images, id, run_id, &[])?;
            place.then(Dispatcher::takes(images, tensix, at)?);
            places.push(place);
            commands.push(Command::Go(at, tensix));
        }
        let cores = commands.len() as u32;
        commands.extend([Command::Wait(cores), Command::Event(run_id)]);
        self.commands = commands.len() as u32;
        for &id in &self.receivers {
            places.push(self.traffic.place_kernel(images, id, run_id, &[])?);
            gos.push(go_kernel(images, tensix, self.traffic.place(id)?)?);
        }
        places.push(dispatcher.place_kernel(images, run_id, &commands)?);
        gos.push(go_kernel(images, tensix, dispatcher.place)?);
        Ok([places, gos])
    }

    /// Tells a receiver that nothing more comes.
    pub(super) fn stop(&self, bench: &mut Bench, id: WorkerId) -> Result<(), ControlError> {
        let stop = self.traffic.stop(&bench.images, id)?;
        stop.finish(&mut bench.target)
    }
}

/// The chip with the most routers of those that the host reaches by itself, the first so many links of it, and the chips at their other
/// ends: the fabric of a study.
pub(super) fn neighbourhood(
    mesh: &Mesh,
    asked: &Asked<'_>,
) -> Result<(Vec<Router>, FabricPlan), SceneError> {
    let line = || FabricRequest::new(FabricTopology::Line);
    let whole = FabricPlan::new(mesh, &line()).map_err(SceneError::Fabric)?;
    let near = mesh.chips.iter().filter(|chip| chip.pcie).map(|chip| chip.id);
    let first = near.min_by_key(|&chip| (Reverse(routers_of(&whole, chip).len()), chip));
    let first = first.unwrap_or(ChipId(0));
    let mut routers = routers_of(&whole, first);
    let (there, links) = (routers.len(), asked.links.unwrap_or(MOST_LINKS.min(routers.len())));
    if links == 0 || links > there {
        let why = format!("{}: {links} links, of which chip {first} has {there}", asked.mesh);
        return Err(SceneError::NoWord(why));
    }
    routers.truncate(links);
    let mut chips: Vec<ChipId> = routers.iter().map(|router| router.peer.chip).collect();
    chips.push(first);
    chips.sort_unstable();
    chips.dedup();
    let request = FabricRequest { chips, ..line() };
    let plan = FabricPlan::new(mesh, &request).map_err(SceneError::Fabric)?;
    // The same links, by their places in this fabric.
    let ends: Vec<_> = routers.iter().map(|router| router.eth).collect();
    let mut routers = routers_of(&plan, first);
    routers.retain(|router| ends.contains(&router.eth));
    Ok((routers, plan))
}

fn routers_of(plan: &FabricPlan, chip: ChipId) -> Vec<Router> {
    plan.routers.iter().filter(|router| router.eth.chip == chip).copied().collect()
}

/// The tiles of a study: a mux for each router, its workers beside it, and a worker that receives at the other end.
pub(super) fn posts(
    mesh: &Mesh,
    routers: &[Router],
    asked: &Asked<'_>,
) -> Result<(Vec<Post>, Dispatcher), SceneError> {
    let few = || {
        let links = routers.len();
        SceneError::NoWord(format!("{}: a chip has too few tiles for {links} muxes", asked.mesh))
    };
    let first = routers.first().map(|router| router.eth.chip).ok_or_else(few)?;
    let tiles = |chip: ChipId| mesh.chip(chip).into_iter().flat_map(compute_tiles);
    let mut near = tiles(first);
    let mut idle = idle_tiles(mesh, first).into_iter();
    let mut far = BTreeMap::new();
    let dispatcher = Dispatcher { place: near.next().ok_or_else(few)? };
    let mut posts = Vec::new();
    for &router in routers {
        let on_tensix = asked.core == MuxCore::Tensix;
        let mux = if on_tensix { near.next() } else { idle.next() };
        let senders: Vec<Place> = near.by_ref().take(asked.workers).collect();
        let chip = router.peer.chip;
        let receiver = far.entry(chip).or_insert_with(|| tiles(chip)).next();
        let whole = senders.len() == asked.workers;
        let (Some(mux), Some(receiver), true) = (mux, receiver, whole) else {
            return Err(few());
        };
        posts.push(Post { router, mux, senders, receiver });
    }
    Ok((posts, dispatcher))
}
