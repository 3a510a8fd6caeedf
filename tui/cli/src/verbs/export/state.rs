//! What a moment shows: the waypoint, state and stages of each core, and the counters of links and of
//! the fabric's channels.

use super::track::Track;
use super::tracks::{Event, Shown, Tracks};
use console::glyph::Missing;
use console::words;
use decode::state::{
    ChipState, CoreState, EthState, LedgerState, LinkState, MeshState, PartyStage, RouterState,
    TileState,
};
use images::Reading;
use layouts::{ChipId, EthId};
use machine::target::Mesh;
use std::collections::BTreeSet;

const PACKETS: &str = "packets";
const BYTES: &str = "bytes";
const SLOTS: &str = "slots";
const TIMES: &str = "times";

/// Names the chips and cores as the screens do.
pub(super) fn name(state: &MeshState, tracks: &mut Tracks) {
    for ChipState { chip, tiles, .. } in &state.chips {
        let board = chip.board.as_ref().map_or(String::new(), |board| format!(" ({board})"));
        tracks.title(Track::Chip(chip.id), format!("chip {}{board}", chip.id));
        // Also one of which nothing could be read.
        tracks.add(&Track::Chip(chip.id));
        for TileState { eth, cores, .. } in tiles {
            let Some(EthState { channel, .. }) = eth else { continue };
            for core in cores {
                tracks.title(Track::Core(core.id), format!("{} e{channel}", core.id));
            }
        }
    }
}

/// Adds what a moment shows.
pub(super) fn note(state: &MeshState, mesh: &Mesh, tracks: &mut Tracks, seen: &mut Stages) {
    let tiles = || state.chips.iter().flat_map(|chip| &chip.tiles);
    tiles().flat_map(|tile| &tile.cores).for_each(|core| note_core(core, tracks));
    seen.note(state.party_stages(mesh), tracks);
    state.links.iter().for_each(|link| note_link(state, link, tracks));
    state.fabric.routers.iter().for_each(|router| note_router(router, tracks));
    state.fabric.ledgers.iter().for_each(|ledger| note_ledger(ledger, tracks));
}

fn note_core(core: &CoreState, tracks: &mut Tracks) {
    let below = |name: &str| Track::OfCore(core.id, name.to_owned());
    let source: Vec<_> = words::sources(core).map(|it| ("source", it)).into_iter().collect();
    let waypoint = shown(&core.waypoint, Clone::clone);
    tracks.show(&Track::Core(core.id), with(waypoint, source));
    let activity = shown(&core.activity, |it| words::activity(*it).to_owned());
    tracks.show(&below("state"), activity);
    tracks.show(&below("go message"), shown(&core.go, |it| words::go(*it).to_owned()));
}

fn shown<T>(reading: &Reading<T>, name: impl Fn(&T) -> String) -> Shown {
    match (reading, Missing::of(reading)) {
        (Reading::Known(value), _) => Shown::Known(Event { name: name(value), values: Vec::new() }),
        (Reading::Absent, _) | (_, None) => Shown::Nothing,
        (_, Some(missing)) => Shown::Missing(missing.word()),
    }
}

fn with(shown: Shown, values: Vec<(&'static str, String)>) -> Shown {
    match shown {
        Shown::Known(event) => Shown::Known(Event { values, ..event }),
        other => other,
    }
}

/// The tracks that have shown stages.
#[derive(Default)]
pub(super) struct Stages(BTreeSet<Track>);

impl Stages {
    fn note(&mut self, stages: Vec<PartyStage>, tracks: &mut Tracks) {
        let mut ended = self.0.clone();
        for PartyStage { core, party, stage, .. } in stages {
            let track = Track::OfCore(core, words::party(party));
            let values = vec![("meaning", stage.meaning.to_owned())];
            tracks.show(&track, Shown::Known(Event { name: stage.name.to_owned(), values }));
            ended.remove(&track);
            self.0.insert(track);
        }
        // Parties that are gone.
        for track in &ended {
            tracks.show(track, Shown::Nothing);
        }
    }
}

fn note_link(state: &MeshState, link: &LinkState, tracks: &mut Tracks) {
    let LinkState { link, a_to_b, b_to_a, .. } = link;
    for (from, to, bytes) in [(link.a, link.b, *a_to_b), (link.b, link.a, *b_to_a)] {
        count(tracks, from.chip, &format!("{from} > {to} bytes in flight"), BYTES, bytes);
        let Some(eth) = state.eth(from).and_then(|tile| tile.eth.as_ref()) else { continue };
        note_end(from, eth, tracks);
    }
}

fn note_end(at: EthId, eth: &EthState, tracks: &mut Tracks) {
    let mut count = |what: &str, unit: &'static str, value: Option<u64>| {
        self::count(tracks, at.chip, &format!("{at} {what}"), unit, value);
    };
    count("packets sent", PACKETS, eth.packets_sent.known().copied());
    count("packets received", PACKETS, eth.packets_received.known().copied());
    count("retrains", TIMES, eth.retrain_count.known().map(|it| u64::from(*it)));
    count("CRC errors", TIMES, eth.crc_errors.known().map(|it| u64::from(*it)));
}

fn note_router(router: &RouterState, tracks: &mut Tracks) {
    let at = router.at;
    let mut count = |channel: &str, what: &str, unit: &'static str, fact: &Reading<u64>| {
        let name = format!("{at} {channel} {what}");
        self::count(tracks, at.chip, &name, unit, fact.known().copied());
    };
    for sender in &router.senders {
        let (name, facts) = (format!("sender {}", sender.index), &sender.facts);
        count(&name, "free slots", SLOTS, &facts.free_slots);
        count(&name, "in flight", PACKETS, &facts.in_flight);
        count(&name, "sent", PACKETS, &facts.sent);
    }
    for receiver in &router.receivers {
        let (name, facts) = (format!("receiver {}", receiver.index), &receiver.facts);
        count(&name, "arrived", PACKETS, &facts.arrived);
        count(&name, "held", PACKETS, &facts.held);
        count(&name, "received", PACKETS, &facts.received);
    }
}

/// The credits of a virtual channel of a link.
fn note_ledger(ledger: &LedgerState, tracks: &mut Tracks) {
    let LedgerState { from, to, virtual_channel, queued, remote_free_slots, .. } = ledger;
    let name = |what: &str| format!("{from} > {to} VC{virtual_channel} {what}");
    count(tracks, from.chip, &name("queued"), PACKETS, Some(*queued));
    count(tracks, from.chip, &name("free slots at the receiver"), SLOTS, *remote_free_slots);
}

fn count(tracks: &mut Tracks, chip: ChipId, name: &str, unit: &'static str, value: Option<u64>) {
    tracks.count(&Track::Counter(chip, name.to_owned(), unit), value);
}
