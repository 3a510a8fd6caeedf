//! What a look tells of a fabric: routers by the names of their image, and the credits of both ends.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs, reason = "tests")]

#[path = "fabric_seen/bench.rs"]
mod bench;

use bench::{Bench, look};
use probe::fabric::mux::Policy;
use probe::inspect::{Interest, fabric_heads};
use probe::session::Session;
use probe::state::{FabricPort, Party, Reading, Verdict, WaitReason};
use probe::target::{Allow, Target};
use probe::ttsim::HostCommand;

#[test]
fn routers_at_rest_have_all_their_credits() {
    let words = "emulator:t3000,run=fabric,topology=ring,seed=3";
    let mut session = Session::open(words, &HostCommand::default(), Allow::default()).unwrap();
    let interest = Interest { links: true, fabric: true, proofs: true, ..Interest::default() };
    let fabric = session.look(&interest).state.fabric;
    assert_eq!(fabric.routers.len(), 16);
    for router in &fabric.routers {
        assert_eq!(router.status, Reading::Known("READY_FOR_TRAFFIC"), "{}", router.at);
        assert_eq!(router.topology, Some("Ring"));
        // Local, forwarded, behind the dateline, control; two receivers and the control channel.
        assert_eq!((router.senders.len(), router.receivers.len()), (4, 3));
        assert!(router.passes.known().is_some_and(|passes| *passes > 0));
    }
    // Both ways of eight links, in both virtual channels.
    assert_eq!(fabric.ledgers.len(), 32);
    for ledger in &fabric.ledgers {
        assert_eq!((ledger.slots, ledger.remote_free_slots), (8, 8));
        assert_eq!(ledger.verdict, Verdict::Empty);
    }
    assert!(fabric_heads(&fabric).is_empty());
}

#[test]
fn a_mesh_without_a_fabric_shows_none() {
    let mut session =
        Session::open("emulator:n300,run=idle", &HostCommand::default(), Allow::default()).unwrap();
    let interest = Interest { links: true, fabric: true, proofs: true, ..Interest::default() };
    let fabric = session.look(&interest).state.fabric;
    assert!(fabric.routers.is_empty() && fabric.ledgers.is_empty());
}

#[test]
fn a_stranger_finds_muxes_and_clients_by_who_sends_to_whom() {
    let mut bench = Bench::new(Policy::Unbounded, [40, 40]);
    bench.launch();
    bench.cut();
    bench.target.pass(400_000).unwrap();
    let (mux, workers) = (bench.mux.place, bench.senders.map(|id| bench.place(id)));
    let router = bench.router.eth;
    let mut session = bench.strangers();
    let (fabric, looks) = look(&mut session);
    assert!(looks <= 6, "{looks}");
    eprintln!(
        "{:?} {:?}",
        fabric.leads,
        fabric.routers.iter().map(|r| r.senders[0].clone()).collect::<Vec<_>>()
    );
    let [found] = &fabric.muxes[..] else { panic!("{:?}", fabric.muxes) };
    assert_eq!((found.at.chip, found.at.tile), (mux.chip, mux.tile));
    assert_eq!(found.policy, Some("UNBOUNDED_WAIT"));
    assert_eq!(found.status, Reading::Known("READY_FOR_TRAFFIC"));
    assert_eq!(found.waypoint, Reading::Known("FWSW".to_owned()));
    assert_eq!(found.channels.len(), 2);
    for (channel, worker) in found.channels.iter().zip(workers) {
        assert_eq!(channel.client, Some(worker.tile));
        assert_eq!(channel.queued, Reading::Known(2), "its slots are full");
        let head = channel.head.as_ref().and_then(|head| head.packet.known()).unwrap();
        assert_eq!(head.payload_bytes, 512);
    }
    // Two workers and the mux itself.
    assert_eq!(fabric.clients.len(), 3);
    for client in &fabric.clients {
        assert_eq!(client.stage, Reading::Known("CLIENT_OPEN"), "{}", client.at);
        assert_eq!(client.waits, Reading::Known(true));
        assert_eq!(client.used, client.slots);
        let to = match workers.iter().position(|worker| worker.tile == client.at.tile) {
            Some(channel) => FabricPort::Mux(found.at, channel as u8),
            None => FabricPort::Router(router, 0),
        };
        assert_eq!(client.to, Some(to));
    }
    // From the workers over the mux, which waits in one channel while the other has to wait for its turn, to the link.
    let waits = &fabric.waits;
    assert_eq!(waits.roots(), [Party::Link(router)], "{:?}", waits.all);
    assert!(waits.cycles().is_empty());
    let Reading::Known(holder) = found.holder else { panic!("{:?}", found.holder) };
    let reason = |party| waits.of(party).map(|wait| wait.reason).collect::<Vec<_>>();
    for channel in 0..2u8 {
        let turn = u64::from(channel) != holder;
        let expected = if turn { WaitReason::Turn } else { WaitReason::Slot };
        assert_eq!(reason(Party::MuxChannel(found.at, channel)), [expected]);
    }
    assert_eq!(reason(Party::Sender(router, 0)), [WaitReason::Link]);
    assert_eq!(waits.tree().len(), 6, "{:?}", waits.tree());
}
