//! Links of a fabric go down and come back under traffic, and all data arrive right.

use fabric::FabricRequest;
use machine::fabric::FabricTopology;
use tests::study::reroute::{Load, RerouteRound, RerouteStudy, study};
use workloads::scene::Scene;

fn assert_right(topology: FabricTopology, load: Load, seeds: u64) {
    let mut scene = Scene::new("t3000");
    scene.fabric = FabricRequest::new(topology);
    let setup = RerouteStudy { scene, load, seed: 1, seeds };
    let rounds = study(&setup, &mut |round| eprintln!("{topology} {round:?}")).unwrap();
    assert_eq!(rounds.len() as u64, seeds);
    assert!(rounds.iter().all(RerouteRound::is_right), "{rounds:?}");
}

#[test]
fn random_packets_arrive_once_and_in_order_while_links_are_lost() {
    for topology in [FabricTopology::Ring, FabricTopology::Mesh, FabricTopology::Torus] {
        assert_right(topology, Load::Packets(150), 2);
    }
}

#[test]
fn an_all_gather_outlives_a_lost_link() {
    assert_right(FabricTopology::Mesh, Load::AllGather(1 << 18), 3);
}
