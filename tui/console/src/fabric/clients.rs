//! Muxes, a row for each channel, and the connections of kernels.

use super::channels::head;
use super::code;
use super::router::{known, reasons, slots};
use crate::glyph::Glyphs;
use crate::reading::short;
use crate::table::Columns;
use decode::state::{Activity, ClientState, FabricPort, MuxState};
use images::Reading;
use images::fabric::Enumerator;

const MUXES: [&str; 11] = [
    "MUX",
    "POLICY",
    "STATUS",
    "CHANNEL",
    "SLOTS",
    "QUEUED",
    "CONNECTION",
    "CLIENT",
    "FORWARDED",
    "POLLS",
    "WAITS FOR",
];
const CLIENTS: [&str; 8] =
    ["CLIENT", "CONNECTION", "TO", "STAGE", "WAYPOINT", "USED", "WAITS FOR", "STEP OF 12"];

/// The muxes, with their channels.
pub fn mux_table(glyphs: Glyphs, muxes: &[MuxState]) -> Columns {
    let mut table = Columns::new(&MUXES);
    for mux in muxes {
        for channel in &mux.channels {
            let count = |reading: &Reading<u64>| short(glyphs, reading, u64::to_string);
            let client = channel.facts.client.known();
            let client = client.map_or("-".to_owned(), ToString::to_string);
            table.row(vec![
                mux.at.to_string(),
                policy(glyphs, mux),
                short(glyphs, &mux.facts.status, Enumerator::to_string),
                channel.index.to_string(),
                count(&channel.facts.slots),
                count(&channel.facts.queued),
                code(glyphs, &channel.facts.connection),
                client,
                count(&channel.facts.forwarded),
                count(&channel.facts.polls),
                mux_wait(glyphs, mux, channel.index),
            ]);
        }
    }
    table
}

/// What a channel waits for: a slot of the router, or the channel that waits for one.
fn mux_wait(glyphs: Glyphs, mux: &MuxState, index: u8) -> String {
    let channel = &mux.channels[usize::from(index)];
    let queued = channel.facts.queued.known().is_some_and(|queued| *queued > 0);
    let waits = queued || channel.facts.connection.is("CLOSE_CONNECTION_REQUEST");
    match mux.facts.holder.known() {
        Some(holder) if *holder == u64::from(index) => {
            format!("slot of the router, for {}", head(glyphs, channel.head.as_ref()))
        }
        Some(holder) if waits => format!("channel {holder}"),
        None if queued && mux.facts.unknown.contains_key("holder") => "?".to_owned(),
        _ => "-".to_owned(),
    }
}

/// What the table does not have of a mux: packets that wait, its end, and what is not known.
pub fn mux_text(glyphs: Glyphs, mux: &MuxState) -> String {
    let facts = &mux.facts;
    let count = |reading: &Reading<u64>| reading.known().map(u64::to_string);
    let flag = |reading: &Reading<bool>| reading.known().map(|flag| u8::from(*flag).to_string());
    let counts = known(vec![
        ("handed over", count(&facts.handed_over)),
        ("retired", count(&facts.retired)),
        ("drain initiated", flag(&facts.drain_initiated)),
        ("forwarder done", flag(&facts.forwarder_done)),
    ]);
    let mut text = if counts.is_empty() { counts } else { counts + "\n" };
    for channel in &mux.channels {
        let name = format!("channel {}", channel.index);
        text += &slots(glyphs, &name, &channel.facts.queued, &channel.candidates);
    }
    let channels = mux.channels.iter().map(|channel| &channel.facts.unknown);
    text + &reasons([&facts.unknown].into_iter().chain(channels))
}

/// The clients, with their credits and what they wait for.
pub fn client_table(glyphs: Glyphs, clients: &[ClientState]) -> Columns {
    let mut table = Columns::new(&CLIENTS);
    for client in clients {
        let used = short(glyphs, &client.facts.used, u64::to_string);
        let slots = short(glyphs, &client.facts.slots, u64::to_string);
        table.row(vec![
            client.at.to_string(),
            client.name.clone(),
            target(client),
            stage(glyphs, client),
            short(glyphs, &client.waypoint, String::clone),
            format!("{used} of {slots}"),
            client_wait(client).to_owned(),
            step(client),
        ]);
    }
    table
}

/// What the table does not have of a client: words that its router or mux writes, and its entry for
/// the router.
pub fn client_text(client: &ClientState) -> String {
    let count = |reading: &Reading<u64>| reading.known().map(u64::to_string);
    let address = |reading: &Reading<u64>| reading.known().map(|address| format!("{address:#x}"));
    let words = known(vec![("teardown word", count(&client.facts.teardown))]);
    let entry = client.entry.as_ref().map_or_else(String::new, |entry| {
        let words = known(vec![
            ("tile", entry.tile.known().map(ToString::to_string)),
            ("direction", entry.direction.known().map(|it| it.name().to_owned())),
            ("slots", count(&entry.slots)),
            ("slot bytes", count(&entry.slot_bytes)),
            ("slots at", address(&entry.slots_address)),
            ("connection word at", address(&entry.connection_address)),
            ("location at", address(&entry.location_address)),
            ("stream", count(&entry.free_slots_stream)),
        ]);
        format!("connection table: {words}")
    });
    let lines = [words, entry].into_iter().filter(|line| !line.is_empty());
    let lines: String = lines.map(|line| line + "\n").collect();
    lines + &reasons(std::iter::once(&client.facts.unknown))
}

/// The step of its teardown, and which side acts.
pub(super) fn step(client: &ClientState) -> String {
    let stage = client.step().zip(client.stage);
    stage.map_or("-".to_owned(), |(step, stage)| format!("{step} {}", stage.meaning))
}

/// The stage of a connection.
pub fn stage(glyphs: Glyphs, client: &ClientState) -> String {
    short(glyphs, &client.facts.stage, Enumerator::short)
}

/// The forwarding policy of a mux.
pub fn policy(glyphs: Glyphs, mux: &MuxState) -> String {
    short(glyphs, &mux.facts.policy, Enumerator::to_string)
}

/// The channel that a client sends into, or that channel's tile.
pub fn target(client: &ClientState) -> String {
    let tile = client.facts.to_tile.known().map(ToString::to_string);
    client.to.map(port).or(tile).unwrap_or_else(|| "?".to_owned())
}

/// A channel in words.
fn port(port: FabricPort) -> String {
    match port {
        FabricPort::Router { router: at, channel } => format!("router {at} sender {channel}"),
        FabricPort::Mux { mux: at, channel } => format!("mux {at} channel {channel}"),
    }
}

/// What a client waits for.
pub fn client_wait(client: &ClientState) -> &'static str {
    if client.activity != Reading::Known(Activity::Running) {
        return "-";
    }
    match (client.facts.stage.name(), client.facts.waits.known()) {
        (_, Some(true)) => "slot",
        (Some("CLIENT_OPENING"), _) => "READY_FOR_TRAFFIC",
        (Some("CLIENT_CLOSING"), _) => "teardown",
        _ => "-",
    }
}
