//! One of two parallel links goes down and comes back under traffic.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use crate::edm::bench;

use crate::fabric_router::rig;

use bench::Bench;
use decode::inspect::{ReadSet, fabric_read_set};
use machine::fault::Fault;
use machine::target::Target;
use probe::session::Session;
use rig::{EAST, NACKS, Packet, Router, WEST, place, xy};

const DIRECT: u64 = 0;
const FALLBACK: u64 = 2;
const NONE_LEFT: u64 = 4;

/// Both links of an n300, each the fallback of the other: e9-e1, and e8-e0, over which the host
/// reaches the far chip.
fn siblings(image: &'static str) -> [Router; 4] {
    let tiles = [[(0, 1, 6), (0, 9, 6)], [(1, 1, 0), (1, 9, 0)]];
    let [near, far] = tiles.map(|pair| pair.map(|(chip, x, y)| place(chip, x, y)));
    let router = |pair: &[_; 2], index: usize, direction| {
        let [own, other] = [pair[index], pair[1 - index]];
        Router::new(own, image, direction)
            .with("fallback_index", index as u32)
            .with("fallback_xy[0]", xy(other.tile))
    };
    [router(&near, 0, EAST), router(&far, 0, WEST), router(&near, 1, EAST), router(&far, 1, WEST)]
}

impl Bench {
    fn fault(&mut self, fault: &str) {
        let now = self.target.now().unwrap();
        let fault = fault.parse::<Fault>().unwrap().counted_from(now);
        self.target.disrupt(&fault).unwrap();
    }
}

/// Reads the routers' `link` words.
fn links(bench: &mut Bench, routers: &[Router]) -> Vec<u64> {
    routers.iter().map(|router| bench.router(router, "link")).collect()
}

#[test]
fn packets_go_over_another_link_and_come_back() {
    let mut bench = Bench::emulated();
    for image in ["fabric_router_line", "fabric_router_ring"] {
        let routers = siblings(image);
        bench.start(&[routers[0].place, routers[1].place]);
        bench.bring_up(&routers);
        let to = bench.compute(1);
        bench.clear(to, NACKS);
        let packet =
            |n: u64| Packet::atomic(to.tile, NACKS, 1 << (n % 2 * 16)).set("routing_fields", 1);
        let mut sent = 0;
        let mut send = |bench: &mut Bench, count: u64| {
            for n in sent..sent + count {
                bench.put(&routers[0], 0, n, &packet(n));
            }
            sent += count;
            bench.target.pass(150_000).unwrap();
            let done = sent / 2;
            assert_eq!(u64::from(bench.word(to, NACKS)), done << 16 | (sent - done));
            assert_eq!(bench.router(&routers[0], "senders[0].packets_completed"), sent);
        };
        send(&mut bench, 5);
        for round in 1..3 {
            bench.fault("link:0.9:down");
            send(&mut bench, 5);
            assert_eq!(links(&mut bench, &routers), [FALLBACK, FALLBACK, DIRECT, DIRECT]);
            assert_eq!(
                bench.router(&routers[0], "fallback_xy"),
                u64::from(xy(routers[2].place.tile))
            );
            assert!(bench.router(&routers[0], "packets_rerouted") >= 5 * round);
            send(&mut bench, 8);
            bench.fault("link:0.9:up");
            send(&mut bench, 8);
            assert_eq!(links(&mut bench, &routers), [DIRECT; 4]);
            assert_eq!(bench.router(&routers[0], "epoch"), 2 * round);
        }
        bench.terminate_routers(&routers, 1);
    }
}

#[test]
fn without_another_link_senders_are_notified() {
    let mut bench = Bench::emulated();
    let image = "fabric_router_line";
    let mut routers = siblings(image);
    bench.start(&[routers[0].place, routers[1].place]);
    for router in &mut routers {
        router.more.retain(|(member, _)| member != "fallback_xy[0]");
        router.more.push(("unrouted_timeout_cycles".to_owned(), 100_000));
    }
    for (router, device) in routers.iter().zip([0, 1, 0, 1]) {
        bench.write_tables(router, device, [0, device as u8, 1, 2], &[WEST as u8, EAST as u8]);
    }
    bench.bring_up(&routers);
    let (from, to) = (bench.compute(0), bench.compute(1));
    for place in [from, to] {
        bench.clear(place, NACKS);
    }
    let packet = Packet::atomic(to.tile, NACKS, 1).by_tables(image, 1, from, 0);
    bench.put(&routers[0], 0, 0, &packet);
    bench.target.pass(20_000).unwrap();
    bench.fault("link:0.9:down");
    bench.target.pass(20_000).unwrap();
    for n in 1..5 {
        bench.put(&routers[0], 0, n, &packet);
    }
    bench.target.pass(400_000).unwrap();
    assert_eq!(links(&mut bench, &routers[..2]), [NONE_LEFT; 2]);
    for n in 5..9 {
        bench.put(&routers[0], 0, n, &packet);
    }
    bench.target.pass(50_000).unwrap();
    assert_eq!(bench.word(from, NACKS), 8);
    assert_eq!(bench.router(&routers[0], "senders[0].packets_completed"), 9);
    bench.fault("link:0.9:up");
    bench.target.pass(200_000).unwrap();
    assert_eq!(links(&mut bench, &routers), [DIRECT; 4]);
    for n in 9..14 {
        bench.put(&routers[0], 0, n, &packet);
    }
    bench.target.pass(50_000).unwrap();
    assert_eq!((bench.word(from, NACKS), bench.word(to, NACKS)), (8, 6));
    bench.terminate_routers(&routers, 1);
}

#[test]
fn the_credits_of_a_lost_link_are_those_of_its_detour() {
    let mut bench = Bench::emulated();
    let image = "fabric_router_ring";
    let routers = siblings(image);
    bench.start(&[routers[0].place, routers[1].place]);
    bench.bring_up(&routers);
    let to = bench.compute(1);
    bench.fault("link:0.9:down");
    bench.target.pass(100_000).unwrap();
    assert_eq!(links(&mut bench, &routers), [FALLBACK, FALLBACK, DIRECT, DIRECT]);
    // The receiver stands still, so that the sender has no route left.
    bench.fault("core:1.e1:stuck");
    for n in 0..3 {
        bench.put(&routers[0], 0, n, &Packet::atomic(to.tile, NACKS, 1).set("routing_fields", 1));
    }
    bench.target.pass(20_000).unwrap();
    let mut session = Session::with_target(Box::new(bench.target), bench.images);
    let mut read_set = ReadSet { links: true, fabric: true, proofs: true, ..ReadSet::default() };
    let mut ledgers_of = |_| {
        let fabric = session.inspect(&read_set).state.fabric;
        read_set = fabric_read_set(&fabric, &read_set);
        fabric.ledgers
    };
    let ledgers = (0..3).map(&mut ledgers_of).last().unwrap();
    let rows: Vec<_> = ledgers
        .iter()
        .filter(|ledger| ledger.virtual_channel == 0)
        .map(|l| {
            (
                l.from.to_string(),
                l.remote_free_slots.unwrap(),
                l.in_flight.unwrap(),
                l.arrived,
                l.words(),
            )
        })
        .collect();
    let rows: Vec<_> =
        rows.iter().map(|(a, b, c, d, e)| (a.as_str(), *b, *c, *d, e.as_str())).collect();
    assert_eq!(
        rows,
        [
            ("0:e8", 8, 0, 0, "empty"),
            ("1:e0", 8, 0, 0, "empty"),
            ("0:e9", 5, 3, 0, "lost"),
            ("1:e1", 8, 0, 0, "rerouted by e0"),
        ]
    );
}
