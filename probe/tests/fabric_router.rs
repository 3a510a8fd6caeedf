//! The fabric router, launched directly on an emulated n300 and, if `MESHSCOPE_TTSIM_DIR` names its
//! libraries, on the vendor's simulator. The test plays the clients through a TLB window.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use crate::common;

use crate::edm::bench;

pub(crate) mod rig;

use bench::{Bench, FAR, NEAR};
use machine::target::Target;
use rig::{EAST, NACKS, Packet, Router, WEST, noc_address, ring};

mod protection;

fn pattern(seed: u32, bytes: u32) -> Vec<u8> {
    (0..bytes)
        .map(|i| (seed.wrapping_mul(31).wrapping_add(i).wrapping_mul(0x9E37) >> 8) as u8)
        .collect()
}

fn pair(image: &'static str) -> [Router; 2] {
    [Router::new(NEAR, image, EAST), Router::new(FAR, image, WEST)]
}

/// Sends packets of every operation back to back.
fn operate(bench: &mut Bench) {
    let routers = pair("fabric_router_line");
    bench.bring_up(&routers);
    let to = bench.compute(1);
    let at = |address: u64| noc_address(to.tile, address);
    bench.clear(to, 0x2_0000);
    let payload = pattern(1, 4096);
    let fused = |packet: Packet, flush: u64| {
        let packet =
            packet.set("command_fields.unicast_seminc_fused.semaphore_noc_address", at(0x2_0010));
        packet
            .set("command_fields.unicast_seminc_fused.val", 3)
            .set("command_fields.unicast_seminc_fused.flush", flush)
    };
    let scatter = |mut packet: Packet| {
        for (i, chunk) in [1024, 512, 2544].into_iter().enumerate() {
            let member = format!("command_fields.unicast_scatter_write.noc_address[{i}]");
            packet = packet.set(&member, at(0x5_0000 + 0x1000 * i as u64));
            if i < 2 {
                packet = packet
                    .set(&format!("command_fields.unicast_scatter_write.chunk_size[{i}]"), chunk);
            }
        }
        packet.set("command_fields.unicast_scatter_write.chunk_count", 3)
    };
    let inline =
        Packet::new(1).set("command_fields.unicast_inline_write.noc_address", at(0x2_0004));
    let packets = [
        Packet::write(to.tile, 0x3_0000, payload.clone()),
        inline.set("command_fields.unicast_inline_write.value", 0xCAFE_F00D),
        Packet::atomic(to.tile, 0x2_0000, 5),
        Packet::atomic(to.tile, 0x2_0000, 6).set("command_fields.unicast_seminc.flush", 1),
        fused(
            Packet {
                payload: payload[..2000].to_vec(),
                ..Packet::new(3)
                    .set("command_fields.unicast_seminc_fused.noc_address", at(0x4_0000))
            },
            0,
        ),
        fused(
            Packet {
                payload: payload[..48].to_vec(),
                ..Packet::new(3)
                    .set("command_fields.unicast_seminc_fused.noc_address", at(0x4_1000))
            },
            1,
        ),
        scatter(Packet { payload: payload[..4080].to_vec(), ..Packet::new(4) }),
    ];
    for (n, packet) in (0..).zip(&packets) {
        bench.put(&routers[0], 0, n, &packet.clone().set("routing_fields", 1));
    }
    bench.target.pass(20_000).unwrap();
    assert_eq!(bench.router(&routers[0], "senders[0].packets_completed"), packets.len() as u64);
    assert_eq!(bench.bytes(to, 0x3_0000, 4096), payload);
    assert_eq!([0, 4, 16].map(|at| bench.word(to, 0x2_0000 + at)), [11, 0xCAFE_F00D, 6]);
    assert_eq!(bench.bytes(to, 0x4_0000, 2000), payload[..2000]);
    assert_eq!(bench.bytes(to, 0x4_1000, 48), payload[..48]);
    for (at, from, len) in [(0x5_0000, 0, 1024), (0x5_1000, 1024, 512), (0x5_2000, 1536, 2544)] {
        assert_eq!(bench.bytes(to, at, len), payload[from..from + len as usize]);
    }
    // A packet that cannot be carried out is dropped.
    let n = packets.len() as u64;
    bench.put(&routers[0], 0, n, &Packet::new(9).set("routing_fields", 1));
    bench.put(&routers[0], 0, n + 1, &packets[2].clone().set("routing_fields", 1));
    bench.target.pass(10_000).unwrap();
    assert_eq!(bench.router(&routers[1], "routing_errors"), 1);
    assert_eq!(bench.word(to, 0x2_0000), 16);
    bench.terminate_routers(&routers, 1);
}

#[test]
fn every_operation_is_carried_out() {
    operate(&mut Bench::emulated());
}

/// Sends packets round the ring over the dateline; they are written where they pass.
fn go_round(bench: &mut Bench, image: &'static str) {
    let routers = ring(image);
    bench.bring_up(&routers);
    let tiles = [bench.compute(0), bench.compute(1)];
    for tile in tiles {
        bench.clear(tile, 0x2_0000);
    }
    // A multicast to both chips, then 15 hops and a write, from both ends of both chips at the same
    // time.
    let both = 0b01_11;
    let far = (0..15).fold(0b01 << 30, |route, hop| route | 0b10 << (2 * hop));
    for (n, route) in (0..).zip([both, far, both, far]) {
        for router in &routers {
            let tile = tiles[0].tile;
            bench.put(
                router,
                0,
                n,
                &Packet::atomic(tile, 0x2_0000, 1).set("routing_fields", route),
            );
        }
    }
    bench.target.pass(100_000).unwrap();
    assert_eq!(tiles.map(|tile| bench.word(tile, 0x2_0000)), [12, 12]);
    bench.terminate_routers(&routers, 1);
}

#[test]
fn packets_go_round_a_ring_over_its_dateline() {
    let mut bench = Bench::emulated();
    let routers = ring("fabric_router_ring");
    bench.start(&[routers[1].place, routers[3].place]);
    go_round(&mut bench, "fabric_router_ring");
    // The image of a line forwards them too, all in one virtual channel.
    go_round(&mut bench, "fabric_router_line");
}

#[test]
fn a_client_is_notified_of_its_packets_and_of_the_end_of_its_connection() {
    let mut bench = Bench::emulated();
    let routers = pair("fabric_router_mesh");
    for (router, device) in routers.iter().zip(0..) {
        bench.write_tables(router, device, [0, device as u8, 1, 2], &[WEST as u8, EAST as u8]);
    }
    bench.bring_up(&routers);
    let image = routers[0].image;
    let (client, to) = (bench.compute(0), bench.compute(1));
    for place in [client, to] {
        bench.clear(place, NACKS);
    }
    let packet = Packet::atomic(to.tile, NACKS, 1).by_tables(image, 1, client, 0);
    bench.put(&routers[0], 0, 0, &packet);
    bench.target.pass(10_000).unwrap();
    let word = |bench: &Bench, member: &str| bench.router_word(image, member);
    for (member, value) in [
        ("conn_info[0].worker_semaphore_address", NACKS as u32 + 16),
        ("conn_info[0].worker_teardown_semaphore_address", NACKS as u32 + 32),
        ("conn_info[0].worker_x", rig::xy(client.tile)),
        ("conn_semaphore[0].value", 1),
    ] {
        let at = word(&bench, member);
        bench.write_word(routers[0].place, at, value);
    }
    bench.target.pass(5_000).unwrap();
    assert_eq!(bench.word(client, NACKS + 16), 1, "what was completed before");
    for n in 1..12 {
        bench.put(&routers[0], 0, n, &packet);
        bench.target.pass(3_000).unwrap();
    }
    bench.target.pass(10_000).unwrap();
    assert_eq!(bench.word(client, NACKS + 16), 12);
    assert_eq!(bench.word(to, NACKS), 12);
    let at = word(&bench, "conn_semaphore[0].value");
    bench.write_word(routers[0].place, at, 2);
    bench.target.pass(5_000).unwrap();
    assert_eq!(bench.word(client, NACKS + 32), 1);
    assert_eq!(bench.word(routers[0].place, at), 0);
    let at = word(&bench, "conn_info[0].edm_read_counter");
    assert_eq!(bench.word(routers[0].place, at), 12);
    bench.terminate_routers(&routers, 2);
}

/// Returns the bytes per cycle that arrive over two links in one direction, with a stream of
/// packets of maximum size. The client is as fast as possible: its slots hold the packets from the
/// start and are handed over repeatedly.
fn stream(bench: &mut Bench, image: &'static str, has_dateline: bool) -> f64 {
    let routers = ring(image);
    for (router, device) in routers.iter().zip([1, 1, 2, 0]) {
        bench.write_tables(router, device, [0, device as u8, 1, 3], &[EAST as u8; 3]);
    }
    bench.bring_up(&routers);
    let (to, bytes) = (bench.compute(1), bench.constant(image, "max_payload_bytes"));
    let payload = pattern(7, bytes as u32);
    let packet = Packet::write(to.tile, 0x3_0000, payload.clone());
    let packet = if !image.ends_with("line") && !image.ends_with("ring") {
        // East in the first two columns, to the third column, in the only row.
        let map = [0x20, 1, 1, 0x20].into_iter().enumerate();
        map.fold(packet.set("dst_start_chip_id", 2), |packet, (i, action)| {
            packet.set(&format!("route_buffer[{i}]"), action)
        })
    } else {
        packet.set("routing_fields", 0b01_10)
    };
    let slots = bench.constant(image, "sender_slots");
    for n in 0..slots {
        bench.put(&routers[3], 0, n, &packet);
    }
    let stream = bench.constant(image, "sender_channel_0_free_slots_stream_id");
    let update = bench.stream(image, stream, "STREAM_UPDATE");
    bench.write_word(routers[3].place, update, (-1_000i32 << 6) as u32);
    let sender = if has_dateline { bench.constant(image, "vc1_sender_channel") } else { 1 };
    let sender = format!("senders[{sender}].packets_sent");
    let forwarded = |bench: &mut Bench| bench.router(&routers[0], &sender);
    while forwarded(bench) < 50 {
        bench.target.pass(2_000).unwrap();
    }
    let before = forwarded(bench);
    bench.target.pass(100_000).unwrap();
    let rate = ((forwarded(bench) - before) * bytes) as f64 / 100_000.0;
    eprintln!("{image}: {rate:.2} bytes a cycle");
    bench.target.pass(500_000).unwrap();
    assert_eq!(forwarded(bench), slots + 1_000);
    assert_eq!(bench.bytes(to, 0x3_0000, bytes as u32), payload);
    bench.terminate_routers(&routers, 1);
    rate
}

#[test]
fn a_stream_of_packets_is_forwarded() {
    let mut bench = Bench::emulated();
    let routers = ring("fabric_router_mesh");
    bench.start(&[routers[1].place, routers[3].place]);
    let mut slow = Vec::new();
    for (image, has_dateline, least) in [
        ("fabric_router_line", false, 11.0),
        ("fabric_router_ring", true, 10.2),
        ("fabric_router_torus", true, 6.9),
        ("fabric_router_mesh", false, 10.3),
        ("fabric_router_intermesh", true, 5.4),
    ] {
        let rate = stream(&mut bench, image, has_dateline);
        if rate <= least {
            slow.push((image, rate));
        }
    }
    assert_eq!(slow, []);
}

/// Returns the cycles per hop, from packets that go round a ring for two and for fourteen hops.
/// Both times are of the first chip, so that the costs of the first hop and of its completion
/// cancel.
fn hop_cycles(bench: &mut Bench, bytes: u32) -> f64 {
    let image = "fabric_router_line";
    let routers = ring(image);
    bench.bring_up(&routers);
    let to = bench.compute(0);
    let mut taken = |n: u64, hops: u32| {
        let route =
            (0..hops - 1).fold(0b01 << (2 * (hops - 1)), |route, hop| route | 0b10 << (2 * hop));
        let packet = Packet::write(to.tile, 0x3_0000, pattern(9, bytes));
        bench.put(&routers[0], 0, n, &packet.set("routing_fields", route));
        bench.target.pass(60_000).unwrap();
        let left = bench.router(&routers[0], "senders[0].last_progress") as u32;
        let came = bench.router(&routers[1], "receivers[0].last_progress") as u32;
        i64::from(came.wrapping_sub(left) as i32)
    };
    let (short, long) = (taken(0, 2), taken(1, 14));
    bench.terminate_routers(&routers, 1);
    (long - short) as f64 / 12.0
}

/// The vendor measured 650 to 690 ns per hop in a ring for small packets, and about 1 us for
/// packets of 1 KB.
#[test]
fn a_hop_takes_about_as_long_as_published() {
    let mut bench = Bench::emulated();
    bench.start(&[ring("fabric_router_line")[1].place, ring("fabric_router_line")[3].place]);
    for (bytes, published) in [(16, 650.0..=690.0), (1_024, 900.0..=1_100.0)] {
        let cycles = hop_cycles(&mut bench, bytes);
        eprintln!("{bytes} bytes: {cycles:.0} ns a hop beside {published:?}");
        let (least, most) = (0.75 * published.start(), 1.5 * published.end());
        assert!((least..=most).contains(&cycles), "{bytes} bytes: {cycles}");
    }
}

/// A fused write takes the frames of one packet on the first link.
#[test]
fn a_fused_write_costs_one_packet() {
    const FRAMES: u64 = 0xFFB9_0034;
    let mut bench = Bench::emulated();
    let routers = pair("fabric_router_mesh");
    for (router, device) in routers.iter().zip(0..) {
        bench.write_tables(router, device, [0, device as u8, 1, 2], &[WEST as u8, EAST as u8]);
    }
    bench.bring_up(&routers);
    let (from, to) = (bench.compute(0), bench.compute(1));
    let member = |name: &str| format!("command_fields.unicast_seminc_fused.{name}");
    let write = Packet::write(to.tile, 0x3_0000, pattern(1, 1_024));
    let fused = Packet { payload: pattern(1, 1_024), ..Packet::new(3) }
        .set(&member("noc_address"), noc_address(to.tile, 0x3_0000))
        .set(&member("semaphore_noc_address"), noc_address(to.tile, NACKS))
        .set(&member("val"), 1);
    let atomic = Packet::atomic(to.tile, NACKS, 1);
    let mut n = 0;
    let mut carried = |packets: &[&Packet]| {
        let before = bench.word(routers[0].place, FRAMES);
        for packet in packets {
            bench.put(
                &routers[0],
                0,
                n,
                &(*packet).clone().by_tables(routers[0].image, 1, from, n),
            );
            n += 1;
        }
        bench.target.pass(20_000).unwrap();
        bench.word(routers[0].place, FRAMES) - before
    };
    let (fused, write, both) =
        (carried(&[&fused]), carried(&[&write]), carried(&[&write, &atomic]));
    eprintln!("frames: fused {fused}, write {write}, write and increment {both}");
    assert_eq!((fused, both), (write, 2 * write));
    bench.terminate_routers(&routers, 1);
}

/// With a loop in the tables packets expire as in the specification's example, and their sender is
/// notified.
#[test]
fn packets_in_a_loop_expire() {
    let mut bench = Bench::emulated();
    let image = "fabric_router_mesh";
    let routers = ring(image);
    bench.start(&[routers[1].place, routers[3].place]);
    for (router, column) in routers.iter().zip([0, 0, 1, 1]) {
        bench.write_tables(router, column, [0, column as u8, 1, 2], &[EAST as u8; 6]);
    }
    bench.bring_up(&routers);
    let from = bench.compute(0);
    bench.clear(from, NACKS);
    let packet = Packet::new(0).by_tables(image, 5, from, 0);
    for (n, ttl) in (0..).zip([10, 11, 200]) {
        bench.put(&routers[0], 0, n, &packet.clone().set("tail.ttl", ttl));
    }
    bench.target.pass(300_000).unwrap();
    // Packets with an even time to live expire on the first chip, those with an odd one on the
    // other.
    let expired = routers.each_ref().map(|router| bench.router(router, "expired"));
    assert_eq!(expired, [0, 2, 1, 0]);
    assert_eq!(bench.word(from, NACKS), 3);
    bench.terminate_routers(&routers, 1);
}

#[test]
fn the_same_images_run_on_the_vendors_simulator() {
    let Some(target) = common::open("wh_x2") else { return };
    let mut bench = Bench::on(target, images::ImageMap::firmware().0);
    operate(&mut bench);
    let routers = ring("fabric_router_ring");
    bench.start(&[routers[1].place, routers[3].place]);
    go_round(&mut bench, "fabric_router_ring");
}
