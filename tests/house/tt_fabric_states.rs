//! What is seen of tt-metal's own routers in each of their states: on the emulator, in a recording,
//! and on the vendor's simulator. One machine is led through all states.

mod credits;
mod facts;
mod muxes;
mod pcs;
mod stages;
mod walk;
mod words;

use crate::children;
use crate::tt_fabric::check_end;
use crate::tt_fabric_manifest;
use decode::state::{FabricState, Party, RouterState};
use facts::facts;
use images::{ImageMap, Reading};
use layouts::{ChipId, EthId};
use serde_json::Value;
use stages::Transcript;
use std::collections::BTreeMap;
use tests::tt_fabric::{Request, Route};
use transport::emulator_bar::{self, EmulatorBar};
use walk::{Seen, Walk, kernels};
use workloads::scene::Scene;

/// `RouterCommand`.
const RUN: u32 = 0;
const PAUSE: u32 = 1;
/// Packets of each worker: they still send when the far router is paused, after two recordings.
const PACKETS: u64 = 150_000;
const SETTLE_CYCLES: u64 = 300_000;
const FAR: EthId = EthId { chip: ChipId(1), channel: 0 };
const NEAR: EthId = EthId { chip: ChipId(0), channel: 8 };
/// The link whose far router is launched last.
const FIRST: EthId = EthId { chip: ChipId(0), channel: 9 };
const LAST: EthId = EthId { chip: ChipId(1), channel: 1 };

fn router(fabric: &FabricState, at: EthId) -> &RouterState {
    fabric.routers.iter().find(|router| router.at == at).unwrap()
}

/// Leads a machine through the states, and checks what distinguishes each.
fn walk(walk: &mut Walk, packets: u64, mut see: impl FnMut(&mut Walk, &str) -> Seen) {
    let mut transcript = Transcript::default();
    let mut see = |walk: &mut Walk, name: &str| {
        let seen = see(walk, name);
        transcript.note(name, &seen.fabric);
        seen
    };
    walk.launch_routers(|router| {
        router.kernel.place().chip != LAST.chip || router.channel != LAST.channel
    });
    walk.pass(SETTLE_CYCLES);
    handshake(&see(walk, "handshake"));
    walk.launch_routers(|router| {
        router.kernel.place().chip == LAST.chip && router.channel == LAST.channel
    });
    walk.make_ready();
    idle(&see(walk, "idle"));
    walk.launch_workers(packets);
    walk.pass(SETTLE_CYCLES);
    traffic(&see(walk, "traffic"));
    walk.command(FAR, PAUSE);
    walk.pass(SETTLE_CYCLES);
    far_paused(&see(walk, "far_paused"));
    words::compare(walk, FAR);
    words::compare_entry(walk, NEAR);
    pcs::compare(walk);
    walk.command(NEAR, PAUSE);
    walk.command(FAR, RUN);
    walk.pass(SETTLE_CYCLES);
    near_paused(&see(walk, "near_paused"));
    walk.command(NEAR, RUN);
    walk.finish_workers(packets);
    closed(packets, &see(walk, "closed"));
    let (target, images) = walk.session.parts();
    check_end(target, walk.fabric.document(), images);
    terminated(&see(walk, "terminated"));
    transcript.compare();
}

#[test]
fn every_state_on_the_emulator_and_in_a_recording() {
    let Some(request) = kernels(Route::Direct) else { return };
    let mut on = emulated(&request);
    walk(&mut on, PACKETS, |on, name| {
        let seen = on.record(name);
        // It lets time pass: nothing is seen after it.
        if name == "terminated" {
            tt_fabric_manifest::check(&mut on.session, &request.folder);
        }
        seen
    });
}

#[test]
fn every_state_is_the_same_on_the_vendors_simulator() {
    let Some((library, host)) = children::simulator("wh_x2") else { return };
    let Some(request) = kernels(Route::Direct) else { return };
    let bar = transport::ttsim::open(&library, &host).unwrap();
    let abilities = bar.welcome().abilities.clone();
    let there = all_facts(&mut Walk::new(&request, Box::new(bar), abilities));
    let here = all_facts(&mut emulated(&request));
    for (name, facts) in &here {
        facts::compare(name, facts, &there[name]);
    }
}

fn emulated(request: &Request) -> Walk {
    let (images, _) = ImageMap::firmware();
    let bar = EmulatorBar::new(Scene::new(&request.mesh).power_on(&images).unwrap());
    Walk::new(request, Box::new(bar), emulator_bar::abilities())
}

/// Returns the facts of each state that can be compared with another machine's.
fn all_facts(on: &mut Walk) -> BTreeMap<String, Value> {
    let mut all = BTreeMap::new();
    walk(on, PACKETS, |on, name| {
        let seen = on.see();
        // Moving packets are counted at another time.
        if name != "traffic" {
            all.insert(name.to_owned(), facts(name, &seen));
        }
        seen
    });
    all
}

/// One end of a link was not launched yet; the other link's routers have met.
fn handshake(Seen { fabric, waits }: &Seen) {
    assert!(router(fabric, FIRST).facts.status.is("STARTED"));
    for at in [NEAR, FAR] {
        let router = router(fabric, at);
        assert!(router.facts.status.is("REMOTE_HANDSHAKE_COMPLETE"), "{at}");
        assert_eq!(router.facts.handshake, Reading::Known(0xAA));
    }
    assert!(!fabric.routers.iter().any(|router| router.at == LAST));
    assert_eq!(waits.roots(), [Party::Router(LAST)], "{:?}", waits.all);
}

fn idle(Seen { fabric, waits }: &Seen) {
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

/// Workers send, and nobody waits for long.
fn traffic(Seen { fabric, waits }: &Seen) {
    for at in [NEAR, FAR] {
        let sender = &router(fabric, at).senders[0];
        assert!(sender.facts.connection.is("OPEN_CONNECTION"), "{:?}", sender.facts.connection);
    }
    assert_eq!(fabric.clients.len(), 2);
    assert_eq!(waits.roots(), []);
}

fn far_paused(Seen { fabric, waits }: &Seen) {
    assert!(router(fabric, FAR).facts.state.is("PAUSED"));
    assert!(router(fabric, NEAR).facts.state.is("RUNNING"));
    // The worker may have eight packets under way; they stand in the paused receiver.
    assert_eq!(router(fabric, FAR).receivers[0].facts.arrived, Reading::Known(8));
    assert_eq!(waits.roots(), [Party::Router(FAR)]);
    let packet = &router(fabric, FAR).receivers[0].candidates[0].packet;
    assert!(packet.known().unwrap().facts.send_type.is("NOC_UNICAST_WRITE"));
    let worker = fabric.clients.iter().find(|client| client.at.chip == NEAR.chip).unwrap();
    assert_eq!(worker.facts.waits, Reading::Known(true));
}

fn near_paused(Seen { fabric, waits }: &Seen) {
    assert!(router(fabric, NEAR).facts.state.is("PAUSED"));
    // Packets that it does not send, and completions that it does not process.
    let sender = &router(fabric, NEAR).senders[0];
    let [queued, completions] = [&sender.facts.queued, &sender.facts.completions];
    assert_eq!(queued.known().unwrap() + completions.known().unwrap(), 8);
    let worker = fabric.clients.iter().find(|client| client.at.chip == NEAR.chip).unwrap();
    assert_eq!(worker.facts.waits, Reading::Known(true));
    assert_eq!(waits.roots(), [Party::Router(NEAR)]);
}

/// Workers that have closed leave empty channels.
fn closed(packets: u64, Seen { fabric, waits }: &Seen) {
    let sender = &router(fabric, NEAR).senders[0];
    assert_eq!(sender.facts.connection.name(), Some("UNUSED_CONNECTION"));
    assert_eq!(sender.facts.queued, Reading::Known(0));
    assert!(sender.facts.last_client.known().is_some());
    // Sent to the peer, and received from it.
    assert_eq!(router(fabric, NEAR).facts.packets_moved, Reading::Known(2 * packets));
    assert_eq!((fabric.clients.len(), waits.all.len()), (0, 0));
}

fn terminated(Seen { fabric, waits }: &Seen) {
    for router in &fabric.routers {
        assert!(router.facts.status.is("TERMINATED"), "{}", router.at);
        assert!(router.facts.termination.is("IMMEDIATELY_TERMINATE"), "{}", router.at);
    }
    assert_eq!((fabric.clients.len(), waits.all.len()), (0, 0));
}
