//! Compares meshes with their own descriptors, with others, and with moved cables.
#![allow(clippy::unwrap_used, reason = "tests")]

use super::*;
use machine::target::Link;

fn shipped(name: &str) -> ClusterDescriptor {
    ClusterDescriptor::shipped(name).unwrap().unwrap()
}

/// Returns the mesh of a descriptor, as discovery would find it.
fn found(name: &str) -> Mesh {
    Mesh::from_descriptor(&shipped(name))
}

fn kinds(found: &Mesh, expected: &ClusterDescriptor) -> Vec<&'static str> {
    differences(found, expected).iter().map(|it| it.condition().name()).collect()
}

fn end(chip: u16, channel: u8) -> EthId {
    EthId { chip: ChipId(chip), channel }
}

#[test]
fn every_shipped_mesh_is_what_it_says() {
    for name in ClusterDescriptor::shipped_names() {
        assert_eq!(differences(&found(name), &shipped(name)), [], "{name}");
    }
}

#[test]
fn a_mesh_without_known_ids_is_matched_by_place_and_one_without_places_by_structure() {
    for name in ["t3000", "galaxy", "tg"] {
        let mut mesh = found(name);
        mesh.chips.iter_mut().for_each(|chip| chip.unique_id = None);
        assert_eq!(differences(&mesh, &shipped(name)), [], "{name}");
        mesh.chips.iter_mut().for_each(|chip| chip.coord = None);
        assert_eq!(differences(&mesh, &shipped(name)), [], "{name}");
    }
}

#[test]
fn numbers_of_the_descriptor_do_not_matter() {
    let mut renumbered = found("t3000");
    // Boards as if the driver had enumerated them in reverse order.
    let other = |chip: ChipId| if chip.0 < 4 { ChipId(3 - chip.0) } else { chip };
    renumbered.chips.iter_mut().for_each(|chip| chip.id = other(chip.id));
    for link in &mut renumbered.links {
        link.a.chip = other(link.a.chip);
        link.b.chip = other(link.b.chip);
        *link = Link { a: link.a.min(link.b), b: link.a.max(link.b) };
    }
    assert_eq!(differences(&renumbered, &shipped("t3000")), []);
}

#[test]
fn a_small_mesh_lacks_what_a_large_one_has() {
    let all = kinds(&found("n300"), &shipped("t3000"));
    assert_eq!(all.iter().filter(|kind| **kind == "missing-chip").count(), 6);
    // The n300 matches one of the t3000's boards, so that nothing is extra.
    assert_eq!(all.iter().filter(|kind| **kind == "missing-link").count(), 18, "{all:?}");
    // No board of the t3000 has the position of the n300.
    assert_eq!(all.iter().filter(|kind| **kind == "moved-chip").count(), 2, "{all:?}");
    assert_eq!(all.len(), 6 + 18 + 2);
    let all = kinds(&found("t3000"), &shipped("n300"));
    assert_eq!(all.iter().filter(|kind| **kind == "extra-chip").count(), 6);
}

#[test]
fn links_that_are_missing_extra_or_swapped() {
    let mut mesh = found("t3000");
    let gone = mesh.links.remove(0);
    let missing = Difference::MissingLink(ExpectedEnd::Found(gone.a), ExpectedEnd::Found(gone.b));
    assert_eq!(differences(&mesh, &shipped("t3000")), [missing]);

    let mut mesh = found("t3000");
    mesh.links.push(Link { a: end(0, 3), b: end(3, 3) });
    assert_eq!(kinds(&mesh, &shipped("t3000")), ["extra-link"]);

    let mut mesh = found("t3000");
    let crossed = [(end(0, 6), end(2, 7)), (end(0, 7), end(2, 6))];
    for (link, (a, b)) in mesh.links.iter_mut().zip(crossed) {
        *link = Link { a, b };
    }
    let swapped = |expected: (EthId, EthId), found| Difference::SwappedLink {
        expected: (ExpectedEnd::Found(expected.0), ExpectedEnd::Found(expected.1)),
        found,
    };
    let wanted = [(end(0, 6), end(2, 6)), (end(0, 7), end(2, 7))];
    let expected = [swapped(wanted[0], crossed[0]), swapped(wanted[1], crossed[1])];
    assert_eq!(differences(&mesh, &shipped("t3000")), expected);
}

#[test]
fn chips_that_are_missing_other_ones_or_moved() {
    let mut mesh = found("t3000");
    mesh.chips.pop();
    mesh.links.retain(|link| link.b.chip.0 != 7);
    let all = differences(&mesh, &shipped("t3000"));
    assert!(matches!(all[0], Difference::MissingChip { file_id: 7, .. }), "{all:?}");
    assert_eq!(all.len(), 1 + 4);
    assert!(all[1..].iter().all(|it| it.condition() == Condition::MissingLink), "{all:?}");

    let mut mesh = found("t3000");
    mesh.chips[2].unique_id = Some(42);
    let expected = shipped("t3000").chips[2].unique_id.unwrap();
    let other = Difference::OtherChip { chip: ChipId(2), expected };
    assert_eq!(differences(&mesh, &shipped("t3000")), [other]);

    let mut mesh = found("n300");
    mesh.chips[1].coord = Some(ChipCoord { x: 1, y: 3, rack: 0, shelf: 0 });
    assert_eq!(kinds(&mesh, &shipped("n300")), ["moved-chip"]);
}

#[test]
fn a_chip_has_moved_also_where_no_id_is_known() {
    let elsewhere = ChipCoord { x: 5, y: 5, rack: 5, shelf: 5 };
    for name in ["n300", "t3000"] {
        let mut described = shipped(name);
        described.chips.iter_mut().for_each(|chip| chip.unique_id = None);
        assert_eq!(differences(&found(name), &described), [], "{name}");
        for (at, chip) in shipped(name).chips.iter().enumerate() {
            let mut described = described.clone();
            described.chips[at].coord = Some(elsewhere);
            let moved = Difference::MovedChip { chip: chip.id, expected: elsewhere };
            assert_eq!(differences(&found(name), &described), [moved], "{name} {}", chip.id);
        }
        // No chip has its described position.
        described.chips.iter_mut().for_each(|chip| chip.coord = Some(elsewhere));
        let all = kinds(&found(name), &described);
        assert_eq!(all, vec!["moved-chip"; described.chips.len()], "{name}");
    }
}

/// Reads an example of `layouts/descriptors`.
fn example(text: &str) -> ClusterDescriptor {
    match descriptors::read("example", text).unwrap() {
        descriptors::Descriptor::Mesh(mesh) => mesh,
        other => unreachable!("{other:?}"),
    }
}

const PHYSICAL: &str =
    include_str!("../../../../layouts/descriptors/tests/data/t3000_psd.textproto");
const GRAPH: &str = include_str!("../../../../layouts/descriptors/tests/data/t3000_mgd.textproto");
const CABLING: &str =
    include_str!("../../../../layouts/descriptors/tests/data/dual_t3000_cabling.textproto");
const FACTORY: &str = include_str!("../../../../layouts/descriptors/tests/data/n300_fsd.textproto");
const GLOBAL: &str = include_str!("../../../../layouts/descriptors/tests/data/n300_gsd.yaml");

/// What is said of a mesh that has lost the links of these channels of chip 0.
fn said(mesh: &str, lost: &[u8], expected: &ClusterDescriptor) -> Vec<String> {
    let mut mesh = found(mesh);
    mesh.links.retain(|link| link.a.chip != ChipId(0) || !lost.contains(&link.a.channel));
    compare(&mesh, expected).summary.into_iter().map(|(_, words)| words).collect()
}

#[test]
fn a_lost_link_is_named_by_every_kind_of_descriptor() {
    let none: [String; 0] = [];
    for (mesh, text) in [("t3000", PHYSICAL), ("t3000", GRAPH), ("n300", FACTORY), ("n300", GLOBAL)]
    {
        assert_eq!(said(mesh, &[], &example(text)), none);
    }
    let ports = "wh-07 tray 1 QSFP_DD 1 to tray 4 QSFP_DD 1";
    assert_eq!(said("t3000", &[6], &example(PHYSICAL)), [format!("0:e6 to 2:e6: {ports}")]);
    let cable = format!("0:e6,e7 to 2:e6,e7 (2 links): all links of {ports}");
    assert_eq!(said("t3000", &[6, 7], &example(PHYSICAL)), [cable]);
    let trace = "wh-07 (hall 120, aisle A, rack 3, shelf 8) tray 1 trace to tray 1 trace";
    assert_eq!(said("n300", &[9], &example(FACTORY)), [format!("0:e9 to 1:e1: {trace}")]);
    let trace = "0:e9 to 1:e1: wh-07 tray 1 trace to tray 1 trace";
    assert_eq!(said("n300", &[9], &example(GLOBAL)), [trace]);
    let host = "host host1: none of its 8 chips and 22 links";
    let words = said("t3000", &[6, 7], &example(CABLING));
    assert_eq!((words.len(), words[0].as_str()), (2, host));
    assert!(
        words[1].starts_with("0:e6,e7 to 2:e6,e7 (2 links): all links of host0 tray "),
        "{words:?}"
    );
}

#[test]
fn a_mesh_graph_is_laid_where_most_of_its_links_are() {
    let graph = example(GRAPH);
    assert_eq!(said("t3000", &[6], &graph), ["chips 0 and 2 have 1 of 2 links"]);
    // The board of chips 0 and 4 is the 1 x 2 mesh, if that takes fewer links.
    let many = GRAPH.replacen("count: 2", "count: 3", 1);
    let words = said("t3000", &[], &example(&many));
    assert_eq!(words.len(), 1);
    assert!(words[0].ends_with("have 2 of 3 links"), "{words:?}");
    // Any links between the meshes do.
    let joined =
        GRAPH.replace("count: 2 policy: RELAXED }\n  }", "count: 5 policy: RELAXED }\n  }");
    let words = said("t3000", &[], &example(&joined));
    assert_eq!(words.len(), 1);
    assert!(words[0].ends_with("have 4 of 5 links"), "{words:?}");
    // Chips and links beyond it are no differences.
    let small = GRAPH.replace("dims: [ 2, 3 ]", "dims: [ 2, 2 ]");
    assert_eq!(differences(&found("galaxy"), &example(&small)), []);
    let all = kinds(&found("n300"), &graph);
    assert_eq!(all, ["missing-chip"; 6]);
}

#[test]
fn a_mesh_graph_lies_where_it_is_pinned() {
    let shape = "dims: [ 2, 4 ] } channels { count: 2 }";
    let pinned = |tray: u32, location: u32| {
        example(&format!(
            "mesh_descriptors {{ name: \"M\" arch: WORMHOLE_B0 device_topology {{ {shape} }}
             top_level_instance {{ mesh {{ mesh_descriptor: \"M\" mesh_id: 0 }} }}
             pinnings {{ logical_fabric_node_id {{ mesh_id: 0 chip_id: 0 }}
             physical_asic_position {{ tray_id: {tray} asic_location: {location} }} }}"
        ))
    };
    let mut mesh = found("t3000");
    // Nothing is known of where the chips stand.
    assert_eq!(differences(&mesh, &pinned(9, 9)), []);
    let (mut places, _) = seats(&mesh, &example(PHYSICAL));
    for chip in &mut mesh.chips {
        chip.seat = places.remove(&chip.id).map(std::sync::Arc::new);
    }
    let all = (1..=4).flat_map(|tray| [0, 1].map(|location| (tray, location)));
    let fit = all.filter(|(tray, at)| differences(&mesh, &pinned(*tray, *at)).is_empty());
    // The first chip is in a corner.
    assert_eq!(fit.count(), 4);
    let words: Vec<_> = compare(&mesh, &pinned(9, 9)).summary;
    let [(condition, words)] = words.as_slice() else { unreachable!("{words:?}") };
    assert_eq!(condition.name(), "moved-chip");
    assert!(
        words.contains("its chip ") && words.contains("pinned to tray 9 location 9, at tray "),
        "{words}"
    );
}

#[test]
fn all_wraps_of_an_axis_are_one_sentence() {
    let system = layouts::SystemSpec::shipped("galaxy").unwrap().unwrap();
    let torus = system.describe("torus").unwrap();
    let words = said("galaxy", &[], &torus);
    assert_eq!(words[0], "all wraps of the X axis (16 links)");
    assert_eq!(words[1], "all wraps of the Y axis (32 links)");
    assert_eq!(words.len(), 2 + 4 + 8);
    let ring = Mesh::from_descriptor(&system.describe("ring").unwrap());
    let words: Vec<_> = compare(&ring, &torus).summary;
    assert_eq!(words[0].1, "all wraps of the Y axis (32 links)");
    assert_eq!(words.len(), 1 + 8);
}

#[test]
fn chips_stand_where_their_ids_or_their_wiring_are() {
    let (places, ways) = seats(&found("t3000"), &example(PHYSICAL));
    assert_eq!((places.len(), ways), (8, 1));
    assert_eq!(places[&ChipId(2)].to_string(), "wh-07 tray 4 location 0");
    // Two trays of a T3000 are wired as the two others.
    assert_eq!(seats(&found("t3000"), &example(CABLING)).1, 4);
    let host = example(CABLING).of_host(0);
    assert_eq!(seats(&found("t3000"), &host).1, 2);
    assert_eq!(seats(&found("n300"), &example(FACTORY)).1, 1);
}
