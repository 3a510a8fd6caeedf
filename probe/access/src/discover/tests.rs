//! Discovery of faulty meshes on the emulator: the rest of the mesh is found, and the faults are
//! reported.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use crate::bar_target::BarTarget;
use emulator::MeshConfig;
use images::ImageMap;
use layouts::{ChipId, ChipKind, ClusterDescriptor, EthId, NocAddr};
use machine::fault::Fault;
use machine::patience::Deadlines;
use machine::snapshot::{AccessError, Plan, Span};
use machine::target::{Abilities, Allow, Mesh, Quarantine, Target};
use transport::emulator_bar::EmulatorBar;
use workloads::scene::power_on;

/// By this time firmware has beaten and every link has trained.
const TRAINED_CYCLES: u64 = 200_000;
/// Soft reset of an Ethernet tile: bit 11 holds the ERISC (wormhole.md 5.1).
const SOFT_RESET: u64 = 0xFFB1_21B0;
const HELD: u32 = 0x800;

fn config(mesh: &str) -> MeshConfig {
    let (images, _) = ImageMap::firmware();
    let descriptor = ClusterDescriptor::shipped(mesh).unwrap().unwrap();
    power_on::config(&descriptor, &images, 0).unwrap()
}

/// Returns the mesh after training.
fn powered(config: MeshConfig) -> emulator::Mesh {
    let mut mesh = emulator::Mesh::new(config).unwrap();
    mesh.clock(TRAINED_CYCLES);
    mesh
}

fn open(mesh: emulator::Mesh) -> BarTarget {
    let abilities = Abilities { allow: Allow::ALL, stepped_time: true, ..Abilities::default() };
    let bar = Box::new(EmulatorBar::new(mesh));
    BarTarget::open("sick", bar, abilities, Deadlines::default()).unwrap()
}

fn found(mesh: emulator::Mesh) -> Mesh {
    open(mesh).mesh().clone()
}

/// Returns the index of a link in the descriptor's order, which is the emulator's.
fn link(mesh: &str, a: (u16, u8)) -> usize {
    let descriptor = ClusterDescriptor::shipped(mesh).unwrap().unwrap();
    let end = EthId { chip: ChipId(a.0), channel: a.1 };
    descriptor.links.iter().position(|link| link.0 == end).unwrap()
}

fn hold(target: &mut BarTarget, chip: u16, channel: u8) {
    let tile = ChipKind::Wormhole.layout().eth_channel(channel).unwrap();
    let at = NocAddr { chip: ChipId(chip), tile, offset: SOFT_RESET };
    // The answer to the write that stops a link's far end may be lost.
    let _ = target.write(at, &HELD.to_le_bytes()).and_then(|()| target.pass(1));
}

fn reopened(target: BarTarget) -> Mesh {
    let abilities = Abilities { allow: Allow::ALL, stepped_time: true, ..Abilities::default() };
    let again = BarTarget::open("sick", target.into_bar(), abilities, Deadlines::default());
    again.unwrap().mesh().clone()
}

#[test]
fn a_healthy_mesh_has_no_problem_and_each_far_chip_its_nearest_gateway() {
    let mesh = found(powered(config("t3000")));
    assert_eq!(mesh.problems, Vec::<String>::new());
    let descriptor = ClusterDescriptor::shipped("t3000").unwrap().unwrap();
    let links: Vec<_> = mesh.links.iter().map(|link| (link.a, link.b)).collect();
    assert_eq!(links, descriptor.links);
    for (chip, described) in mesh.chips.iter().zip(&descriptor.chips) {
        assert_eq!(chip.coord, described.coord);
        assert_eq!(chip.harvested_rows.as_ref(), Some(&described.harvested_rows));
        assert_eq!(chip.unique_id, described.unique_id);
        if let Some(gateway) = &chip.gateway {
            let hops = descriptor.routes().hops(gateway[0].chip, chip.id);
            assert_eq!(hops, Some(1), "chip {}", chip.id);
        }
    }
}

/// Returns why each range of a chip's Ethernet tiles is a gap, and that none was asked for.
fn gaps_of(target: &mut BarTarget, chip: u16) -> Vec<AccessError> {
    let layout = ChipKind::Wormhole.layout();
    let tiles = (0..16).map(|channel| layout.eth_channel(channel).unwrap());
    let addr = |tile| NocAddr { chip: ChipId(chip), tile, offset: layout.eth.l1.heartbeat.at };
    let spans = tiles.map(|tile| Span { addr: addr(tile), len: 4 }).collect();
    let snapshot = target.read(&Plan { spans });
    assert_eq!((snapshot.pieces.len(), snapshot.transactions), (0, 0));
    snapshot.gaps.into_iter().map(|gap| gap.reason).collect()
}

#[test]
fn a_chip_that_only_its_board_names_is_there_and_does_not_answer() {
    let mut sick = config("t3000");
    sick.chips[5].power_on.iter_mut().for_each(|load| load.start = false);
    let mut target = open(powered(sick));
    let mesh = target.mesh();
    assert_eq!(mesh.chips.len(), 8);
    // No link to it has ever come up, so that nobody knows its place: it comes last.
    assert_eq!(mesh.chips[7].coord, None);
    assert_eq!(mesh.chips[7].board.as_deref(), Some("n300 R"));
    let why = "the board n300 has 2 chips, and no link names it";
    assert_eq!(mesh.problems, [format!("chip 7 does not answer: unreachable: {why}")]);
    assert_eq!(mesh.links.len(), 16);
    assert_eq!(gaps_of(&mut target, 7).len(), 16);
}

#[test]
fn a_chip_that_is_lost_before_the_attach_keeps_its_name_and_its_links() {
    let mut mesh = powered(config("t3000"));
    let ends = ClusterDescriptor::shipped("t3000").unwrap().unwrap().links;
    for (index, (a, b)) in ends.iter().enumerate() {
        mesh.set_link(index, ![a.chip, b.chip].contains(&ChipId(5)));
    }
    mesh.clock(TRAINED_CYCLES);
    let mut target = open(mesh);
    let found = target.mesh();
    let descriptor = ClusterDescriptor::shipped("t3000").unwrap().unwrap();
    let coords: Vec<_> = found.chips.iter().map(|chip| chip.coord).collect();
    assert_eq!(coords, descriptor.chips.iter().map(|chip| chip.coord).collect::<Vec<_>>());
    assert_eq!(found.links.len(), 20);
    let lost = "chip 5 does not answer: unreachable: the links to it are down".to_owned();
    assert!(found.problems.contains(&lost), "{:?}", found.problems);
    let reasons = gaps_of(&mut target, 5);
    assert!(reasons.iter().all(|why| why.to_string().contains("the links to it are down")));
}

#[test]
fn a_chip_that_was_lost_before_the_attach_is_read_once_its_links_are_up() {
    let mut mesh = powered(config("n300"));
    let links = |mesh: &mut emulator::Mesh, up| {
        (0..2).for_each(|index| mesh.set_link(index, up));
        mesh.clock(TRAINED_CYCLES);
    };
    links(&mut mesh, false);
    let mut target = open(mesh);
    assert_eq!(gaps_of(&mut target, 1).len(), 16);
    for end in [8, 9] {
        let up: Fault = format!("link:0.{end}:up").parse().unwrap();
        target.disrupt(&up).unwrap();
    }
    target.pass(TRAINED_CYCLES).unwrap();
    Quarantine::clear(&mut target);
    let tile = ChipKind::Wormhole.layout().eth_channel(3).unwrap();
    let addr = NocAddr { chip: ChipId(1), tile, offset: 0x1C };
    let snapshot = target.read(&Plan { spans: vec![Span { addr, len: 4 }] });
    assert_eq!((snapshot.pieces.len(), snapshot.gaps), (1, Vec::new()));
}

#[test]
fn a_pcie_chip_without_firmware_leaves_the_chip_behind_it_in_reach() {
    let mut sick = config("t3000");
    sick.chips[1].power_on.iter_mut().for_each(|load| load.start = false);
    let mesh = found(powered(sick));
    assert_eq!(mesh.chips.len(), 8);
    assert!(mesh.problems.contains(&"chip 1: base firmware runs on no Ethernet tile".into()));
    assert_eq!(mesh.chips[1].coord, None);
    // Chip 6 is linked to chip 1; now its route is by chip 4, to which chip 0 leads.
    let gateway = mesh.chips[6].gateway.as_ref().unwrap();
    assert_eq!(gateway[0].chip, ChipId(0), "{gateway:?}");
}

#[test]
fn links_that_went_down_are_named_by_both_ends_and_the_rest_is_there() {
    let mut mesh = powered(config("t3000"));
    mesh.set_link(link("t3000", (0, 8)), false);
    mesh.set_link(link("t3000", (2, 14)), false);
    mesh.clock(TRAINED_CYCLES);
    let found = found(mesh);
    assert_eq!(found.chips.len(), 8);
    assert_eq!(found.links.len(), 20);
    let down = ["the link 0:e8 to 4:e0 is down", "the link 2:e14 to 3:e14 is down"];
    assert_eq!(found.problems, down);
    let gateway = found.chips[4].gateway.as_ref().unwrap();
    assert_eq!(gateway[0], EthId { chip: ChipId(0), channel: 9 });
}

#[test]
fn a_link_whose_far_end_hangs_is_passed_over_and_named() {
    let mut target = open(powered(config("n300")));
    hold(&mut target, 1, 1);
    let mesh = reopened(target);
    assert_eq!(mesh.chips.len(), 2);
    let problem = "the link 0:e9 to 1:e1 carries no requests: ";
    assert!(
        mesh.problems.len() == 1 && mesh.problems[0].starts_with(problem),
        "{:?}",
        mesh.problems
    );
    let gateway = mesh.chips[1].gateway.as_ref().unwrap();
    assert!(!gateway.contains(&EthId { chip: ChipId(0), channel: 9 }), "{gateway:?}");
    assert_eq!(mesh.links.len(), 2);
}

#[test]
fn a_far_chip_that_hangs_is_there_with_its_links() {
    let mut target = open(powered(config("n300")));
    hold(&mut target, 1, 1);
    hold(&mut target, 1, 0);
    let mesh = reopened(target);
    assert_eq!((mesh.chips.len(), mesh.links.len()), (2, 2));
    assert_eq!(mesh.problems.len(), 1, "{:?}", mesh.problems);
    assert!(mesh.problems[0].starts_with("chip 1 does not answer: "), "{:?}", mesh.problems);
}

#[test]
fn where_base_firmware_does_not_route_no_queue_is_asked() {
    let mut lost = config("galaxy");
    // Three chips of one row; the last of them has lost its PCIe.
    lost.chips.truncate(5);
    lost.links.retain(|link| link.a.0 < 5 && link.b.0 < 5);
    lost.chips[4].pcie = false;
    let target = open(powered(lost));
    assert_eq!(target.queue_commands(), 0);
    let mesh = target.mesh();
    assert_eq!(mesh.chips.len(), 5);
    let lost = "chip 4 does not answer: unreachable: base firmware does not route there";
    assert_eq!(mesh.problems, [lost]);
}

#[test]
fn garbage_words_end_no_walk() {
    for seed in 0..12 {
        let mut mesh = powered(config("n300"));
        let mut random = fastrand::Rng::with_seed(seed);
        // Random words replace the published words of one end of each link.
        for channel in [8_u8, 9] {
            let tile = ChipKind::Wormhole.layout().eth_channel(channel).unwrap();
            let entry = u64::from(tile.x) << 16 | u64::from(tile.y) << 22 | 0x2400 << 32;
            mesh.bar_write(0, 0, 0x1FC0_0000, &entry.to_le_bytes());
            for at in [0x1108, 0x1124, 0x1128, 0x1FC0, 0x1FC4, 0x1FE0, 0x1FE4, 0x1FF0] {
                if random.bool() {
                    mesh.bar_write(0, 0, at, &random.u32(..).to_le_bytes());
                }
            }
        }
        let found = found(mesh);
        assert!((2..=4).contains(&found.chips.len()), "{found:?}");
        assert!(found.links.len() == 2 || !found.problems.is_empty(), "{found:?}");
    }
}
