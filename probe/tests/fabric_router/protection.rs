//! Protection of a fabric: refusals, time to live, time-outs, negative acknowledges, the status
//! queue.

use crate::edm::bench::{Bench, FAR, NEAR};
use crate::fabric_router::pair;
use crate::fabric_router::rig::{EAST, NACKS, Packet, REFUSED, Router, TERMINATED, WEST, xy};
use layouts::NocXy;
use machine::place::Place;
use machine::target::Target;

const DRAM: NocXy = NocXy { x: 0, y: 1 };
const QUEUE: u32 = 0x10_0000;

/// `fabric_refusal_t`.
const OTHER_PROTOCOL: u64 = 2;
const OTHER_SLOTS: u64 = 3;
const OTHER_NEIGHBOR: u64 = 4;

#[test]
fn two_ends_that_do_not_fit_refuse_each_other() {
    let mut bench = Bench::emulated();
    let line = "fabric_router_line";
    let other = [Router::new(NEAR, line, EAST), Router::new(FAR, "fabric_router_ring", WEST)];
    let neighbor =
        pair(line).map(|router| router.with("neighbor_mesh_id", 0).with("neighbor_device_id", 1));
    for (routers, reason) in [(other, OTHER_PROTOCOL), (neighbor, OTHER_NEIGHBOR)] {
        bench.launch_routers(&routers);
        bench.await_status(&routers, REFUSED);
        assert_eq!(routers.each_ref().map(|router| bench.router(router, "refusal")), [reason; 2]);
    }

    // A peer with other slots, played by the test: a changed copy of the identity that a router
    // sends.
    let [near, far] = pair(line);
    bench.launch_routers(std::slice::from_ref(&near));
    bench.target.pass(30_000).unwrap();
    let [from, to] = ["identity", "peer_identity"].map(|member| bench.router_word(line, member));
    let mut identity = bench.bytes(near.place, from, 32);
    let slots = (bench.router_word(line, "identity.sender_slots") - from) as usize;
    identity[slots] += 1;
    bench.target.write(near.place.at(to), &identity).unwrap();
    bench.await_status(std::slice::from_ref(&near), REFUSED);
    assert_eq!(bench.router(&near, "refusal"), OTHER_SLOTS);

    // Without a peer the router waits and can be terminated.
    bench.launch_routers(std::slice::from_ref(&far));
    bench.target.pass(50_000).unwrap();
    bench.terminate_routers(&[far], 1);
}

/// Makes an empty status queue in DRAM.
fn queue(bench: &mut Bench, chip: u16, entries: u32) -> Place {
    let place = Place { chip: layouts::ChipId(chip), tile: DRAM };
    let mut bytes = vec![0; 64 + 64 * entries as usize];
    bytes[..4].copy_from_slice(b"FSQ ");
    bytes[4..8].copy_from_slice(&entries.to_le_bytes());
    bench.target.write(place.at(QUEUE.into()), &bytes).unwrap();
    place
}

/// Reads event, packet number and time to live of each entry.
fn entries(bench: &mut Bench, queue: Place) -> Vec<[u32; 3]> {
    let count = bench.word(queue, u64::from(QUEUE) + 8);
    let word =
        |bench: &mut Bench, n: u32, at: u64| bench.word(queue, u64::from(QUEUE + 64 + 64 * n) + at);
    (0..count).map(|n| [0, 32, 36].map(|at| word(bench, n, at))).collect()
}

fn with_queue(router: Router) -> Router {
    router.with("status_queue_xy", xy(DRAM)).with("status_queue_address", QUEUE)
}

#[test]
fn a_packet_that_makes_no_progress_is_dropped_and_its_sender_is_notified() {
    let mut bench = Bench::emulated();
    let image = "fabric_router_mesh";
    let queues = [0, 1].map(|chip| queue(&mut bench, chip, 2));
    let routers =
        pair(image).map(|router| with_queue(router).with("packet_timeout_cycles", 20_000));
    for (router, device) in routers.iter().zip(0..) {
        bench.write_tables(
            router,
            device,
            [0, device as u8, 1, 3],
            &[WEST as u8, EAST as u8, EAST as u8],
        );
    }
    bench.bring_up(&routers);
    let from = bench.compute(0);
    let to = bench.compute(1);
    for place in [from, to] {
        bench.clear(place, NACKS);
    }
    // The other chip has no router to the east.
    let packet = |device, n| Packet::atomic(to.tile, NACKS, 1).by_tables(image, device, from, n);
    bench.put(&routers[0], 0, 0, &packet(2, 0));
    // Time to live: one hop.
    bench.put(&routers[0], 0, 1, &packet(1, 1).set("tail.ttl", 1));
    bench.put(&routers[0], 0, 2, &packet(1, 2));
    bench.target.pass(50_000).unwrap();
    assert_eq!((bench.word(from, NACKS), bench.word(to, NACKS)), (2, 1));
    assert_eq!(bench.router(&routers[1], "routing_errors"), 1);
    assert_eq!(bench.router(&routers[1], "expired"), 1);
    let node =
        |chip| entries(&mut bench, queues[chip]).iter().map(|entry| entry[0]).collect::<Vec<_>>();
    assert_eq!([0, 1].map(node), [vec![], vec![6, 4]]);

    // The peer ends. Packets for which it has room are sent, the rest times out here, and the full
    // queue counts its losses.
    let at = bench.router_word(image, "termination_signal");
    bench.write_word(routers[1].place, at, 2);
    bench.await_status(&routers[1..], TERMINATED);
    for n in 3..11 {
        bench.put(&routers[0], 0, n, &packet(1, n));
    }
    bench.target.pass(50_000).unwrap();
    assert_eq!(bench.router(&routers[0], "senders[0].packets_sent"), 11);
    let free = "fabric_router::remotes[0].free_slots";
    assert_eq!(bench.global(routers[0].place, image, free), 0);
    // Dropped packets are no longer in flight.
    for n in 0..2 {
        bench.put(&routers[0], 1, n, &packet(1, n));
    }
    bench.target.pass(60_000).unwrap();
    for member in ["packets_dropped", "packets_sent", "packets_completed"] {
        assert_eq!(bench.router(&routers[0], &format!("senders[1].{member}")), 2, "{member}");
    }
    bench.terminate_routers(&routers[..1], 2);
}

#[test]
fn a_blocked_direction_is_drained_until_it_moves_again() {
    let mut bench = Bench::emulated();
    let image = "fabric_router_ring";
    let mut routers = crate::fabric_router::ring(image)
        .map(|router| router.with("packet_timeout_cycles", 300_000));
    bench.start(&[routers[1].place, routers[3].place]);
    for (router, device) in routers.iter().zip([0, 0, 1, 1]) {
        bench.write_tables(router, device, [0; 4], &[WEST as u8, EAST as u8]);
    }
    let queue = queue(&mut bench, 0, 3);
    routers[1] = with_queue(routers[1].clone());
    bench.bring_up(&routers);
    let tile = bench.compute(1);
    bench.clear(tile, NACKS);
    // Packets that come eastwards over the dateline find no free slots downstream in virtual
    // channel 1.
    let credits = bench.constant(image, "vc_1_free_slots_from_downstream_edge_1_stream_id");
    let [preset, value] =
        ["STREAM_PRESET", "STREAM_VALUE"].map(|name| bench.stream(image, credits, name));
    let free = bench.word(routers[1].place, value);
    bench.write_word(routers[1].place, preset, 0);
    let packet = |n: u64| {
        let packet = Packet::atomic(tile.tile, NACKS + 16, 1).set("routing_fields", 0b01_10);
        let from = [("src_device_id", 1), ("src_x", tile.tile.x), ("src_y", tile.tile.y)];
        let packet = from.iter().fold(packet, |packet, (member, value)| {
            packet.set(&format!("tail.{member}"), (*value).into())
        });
        packet.set("tail.nack_address", NACKS).set("tail.number", n)
    };
    for n in 0..5 {
        bench.put(&routers[3], 0, n, &packet(n));
    }
    for _ in 0..100 {
        bench.target.pass(2_000).unwrap();
        if bench.router(&routers[1], "receivers[0].waits_for") != 0 {
            break;
        }
    }
    assert_eq!(bench.router(&routers[1], "receivers[0].waits_for"), 1);
    assert_eq!(bench.router(&routers[1], "receivers[0].pending"), 1);
    bench.target.pass(400_000).unwrap();
    assert_eq!(bench.router(&routers[1], "timed_out"), 5);
    assert_eq!(bench.router(&routers[3], "senders[0].packets_completed"), 5);
    assert_eq!(
        entries(&mut bench, queue).iter().map(|entry| entry[0]).collect::<Vec<_>>(),
        [5, 5, 5]
    );
    assert_eq!(bench.router(&routers[1], "status_entries_lost"), 2);
    assert_eq!(bench.word(tile, NACKS), 5);

    bench.write_word(routers[1].place, preset, free);
    bench.put(&routers[3], 0, 5, &packet(5));
    bench.target.pass(20_000).unwrap();
    assert_eq!(bench.word(tile, NACKS + 16), 1);
    bench.terminate_routers(&routers, 1);
}
