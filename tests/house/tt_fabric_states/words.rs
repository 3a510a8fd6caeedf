//! Each readable fact of a router compared with its word, which is read by itself.

use super::router;
use super::walk::Walk;
use decode::state::RouterState;
use images::{ImageMap, Reading};
use launch::constant_of;
use layouts::EthId;
use machine::place::Place;
use machine::snapshot::{Plan, Span};
use probe::session::Session;
use serde_json::{Value, json};

/// Facts of a router in JSON, and the words that they are, each read by itself.
struct Words<'a> {
    session: &'a mut Session,
    images: &'a ImageMap,
    router: RouterState,
    compared: Vec<&'static str>,
}

impl Words<'_> {
    fn constant(&self, name: &str) -> u64 {
        constant_of(self.images, &self.router.image, name).unwrap().into()
    }

    fn word(&mut self, addr: u64, len: u32) -> u64 {
        let place = Place { chip: self.router.at.chip, tile: self.router.tile };
        let plan = Plan { spans: vec![Span { addr: place.at(addr), len }] };
        let snapshot = self.session.target().read(&plan);
        let bytes = snapshot.bytes(place.at(addr), len).unwrap();
        bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte))
    }

    /// Reads the space available of a stream whose number is a constant.
    fn stream(&mut self, constant: &str) -> u64 {
        let id = self.constant(constant);
        self.word(0xFFB4_0100 + 0x1000 * id, 4)
    }

    fn is(&mut self, name: &'static str, fact: &Value, word: impl Into<Value>) {
        assert_eq!(*fact, word.into(), "{} {name}", self.router.at);
        self.compared.push(name);
    }
}

/// The words by their numbers: addresses of 0.81.1 (shared/reference of the table of facts), members
/// of its structures, constants of the ELF. The router is paused: its words stand still.
pub(super) fn compare(walk: &mut Walk, at: EthId) {
    let fabric = walk.see().fabric;
    let images = walk.session.images().clone();
    let session = &mut walk.session;
    let router = router(&fabric, at).clone();
    let facts = serde_json::to_value(&router.facts).unwrap();
    let sender = serde_json::to_value(&router.senders[0].facts).unwrap();
    let receiver = serde_json::to_value(&router.receivers[0].facts).unwrap();
    let names = (router.facts.state.clone(), router.facts.command.clone());
    let (status, postcode) = (router.facts.status.clone(), router.facts.postcode.clone());
    let mut words = Words { session, images: &images, router, compared: Vec::new() };

    let at = words.constant("edm_status_ptr_addr");
    let word = words.word(at, 4);
    words.is("status", &json!(status.value()), word);
    let word = words.word(0x3F420, 4);
    words.is("postcode", &json!(postcode.value()), word);
    let at = words.constant("termination_signal_addr");
    let word = words.word(at, 4);
    words.is("termination", &facts["termination"], word);
    let at = words.constant("edm_local_sync_ptr_addr");
    let word = words.word(at, 4);
    words.is("local_sync", &facts["local_sync"], word);
    let at = words.constant("handshake_addr");
    let [met, mesh, device] =
        [(at, 4), (at + 4, 2), (at + 6, 1)].map(|(at, len)| words.word(at, len));
    words.is("handshake", &facts["handshake"], met);
    words.is("peer", &facts["peer"], json!({ "mesh": mesh, "device": device }));
    let [state, command] = [0x3F440, 0x3F450].map(|at| words.word(at, 4));
    words.is("state", &json!(names.0.value()), state);
    words.is("command", &json!(names.1.value()), command);
    let [mesh, device] = [0x3F460, 0x3F462].map(|at| words.word(at, 2));
    words.is("node", &facts["node"], json!({ "mesh": mesh, "device": device }));
    // The router is paused: its telemetry stands still.
    let [moved, tx, rx] = [0x3F3C8, 0x3F3F8, 0x3F400].map(|at| words.word(at, 8));
    words.is("packets_moved", &facts["packets_moved"], moved);
    words.is("tx_heartbeat", &facts["tx_heartbeat"], tx);
    words.is("rx_heartbeat", &facts["rx_heartbeat"], rx);
    for (name, constant) in [
        ("image_channel", "MY_ETH_CHANNEL"),
        ("master_channel", "local_handshake_master_eth_chan"),
        ("local_routers", "num_local_edms"),
    ] {
        let value = words.constant(constant);
        words.is(name, &facts[name], value);
    }
    let direction = ["EAST", "WEST", "NORTH", "SOUTH"][words.constant("my_direction") as usize];
    words.is("direction", &facts["direction"], direction);
    let mask = words.constant("edm_channels_mask");
    let channels: Vec<u64> = (0..16).filter(|channel| mask >> channel & 1 == 1).collect();
    words.is("local_channels", &facts["local_channels"], channels);
    for (name, constant) in
        [("master", "is_local_handshake_master"), ("two_dimensional", "is_2d_fabric")]
    {
        let value = words.constant(constant) != 0;
        words.is(name, &facts[name], value);
    }

    for (name, constant) in [
        ("free_slots", "sender_channel_0_free_slots_stream_id"),
        ("completions", "to_sender_0_pkts_completed_id"),
    ] {
        let credits = words.stream(constant);
        words.is(name, &sender[name], credits);
    }
    let arrived = words.stream("to_receiver_0_pkts_sent_id");
    words.is("arrived", &receiver["arrived"], arrived);
    let bytes = words.constant("channel_buffer_size");
    words.is("slot_bytes", &sender["slot_bytes"], bytes);
    words.is("slot_bytes of the receiver", &receiver["slot_bytes"], bytes);
    // Runtime argument 0 is the address of the connection word.
    let arguments = words.word(0x103F4, 4);
    let connection = words.word(arguments, 4);
    let connection = words.word(connection, 4);
    words.is("connection", &sender["connection"], connection);
    let info = words.constant("local_sender_channel_0_connection_info_addr");
    let credits = words.word(info, 4);
    assert!(credits != 0, "the client gave an address");
    println!("{} facts: {}", words.compared.len(), words.compared.join(" "));
    assert_eq!(words.compared.len(), 25);
}

/// The entry of a worker for its router in the connection table, at its address; a host that writes
/// another number of slots is found.
pub(super) fn compare_entry(walk: &mut Walk, at: EthId) {
    let entry_of = |walk: &mut Walk| {
        let fabric = walk.see().fabric;
        let mut clients = fabric.clients.into_iter();
        let client = clients.find(|client| client.at.chip == at.chip).unwrap();
        (client.at, client.entry.unwrap(), fabric.findings)
    };
    let (client, entry, findings) = entry_of(walk);
    assert_eq!((&entry.slots, findings), (&Reading::Known(8), Vec::new()));
    let place = Place { chip: client.chip, tile: client.tile };
    let slots = place.at(0x7DD0 + 24 * u64::from(at.channel) + 21);
    let target = walk.session.target();
    let snapshot = target.read(&Plan { spans: vec![Span { addr: slots, len: 1 }] });
    assert_eq!(snapshot.bytes(slots, 1).unwrap(), [8]);
    target.write(slots, &[16]).unwrap();
    let (_, entry, findings) = entry_of(walk);
    let finding = format!("{client} slots: 16 by its connection table, 8 by router {at} sender 0");
    assert_eq!((&entry.slots, findings), (&Reading::Known(16), vec![finding]));
    walk.session.target().write(slots, &[8]).unwrap();
}
