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
