//! Microbenchmarks of links on emulated meshes, beside the vendor's measurements (Basic Ethernet
//! guide).
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use crate::common::{built, idle};
use crate::edm::bench;

use bench::{Bench, FAR, NEAR, Values};
use launch::{Firmware, KernelLaunch, Ring, launch_kernel, start_application};
use machine::place::Place;
use machine::target::Target;

const PING: u32 = 0;
const RING: u32 = 1;
const STREAM: u32 = 2;

fn launch(bench: &mut Bench, place: Place, values: &[(&str, u32)]) {
    let values: Values = values.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
    let launch = KernelLaunch {
        place,
        kernel: "link_bench",
        firmware: "erisc_app",
        core_type: "ACTIVE_ETH",
        config_base: crate::common::layout().eth.l1.kernel_config.at,
        text_offset: 0,
        arguments: bench.arguments("link_bench", "link_bench_args_t", &values),
        semaphores: Vec::new(),
        in_place: false,
        host_assigned_id: bench.run_id,
    };
    let launch = launch_kernel(&mut bench.images, &launch).unwrap();
    launch.finish(&mut bench.target).unwrap();
}

fn finish(bench: &mut Bench, places: &[Place]) {
    for place in places {
        for _ in 0..2_000 {
            if bench.state(*place, "link_bench", "phase") >= 4 {
                break;
            }
            bench.target.pass(5_000).unwrap();
        }
        assert_eq!(bench.state(*place, "link_bench", "phase"), 4, "{place:?}");
        assert_eq!(bench.state(*place, "link_bench", "mismatched_words"), 0, "{place:?}");
    }
}

fn link(bench: &mut Bench, mode: u32, rounds: u32, bytes: u32, channels: u32) {
    bench.run_id += 1;
    for (place, first) in [(NEAR, 1), (FAR, 0)] {
        let values = [
            ("run_id", bench.run_id),
            ("mode", mode),
            ("first", first),
            ("rounds", rounds),
            ("payload_bytes", bytes),
            ("channels", channels),
        ];
        launch(bench, place, &values);
    }
    finish(bench, &[NEAR, FAR]);
}

fn near(published: f64, measured: f64, percent: f64) {
    assert!((measured / published - 1.0).abs() <= percent / 100.0, "{measured} is not {published}");
}

#[test]
fn there_and_back_over_one_link_takes_a_microsecond() {
    let mut bench = Bench::emulated();
    link(&mut bench, PING, 20, 16, 1);
    let cycles = bench.state(NEAR, "link_bench", "sum_round_cycles") as f64 / 20.0;
    eprintln!("there and back: {cycles} ns");
    near(1100.0, cycles, 10.0);
}

#[test]
fn a_link_is_used_as_packet_overheads_allow() {
    let mut bench = Bench::emulated();
    for (bytes, channels) in
        [(64, 30), (256, 30), (1024, 30), (2048, 30), (4096, 16), (8192, 8), (16384, 4)]
    {
        link(&mut bench, STREAM, 40, bytes, channels);
        let cycles = bench.state(NEAR, "link_bench", "finished_cycles")
            - bench.state(NEAR, "link_bench", "ready_cycles");
        let bandwidth = f64::from(2 * 40 * bytes * channels) / cycles as f64;
        eprintln!("{bytes} bytes, {channels} channels: {bandwidth:.2} GB/s");
        assert!(bytes < 4096 || bandwidth > 20.0);
    }
}

/// Returns the time per hop without the ticks of base firmware, which meet some laps and not others.
fn hop(bench: &mut Bench, ring: &Ring, separate_sync: u32, bytes: u32) -> f64 {
    let mut mean = |cycles| {
        bench.target.pass(cycles).unwrap();
        mean_hop(bench, ring, separate_sync, bytes)
    };
    [0, 377, 754, 1131].map(&mut mean).into_iter().fold(f64::INFINITY, f64::min)
}

/// Returns the mean time per hop of a lap of the ring.
fn mean_hop(bench: &mut Bench, ring: &Ring, separate_sync: u32, bytes: u32) -> f64 {
    bench.run_id += 1;
    let stops = ring.stops(bench.target.mesh()).unwrap();
    for stop in &stops {
        let values = [
            ("run_id", bench.run_id),
            ("mode", RING),
            ("first", u32::from(stop.sends)),
            ("rounds", 10),
            ("payload_bytes", bytes),
            ("separate_sync", separate_sync),
            ("master", u32::from(stop.position == 0)),
            ("sibling_x", stop.sibling.tile.x.into()),
            ("sibling_y", stop.sibling.tile.y.into()),
        ];
        launch(bench, stop.place, &values);
    }
    let places: Vec<Place> = stops.iter().map(|stop| stop.place).collect();
    finish(bench, &places);
    let cycles = bench.state(places[0], "link_bench", "sum_round_cycles");
    cycles as f64 / 10.0 / ring.hops.len() as f64
}

#[test]
fn a_hop_of_a_ring_takes_650_ns_and_690_without_merged_signals() {
    let (mut target, mut images) = built(&idle("t3000"));
    let ring = Ring::find(target.mesh()).unwrap();
    assert_eq!(ring.hops.len(), 8);
    for stop in ring.stops(target.mesh()).unwrap() {
        let start = start_application(&mut images, Firmware::BUILT_IN, stop.place).unwrap();
        start.finish(&mut target).unwrap();
    }
    let mut bench = Bench { target, images, run_id: 0 };
    let (merged, separate) = (hop(&mut bench, &ring, 0, 16), hop(&mut bench, &ring, 1, 16));
    let large = hop(&mut bench, &ring, 0, 1024);
    eprintln!("a hop: {merged} ns merged, {separate} ns separate; of 1 KB {large} ns");
    near(650.0, merged, 10.0);
    near(690.0, separate, 10.0);
}
