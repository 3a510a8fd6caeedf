//! Tests of system specifications: their descriptors, and each mistake with its line.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use layouts::{ChipCoord, ChipId, ClusterDescriptor, EthId, PLAIN_CABLING, SystemSpec};
use std::collections::BTreeMap;

fn shipped(mesh: &str, cabling: &str) -> ClusterDescriptor {
    SystemSpec::shipped(mesh).unwrap().unwrap().describe(cabling).unwrap()
}

/// Counts the links between each pair of chips.
fn neighbours(mesh: &ClusterDescriptor) -> BTreeMap<(ChipId, ChipId), usize> {
    let mut count = BTreeMap::new();
    for (a, b) in &mesh.links {
        *count.entry((a.chip, b.chip)).or_default() += 1;
    }
    count
}

fn end(chip: u16, channel: u8) -> EthId {
    EthId { chip: ChipId(chip), channel }
}

#[test]
fn neighbours_have_as_many_links_as_the_machine_has_it() {
    for (mesh, cabling, links) in
        [("n300", "mesh", 2), ("t3000", "mesh", 2), ("galaxy", "mesh", 4), ("galaxy", "ring", 4)]
    {
        let between = neighbours(&shipped(mesh, cabling));
        assert!(between.values().all(|count| *count == links), "{mesh} {cabling}");
    }
    for cabling in ["mesh", "ring", "torus"] {
        assert!(neighbours(&shipped("dual_galaxy", cabling)).values().all(|count| *count == 4));
    }
    // Four links between modules of a TG, one between a gateway and a module.
    let tg = neighbours(&shipped("tg", "mesh"));
    for ((a, _), count) in &tg {
        assert_eq!(*count, if a.0 < 4 { 1 } else { 4 });
    }
    assert_eq!(tg.keys().filter(|(a, _)| a.0 < 4).count(), 8);
    // The Galaxies of a TGG are linked by eight pairs of chips.
    let tgg = neighbours(&shipped("tgg", "mesh"));
    assert_eq!(tgg.values().filter(|count| **count == 2).count(), 8);
}

#[test]
fn channels_are_those_of_umds_descriptors() {
    let linked = |mesh: &ClusterDescriptor, a, b| mesh.links.contains(&(a, b));
    // tt-umd's descriptor of a 6U: rows are linked by 8-11 to 4-7, trays by 8-11 and by 12-15.
    let galaxy = shipped("galaxy", "mesh");
    for n in 0..4 {
        assert!(linked(&galaxy, end(0, 8 + n), end(4, 4 + n)));
        assert!(linked(&galaxy, end(0, 12 + n), end(16, n)));
        assert!(linked(&galaxy, end(12, 8 + n), end(14, 8 + n)));
        assert!(linked(&galaxy, end(16, 12 + n), end(19, 12 + n)));
    }
    // tt-metal's descriptor of a TG: channels 6 and 7 of a gateway lead to channel 12 of two
    // modules of the last column.
    let tg = shipped("tg", "mesh");
    let at = |x, y| {
        let place = ChipCoord { x, y, rack: 0, shelf: 1 };
        tg.chips.iter().find(|chip| chip.coord == Some(place)).unwrap().id.0
    };
    assert!(linked(&tg, end(0, 6), end(at(3, 1), 12)) && linked(&tg, end(0, 7), end(at(3, 0), 12)));
    for n in 0..4 {
        assert!(linked(&tg, end(at(0, 0), 12 + n), end(at(1, 0), 4 + n)));
        assert!(linked(&tg, end(at(1, 0), 8 + n), end(at(1, 1), 8 + n)));
        assert!(linked(&tg, end(at(1, 1), n), end(at(1, 2), n)));
    }
}

#[test]
fn ring_and_torus_are_the_same_mesh_with_more_cables() {
    let [mesh, ring, torus] = ["mesh", "ring", "torus"].map(|cabling| shipped("galaxy", cabling));
    assert_eq!([mesh.links.len(), ring.links.len(), torus.links.len()], [208, 224, 256]);
    assert!(mesh.links.iter().all(|link| ring.links.contains(link)));
    assert!(ring.links.iter().all(|link| torus.links.contains(link)));
    assert_eq!(mesh.chips, torus.chips);
    // Every channel of a torus is used, and the distance of two chips is at most half of the ring.
    let far = |mesh: &ClusterDescriptor| {
        let hops = |to| mesh.routes().hops(ChipId(0), ChipId(to)).unwrap();
        (0..32).map(hops).max().unwrap()
    };
    assert_eq!([far(&mesh), far(&ring), far(&torus)], [10, 7, 6]);
    let words = |mesh: &str| {
        let system = SystemSpec::shipped(mesh).unwrap().unwrap();
        system.cablings().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(words("galaxy"), ["mesh", "ring", "torus"]);
    assert_eq!(words("t3000"), [PLAIN_CABLING]);
}

#[test]
fn what_is_printed_is_read_back() {
    for name in SystemSpec::shipped_names() {
        let mut mesh = shipped(name, PLAIN_CABLING);
        let back = ClusterDescriptor::parse(&mesh.name, &mesh.to_yaml()).unwrap();
        mesh.hosts.clear();
        mesh.chips.iter_mut().for_each(|chip| chip.host = 0);
        assert_eq!(back, mesh, "{name}");
    }
}

#[test]
fn the_descriptor_of_an_n300_as_text() {
    let expected = "\
arch:
  0: wormhole_b0
  1: wormhole_b0
chips:
  0: [0, 0, 0, 0]
  1: [1, 0, 0, 0]
chip_unique_ids:
  0: 9688850440
  1: 13983817736
ethernet_connections:
  - [{chip: 0, chan: 8}, {chip: 1, chan: 0}]
  - [{chip: 0, chan: 9}, {chip: 1, chan: 1}]
ethernet_connections_to_remote_devices:
  []
chips_with_mmio:
  - 0: 0
io_device_type: PCIe
harvesting:
  0: {noc_translation: true, harvest_mask: 65}
  1: {noc_translation: true, harvest_mask: 528}
boards:
  - [{board_id: 72058985900941320}, {board_type: n300}, {chips: [0, 1]}]
asic_locations:
  0: 0
  1: 1
";
    assert_eq!(shipped("n300", "mesh").to_yaml(), expected);
}

#[test]
fn each_host_of_a_tgg_describes_its_own_chips_and_what_leads_to_the_other() {
    let tgg = shipped("tgg", "mesh");
    assert_eq!((tgg.host_count(), tgg.host_name(1)), (2, "host1".into()));
    let parts = [0, 1].map(|host| tgg.of_host(host));
    for part in &parts {
        assert_eq!(part.chips.len(), 36);
        assert_eq!(
            part.chips.iter().filter_map(|chip| chip.pcie).collect::<Vec<_>>(),
            [0, 1, 2, 3]
        );
        assert_eq!((part.links.len(), part.outward.len()), (216, 16));
        let back = ClusterDescriptor::parse(&part.name, &part.to_yaml()).unwrap();
        assert_eq!((&back.links, &back.outward), (&part.links, &part.outward));
    }
    let unique_ids: Vec<u64> = parts[0].outward.iter().map(|link| link.far_unique_id).collect();
    assert!(
        unique_ids.iter().all(|id| parts[1].chips.iter().any(|chip| chip.unique_id == Some(*id)))
    );
    // Base firmware routes to no chip of the other host.
    let routes = tgg.firmware_routes();
    let reached = |to: &&layouts::DescribedChip| routes.hops(ChipId(0), to.id).is_some();
    assert_eq!(tgg.chips.iter().filter(reached).count(), 36);
    assert_eq!(tgg.chips_of_others(&[0].into()).len(), 36);
}

const PAIR: &str = "ChipSpec:
  left: {E: [8, 9]}
  right: {W: [0, 1], S: [4]}
Board:
  n300: {type: n300, chips: [[left, right]], pcie: [0]}
Host: [host0]
Mesh:
  - {boards: [[n300]], first_board_id: 72058985900941320}
  - {boards: [[n300]], first_board_id: 72058985900941321, place: [0, 1, 0, 0]}
Graph:
  - [[0, S0], [1, S0]]
harvesting: {0: 65}
";

#[test]
fn each_mistake_names_its_line() {
    let links = |text| SystemSpec::parse("my.yaml", text).unwrap().describe("mesh").unwrap().links;
    assert_eq!(links(PAIR).len(), 5);
    let swap = |from: &str, to: &str| {
        SystemSpec::parse("my.yaml", &PAIR.replacen(from, to, 1)).unwrap_err().to_string()
    };
    for (from, to, says) in [
        ("[left, right]", "[left, middle]", "5: no chip specification is called middle"),
        (
            "[left, right]",
            "[left], [left, right]",
            "8: the chips of board n300 must stand in rows of equal length",
        ),
        ("[[n300]]", "[[n150]]", "8: no board is called n150"),
        ("[[n300]]", "[]", "8: the `boards` of a mesh must be rows of equal length"),
        (
            "[8, 9]",
            "[8, 8]",
            "5: chip specification left must name each channel once, from 0 to 15",
        ),
        (
            "[8, 9]",
            "[8, 16]",
            "5: chip specification left must name each channel once, from 0 to 15",
        ),
        ("[8, 9]", "[8]", "8: 1 channels of chip 0 face 2 of chip 1 (and 1 more)"),
        ("[1, S0]", "[1, S1]", "11: mesh 1 has no port S1"),
        ("[1, S0]", "[2, S0]", "11: there is no mesh 2"),
        ("[1, S0]", "[1, X0]", "11: `X0` is no port such as N0 or E4"),
        ("[1, S0]", "[0, S0]", " channel 4 of chip 1 is cabled twice (mesh)"),
        (", place: [0, 1, 0, 0]", "", " chips 0 and 2 both stand at [0, 0, 0, 0] (and 1 more)"),
        (", place: [0, 1, 0, 0]", ", place: [255, 1, 0, 0]", "9: the places of a mesh end at 255"),
        (
            ", place: [0, 1, 0, 0]",
            ", host: 1",
            "9: the blocks of `host_topology` must be whole boards, each of a host that is listed",
        ),
        (", pcie: [0]", "", " no chip has PCIe (`pcie` of the boards)"),
        ("{0: 65}", "{9: 65}", "12: `harvesting` names chip 9, and there are 4"),
        (
            "{0: 65}",
            "{0: 1024}",
            "12: the mask 0x400 of chip 0 has bits beyond the 10 compute rows",
        ),
        (
            "Host:",
            "Hosts:",
            "6: unknown field `Hosts`, expected one of ChipSpec, Board, Host, Mesh, Graph, edges, harvesting",
        ),
        ("pcie: [0]", "pcie: 0", "5: expected sequence start"),
    ] {
        assert_eq!(swap(from, to), format!("my.yaml:{says}"), "{from} to {to}");
    }
}

#[test]
fn no_cut_of_a_specification_panics() {
    for end in (0..PAIR.len()).filter(|end| PAIR.is_char_boundary(*end)) {
        let _ = SystemSpec::parse("cut.yaml", &PAIR[..end]);
    }
}
