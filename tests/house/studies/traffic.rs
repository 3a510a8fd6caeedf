//! Random traffic over a fabric on emulated meshes: every packet arrives exactly once, whole and in
//! order.

use fabric::random::TrafficPattern;
use fabric::{Division, FabricRequest};
use machine::fabric::FabricTopology;
use tests::study::traffic::{TrafficRound, TrafficStudy, study};
use workloads::scene::Scene;

fn assert_right(mesh: &str, topology: FabricTopology, packets: u64, seeds: u64) {
    let mut scene = Scene::new(mesh);
    scene.fabric = FabricRequest::new(topology);
    let pattern = TrafficPattern::Random;
    let setup = TrafficStudy { scene, packets, seed: 1, seeds, pattern, mux_percent: 50 };
    let rounds = study(&setup, &mut |round| eprintln!("{mesh} {topology} {round:?}")).unwrap();
    assert_eq!(rounds.len() as u64, seeds);
    assert!(rounds.iter().all(|round| round.is_right() && round.arrived > 0), "{rounds:?}");
}

#[test]
fn two_chips_send_each_other_packets_of_every_type() {
    for topology in [FabricTopology::Line, FabricTopology::Mesh] {
        assert_right("n300", topology, 120, 2);
    }
}

#[test]
fn all_chips_of_a_t3000_send_each_other_packets() {
    for topology in FabricTopology::ALL {
        assert_right("t3000", topology, 200, 1);
    }
}

/// Packets go over the exit nodes of both meshes, some through other chips of their own mesh first.
#[test]
fn two_meshes_send_each_other_packets() {
    for topology in [FabricTopology::Line, FabricTopology::Mesh] {
        let mut scene = Scene::new("t3000");
        scene.fabric =
            FabricRequest { division: Division::Parts(2), ..FabricRequest::new(topology) };
        let pattern = TrafficPattern::Random;
        let setup =
            TrafficStudy { scene, packets: 300, seed: 1, seeds: 1, pattern, mux_percent: 0 };
        let rounds = study(&setup, &mut |round| eprintln!("{topology} {round:?}")).unwrap();
        assert!(rounds.iter().all(TrafficRound::is_right), "{rounds:?}");
        assert!(
            rounds.iter().all(|round| round.packets >= 300),
            "all pairs have a route: {rounds:?}"
        );
    }
}

/// Every chip sends halfway round the ring. In one virtual channel each router waits for a slot
/// that only the next router could free.
#[test]
fn without_its_dateline_a_ring_deadlocks() {
    for dateline in [true, false] {
        let mut scene = Scene::new("t3000");
        scene.fabric = FabricRequest { dateline, ..FabricRequest::new(FabricTopology::Ring) };
        let pattern = TrafficPattern::Far;
        let setup =
            TrafficStudy { scene, packets: 3_000, seed: 1, seeds: 1, pattern, mux_percent: 0 };
        let rounds =
            study(&setup, &mut |round| eprintln!("dateline {dateline} {round:?}")).unwrap();
        assert_eq!(rounds.iter().all(TrafficRound::is_right), dateline, "{rounds:?}");
    }
}
