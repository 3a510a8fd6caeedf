//! What is seen of tt-metal's own routers in each of their states: facts, waits, screens, live and
//! in a recording.

use crate::pictures::picture_of;
use crate::tt_fabric::{Scratch, build, request, scene};
use decode::images::ImageMap;
use decode::inspect::{ReadSet, fabric_read_set};
use decode::state::{FabricState, Party, Reading, RouterState, Waits};
use launch::constant_of;
use layouts::{ChipId, EthId};
use machine::fabric::FabricTopology;
use machine::place::Place;
use machine::snapshot::{Plan, Span};
use machine::target::Target;
use probe::session::Session;
use recordings::{Replay, Writer};
use serde_json::{Value, json};
use std::path::Path;
use tests::tt_fabric::Route;

/// `RouterCommand::PAUSE`, at the address of the command of `RouterStateManager`.
const PAUSE: u32 = 1;
const COMMAND_OFFSET: u64 = 16;
/// Packets that a worker does not send within the test.
const MANY: u64 = 60_000;
const SETTLE_CYCLES: u64 = 3_000_000;
/// Snapshots until everything that one refers to is read.
const SNAPSHOTS: usize = 5;
/// Time between the two snapshots of a wait.
const WAIT_CYCLES: u64 = 1_000_000;
const SIZE: (u16, u16) = (120, 40);
pub(crate) const FAR: EthId = EthId { chip: ChipId(1), channel: 0 };
pub(crate) const NEAR: EthId = EthId { chip: ChipId(0), channel: 8 };

/// A state of the fabric: packets of each worker, and how the state comes about.
struct Staged {
    session: Session,
    images: ImageMap,
}

fn staged(packets: u64, change: impl FnOnce(&mut dyn FnMut(EthId, u32))) -> Option<Staged> {
    let request = request("n300", FabricTopology::Line, Route::Direct)?;
    build(&request);
    let (mut images, _) = ImageMap::firmware();
    let mut target = scene("n300", &request.folder, packets).build(&mut images).unwrap();
    let layout = target.mesh().layout();
    change(&mut |at, command| {
        let tile = layout.eth_channel(at.channel).unwrap();
        let place = Place { chip: at.chip, tile };
        let addr = layout.eth.l1.fabric_routing.at + COMMAND_OFFSET;
        target.write(place.at(addr), &command.to_le_bytes()).unwrap();
    });
    target.pass(SETTLE_CYCLES).unwrap();
    let session = Session::with_target(Box::new(target), images.clone());
    Some(Staged { session, images })
}

/// Records a snapshot with everything that the screens need.
fn recorded(session: &mut Session, writer: &mut Writer) -> FabricState {
    let mut read_set =
        ReadSet { links: true, fabric: true, fabric_tables: true, ..ReadSet::default() };
    for _ in 0..SNAPSHOTS {
        let fabric = session.inspect(&read_set).state.fabric;
        read_set = fabric_read_set(&fabric, &read_set);
    }
    let whole = ReadSet::everything(&session.target().mesh().clone());
    let ReadSet { spans, fabric_tiles, .. } = read_set;
    let inspected = session.inspect(&ReadSet {
        details: true,
        fabric: true,
        fabric_tables: true,
        spans,
        fabric_tiles,
        ..whole
    });
    writer.append(&inspected.snapshot).unwrap();
    inspected.state.fabric
}

/// Returns the fabric and its waits, and checks that screens of the target and of its recording show
/// the golden frames.
fn seen(name: &str, staged: Staged) -> (FabricState, Waits) {
    let Staged { mut session, images } = staged;
    let scratch = Scratch::new(&format!("tt-fabric-{name}"));
    let file = scratch.0.join("state.mcap");
    let _ = std::fs::remove_file(&file);
    let mut writer = Writer::create(&file, session.target()).unwrap();
    let before = recorded(&mut session, &mut writer);
    session.target().pass(WAIT_CYCLES).unwrap();
    let after = recorded(&mut session, &mut writer);
    writer.finish().unwrap();
    let replay = |keys: &str| {
        let replay = Box::new(Replay::open(&file).unwrap());
        picture_of(&mut Session::with_target(replay, images.clone()), keys, SIZE)
    };
    for (screen, keys) in [("fabric", "5"), ("fabric_tables", "5\t\t")] {
        golden(&format!("tt_fabric_{name}_{screen}.txt"), &replay(keys));
    }
    let waits = after.waits.lasting(&before.waits);
    (after, waits)
}

pub(crate) fn golden(name: &str, picture: &str) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let file = root.join("golden").join(name);
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&file, picture).unwrap();
    }
    let golden = std::fs::read_to_string(&file).unwrap_or_default();
    assert_eq!(picture, golden, "{name}: BLESS=1 writes it");
}

fn router(fabric: &FabricState, at: EthId) -> &RouterState {
    fabric.routers.iter().find(|router| router.at == at).unwrap()
}

#[test]
fn idle_routers_have_met_and_nothing_waits() {
    let Some(staged) = staged(0, |_| ()) else { return };
    let (fabric, waits) = seen("idle", staged);
    assert_eq!(fabric.routers.len(), 4);
    for router in &fabric.routers {
        let facts = &router.facts;
        assert!(facts.status.is("READY_FOR_TRAFFIC") && facts.state.is("RUNNING"));
        assert!(facts.command.is("RUN") && facts.termination.is("KEEP_RUNNING"));
        assert!(facts.postcode.is("INITIALIZATION_COMPLETE"));
        assert_eq!(facts.handshake, Reading::Known(0xAA));
        let (own, peer) = (facts.node.known().unwrap(), facts.peer.known().unwrap());
        assert_eq!((own.device + peer.device, u64::from(own.device)), (1, router.at.chip.0.into()));
        assert_eq!(facts.image_channel, Reading::Known(router.at.channel.into()));
        let free = router.senders.iter().map(|sender| &sender.facts.free_slots);
        assert!(free.eq([&Reading::Known(8); 2]));
        assert_eq!(router.receivers[0].facts.arrived, Reading::Known(0));
    }
    assert_eq!((fabric.clients.len(), waits.all.len()), (0, 0));
}

#[test]
fn a_paused_router_at_the_far_end_is_the_root_of_the_waits() {
    let Some(staged) = staged(MANY, |command| command(FAR, PAUSE)) else { return };
    let (fabric, waits) = seen("far_paused", staged);
    assert!(router(&fabric, FAR).facts.state.is("PAUSED"));
    assert!(router(&fabric, NEAR).facts.state.is("RUNNING"));
    // The worker may have eight packets under way; they stand in the paused receiver.
    assert_eq!(router(&fabric, FAR).receivers[0].facts.arrived, Reading::Known(8));
    assert_eq!(waits.roots(), [Party::Router(FAR)]);
    let packet = &router(&fabric, FAR).receivers[0].candidates[0].packet;
    assert!(packet.known().unwrap().facts.send_type.is("NOC_UNICAST_WRITE"));
    let worker = fabric.clients.iter().find(|client| client.at.chip == NEAR.chip).unwrap();
    assert_eq!(worker.facts.waits, Reading::Known(true));
}

#[test]
fn a_paused_router_at_the_near_end_is_the_root_of_the_waits() {
    let Some(staged) = staged(MANY, |command| command(NEAR, PAUSE)) else { return };
    let (fabric, waits) = seen("near_paused", staged);
    assert!(router(&fabric, NEAR).facts.state.is("PAUSED"));
    // Packets that it does not send, and completions that it does not process.
    let sender = &router(&fabric, NEAR).senders[0];
    let [queued, completions] = [&sender.facts.queued, &sender.facts.completions];
    assert_eq!(queued.known().unwrap() + completions.known().unwrap(), 8);
    let worker = fabric.clients.iter().find(|client| client.at.chip == NEAR.chip).unwrap();
    assert_eq!(worker.facts.waits, Reading::Known(true));
    assert_eq!(waits.roots(), [Party::Router(NEAR)]);
}

#[test]
fn workers_that_have_closed_leave_empty_channels() {
    let Some(mut staged) = staged(100, |_| ()) else { return };
    staged.session.target().pass(10 * SETTLE_CYCLES).unwrap();
    let (fabric, waits) = seen("closed", staged);
    let sender = &router(&fabric, NEAR).senders[0];
    assert_eq!(sender.facts.connection.name(), Some("UNUSED_CONNECTION"));
    assert_eq!(sender.facts.queued, Reading::Known(0));
    assert!(sender.facts.last_client.known().is_some());
    // Sent to the peer, and received from it.
    assert_eq!(router(&fabric, NEAR).facts.packets_moved, Reading::Known(200));
    assert_eq!((fabric.clients.len(), waits.all.len()), (0, 0));
}

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
/// of its structures, constants of the ELF.
#[test]
fn every_readable_fact_is_the_word_that_is_there() {
    let Some(Staged { mut session, images }) = staged(MANY, |command| command(FAR, PAUSE)) else {
        return;
    };
    let mut read_set = ReadSet { links: true, fabric: true, ..ReadSet::default() };
    let mut fabric = FabricState::default();
    for _ in 0..SNAPSHOTS {
        fabric = session.inspect(&read_set).state.fabric;
        read_set = fabric_read_set(&fabric, &read_set);
    }
    let router = router(&fabric, FAR).clone();
    let facts = serde_json::to_value(&router.facts).unwrap();
    let sender = serde_json::to_value(&router.senders[0].facts).unwrap();
    let receiver = serde_json::to_value(&router.receivers[0].facts).unwrap();
    let names = (router.facts.state.clone(), router.facts.command.clone());
    let (status, postcode) = (router.facts.status.clone(), router.facts.postcode.clone());
    let mut words = Words { session: &mut session, images: &images, router, compared: Vec::new() };

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

    let request = request("n300", FabricTopology::Line, Route::Direct).unwrap();
    crate::tt_fabric_manifest::check(&mut session, &request.folder);
}
