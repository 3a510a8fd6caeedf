//! The fabric router, launched by hand on an emulated n300 and, where `MESHSCOPE_TTSIM_DIR` names its libraries, on the vendor's
//! simulator. Clients are played through the window.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod common;

#[path = "edm/bench.rs"]
mod bench;

#[path = "fabric_router/rig.rs"]
mod rig;

use bench::{Bench, FAR, NEAR};
use probe::target::Target;
use rig::{EAST, Packet, Router, WEST};

/// Not a test of its own: the other tests start this binary again as the library's host.
#[test]
fn host_helper() {
    common::help_host();
}

fn pattern(seed: u32, bytes: u32) -> Vec<u8> {
    (0..bytes)
        .map(|i| (seed.wrapping_mul(31).wrapping_add(i).wrapping_mul(0x9E37) >> 8) as u8)
        .collect()
}

fn pair(image: &'static str) -> [Router; 2] {
    [Router::new(NEAR, image, EAST), Router::new(FAR, image, WEST)]
}

/// Two routers come up, a packet written into a slot arrives, and they leave.
fn move_a_packet(bench: &mut Bench) {
    let routers = pair("fabric_router_line");
    bench.bring_up(&routers);
    let to = bench.compute(1);
    for n in 0..3 {
        let payload = pattern(n, 1024 + 16 * n);
        let packet = Packet::write(to.tile, 0x3_0000, payload.clone()).set("routing_fields", 1);
        bench.put(&routers[0], 0, n.into(), &packet);
        bench.target.pass(20_000).unwrap();
        assert_eq!(bench.bytes(to, 0x3_0000, payload.len() as u32), payload);
        assert_eq!(bench.router(&routers[0], "senders[0].packets_completed"), u64::from(n) + 1);
        assert_eq!(bench.router(&routers[1], "receivers[0].packets_completed"), u64::from(n) + 1);
    }
    bench.terminate_routers(&routers, 1);
}

#[test]
fn a_packet_crosses_a_link() {
    move_a_packet(&mut Bench::emulated());
}

#[test]
fn the_same_images_run_on_the_vendors_simulator() {
    let Some(target) = common::open("wh_x2") else { return };
    let mut bench = Bench::on(target, probe::images::ImageMap::firmware().0);
    move_a_packet(&mut bench);
}
