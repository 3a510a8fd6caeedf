//! Clients of the fabric without a router: the worker adapter, the traffic kernel and the muxes,
//! against a router's channel that the test plays, on an emulated n300 and, if
//! `MESHSCOPE_TTSIM_DIR` names its libraries, on the vendor's simulator.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use crate::common;
use common::{built, idle};

mod played;

use access::bar_target::BarTarget;
use fabric::mux::{Mux, Policy};
use fabric::traffic::{PacketSpec, Route, SendType, Termination, Traffic, WorkerId};
use fabric::traffic_outcome::TrafficOutcome;
use images::ImageMap;
use launch::{Firmware, boot_tensix, start_application};
use layouts::{ChipId, NocXy};
use machine::fabric::FabricNode;
use machine::fabric::MuxCore;
use machine::place::Place;
use machine::target::Target;
use played::Played;

const FINISHED: u32 = 4;
const STOPPED: u32 = 5;
const TERMINATED: u32 = 0xA4B4_C4D4;
const IMMEDIATELY_TERMINATE: u32 = 2;
/// Bytes of a one-dimensional header.
const HEADER: u32 = 64;
const SLOT: u32 = 1024;

struct Bench {
    target: BarTarget,
    images: ImageMap,
    run_id: u32,
}

impl Bench {
    fn emulated() -> Self {
        let (target, images) = built(&idle("n300"));
        Self { target, images, run_id: 0 }
    }

    /// Returns the n-th compute tile of chip 0 that is not harvested.
    fn compute(&self, n: usize) -> Place {
        let on = &self.target.mesh().chips[0];
        let rows = (1..12u8).filter(|y| *y != 6 && on.is_fused_off(*y) == Some(false));
        let tile = rows.map(|y| NocXy { x: 1, y }).nth(n).unwrap();
        Place { chip: ChipId(0), tile }
    }

    fn state(&mut self, place: Place, kernel: &str, path: &str) -> u64 {
        let found = self.images.named(kernel).unwrap().symbols.locate(path).unwrap();
        let bytes =
            played::bytes(&mut self.target, place.at(found.address()), found.field.size as u32);
        bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte))
    }

    fn set(&mut self, place: Place, address: u64, value: u32) {
        self.target.write(place.at(address), &value.to_le_bytes()).unwrap();
    }

    fn launch(&mut self, traffic: &Traffic, workers: &[WorkerId]) {
        for id in workers {
            let launch = traffic.launch(&mut self.images, *id, self.run_id, &[]).unwrap();
            launch.finish(&mut self.target).unwrap();
        }
    }

    fn launch_mux(&mut self, mux: &Mux) {
        let launch = mux.launch(&mut self.images, self.run_id).unwrap();
        launch.finish(&mut self.target).unwrap();
    }

    fn outcome(&mut self, traffic: &Traffic, id: WorkerId) -> TrafficOutcome {
        traffic.outcome(&mut self.target, &self.images, id).unwrap()
    }

    fn status(&mut self, mux: &Mux) -> u32 {
        let at = mux.word(&self.images, "status").unwrap();
        played::word(&mut self.target, mux.place.at(at.into()))
    }

    /// Plays the router until all workers have ended.
    fn play(&mut self, router: &mut Played, traffic: &Traffic, workers: &[WorkerId]) {
        for _ in 0..3_000 {
            router.step(&mut self.target);
            self.target.pass(1_000).unwrap();
            let ended = |id: &WorkerId| {
                let phase = traffic.outcome(&mut self.target, &self.images, *id).unwrap().phase;
                (4..7).contains(&phase)
            };
            if workers.iter().all(ended) {
                return;
            }
        }
        for id in workers {
            eprintln!("{:?}", self.outcome(traffic, *id));
        }
        panic!("the traffic does not end");
    }
}

fn shipment(send: SendType, bytes: u32) -> PacketSpec {
    let route = Route::Hops(1, 1);
    PacketSpec { connection: 0, send, bytes, ttl: 3, route, control: false, arrives: true }
}

const NODE: FabricNode = FabricNode { mesh: 0, device: 0 };

/// Adds packets of every type from one worker to another.
fn ship(traffic: &mut Traffic, from: WorkerId, to: WorkerId, rounds: u32) {
    for round in 0..rounds {
        let bytes = 16 * (1 + round * 7 % 60);
        for (send, bytes) in [
            (SendType::Write, bytes),
            (SendType::Scatter(2 + round % 3), 64 + bytes / 32 * 16),
            (SendType::Inline, 0),
            (SendType::Fused, bytes),
            (SendType::Atomic, 0),
        ] {
            traffic.send(from, &[to], shipment(send, bytes)).unwrap();
        }
    }
}

fn assert_right(outcome: &TrafficOutcome, sent: u32, arrived: bool) {
    assert_eq!(outcome.phase, FINISHED, "{outcome:?}");
    assert_eq!((outcome.sent, outcome.refused), (sent, 0), "{outcome:?}");
    let TrafficOutcome { wrong_words, doubled, missing, .. } = *outcome;
    assert_eq!((wrong_words, doubled, missing), (0, 0, 0), "{outcome:?}");
    assert_eq!(outcome.arrived != 0, arrived, "{outcome:?}");
}

/// Sends from one worker to another through a played router, twice over the same channel.
fn send_to_a_played_router(bench: &mut Bench, rounds: u32) {
    let (from, to, router) = (bench.compute(0), bench.compute(1), bench.compute(2));
    let mut router = Played::new(&mut bench.target, router, from, 3, SLOT);
    for launch in 1..3 {
        bench.run_id += 1;
        let mut traffic = Traffic::new(crate::common::layout(), false);
        let (from, to) = (traffic.add_worker(from, NODE), traffic.add_worker(to, NODE));
        traffic.connect(from, router.connection(), None).unwrap();
        ship(&mut traffic, from, to, rounds);
        bench.launch(&traffic, &[to, from]);
        bench.play(&mut router, &traffic, &[from, to]);
        assert_right(&bench.outcome(&traffic, from), 5 * rounds, false);
        assert_right(&bench.outcome(&traffic, to), 0, true);
        assert_eq!(router.closes, launch);
    }
    let numbers = (0..5 * rounds).chain(0..5 * rounds).map(|number| (0, number));
    assert_eq!(router.seen, numbers.collect::<Vec<_>>());
}

#[test]
fn a_worker_sends_packets_of_every_type_over_a_channel_that_is_opened_twice() {
    send_to_a_played_router(&mut Bench::emulated(), 12);
}

/// Sends from two workers through a mux and a played router to a third worker. The first worker
/// terminates the mux.
fn send_through_a_mux(bench: &mut Bench, core: MuxCore, policy: Policy, rounds: u32) {
    bench.run_id += 1;
    let unlinked = Place { chip: ChipId(0), tile: NocXy { x: 7, y: 6 } };
    let place = if core == MuxCore::Tensix { bench.compute(3) } else { unlinked };
    let router = bench.compute(2);
    let mut router = Played::new(&mut bench.target, router, place, 2, SLOT);
    let mux = Mux {
        place,
        core,
        policy,
        channels: 2,
        buffer_count: 2,
        header_bytes: HEADER,
        router: router.connection(),
    };
    let mut traffic = Traffic::new(crate::common::layout(), false);
    let tiles = [0, 4, 1].map(|n| bench.compute(n));
    let [a, b, to] = tiles.map(|tile| traffic.add_worker(tile, NODE));
    let signal = mux.word(&bench.images, "termination_signal").unwrap();
    let ends = Termination { master: a, master_connection: 0, clients: 2, signal };
    for (channel, id) in [(0, a), (1, b)] {
        let connection = mux.connection(&bench.images, channel).unwrap();
        traffic.connect(id, connection, Some(ends)).unwrap();
        ship(&mut traffic, id, to, rounds);
    }
    bench.launch_mux(&mux);
    bench.launch(&traffic, &[to, a, b]);
    bench.play(&mut router, &traffic, &[a, b, to]);
    for (id, sent) in [(a, 5 * rounds), (b, 5 * rounds), (to, 0)] {
        assert_right(&bench.outcome(&traffic, id), sent, id == to);
    }
    for _ in 0..50 {
        router.step(&mut bench.target);
        bench.target.pass(1_000).unwrap();
    }
    assert_eq!(bench.status(&mux), TERMINATED, "{policy:?}");
    assert_eq!(router.closes, 1);
    assert_eq!(router.seen.len(), 10 * rounds as usize);
    for channel in 0..2 {
        let member = |name: &str| format!("fabric_mux_state.channels[{channel}].{name}");
        let forwarded = bench.state(place, mux.kernel(), &member("packets_forwarded"));
        assert_eq!(forwarded, u64::from(5 * rounds), "{policy:?}");
        assert_eq!(bench.state(place, mux.kernel(), &member("closes")), 1);
    }
}

#[test]
fn two_workers_share_a_mux_of_every_policy_and_end_it() {
    let mut bench = Bench::emulated();
    for policy in Policy::ALL {
        send_through_a_mux(&mut bench, MuxCore::Tensix, policy, 4);
    }
}

#[test]
fn a_mux_runs_on_an_ethernet_tile_without_a_link() {
    let mut bench = Bench::emulated();
    let place = Place { chip: ChipId(0), tile: NocXy { x: 7, y: 6 } };
    let start = start_application(&mut bench.images, Firmware::BUILT_IN, place).unwrap();
    start.finish(&mut bench.target).unwrap();
    for policy in Policy::ALL {
        send_through_a_mux(&mut bench, MuxCore::Ethernet, policy, 4);
    }
}

/// A mux on a compute tile with two workers that send many packets, in front of a channel that
/// takes none.
struct Blocked {
    router: Played,
    mux: Mux,
    traffic: Traffic,
    workers: [WorkerId; 2],
}

fn block(bench: &mut Bench, policy: Policy, never_closes: bool, rounds: u32) -> Blocked {
    bench.run_id += 1;
    let (place, router) = (bench.compute(3), bench.compute(2));
    let router = Played::new(&mut bench.target, router, place, 2, SLOT);
    let (core, channels, connection) = (MuxCore::Tensix, 2, router.connection());
    let (buffer_count, header_bytes) = (2, HEADER);
    let mux = Mux { place, core, policy, channels, buffer_count, header_bytes, router: connection };
    let mut traffic = Traffic::new(crate::common::layout(), false);
    let tiles = [0, 4, 1].map(|n| bench.compute(n));
    let [a, b, to] = tiles.map(|tile| traffic.add_worker(tile, NODE));
    for (channel, id) in [(0, a), (1, b)] {
        traffic.connect(id, mux.connection(&bench.images, channel).unwrap(), None).unwrap();
        traffic.behave(id, 0, never_closes).unwrap();
        ship(&mut traffic, id, to, rounds);
    }
    bench.launch_mux(&mux);
    bench.launch(&traffic, &[a, b]);
    Blocked { router, mux, traffic, workers: [a, b] }
}

fn end_at_once(bench: &mut Bench, blocked: &Blocked) {
    for id in blocked.workers {
        let place = blocked.traffic.place(id).unwrap();
        let symbols = &bench.images.named("fabric_traffic").unwrap().symbols;
        let signal = symbols.locate("fabric_traffic_state.control.termination_signal").unwrap();
        bench.set(place, signal.address(), IMMEDIATELY_TERMINATE);
    }
    let signal = blocked.mux.word(&bench.images, "termination_signal").unwrap();
    bench.set(blocked.mux.place, signal.into(), IMMEDIATELY_TERMINATE);
    bench.target.pass(20_000).unwrap();
    assert_eq!(bench.status(&blocked.mux), TERMINATED);
}

#[test]
fn a_blocked_router_delays_a_mux_by_its_policy_and_every_wait_can_be_terminated() {
    let mut bench = Bench::emulated();
    for policy in Policy::ALL {
        let blocked = block(&mut bench, policy, false, 4);
        bench.target.pass(300_000).unwrap();
        let (place, kernel) = (blocked.mux.place, blocked.mux.kernel());
        let skips = [0, 1].map(|channel| {
            bench.state(place, kernel, &format!("fabric_mux_state.channels[{channel}].skips"))
        });
        let unbounded = matches!(policy, Policy::Unbounded | Policy::UnboundedTeardown);
        let waits = bench.state(place, kernel, "fabric_mux_state.router.waits");
        if unbounded {
            assert_eq!((skips, waits), ([0; 2], 1), "{policy:?}");
        } else if policy != Policy::Bounded32768 {
            assert!(skips.iter().all(|skips| *skips > 1), "{policy:?} {skips:?}");
        }
        end_at_once(&mut bench, &blocked);
        assert!(bench.state(place, kernel, "fabric_mux_state.abandoned") > 0);
        for id in blocked.workers {
            assert_eq!(bench.outcome(&blocked.traffic, id).phase, STOPPED, "{policy:?}");
        }
    }
}

#[test]
fn a_client_that_never_closes_does_not_keep_a_mux_from_its_end() {
    let mut bench = Bench::emulated();
    for signal in [1, IMMEDIATELY_TERMINATE] {
        let mut blocked = block(&mut bench, Policy::Unbounded, true, 2);
        let Blocked { router, mux, traffic, workers } = &mut blocked;
        bench.play(router, traffic, workers);
        let at = mux.word(&bench.images, "termination_signal").unwrap();
        bench.set(mux.place, at.into(), signal);
        for _ in 0..50 {
            router.step(&mut bench.target);
            bench.target.pass(1_000).unwrap();
        }
        assert_eq!(bench.status(mux), TERMINATED);
        let connected = "fabric_mux_state.channels[0].connected";
        assert_eq!(bench.state(mux.place, mux.kernel(), connected), 1);
    }
}

#[test]
fn the_same_images_run_on_the_vendors_simulator() {
    let Some(target) = common::open("wh_x2") else { return };
    let mut bench = Bench { target, images: ImageMap::firmware().0, run_id: 0 };
    for n in [0, 1, 3, 4] {
        let place = bench.compute(n);
        let boot = boot_tensix(&mut bench.images, Firmware::BUILT_IN, place).unwrap();
        boot.finish(&mut bench.target).unwrap();
    }
    send_to_a_played_router(&mut bench, 2);
    let place = Place { chip: ChipId(0), tile: NocXy { x: 7, y: 6 } };
    let start = start_application(&mut bench.images, Firmware::BUILT_IN, place).unwrap();
    start.finish(&mut bench.target).unwrap();
    for policy in Policy::ALL {
        send_through_a_mux(&mut bench, MuxCore::Tensix, policy, 1);
    }
    send_through_a_mux(&mut bench, MuxCore::Ethernet, Policy::Bounded256, 1);
}
