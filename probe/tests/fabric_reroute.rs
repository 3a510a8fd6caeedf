//! A link of two that lead the same way is lost and comes back, while packets want to go over it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod common;

#[path = "edm/bench.rs"]
mod bench;

#[path = "fabric_router/rig.rs"]
mod rig;

use bench::Bench;
use probe::fault::Fault;
use probe::target::Target;
use rig::{EAST, NACKS, Packet, Router, WEST, place, xy};

/// Not a test of its own: the other tests start this binary again as the library's host.
#[test]
fn host_helper() {
    common::help_host();
}

const DIRECT: u64 = 0;
const FALLBACK: u64 = 2;

/// Both links of an n300, each the other one's fallback: e9-e1, and e8-e0, over which the far chip is reached.
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

    fn await_link(&mut self, router: &Router, link: u64) {
        for _ in 0..200 {
            if self.router(router, "link") == link {
                return;
            }
            self.target.pass(2_000).unwrap();
        }
        let now = self.router(router, "link");
        panic!("{router:?}: {now} is not {link}");
    }
}

#[test]
fn packets_go_over_another_link_and_come_back() {
    let mut bench = Bench::emulated();
    let image = "fabric_router_line";
    let routers = siblings(image);
    bench.start(&[routers[0].place, routers[1].place]);
    bench.bring_up(&routers);
    let to = bench.compute(1);
    bench.clear(to, NACKS);
    let packet = |n: u64| Packet::atomic(to.tile, NACKS, 1 << (n % 2 * 16)).set("routing_fields", 1);
    let mut sent = 0;
    let mut send = |bench: &mut Bench, count: u64| {
        for n in sent..sent + count {
            bench.put(&routers[0], 0, n, &packet(n));
        }
        sent += count;
        bench.target.pass(100_000).unwrap();
        let members = ["link", "epoch", "packets_rerouted", "packets_resent", "messages_carried", "senders[0].packets_sent", "senders[0].packets_completed"];
        for router in &routers {
            let values: Vec<u64> = members.iter().map(|member| bench.router(router, member)).collect();
            eprintln!("{} {values:?}", router.place);
        }
        let done = sent / 2;
        assert_eq!(u64::from(bench.word(to, NACKS)), done << 16 | (sent - done));
        assert_eq!(bench.router(&routers[0], "senders[0].packets_completed"), sent);
    };
    send(&mut bench, 5);
    bench.fault("link:0.9:down");
    send(&mut bench, 5);
    bench.await_link(&routers[0], FALLBACK);
    for n in 10..18 { bench.put(&routers[0], 0, n, &packet(n)); }
    let mut last = String::new();
    for _ in 0..300 {
        let w = |bench: &mut Bench, r: usize, m: &str| { let at = bench.router_word(image, m); bench.word(routers[r].place, at) };
        let x: Vec<String> = [(0, "fallback_taken"), (0, "fallback_delivery[1].serial"), (0, "fallback_delivery[1].arrived"), (0, "fallback_delivery[1].completed"), (2, "fallback_request[0].serial"), (2, "fallback_request[0].number"), (2, "fallback_done")].iter().map(|(r, m)| format!("{:x}", w(&mut bench, *r, m))).collect();
        let s = format!("{x:?}");
        if s != last { let now = bench.target.now().unwrap(); eprintln!("{now} far {s}"); last = s; }
        bench.target.pass(100).unwrap();
    }
    send(&mut bench, 0);
    bench.fault("link:0.9:up");
    bench.await_link(&routers[0], DIRECT);
    bench.await_link(&routers[1], DIRECT);
    send(&mut bench, 8);
    bench.terminate_routers(&routers, 1);
}
