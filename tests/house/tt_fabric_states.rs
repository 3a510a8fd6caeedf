//! What is seen of tt-metal's own routers in each of their states: facts, waits, screens, live and
//! in a recording.

use crate::pictures::picture_of;
use crate::tt_fabric::{Scratch, build, request, scene};
use decode::images::ImageMap;
use decode::inspect::{ReadSet, fabric_read_set};
use decode::state::{FabricState, Party, Reading, RouterState, Waits};
use layouts::{ChipId, EthId};
use machine::fabric::FabricTopology;
use machine::place::Place;
use machine::target::Target;
use probe::session::Session;
use recordings::{Replay, Writer};
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
const FAR: EthId = EthId { chip: ChipId(1), channel: 0 };
const NEAR: EthId = EthId { chip: ChipId(0), channel: 8 };

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

fn golden(name: &str, picture: &str) {
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
