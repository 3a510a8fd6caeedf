//! `fabric`: routers, their channels and the credits of both ends of each link, once.

mod keep;
mod status;

use super::{Style, cell, cores, end_of_all, judge, open, tell};
use crate::args::FabricQuestion;
use crate::exit::{Failure, Outcome};
use crate::locate::{self, Place};
use crate::machine::Opening;
use crate::output::{Columns, json, say, text};
use crate::shape;
use layouts::NocXy;
use probe::inspect::{Interest, fabric_heads};
use probe::state::{
    FabricState, HeadState, MeshState, PacketState, Reading, RouterState, SenderState, Verdict,
};

const ROUTERS: [&str; 8] =
    ["ROUTER", "NODE", "DIRECTION", "STATUS", "LINK", "SENT", "RECEIVED", "DROPPED"];
const LEDGERS: [&str; 9] =
    ["FROM", "TO", "VC", "SLOTS", "QUEUED", "FREE", "IN FLIGHT", "ARRIVED+HELD", "VERDICT"];
const CHANNELS: [&str; 8] =
    ["CHANNEL", "VC", "SLOTS", "QUEUED", "IN FLIGHT", "CONNECTION", "WAITS FOR", "HEAD"];
/// `fabric_link_t`.
const LINKS: [&str; 5] = ["direct", "lost", "fallback", "returning", "none left"];
/// `connection_t`.
const CONNECTIONS: [&str; 3] = ["unused", "open", "close requested"];
/// `fabric_wait_t`.
const WAITS: [&str; 4] = ["-", "downstream", "NoC", "TXQ"];
/// The names of what a router counts as dropped.
const DROPS: [&str; 3] = ["expired", "timed_out", "routing_errors"];

/// Answers one of the questions beside the first.
pub(super) fn ask(
    target: &Opening,
    style: Style,
    question: &FabricQuestion,
) -> Result<Outcome, Failure> {
    match question {
        FabricQuestion::Status(options) => status::run(target, style, options, false),
        FabricQuestion::Drain(options) => status::run(target, style, options, true),
    }
}

pub(super) fn run(target: &Opening, style: Style, place: Option<&str>) -> Result<Outcome, Failure> {
    let place = place.map(locate::place).transpose().map_err(Failure::Usage)?;
    let mut machine = open(target)?;
    cores::check_on(&machine.mesh(), place)?;
    let interest = Interest { links: true, fabric: true, proofs: true, ..Interest::default() };
    // Which packets are oldest is only known after a first look.
    let first = machine.take(&interest);
    if let Some(gone) = end_of_all(&first.memory) {
        return Err(Failure::of_access(&target.words, gone));
    }
    let spans = fabric_heads(&first.state.fabric);
    let sample = machine.take(&Interest { spans, ..interest });
    let mut state = sample.state;
    state.fabric.routers.retain(|router| place.is_none_or(|place| holds(place, router)));
    tell(target, &state);
    if style.json {
        json(&shape::fabric(&target.words, &state))?;
    } else {
        text(&page(style, &state.fabric, place.is_some()))?;
    }
    if state.fabric.routers.is_empty() {
        say("no router runs there");
    }
    Ok(outcome(&state))
}

fn holds(place: Place, router: &RouterState) -> bool {
    match place {
        Place::Chip(chip) => router.at.chip == chip,
        Place::Channel(chip, channel) => router.at.chip == chip && router.at.channel == channel,
        Place::Tile(chip, tile, _) => router.at.chip == chip && router.tile == tile,
        Place::Address(_) => false,
    }
}

fn outcome(state: &MeshState) -> Outcome {
    let refused =
        |router: &RouterState| router.refusal.known().is_some_and(|refusal| *refusal != 0);
    let miscounted = state.fabric.ledgers.iter().any(|l| l.verdict == Verdict::Miscounted);
    if miscounted || state.fabric.routers.iter().any(refused) {
        Outcome::Findings
    } else {
        judge(state)
    }
}

fn page(style: Style, fabric: &FabricState, channels: bool) -> String {
    let mut page = routers(style, fabric);
    let shown = |at| fabric.routers.iter().any(|router| router.at == at);
    let mut table = Columns::new(&LEDGERS);
    for ledger in &fabric.ledgers {
        if shown(ledger.from) || shown(ledger.to) {
            table.row(vec![
                ledger.from.to_string(),
                ledger.to.to_string(),
                ledger.virtual_channel.to_string(),
                ledger.slots.to_string(),
                ledger.queued.to_string(),
                ledger.remote_free_slots.to_string(),
                ledger.in_flight.to_string(),
                format!("{}+{}", ledger.arrived, ledger.held),
                ledger.verdict.word().to_owned(),
            ]);
        }
    }
    page += "\n";
    page += &table.text();
    let detail = |router: &RouterState| {
        format!("\n{} {}\n{}", router.at, router.image, channel_table(style, router))
    };
    page.extend(fabric.routers.iter().filter(|_| channels).map(detail));
    page
}

fn routers(style: Style, fabric: &FabricState) -> String {
    let mut table = Columns::new(&ROUTERS);
    for router in &fabric.routers {
        let sum = |all: &mut dyn Iterator<Item = &Reading<u64>>| {
            let all: Option<u64> = all.map(|count| count.known().copied()).sum();
            all.map_or("?".to_owned(), |sum| sum.to_string())
        };
        let drops = router.counts.iter().filter(|(name, _)| DROPS.contains(name));
        table.row(vec![
            router.at.to_string(),
            cell(style, &router.node, ToString::to_string),
            cell(style, &router.direction, |direction| direction.name().to_owned()),
            cell(style, &router.status, |status| (*status).to_owned()),
            cell(style, &router.link, |link| word(&LINKS, *link)),
            sum(&mut router.senders.iter().map(|channel| &channel.sent)),
            sum(&mut router.receivers.iter().map(|channel| &channel.received)),
            sum(&mut drops.map(|(_, count)| count)),
        ]);
    }
    table.text()
}

fn channel_table(style: Style, router: &RouterState) -> String {
    let mut table = Columns::new(&CHANNELS);
    let count = |reading: &Reading<u64>| cell(style, reading, u64::to_string);
    for channel in &router.senders {
        table.row(vec![
            format!("sender {}", channel.index),
            channel.virtual_channel.to_string(),
            channel.slots.to_string(),
            count(&channel.queued),
            count(&channel.in_flight),
            connection(style, channel),
            "-".to_owned(),
            head(style, channel.head.as_ref()),
        ]);
    }
    for channel in &router.receivers {
        let towards: Vec<_> = channel.pending.iter().map(|direction| direction.name()).collect();
        let waits = cell(style, &channel.waits_for, |wait| word(&WAITS, *wait));
        table.row(vec![
            format!("receiver {}", channel.index),
            channel.virtual_channel.to_string(),
            channel.slots.to_string(),
            count(&channel.arrived),
            count(&channel.held),
            "-".to_owned(),
            format!("{waits} {}", towards.join("+")).trim_end().to_owned(),
            head(style, channel.head.as_ref()),
        ]);
    }
    for edge in &router.downstream {
        let tile = edge.tile.map_or_else(String::new, |tile: NocXy| tile.to_string());
        let credits = count(&edge.credits);
        table.row(vec![
            format!("to {} {tile}", edge.direction.name()),
            edge.virtual_channel.to_string(),
            String::new(),
            format!("{credits} free"),
        ]);
    }
    table.text()
}

fn connection(style: Style, channel: &SenderState) -> String {
    let state = cell(style, &channel.connection, |state| word(&CONNECTIONS, *state));
    match channel.client {
        Some(client) => format!("{state} {client}"),
        None => state,
    }
}

fn head(style: Style, head: Option<&HeadState>) -> String {
    head.map_or("-".to_owned(), |head| cell(style, &head.packet, packet))
}

/// A packet in a line.
fn packet(packet: &PacketState) -> String {
    let kind = packet.send_type.map_or_else(|number| format!("type {number}"), str::to_owned);
    let (tile, addr) = packet.noc_address;
    let from = packet.source;
    format!(
        "{kind} {} B from {from} #{} to {tile}:{addr:#x} ttl {} [{}]",
        packet.payload_bytes, packet.number, packet.ttl, packet.route
    )
}

/// The word of a number, or the number.
fn word(words: &[&str], number: u32) -> String {
    words.get(number as usize).map_or_else(|| number.to_string(), |word| (*word).to_owned())
}
