//! The shape of `fabric`. What a router, a channel, a mux, a client and a packet say comes from their tables of facts: a row is a
//! key.

mod channels;
mod clients;
mod routes;
mod waits;

pub(crate) use routes::{fabric_routes, fabric_tables};
pub(crate) use waits::fabric_waits;

use super::build::{end, missed};
use super::{End, Missed};
use channels::{Edge, Receiver, Sender};
use clients::{Client, Mux, running};
use decode::state::{LedgerState, MeshState, RouterCounts, RouterFacts, RouterState};
use fabric::status_queue::{StatusEntry, StatusReport};
use layouts::NocXy;
use serde::Serialize;

/// The shape of `fabric`: routers with their channels, muxes, connections of kernels, and the credits of both ends of each link.
#[derive(Serialize)]
pub(crate) struct Fabric<'a> {
    target: &'a str,
    cycles: u64,
    routers: Vec<Router<'a>>,
    muxes: Vec<Mux<'a>>,
    clients: Vec<Client<'a>>,
    links: Vec<Ledger>,
    waits: Vec<waits::Wait>,
    gaps: Vec<Missed>,
}

/// The shape of `fabric`.
pub(crate) fn fabric<'a>(target: &'a str, state: &'a MeshState) -> Fabric<'a> {
    Fabric {
        target,
        cycles: state.cycles,
        routers: state.fabric.routers.iter().map(Router::of).collect(),
        muxes: state.fabric.muxes.iter().map(Mux::of).collect(),
        clients: state.fabric.clients.iter().map(Client::of).collect(),
        links: state.fabric.ledgers.iter().map(Ledger::of).collect(),
        waits: waits::waits(&state.fabric.waits),
        gaps: missed(&state.gaps),
    }
}

/// The shape of `fabric status` and `fabric drain`.
#[derive(Serialize)]
pub(crate) struct FabricStatus<'a> {
    target: &'a str,
    cycles: u64,
    queues: Vec<Queue<'a>>,
}

/// A status queue.
#[derive(Serialize)]
struct Queue<'a> {
    chip: u16,
    channel: u8,
    run_id: u32,
    room: u32,
    write_count: u32,
    read_count: u32,
    /// Entries for which there was no room.
    lost: u32,
    entries: Vec<Entry<'a>>,
}

/// An entry of a status queue.
#[derive(Serialize)]
struct Entry<'a> {
    /// `fabric_event_t`.
    event: &'a str,
    number: u32,
    cycles: u64,
    mesh: u32,
    device: u32,
    direction: u32,
    detail: [u32; 4],
    text: String,
}

/// The shape of `fabric status` and `fabric drain`.
pub(crate) fn fabric_status<'a>(
    target: &'a str,
    cycles: u64,
    reports: &'a [StatusReport],
) -> FabricStatus<'a> {
    let entry = |entry: &'a StatusEntry| Entry {
        event: &entry.event,
        number: entry.number,
        cycles: entry.cycles,
        mesh: entry.mesh_id,
        device: entry.device_id,
        direction: entry.direction,
        detail: entry.detail,
        text: entry.text(),
    };
    let queue = |report: &'a StatusReport| Queue {
        chip: report.queue.router.chip.0,
        channel: report.queue.router.channel,
        run_id: report.queue.run_id,
        room: report.room,
        write_count: report.write_count,
        read_count: report.read_count,
        lost: report.lost,
        entries: report.entries.iter().map(entry).collect(),
    };
    FabricStatus { target, cycles, queues: reports.iter().map(queue).collect() }
}

fn tile(xy: NocXy) -> [u8; 2] {
    [xy.x, xy.y]
}

/// A router.
#[derive(Serialize)]
struct Router<'a> {
    chip: u16,
    channel: u8,
    tile: [u8; 2],
    image: &'a str,
    running: Option<bool>,
    waypoint: Option<&'a str>,
    #[serde(flatten)]
    facts: &'a RouterFacts,
    /// The name of `refusal`; null if it did not refuse.
    refusal_name: Option<&'a str>,
    senders: Vec<Sender<'a>>,
    receivers: Vec<Receiver<'a>>,
    downstream: Vec<Edge<'a>>,
    counts: &'a RouterCounts,
}

impl<'a> Router<'a> {
    fn of(router: &'a RouterState) -> Self {
        Self {
            chip: router.at.chip.0,
            channel: router.at.channel,
            tile: tile(router.tile),
            image: &router.image,
            running: running(&router.activity),
            waypoint: router.waypoint.known().map(String::as_str),
            facts: &router.facts,
            refusal_name: router.refusal_name(),
            senders: router.senders.iter().map(Sender::of).collect(),
            receivers: router.receivers.iter().map(Receiver::of).collect(),
            downstream: router.downstream.iter().map(Edge::of).collect(),
            counts: &router.counts,
        }
    }
}

/// The credits of one virtual channel in one direction of a link.
#[derive(Serialize)]
struct Ledger {
    from: End,
    to: End,
    virtual_channel: u8,
    slots: u64,
    queued: u64,
    remote_free_slots: u64,
    in_flight: u64,
    arrived: u64,
    held: u64,
    rerouted_by: Option<End>,
    verdict: &'static str,
}

impl Ledger {
    fn of(ledger: &LedgerState) -> Self {
        Self {
            from: end(ledger.from),
            to: end(ledger.to),
            virtual_channel: ledger.virtual_channel,
            slots: ledger.slots,
            queued: ledger.queued,
            remote_free_slots: ledger.remote_free_slots,
            in_flight: ledger.in_flight,
            arrived: ledger.arrived,
            held: ledger.held,
            rerouted_by: ledger.rerouted_by.map(end),
            verdict: ledger.verdict.word(),
        }
    }
}
