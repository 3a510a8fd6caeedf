//! Inspection of a fabric: routers by the names of their image, and the credits of both ends.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs, reason = "tests")]

mod bench;
mod ending;
mod ring;
mod stages;

use bench::{Bench, inspected};
use decode::inspect::{ReadSet, fabric_heads, fabric_read_set, fabric_routes};
use decode::state::{Activity, FabricPort, Party, RouteEnd, Verdict, WaitReason};
use diagnosis::WaitGraph;
use fabric::mux::Policy;
use images::Reading;
use layouts::ChipId;
use machine::fabric::{Entry, FabricNode};
use machine::target::{Allow, Target};
use probe::session::Session;
use transport::ttsim::HostCommand;

#[test]
fn routers_at_rest_have_all_their_credits() {
    let words = "emulator:t3000,run=fabric,topology=ring,planes=1,seed=3";
    let mut session = Session::open(words, &HostCommand::default(), Allow::default()).unwrap();
    let read_set = ReadSet { links: true, fabric: true, proofs: true, ..ReadSet::default() };
    let fabric = session.inspect(&read_set).state.fabric;
    assert_eq!(fabric.routers.len(), 16);
    for router in &fabric.routers {
        assert!(router.facts.status.is("READY_FOR_TRAFFIC"), "{}", router.at);
        assert_eq!(router.facts.topology.name(), Some("Ring"));
        // Senders: local, forwarded, behind the dateline, control. Receivers: two, and the control
        // channel.
        assert_eq!((router.senders.len(), router.receivers.len()), (4, 3));
        assert!(router.facts.passes.known().is_some_and(|passes| *passes > 0));
    }
    // Both directions of eight links, in both virtual channels.
    assert_eq!(fabric.ledgers.len(), 32);
    for ledger in &fabric.ledgers {
        assert_eq!((ledger.slots, ledger.remote_free_slots), (8, Some(8)));
        assert_eq!(ledger.verdict, Verdict::Empty);
    }
    assert!(fabric_heads(&fabric).is_empty());
    assert!(fabric.waits.all.is_empty(), "{:?}", fabric.waits.all);

    // All copies of a chip's tables are equal and have a route to every chip.
    assert!(fabric.tables.is_empty(), "the read set does not include tables");
    let tables_too = fabric_read_set(&fabric, &ReadSet { fabric_tables: true, ..read_set });
    let mut state = session.inspect(&tables_too).state;
    let tables = &state.fabric.tables;
    assert_eq!(tables.len(), 16);
    assert!(
        tables
            .iter()
            .all(|a| { tables.iter().all(|b| a.at.chip != b.at.chip || a.tables == b.tables) })
    );
    let node = |chip| tables.iter().find(|t| t.at.chip == ChipId(chip)).unwrap().tables.node;
    let nodes: Vec<_> = (0..8).map(node).collect();
    let mut hops = Vec::new();
    for (chip, to) in nodes.iter().enumerate() {
        let routes = fabric_routes(&state, ChipId(0), *to);
        assert!(routes.iter().all(|route| route.end == RouteEnd::Arrived), "{chip}: {routes:?}");
        hops.push(routes[0].hops.len());
        if let Some(last) = routes[0].hops.last() {
            assert_eq!(last.into.chip, ChipId(chip as u16));
        }
    }
    hops.sort_unstable();
    assert_eq!(hops, [0, 1, 1, 2, 2, 3, 3, 4]);

    // Wrong tables show in the end of the route.
    let far = nodes.iter().position(|to| fabric_routes(&state, ChipId(0), *to)[0].hops.len() == 3);
    let to = nodes[far.unwrap()];
    let route = fabric_routes(&state, ChipId(0), to).remove(0);
    let second = route.hops[0].into.chip;
    let entry = usize::from(to.device);
    for table in state.fabric.tables.iter_mut().filter(|table| table.at.chip == second) {
        table.tables.intra_mesh[entry] = Entry::To(route.hops[0].direction.opposite());
    }
    let back = fabric_routes(&state, ChipId(0), to).remove(0);
    assert_eq!(
        back.end,
        RouteEnd::NoRouter(route.hops[0].into, route.hops[0].direction.opposite())
    );
    for table in state.fabric.tables.iter_mut().filter(|table| table.at.chip == second) {
        table.tables.intra_mesh[entry] = Entry::Absent;
    }
    let none = fabric_routes(&state, ChipId(0), to).remove(0);
    assert_eq!(none.end, RouteEnd::NoEntry(route.hops[0].into));
    for table in &mut state.fabric.tables {
        table.tables.intra_mesh[entry] = Entry::To(route.hops[0].direction);
    }
    let round = fabric_routes(&state, ChipId(0), to).remove(0);
    assert_eq!((round.end, round.hops.len()), (RouteEnd::Loop(route.hops[0].out), 8));
}

#[test]
fn routes_lead_over_exit_nodes_into_another_mesh() {
    let words = "emulator:t3000,run=fabric,topology=mesh,meshes=2,planes=1";
    let mut session = Session::open(words, &HostCommand::default(), Allow::default()).unwrap();
    let read_set = ReadSet { links: true, proofs: true, ..ReadSet::default() };
    let read_set = ReadSet { fabric: true, fabric_tables: true, ..read_set };
    let fabric = session.inspect(&read_set).state.fabric;
    let state = session.inspect(&fabric_read_set(&fabric, &read_set)).state;
    let copy_of = |chip| state.fabric.tables.iter().find(|t| t.at.chip == chip).unwrap();
    for from in (0..8).map(ChipId) {
        for to in (0..8).map(ChipId) {
            let [own, destination] = [from, to].map(|chip| copy_of(chip).tables.node);
            let routes = fabric_routes(&state, from, destination);
            assert_eq!(routes.len(), 1, "{from} to {to}");
            let route = &routes[0];
            assert_eq!(route.end, RouteEnd::Arrived, "{from} to {to}: {route:?}");
            assert_eq!(route.hops.last().map_or(from, |hop| hop.into.chip), to);
            let mesh = |chip| copy_of(chip).tables.node.mesh;
            let mut crossings = route.hops.iter().filter(|h| mesh(h.out.chip) != mesh(h.into.chip));
            let exit = crossings.next().map(|hop| copy_of(hop.out.chip).tables.node.device);
            let stated = copy_of(from)
                .tables
                .exit_nodes
                .get(usize::from(destination.mesh))
                .copied()
                .flatten();
            assert_eq!(exit, stated.filter(|_| own.mesh != destination.mesh), "{from} to {to}");
            assert_eq!(crossings.count(), 0);
        }
    }
}

#[test]
fn a_ring_without_its_dateline_deadlocks_and_the_circle_is_named() {
    let mut session = ring::jammed();
    let read_set = ReadSet { links: true, fabric: true, proofs: true, ..ReadSet::default() };
    let before = session.inspect(&read_set).state.fabric.waits;
    session.target().pass(100_000).unwrap();
    let fabric = session.inspect(&read_set).state.fabric;
    let lasting = WaitGraph::from(&fabric.waits).lasting(&WaitGraph::from(&before));
    let cycles = lasting.cycles();
    let [cycle] = &cycles[..] else { panic!("{:?}", lasting.all) };
    // A sender and a receiver for each of the eight links.
    assert_eq!(cycle.len(), 16, "{cycle:?}");
    let senders = cycle.iter().filter(|party| matches!(party, Party::Sender(_, 1)));
    assert_eq!(senders.count(), 8);
    // Clients wait for the cycle, and there is no other cause.
    assert!(lasting.all.iter().any(|wait| matches!(wait.waiter, Party::Client(..))));
    assert!(lasting.roots().is_empty(), "{:?}", lasting.roots());
    assert!(fabric.ledgers.iter().any(|ledger| ledger.verdict == Verdict::BackPressured));
}

#[test]
fn a_mesh_without_a_fabric_shows_none() {
    let mut session =
        Session::open("emulator:n300,run=idle", &HostCommand::default(), Allow::default()).unwrap();
    let read_set = ReadSet { links: true, fabric: true, proofs: true, ..ReadSet::default() };
    let fabric = session.inspect(&read_set).state.fabric;
    assert!(fabric.routers.is_empty() && fabric.ledgers.is_empty());
}

/// The link is down, and eight packets fill the router. One client then waits for a slot. The other
/// has put its last packets into its channel and closes it, which the mux does not notice because
/// it waits for the router.
#[test]
fn an_unknown_client_finds_a_starved_client_and_the_chain_of_waits_up_to_the_link() {
    let mut bench = Bench::new(Policy::Unbounded, [40, 2]);
    bench.launch_receiver();
    bench.cut();
    bench.launch_mux();
    bench.launch_senders();
    bench.target.pass(400_000).unwrap();
    let (mux, workers) = (bench.mux.place, bench.senders.map(|id| bench.place(id)));
    let router = bench.router.eth;
    let mut session = bench.into_session();
    let (fabric, snapshots) = inspected(&mut session);
    assert!(snapshots <= 6, "{snapshots}");
    let [found] = &fabric.muxes[..] else { panic!("{:?}", fabric.muxes) };
    assert_eq!((found.at.chip, found.at.tile), (mux.chip, mux.tile));
    assert_eq!(found.facts.policy.name(), Some("UNBOUNDED_WAIT"));
    assert_eq!(found.facts.status.name(), Some("READY_FOR_TRAFFIC"));
    assert_eq!(found.waypoint, Reading::Known("FWSW".to_owned()));
    assert_eq!(found.channels.len(), 2);
    for (channel, worker) in found.channels.iter().zip(workers) {
        assert_eq!(channel.facts.client, Reading::Known(worker.tile));
        assert_eq!(channel.facts.queued, Reading::Known(2), "its slots are full");
        let head = channel.head.as_ref().and_then(|head| head.packet.known()).unwrap();
        assert_eq!(head.facts.payload_bytes, Reading::Known(512));
    }
    // Two workers and the mux itself; the receiver is no client.
    let client = |tile| fabric.clients.iter().find(|client| client.at.tile == tile).unwrap();
    assert_eq!(fabric.clients.len(), 3);
    assert_eq!(client(mux.tile).to, Some(FabricPort::Router { router, channel: 0 }));
    let [sends, closes] = workers.map(|worker| client(worker.tile));
    assert_eq!(sends.to, Some(FabricPort::Mux { mux: found.at, channel: 0 }));
    assert_eq!((sends.facts.stage.name(), sends.step()), (Some("CLIENT_OPEN"), Some(1)));
    assert_eq!(
        (&sends.facts.waits, &sends.facts.used),
        (&Reading::Known(true), &sends.facts.slots)
    );
    assert_eq!(closes.to, Some(FabricPort::Mux { mux: found.at, channel: 1 }));
    assert_eq!((closes.facts.stage.name(), closes.step()), (Some("CLIENT_CLOSING"), Some(2)));
    assert_eq!(closes.waypoint, Reading::Known("FCFW".to_owned()));

    let waits = WaitGraph::from(&fabric.waits);
    assert_eq!(waits.roots(), [Party::Link(router)], "{:?}", waits.all);
    assert!(waits.cycles().is_empty());
    let Reading::Known(holder) = found.facts.holder else { panic!("{:?}", found.facts.holder) };
    let reason = |party| waits.of(party).map(|wait| wait.reason).collect::<Vec<_>>();
    for channel in 0..2u8 {
        let turn = u64::from(channel) != holder;
        let expected = if turn { WaitReason::Turn } else { WaitReason::Slot };
        assert_eq!(reason(Party::MuxChannel(found.at, channel)), [expected]);
    }
    assert_eq!(reason(Party::Client(sends.at, 0)), [WaitReason::Slot]);
    assert_eq!(reason(Party::Client(closes.at, 0)), [WaitReason::Teardown]);
    assert_eq!(reason(Party::Sender(router, 0)), [WaitReason::Link]);
    assert_eq!(waits.tree().len(), 6, "{:?}", waits.tree());
}

#[test]
fn in_one_dimension_packets_go_along_rows_and_columns_and_never_turn() {
    let folder = env!("CARGO_MANIFEST_DIR");
    let words = format!(
        "emulator:{folder}/../layouts/descriptors/tests/data/rings_mgd.textproto,run=fabric,topology=ring,planes=1,traffic=200"
    );
    let mut session = Session::open(&words, &HostCommand::default(), Allow::default()).unwrap();
    session.parts().0.pass(2_000_000).unwrap();
    let chips = (0..9).map(ChipId).collect();
    let read_set = ReadSet {
        links: true,
        fabric: true,
        fabric_tables: true,
        proofs: true,
        ..ReadSet::default()
    };
    let read_set = ReadSet { compute: chips, ..read_set };
    let fabric = session.inspect(&read_set).state.fabric;
    let state = session.inspect(&fabric_read_set(&fabric, &read_set)).state;
    assert_eq!(state.fabric.routers.len(), 9 * 4);
    // A worker ends when it has sent all its packets and has got all that are meant for it.
    let cores = state.chips.iter().flat_map(|chip| &chip.tiles).flat_map(|tile| &tile.cores);
    let ended = cores.filter(|core| core.activity.known() == Some(&Activity::Done)).count();
    assert_eq!(ended, 9);
    let tables = &state.fabric.tables;
    let node = |device| FabricNode { mesh: 0, device };
    let home = tables.iter().find(|tables| tables.tables.node == node(0)).unwrap().at.chip;
    for (device, hops) in [(1, Some(1)), (2, Some(1)), (3, Some(1)), (4, None), (8, None)] {
        let routes = fabric_routes(&state, home, node(device));
        let arrived = routes.iter().find(|route| route.end == RouteEnd::Arrived);
        assert_eq!(arrived.map(|route| route.hops.len()), hops, "device {device}");
    }
}
