//! Tests of meshes that no valid descriptor describes: discovery reports what it can reach.
#![allow(clippy::unwrap_used, reason = "tests")]

use super::*;

/// Opens an n300 after a change to its descriptor.
fn open(change: impl FnOnce(&mut ClusterDescriptor), patience: Deadlines) -> BarTarget {
    let (images, _) = ImageMap::firmware();
    let mut n300 = ClusterDescriptor::shipped("n300").unwrap().unwrap();
    change(&mut n300);
    let config = power_on::config(&n300, &images, 0).unwrap();
    let bar = Box::new(EmulatorBar::new(emulator::Mesh::new(config).unwrap()));
    let abilities = Abilities { stepped_time: true, ..Abilities::default() };
    BarTarget::open("sick", bar, abilities, patience).unwrap()
}

#[test]
fn two_chips_at_one_place_do_not_hold_discovery_up() {
    let target = open(|n300| n300.chips[1].coord = n300.chips[0].coord, Deadlines::default());
    let why = "chip 1 does not answer: unreachable: another chip has the same coordinates";
    assert_eq!(target.mesh().problems, [why]);
    assert_eq!(target.mesh().chips.len(), 2);
}

#[test]
fn a_chip_that_does_not_answer_in_time_is_tried_by_some_routes_and_given_up() {
    // No answer arrives within this deadline over either link.
    let patience = Deadlines { deadline_cycles: 10, ..Deadlines::default() };
    let target = open(|_| (), patience);
    assert_eq!(target.mesh().problems, ["chip 1 does not answer: timed out after 10 cycles"]);
    assert_eq!(target.mesh().chips.len(), 2);
    // The two links to it, and one of two Ethernet tiles without a link: by then it was silent for
    // two deadlines.
    assert_eq!(target.queue_commands(), 3);
}

#[test]
fn a_chip_without_a_place_is_refused() {
    let (images, _) = ImageMap::firmware();
    let mut n300 = ClusterDescriptor::shipped("n300").unwrap().unwrap();
    n300.chips[1].coord = None;
    let error = power_on::config(&n300, &images, 0).unwrap_err().to_string();
    assert_eq!(error, "chip 1 has no coordinates");
}
