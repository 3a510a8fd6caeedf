//! Traffic: workers that send each other packets, each of which the receiver knows beforehand.

use super::client::Connection;
use launch::ControlError;
use layouts::ChipLayout;
use machine::fabric::FabricNode;
use machine::place::Place;

/// Where what arrives is put in a worker's L1, in steps of so many bytes.
const DATA: u32 = 0x6_0000;
const DATA_STEP: u32 = 64;
/// From chunk to chunk of a scatter write, besides the chunk.
const SCATTER_GAP: u32 = 32;

/// A worker of a [`Traffic`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct WorkerId(pub usize);

/// What a packet does at its destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendType {
    /// Writes. Looked at when a later packet of the same sender counts.
    Write,
    /// Writes one word, likewise.
    Inline,
    /// Counts.
    Atomic,
    /// Writes, then counts.
    Fused,
    /// Writes so many stretches. Looked at when a later packet counts.
    Scatter(u32),
}

impl SendType {
    pub(super) fn constant(self) -> &'static str {
        match self {
            Self::Write => "NOC_UNICAST_WRITE",
            Self::Inline => "NOC_UNICAST_INLINE_WRITE",
            Self::Atomic => "NOC_UNICAST_ATOMIC_INC",
            Self::Fused => "NOC_FUSED_UNICAST_ATOMIC_INC",
            Self::Scatter(_) => "NOC_UNICAST_SCATTER_WRITE",
        }
    }

    /// Does the receiver's counter tell of it?
    pub fn counts(self) -> bool {
        matches!(self, Self::Atomic | Self::Fused)
    }
}

/// How a packet finds its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route {
    /// 1D: written to the chips from the first to the last of so many hops away.
    Hops(u8, u8),
    /// 2D: by the header's map.
    Map,
    /// By the tables of every chip on the way.
    Tables,
    /// 2D: to all chips so many hops to the east, west, north and south.
    Rectangle([u8; 4]),
}

/// A packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shipment {
    /// Which of the sender's connections.
    pub connection: usize,
    /// What it does.
    pub send: SendType,
    /// Bytes of its payload, a multiple of 16; nothing where there is none.
    pub bytes: u32,
    /// Hops that it may take.
    pub ttl: u8,
    /// Its way.
    pub route: Route,
    /// In the control channel?
    pub control: bool,
    /// Is it to arrive? What is sent to expire is not waited for.
    pub arrives: bool,
}

/// Who ends a mux when all its clients have closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Termination {
    /// The termination master, a client of the mux too.
    pub master: WorkerId,
    /// Its connection to the mux.
    pub master_connection: usize,
    /// Clients of the mux.
    pub clients: u32,
    /// Address of the mux's termination signal.
    pub signal: u32,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Packet {
    pub(super) shipment: Shipment,
    pub(super) to: FabricNode,
    pub(super) place: Place,
    pub(super) address: u32,
    pub(super) number: u32,
}

/// A stretch of memory that a packet brings.
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
    pub(super) packets: Vec<Packet>,
    /// By sender.
    pub(super) arrivals: Vec<Vec<Arrival>>,
    pub(super) interval_cycles: u32,
    pub(super) never_closes: bool,
    next: u32,
}

/// Workers and what they send each other.
#[derive(Clone, Debug)]
pub struct Traffic {
    layout: &'static ChipLayout,
    /// Mesh and torus: the longer header.
    pub two_dimensions: bool,
    pub(super) workers: Vec<Worker>,
}

impl Traffic {
    /// Nobody sends anything yet. Mesh and torus have two dimensions.
    pub fn new(layout: &'static ChipLayout, two_dimensions: bool) -> Self {
        Self { layout, two_dimensions, workers: Vec::new() }
    }

    /// A worker on a compute tile that runs our firmware.
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
        let missing = || ControlError::Settings(format!("traffic has no worker {}", id.0));
        self.workers.get_mut(id.0).ok_or_else(missing)
    }

    /// Where a worker is.
    ///
    /// # Errors
    /// When there is no such worker.
    pub fn place(&self, id: WorkerId) -> Result<Place, ControlError> {
        let missing = || ControlError::Settings(format!("traffic has no worker {}", id.0));
        self.workers.get(id.0).map(|worker| worker.place).ok_or_else(missing)
    }

    /// Lets a worker rest between two packets, and leave its connections open like one that dies.
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

    /// Another connection of a worker; gives its number.
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

    /// A packet more: to one worker, or to one on each chip of a multicast, all at the same place of their chip.
    ///
    /// # Errors
    /// When there is no such worker or connection, or no room.
    pub fn send(
        &mut self,
        from: WorkerId,
        to: &[WorkerId],
        shipment: Shipment,
    ) -> Result<(), ControlError> {
        let refuse = |why: String| Err(ControlError::Settings(why));
        let mut address = DATA;
        for id in to {
            address = address.max(self.worker(*id)?.next);
        }
        let Some(first) = to.first().and_then(|id| self.workers.get(id.0)) else {
            return refuse("a packet goes nowhere".to_owned());
        };
        let (place, node) = (first.place, first.node);
        let sender = self.worker(from)?;
        if shipment.connection >= sender.connections.len() || !shipment.bytes.is_multiple_of(16) {
            let Shipment { connection, bytes, .. } = shipment;
            return refuse(format!(
                "{} cannot send {bytes} bytes over its connection {connection}",
                sender.place
            ));
        }
        let number = sender.packets.len() as u32;
        sender.packets.push(Packet { shipment, to: node, place, address, number });
        let arrivals = self::arrivals(&shipment, address, number);
        let end = arrivals.iter().map(|arrival| arrival.address + arrival.bytes).max();
        let end = end.unwrap_or(address).max(address).next_multiple_of(DATA_STEP);
        if u64::from(end) > self.layout.tensix.l1_bytes {
            return refuse(format!(
                "{place} has no room for all that it is sent: fewer packets would fit"
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

fn arrivals(shipment: &Shipment, address: u32, number: u32) -> Vec<Arrival> {
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
