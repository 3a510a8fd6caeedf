//! A router: its status, its other facts, the packets that may wait in it, and what is unknown.

use super::channels::head;
use crate::glyph::Glyphs;
use crate::reading::short;
use crate::words;
use decode::state::{Actor, HeadState, MeshState, RouterState};
use images::Reading;
use images::fabric::{Code, Enumerator, Heartbeat, HeartbeatWriter, Unknown};
use layouts::EthId;
use std::collections::{BTreeMap, BTreeSet};

/// The status of a router; while it does not run, its state.
pub fn status(glyphs: Glyphs, router: &RouterState) -> String {
    let facts = &router.facts;
    match facts.state.name() {
        Some(state) if state != RUNNING && facts.status.is(READY) => state.to_owned(),
        Some(state) if router.is_unknown() => format!("? {state}"),
        _ => short(glyphs, &facts.status, ToString::to_string),
    }
}

/// The stage of a router that does not serve its channels, else its status: for a narrow column.
pub fn stage_or_status(glyphs: Glyphs, router: &RouterState) -> String {
    match router.stage() {
        Some(stage) if !stage.is_serving() => stage.name.to_owned(),
        _ => status(glyphs, router),
    }
}

/// `RouterState`. It is INITIALIZING until the loop of the router turns first.
const RUNNING: &str = "RUNNING";
const READY: &str = "READY_FOR_TRAFFIC";

/// The stage of a router that does not serve its channels, and that of the peer it waits for.
fn stage_text(mesh: &MeshState, router: &RouterState) -> String {
    let Some(stage) = router.stage().filter(|stage| !stage.is_serving()) else {
        return String::new();
    };
    let signs: Vec<_> = stage.signs.iter().map(ToString::to_string).collect();
    let next = match stage.next {
        Actor::Peer => peer_text(mesh, router.at).unwrap_or_else(|| stage.next.to_string()),
        next => next.to_string(),
    };
    format!(
        "stage {}: {}\n  {}\n  next to act: {next}\n",
        stage.name,
        signs.join(", "),
        stage.meaning
    )
}

fn peer_text(mesh: &MeshState, at: EthId) -> Option<String> {
    let peer = mesh.links.iter().find_map(|state| state.link.other_end(at))?;
    let router = mesh.fabric.routers.iter().find(|router| router.at == peer);
    let stage = match router.map(RouterState::stage) {
        None => "where no router was found".to_owned(),
        Some(None) => "whose stage is not known".to_owned(),
        Some(Some(stage)) => format!("in stage {}", stage.name),
    };
    Some(format!("the peer {peer}, {stage}"))
}

/// The facts of a router that no table has, in lines.
pub fn router_text(mesh: &MeshState, router: &RouterState) -> String {
    let facts = &router.facts;
    let code = |reading: &Reading<Code>| reading.known().map(|code| code.0.to_string());
    let name = |reading: &Reading<Enumerator>| reading.known().map(ToString::to_string);
    let count = |reading: &Reading<u64>| reading.known().map(u64::to_string);
    let sync = count(&facts.local_sync).zip(count(&facts.local_routers));
    let channels = facts
        .local_channels
        .known()
        .map(|all| all.0.iter().map(|channel| format!("e{channel}")).collect::<Vec<_>>().join(" "));
    let lines = [
        vec![
            ("plane", router.plane.map(|plane| plane.to_string())),
            ("state", name(&facts.state)),
            ("command", name(&facts.command)),
            ("termination", code(&facts.termination)),
            ("packet time-out", facts.packet_timeout_cycles.known().map(|cycles| timeout(*cycles))),
        ],
        vec![
            ("postcode", code(&facts.postcode)),
            ("handshake", facts.handshake.known().map(|word| format!("{word:#x}"))),
            ("peer", facts.peer.known().map(ToString::to_string)),
        ],
        vec![
            ("local sync", sync.map(|(met, all)| format!("{met} of {all}"))),
            ("master", facts.master_channel.known().map(|channel| format!("e{channel}"))),
            ("routers", channels),
            ("heartbeat", facts.heartbeat.known().copied().map(heartbeat)),
        ],
        vec![
            ("tx heartbeat", count(&facts.tx_heartbeat)),
            ("rx heartbeat", count(&facts.rx_heartbeat)),
            ("packets moved", count(&facts.packets_moved)),
            ("sent", count(&facts.packets_sent)),
            ("received", count(&facts.packets_received)),
        ],
    ];
    let lines = lines.map(known).into_iter().filter(|line| !line.is_empty());
    stage_text(mesh, router) + &lines.map(|line| line + "\n").collect::<String>()
}

fn timeout(cycles: u64) -> String {
    if cycles == 0 { "none".to_owned() } else { words::cycles(cycles) }
}

/// The known of these facts, with their names, in a line.
pub(super) fn known(all: Vec<(&str, Option<String>)>) -> String {
    let known = all.into_iter().filter_map(|(name, text)| Some(format!("{name} {}", text?)));
    known.collect::<Vec<_>>().join(", ")
}

fn heartbeat(heartbeat: Heartbeat) -> String {
    let writer = match heartbeat.writer {
        Some(HeartbeatWriter::BaseFirmware) => "base firmware",
        Some(HeartbeatWriter::Router) => "router",
        None => "unknown writer",
    };
    format!("{} of {writer}", heartbeat.count)
}

/// The packets that may wait in the channels of a router whose oldest packets are not known.
pub fn candidates(glyphs: Glyphs, router: &RouterState) -> String {
    let senders = router.senders.iter().map(|channel| {
        (format!("sender {}", channel.index), &channel.facts.queued, &channel.candidates)
    });
    let receivers = router.receivers.iter().map(|channel| {
        (format!("receiver {}", channel.index), &channel.facts.arrived, &channel.candidates)
    });
    senders.chain(receivers).map(|(name, count, all)| slots(glyphs, &name, count, all)).collect()
}

/// The slots of a channel, of which some hold a packet.
pub(super) fn slots(
    glyphs: Glyphs,
    channel: &str,
    count: &Reading<u64>,
    all: &[HeadState],
) -> String {
    if all.is_empty() {
        return String::new();
    }
    let count = short(glyphs, count, u64::to_string);
    let title = format!("{channel}: at most {count} of these {} slots hold a packet\n", all.len());
    let slot = |(slot, packet)| format!("  {slot:<3} {}\n", head(glyphs, Some(packet)));
    title + &all.iter().enumerate().map(slot).collect::<String>()
}

/// What is not known of a router and its channels, and why.
pub fn unknown_text(router: &RouterState) -> String {
    let senders = router.senders.iter().map(|channel| &channel.facts.unknown);
    let receivers = router.receivers.iter().map(|channel| &channel.facts.unknown);
    let own = [&router.facts.unknown, &router.counts.unknown].into_iter();
    reasons(own.chain(senders).chain(receivers))
}

/// Unknown facts by reason, a line each.
pub(super) fn reasons<'a>(all: impl Iterator<Item = &'a Unknown>) -> String {
    let mut reasons: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    all.flat_map(Unknown::iter).for_each(|(fact, reason)| {
        reasons.entry(*reason).or_default().insert(*fact);
    });
    let line = |(reason, facts): (&str, BTreeSet<&str>)| {
        let facts = facts.into_iter().collect::<Vec<_>>().join(", ");
        format!("unknown: {facts}: {reason}\n")
    };
    reasons.into_iter().map(line).collect()
}
