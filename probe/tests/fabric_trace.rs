//! The traffic of a scene, kept as a trace and sent again on another mesh: every link carries as many
//! packets as before.

use crate::common::built;
use access::bar_target::BarTarget;
use fabric::random::{RandomTraffic, TrafficPattern};
use fabric::trace::Trace;
use fabric::trace_read::read_trace;
use fabric::traffic_outcome::TrafficOutcome;
use fabric::{Division, FabricPlan, FabricRequest, router_counters, running_fabric};
use images::ImageMap;
use launch::Operation;
use machine::fabric::FabricTopology;
use machine::target::Target;
use workloads::scene::{Scene, Workload};

const PACKETS: u64 = 120;
/// Time in which all packets arrive, in cycles.
const ENOUGH_CYCLES: u64 = 2_000_000;
/// Packets that each receiver channel of a router has taken.
const RECEIVED: [&str; 2] = ["receivers[0].packets_received", "receivers[1].packets_received"];

fn scene(mesh: &str, fabric: FabricRequest, traffic: u64) -> Scene {
    Scene { run: Some(Workload::Fabric), fabric, traffic, seed: 7, ..Scene::new(mesh) }
}

/// A mesh with its fabric.
struct Bench {
    target: BarTarget,
    images: ImageMap,
    plan: FabricPlan,
}

impl Bench {
    fn new(scene: &Scene) -> Self {
        let (mut target, images) = built(scene);
        let plan = running_fabric(&mut target, &images).unwrap().unwrap();
        Self { target, images, plan }
    }

    /// The packets that went over each link, by the end that received them.
    fn received(&mut self) -> Vec<(String, Vec<u32>)> {
        self.target.pass(ENOUGH_CYCLES).unwrap();
        let counts = router_counters(&mut self.target, &self.images, &self.plan, &RECEIVED);
        let ends = self.plan.routers.iter().map(|router| router.eth.to_string());
        ends.zip(counts.unwrap()).collect()
    }

    fn send(&mut self, trace: &Trace) -> Vec<TrafficOutcome> {
        let random = RandomTraffic::new(self.target.mesh(), &self.plan).unwrap();
        let load = random.replay(&self.images, &trace.packets).unwrap();
        assert_eq!(load.packets, trace.packets.len() as u64, "none is added");
        for stage in random.launch(&mut self.images, &load, 5).unwrap() {
            Operation::finish_all(stage, &mut self.target).unwrap();
        }
        self.target.pass(ENOUGH_CYCLES).unwrap();
        load.traffic.outcomes(&mut self.target, &self.images, &load.ids).unwrap()
    }
}

#[test]
fn a_trace_that_is_sent_again_takes_the_same_links() {
    let whole = FabricRequest::new;
    let halves =
        |topology| FabricRequest { division: Division::Parts(2), ..FabricRequest::new(topology) };
    for (mesh, request) in [
        ("t3000", whole(FabricTopology::Mesh)),
        ("t3000", whole(FabricTopology::Ring)),
        ("t3000", halves(FabricTopology::Mesh)),
        ("n300", halves(FabricTopology::Line)),
    ] {
        let name = format!("{mesh} {request:?}");
        let mut first = Bench::new(&scene(mesh, request.clone(), PACKETS));
        let before = first.received();
        let found = read_trace(&mut first.target, &first.images, &first.plan).unwrap();
        let sent = found.trace.packets.len() as u64;
        assert_eq!((sent >= PACKETS, sent, found.unknown), (true, found.sent, vec![]), "{name}");
        let text = found.trace.text();
        let trace = Trace::parse(&text).unwrap();
        assert_eq!(trace.text(), text, "{name}");
        let mut second = Bench::new(&scene(mesh, request, 0));
        let outcomes = second.send(&trace);
        for outcome in &outcomes {
            let wrong = [outcome.wrong_words, outcome.doubled, outcome.missing, outcome.nacks];
            assert!(outcome.is_finished() && wrong == [0; 4], "{name}: {outcome:?}");
        }
        assert_eq!(second.received(), before, "{name}");
        assert!(before.iter().any(|(_, counts)| counts.iter().any(|count| *count > 0)), "{name}");
    }
}

/// Senders that stand still have sent a part of their packets; the trace has all.
#[test]
fn a_trace_has_the_packets_that_are_not_sent_yet() {
    let ring = FabricRequest { dateline: false, ..FabricRequest::new(FabricTopology::Ring) };
    let deadlock = Scene { pattern: TrafficPattern::Far, ..scene("t3000", ring, 2_000) };
    let mut bench = Bench::new(&deadlock);
    let found = read_trace(&mut bench.target, &bench.images, &bench.plan).unwrap();
    assert_eq!(found.trace.packets.len(), 2_000);
    assert!(found.sent < 1_000, "{} are sent", found.sent);
    assert_eq!(found.trace.head.dateline, Some(false));
    let numbers =
        found.trace.packets.iter().filter(|packet| packet.from == found.trace.packets[0].from);
    assert!(numbers.enumerate().all(|(at, packet)| packet.number == at as u32));
}

#[test]
fn a_packet_that_the_fabric_cannot_send_is_named_by_its_line() {
    let bench = Bench::new(&scene("n300", FabricRequest::new(FabricTopology::Line), 0));
    let random = RandomTraffic::new(bench.target.mesh(), &bench.plan).unwrap();
    let refused = |packet: &str| {
        let text = format!("{{\"topology\":\"line\",\"meshes\":[[1,2]]}}\n{{{packet}}}\n");
        let trace = Trace::parse(&text).unwrap();
        random
            .replay(&bench.images, &trace.packets)
            .map(|load| load.packets)
            .unwrap_err()
            .to_string()
    };
    let packet = r#""from":"M0D0","to":"M0D1","number":0,"send":"fused","bytes":64,"ttl":9"#;
    for (from, to, why) in [
        ("M0D1", "M0D2", "M0D2 does not exist: mesh 0 of this fabric has 2 nodes"),
        ("M0D1", "M1D0", "M1D0 does not exist: this fabric has 1 mesh"),
        ("M0D1", "M0D0", "no route leads from M0D0 to M0D0"),
        (r#""from":"M0D0","#, "", "the sender of the packet is not known"),
        (r#""ttl":9"#, r#""ttl":9,"plane":3"#, "M0D0 has no router to the EAST in plane 3"),
        ("64", "60", "60 bytes are not a multiple of 16"),
        ("64", "65536", "a slot has room for 4096 bytes, not for 65536"),
        ("fused", "atomic", "atomic has no payload, and it has 64 bytes"),
    ] {
        let line = packet.replacen(from, to, 1);
        assert_ne!(line, packet);
        assert_eq!(refused(&line), format!("line 2: {why}"));
    }
    // The receiver checks a write with the next increment, which is added.
    let text = format!("{{\"topology\":\"line\",\"meshes\":[[1,2]]}}\n{{{packet}}}\n");
    let trace = Trace::parse(&text.replace("fused", "write")).unwrap();
    assert_eq!(random.replay(&bench.images, &trace.packets).unwrap().packets, 2);
}
