//! The kernels of a run: muxes with their workers, a dispatcher for them, and receiving workers at
//! the other end.

use super::MuxWait;
use super::bench::Bench;
use super::case::Case;
use super::posts::Post;
use fabric::connection;
use fabric::mux::{Mux, MuxOptions};
use fabric::traffic::{PacketSpec, Route, SendType, Termination, Traffic, WorkerId};
use launch::records::size;
use launch::{ControlError, DispatchCommand, Dispatcher, Firmware, Operation, go_kernel, image};
use machine::fabric::MuxCore;
use machine::place::Place;

/// Time to live of a packet, in hops.
const TTL: u8 = 8;

/// A run in progress.
pub(super) struct Cast {
    pub(super) traffic: Traffic,
    pub(super) muxes: Vec<Mux>,
    /// Sending workers by mux.
    pub(super) senders: Vec<Vec<WorkerId>>,
    pub(super) receivers: Vec<WorkerId>,
    wait: MuxWait,
    /// Number of the dispatcher's commands.
    pub(super) commands: u32,
}

impl Cast {
    pub(super) fn new(bench: &Bench, case: &Case, wait: MuxWait) -> Result<Self, ControlError> {
        let mut cast = Self {
            traffic: Traffic::new(bench.images.layout(), false),
            muxes: Vec::new(),
            senders: Vec::new(),
            receivers: Vec::new(),
            wait,
            commands: 0,
        };
        for (number, post) in bench.posts.iter().enumerate() {
            cast.join(bench, case, number, post)?;
        }
        Ok(cast)
    }

    /// Adds a mux with its workers and their packets. The first worker terminates the mux.
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
            policy: self.wait.policy,
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
            let value = |by_mux: &[Vec<u32>]| {
                by_mux.get(number).and_then(|by_worker| by_worker.get(channel)).copied()
            };
            let short = || ControlError::Settings("the case has too few channels".to_owned());
            let rest = value(&case.interval_cycles).ok_or_else(short)?;
            let crashes = case.crashes == Some((number, channel));
            traffic.behave(id, rest, crashes)?;
            let (send, route) = (SendType::Fused, Route::Hops(1, 1));
            let (bytes, ttl, control, arrives) = (case.bytes, TTL, false, true);
            for _ in 0..value(&case.packets).ok_or_else(short)? {
                let shipment =
                    PacketSpec { connection: 0, send, bytes, ttl, route, control, arrives };
                traffic.send(id, &[receiver], shipment)?;
            }
        }
        self.muxes.push(mux);
        self.senders.push(senders);
        self.receivers.push(receiver);
        Ok(())
    }

    /// Returns the operations that place all kernels, and the go messages of the host: to the
    /// receivers, which are on another chip, and to the dispatcher, which sends the other go
    /// messages.
    pub(super) fn launch(
        &mut self,
        bench: &mut Bench,
        run_id: u32,
    ) -> Result<[Vec<Operation>; 2], ControlError> {
        let tensix = Firmware::BUILT_IN.tensix[0];
        let (images, dispatcher) = (&mut bench.images, bench.dispatcher);
        let (mut places, mut gos, mut commands) = (Vec::new(), Vec::new(), Vec::new());
        for mux in &self.muxes {
            let on_tensix = mux.core == MuxCore::Tensix;
            let notifies = (!on_tensix).then_some(dispatcher.place.tile);
            let terms = MuxOptions { turn: self.wait.turn, notifies, in_place: false };
            let mut place = mux.place_on(images, run_id, terms)?;
            if on_tensix {
                place.then(Dispatcher::takes(images, tensix, mux.place)?);
            }
            places.push(place);
            commands.push(DispatchCommand::Go(mux.place, mux.firmware()));
        }
        for &id in self.senders.iter().flatten() {
            let at = self.traffic.place(id)?;
            let mut place = self.traffic.place_kernel(images, id, run_id, &[])?;
            place.then(Dispatcher::takes(images, tensix, at)?);
            places.push(place);
            commands.push(DispatchCommand::Go(at, tensix));
        }
        let cores = commands.len() as u32;
        commands.extend([DispatchCommand::Wait(cores), DispatchCommand::Event(run_id)]);
        self.commands = commands.len() as u32;
        for &id in &self.receivers {
            places.push(self.traffic.place_kernel(images, id, run_id, &[])?);
            gos.push(go_kernel(images, tensix, self.traffic.place(id)?)?);
        }
        places.push(dispatcher.place_kernel(images, run_id, &commands)?);
        gos.push(go_kernel(images, tensix, dispatcher.place)?);
        Ok([places, gos])
    }

    /// Stops a receiver.
    pub(super) fn stop(&self, bench: &mut Bench, id: WorkerId) -> Result<(), ControlError> {
        let stop = self.traffic.stop(&bench.images, id)?;
        stop.finish(&mut bench.target)
    }
}
