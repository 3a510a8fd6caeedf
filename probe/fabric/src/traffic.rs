//! Traffic: workers that send each other packets, all of which the receivers know in advance.

use super::client::Connection;
pub use super::packet::{PacketSpec, Route, SendType};
use launch::ControlError;
use layouts::ChipLayout;
use machine::fabric::FabricNode;
use machine::place::Place;
use std::collections::BTreeSet;

/// Start of arriving payloads in a worker's L1, and their alignment in bytes.
const DATA: u32 = 0x6_0000;
const DATA_STEP: u32 = 64;
/// Bytes between two chunks of a scatter write.
const SCATTER_GAP: u32 = 32;

/// A worker of a [`Traffic`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct WorkerId(pub usize);

/// The client that ends a mux when all its clients have closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Termination {
    /// The termination master, itself a client of the mux.
    pub master: WorkerId,
    /// The master's connection to the mux.
    pub master_connection: usize,
    /// Number of clients of the mux.
    pub clients: u32,
    /// Address of the mux's termination signal.
    pub signal: u32,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct TrafficPacket {
    pub(super) shipment: PacketSpec,
    pub(super) to: FabricNode,
    pub(super) place: Place,
    pub(super) address: u32,
    pub(super) number: u32,
}

/// A memory range that a packet writes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival {
    pub(super) address: u32,
    pub(super) bytes: u32,
    pub(super) counts: bool,
    pub(super) number: u32,
    pub(super) first_word: u32,
}

#[derive(Clone, Debug)]
pub(super) struct Worker {
    pub(super) place: Place,
    pub(super) node: FabricNode,
    pub(super) connections: Vec<(Connection, Option<Termination>)>,
    pub(super) packets: Vec<TrafficPacket>,
    /// By sender.
    pub(super) arrivals: Vec<Vec<Arrival>>,
    pub(super) interval_cycles: u32,
    pub(super) never_closes: bool,
    next: u32,
}

/// Workers, and the packets that they send each other.
#[derive(Clone, Debug)]
pub struct Traffic {
    layout: &'static ChipLayout,
    /// Whether the topology is a mesh or torus, which have the longer header.
    pub two_dimensions: bool,
    pub(super) workers: Vec<Worker>,
}

impl Traffic {
    /// Makes traffic without workers. Mesh and torus have two dimensions.
    pub fn new(layout: &'static ChipLayout, two_dimensions: bool) -> Self {
        Self { layout, two_dimensions, workers: Vec::new() }
    }

    /// Adds a worker on a compute tile that runs the built-in firmware.
    pub fn add_worker(&mut self, place: Place, node: FabricNode) -> WorkerId {
        self.workers.push(Worker {
            place,
            node,
            connections: Vec::new(),
            packets: Vec::new(),
            arrivals: Vec::new(),
            interval_cycles: 0,
            never_closes: false,
            next: DATA,
        });
        WorkerId(self.workers.len() - 1)
    }

    fn worker(&mut self, id: WorkerId) -> Result<&mut Worker, ControlError> {
        let missing = Self::missing(id);
        self.workers.get_mut(id.0).ok_or(missing)
    }

    pub(super) fn missing(id: WorkerId) -> ControlError {
        ControlError::Settings(format!("traffic has no worker {}", id.0))
    }

    /// Returns the tile of a worker.
    ///
    /// # Errors
    /// When there is no such worker.
    pub fn place(&self, id: WorkerId) -> Result<Place, ControlError> {
        self.workers.get(id.0).map(|worker| worker.place).ok_or_else(|| Self::missing(id))
    }

    /// Sets a worker's interval between packets, and whether it leaves its connections open as a
    /// crashed worker does.
    ///
    /// # Errors
    /// When there is no such worker.
    pub fn behave(
        &mut self,
        id: WorkerId,
        interval_cycles: u32,
        never_closes: bool,
    ) -> Result<(), ControlError> {
        let worker = self.worker(id)?;
        (worker.interval_cycles, worker.never_closes) = (interval_cycles, never_closes);
        Ok(())
    }

    /// Adds a connection to a worker, and returns its number.
    ///
    /// # Errors
    /// When there is no such worker.
    pub fn connect(
        &mut self,
        id: WorkerId,
        connection: Connection,
        termination: Option<Termination>,
    ) -> Result<usize, ControlError> {
        let connections = &mut self.worker(id)?.connections;
        connections.push((connection, termination));
        Ok(connections.len() - 1)
    }

    /// Returns the tiles of the routers and muxes to which workers are connected.
    pub fn connected(&self) -> BTreeSet<Place> {
        let connections = self.workers.iter().flat_map(|worker| &worker.connections);
        connections.map(|(connection, _)| connection.place).collect()
    }

    /// Adds a packet: to one worker, or to one on each chip of a multicast, all at the same
    /// coordinate of their chips.
    ///
    /// # Errors
    /// When there is no such worker or connection, or no room.
    pub fn send(
        &mut self,
        from: WorkerId,
        to: &[WorkerId],
        shipment: PacketSpec,
    ) -> Result<(), ControlError> {
        let refuse = |why: String| Err(ControlError::Settings(why));
        let mut address = DATA;
        for id in to {
            address = address.max(self.worker(*id)?.next);
        }
        let Some(first) = to.first().and_then(|id| self.workers.get(id.0)) else {
            return refuse("a packet has no destination".to_owned());
        };
        let (place, node) = (first.place, first.node);
        let sender = self.worker(from)?;
        if shipment.connection >= sender.connections.len() || !shipment.bytes.is_multiple_of(16) {
            let PacketSpec { connection, bytes, .. } = shipment;
            return refuse(format!(
                "{} cannot send {bytes} bytes over its connection {connection}",
                sender.place
            ));
        }
        let number = sender.packets.len() as u32;
        sender.packets.push(TrafficPacket { shipment, to: node, place, address, number });
        let arrivals = self::arrivals(&shipment, address, number);
        let end = arrivals.iter().map(|arrival| arrival.address + arrival.bytes).max();
        let end = end.unwrap_or(address).max(address).next_multiple_of(DATA_STEP);
        if u64::from(end) > self.layout.tensix.l1_bytes {
            return refuse(format!(
                "{place} has no room for the payloads sent to it: send fewer packets"
            ));
        }
        for id in to {
            let worker = self.worker(*id)?;
            worker.next = end;
            if shipment.arrives {
                let senders = worker.arrivals.len().max(from.0 + 1);
                worker.arrivals.resize(senders, Vec::new());
                if let Some(list) = worker.arrivals.get_mut(from.0) {
                    list.extend(&arrivals);
                }
            }
        }
        Ok(())
    }
}

fn arrivals(shipment: &PacketSpec, address: u32, number: u32) -> Vec<Arrival> {
    let whole = Arrival { address, bytes: shipment.bytes, counts: false, number, first_word: 0 };
    match shipment.send {
        SendType::Write => vec![whole],
        SendType::Inline => vec![Arrival { bytes: 4, ..whole }],
        SendType::Atomic => vec![Arrival { bytes: 0, counts: true, ..whole }],
        SendType::Fused => vec![Arrival { counts: true, ..whole }],
        SendType::Scatter(chunks) => {
            let bytes = (shipment.bytes / chunks.max(1)) & !15;
            let chunk = |i: u32| Arrival {
                address: address + i * (bytes + SCATTER_GAP),
                bytes: if i + 1 == chunks { shipment.bytes - i * bytes } else { bytes },
                first_word: i * bytes / 4,
                ..whole
            };
            (0..chunks).map(chunk).collect()
        }
    }
}
