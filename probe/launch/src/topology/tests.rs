//! Tests of rings and lines on the shipped meshes.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]
use super::*;

/// Returns a shipped mesh, such as `galaxy,cabling=torus`.
fn mesh(name: &str) -> Mesh {
    Mesh::from_descriptor(&workloads::scene::described(name, name).unwrap())
}

fn chips(ids: &[u16]) -> Vec<ChipId> {
    ids.iter().map(|&id| ChipId(id)).collect()
}

fn find(
    name: &str,
    ids: &[u16],
    kind: TopologyKind,
    links: u32,
) -> Result<Topology, TopologyError> {
    Topology::find(&mesh(name), &chips(ids), Some(kind), links)
}

fn refused(name: &str, ids: &[u16], kind: TopologyKind, links: u32) -> String {
    find(name, ids, kind, links).unwrap_err().to_string()
}

#[test]
fn one_link_of_an_n300_is_left_to_dispatch() {
    let topology = find("n300", &[], TopologyKind::Ring, 1).unwrap();
    let names: Vec<String> =
        topology.edges.iter().flatten().map(|(a, b)| format!("{a} {b}")).collect();
    assert_eq!(names, ["0:e9 1:e1", "1:e1 0:e9"], "both directions of the unreserved link");
    assert_eq!(
        refused("n300", &[], TopologyKind::Line, 2),
        "2 links were requested, and chips 0 and 1 have 1, not counting 1 reserved for dispatch"
    );
}

#[test]
fn the_edges_of_a_ring_of_two_use_different_links_if_possible() {
    let topology = find("t3000", &[0, 1], TopologyKind::Ring, 1).unwrap();
    let names: Vec<String> =
        topology.edges.iter().flatten().map(|(a, b)| format!("{a} {b}")).collect();
    assert_eq!(names, ["0:e14 1:e14", "1:e15 0:e15"]);
}

#[test]
fn a_t3000_has_rings_of_eight_and_four_and_lines() {
    for ids in [&[][..], &[0, 1, 3, 2], &[0, 1, 2, 3], &[4, 0, 6, 1]] {
        let topology = find("t3000", ids, TopologyKind::Ring, 1).unwrap();
        assert_eq!(topology.edges.len(), if ids.is_empty() { 8 } else { 4 });
        for (rank, edge) in topology.edges.iter().enumerate() {
            assert_eq!(edge.len(), 1);
            assert_eq!(edge[0].0.chip, topology.ranks[rank]);
            assert_eq!(edge[0].1.chip, topology.ranks[(rank + 1) % topology.size()]);
        }
    }
    let line = find("t3000", &[5, 0, 2, 4], TopologyKind::Line, 1).unwrap();
    assert_eq!(line.ranks, chips(&[5, 2, 0, 4]));
    assert!(line.sockets(0, false).is_empty() && line.sockets(3, true).is_empty());
    let two = find("t3000", &[0, 1, 3, 2], TopologyKind::Ring, 2).unwrap();
    assert!(two.edges.iter().all(|edge| edge.len() == 2));
}

#[test]
fn a_galaxy_has_rings_of_all_chips_and_a_torus_of_rows_and_columns() {
    let all = find("galaxy", &[], TopologyKind::Ring, 4).unwrap();
    assert_eq!(all.size(), 32);
    let torus = mesh("galaxy,cabling=torus");
    let line_of = |same: &dyn Fn(layouts::ChipCoord) -> bool| -> Vec<ChipId> {
        let chips = torus.chips.iter().filter(|chip| chip.coord.is_some_and(same));
        chips.map(|chip| chip.id).collect()
    };
    for (row, size) in [(line_of(&|c| c.y == 1), 8), (line_of(&|c| c.x == 3), 4)] {
        let ring = Topology::find(&torus, &row, Some(TopologyKind::Ring), 4).unwrap();
        assert_eq!(ring.size(), size);
        assert!(ring.edges.iter().all(|edge| edge.len() == 4));
        let line = Topology::find(&mesh("galaxy"), &row, None, 4).unwrap();
        assert_eq!((line.kind, line.size()), (TopologyKind::Line, size), "without wrap links");
    }
}

#[test]
fn the_gateways_of_a_tg_are_left_to_dispatch() {
    for (name, size) in [("tg", 32), ("tgg", 64), ("dual_galaxy", 64)] {
        let topology = find(name, &[], TopologyKind::Ring, 1).unwrap();
        assert_eq!(topology.size(), size, "{name}");
    }
}

#[test]
fn rings_of_the_guides_hops_are_found_on_a_t3000() {
    let of = |name, hops| {
        let mesh = mesh(name);
        let chips: Vec<ChipId> = mesh.chips.iter().map(|chip| chip.id).collect();
        ring_of_hops(&mesh, hops, &chips)
    };
    for hops in [2, 4, 8, 12] {
        let ring = of("t3000", hops).unwrap();
        assert_eq!(ring.len(), hops);
        let mut ends: Vec<EthId> = ring.iter().flat_map(|&(from, to)| [from, to]).collect();
        ends.sort_unstable();
        ends.dedup();
        assert_eq!(ends.len(), 2 * hops, "every Ethernet tile is on one hop");
        for (hop, &(_, to)) in ring.iter().enumerate() {
            assert_eq!(to.chip, ring[(hop + 1) % hops].0.chip);
        }
        let mut visited: Vec<ChipId> = ring.iter().map(|(from, _)| from.chip).collect();
        visited.sort_unstable();
        visited.dedup();
        assert_eq!(visited.len(), hops.min(8));
    }
    assert!(of("t3000", 3).is_err());
    assert!(of("n300", 2).is_err(), "one link is reserved");
}

#[test]
fn what_is_missing_is_named() {
    let ring = TopologyKind::Ring;
    assert_eq!(
        refused("t3000", &[4, 0, 2], ring, 1),
        "the chips form no ring: chip 4 has links to chip 0 only"
    );
    assert_eq!(
        refused("t3000", &[0, 3], ring, 1),
        "the chips form no ring: chip 0 has no link to any of the others"
    );
    assert_eq!(
        refused("t3000", &[0, 1, 5, 7], TopologyKind::Line, 1),
        "the chips form no line: no link leads from chips 0,1 to chips 5,7"
    );
    assert_eq!(refused("t3000", &[0, 9], ring, 1), "there is no chip 9: the mesh has chips 0 to 7");
    assert_eq!(refused("t3000", &[0, 1, 0], ring, 1), "chip 0 is named twice");
    assert_eq!(refused("t3000", &[0], ring, 1), "a collective needs two chips or more, not 1");
    assert_eq!(
        refused("t3000", &[0, 1, 3, 2], ring, 3),
        "3 links were requested, and chips 0 and 1 have 2"
    );
    assert_eq!(
        refused("t3000", &[0, 1, 2, 3, 4, 5], ring, 1),
        "the chips form no ring: chip 4 has links to chip 0 only"
    );
}

#[test]
fn the_path_between_two_chips_is_the_shortest() {
    let line = Topology::line_between(&mesh("t3000"), ChipId(4), ChipId(5), 1).unwrap();
    assert_eq!(line.ranks, chips(&[4, 0, 2, 5]));
}
