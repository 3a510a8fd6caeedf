//! Tests of cluster descriptors: UMD's formats are read, and each mistake is reported with its
//! line.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use layouts::{ChipCoord, ChipId, ClusterDescriptor, EthId};

/// The format of older files: flow style, `Wormhole`, a third element per connection, few keys.
const OLD: &str = "arch: {
   0: Wormhole,
   1: Wormhole,
}
chips: {
   0: [0,0,0,0],
   1: [1,0,0,0],
}
ethernet_connections: [
   [{chip: 0, chan: 8}, {chip: 1, chan: 0}, {routing_enabled: true}],
   [{chip: 0, chan: 9}, {chip: 1, chan: 1}, {routing_enabled: true}],
]
chips_with_mmio: [
   0: 0,
]
# harvest_mask is the bit indicating which row is harvested
harvesting: {
   0: {noc_translation: true, harvest_mask: 65},
   1: {noc_translation: false, harvest_mask: 5},
}
boards: [[{board_id: 72058994491072686}, {board_type: n300}, {chips: [0,1]}]]
";

fn end(chip: u16, channel: u8) -> EthId {
    EthId { chip: ChipId(chip), channel }
}

fn complaint(text: &str) -> String {
    ClusterDescriptor::parse("my.yaml", text).unwrap_err().to_string()
}

#[test]
fn every_shipped_descriptor_loads() {
    for name in ClusterDescriptor::shipped_names() {
        if let Err(error) = ClusterDescriptor::shipped(name).unwrap() {
            panic!("{error}");
        }
    }
    assert!(ClusterDescriptor::shipped("n9000").is_none());
}

#[test]
fn shipped_meshes_have_their_chips_and_every_chip_can_reach_every_other() {
    for (name, chips, pcie, links, farthest) in [
        ("n150", 1, 1, 0, 0),
        ("n300", 2, 1, 2, 1),
        ("t3000", 8, 4, 20, 4),
        ("galaxy", 32, 32, 208, 10),
        ("dual_galaxy", 64, 64, 448, 14),
        ("tg", 36, 4, 216, 10),
        ("tgg", 72, 8, 448, 14),
    ] {
        let mesh = ClusterDescriptor::shipped(name).unwrap().unwrap();
        assert_eq!(mesh.chips.len(), chips, "{name}");
        assert_eq!(mesh.chips.iter().filter(|chip| chip.pcie.is_some()).count(), pcie, "{name}");
        assert_eq!(mesh.links.len(), links, "{name}");
        let routes = mesh.routes();
        let ids = || mesh.chips.iter().map(|chip| chip.id);
        let hops = ids().flat_map(|from| ids().map(move |to| (from, to)));
        let most = hops.map(|(from, to)| routes.hops(from, to).unwrap()).max();
        assert_eq!(most, Some(farthest), "{name}");
    }
}

#[test]
fn remote_chips_are_as_far_from_their_gateways_as_the_machine_has_it() {
    for (name, farthest) in [("n300", 1), ("t3000", 1), ("tg", 4)] {
        let mesh = ClusterDescriptor::shipped(name).unwrap().unwrap();
        let routes = mesh.routes();
        let nearest = |to: ChipId| {
            let gateways = mesh.chips.iter().filter(|chip| chip.pcie.is_some());
            gateways.filter_map(|from| routes.hops(from.id, to)).min()
        };
        assert_eq!(mesh.chips.iter().filter_map(|chip| nearest(chip.id)).max(), Some(farthest));
    }
}

#[test]
fn the_n300_has_what_an_n300_has() {
    let n300 = ClusterDescriptor::shipped("n300").unwrap().unwrap();
    assert_eq!(n300.chips.len(), 2);
    assert_eq!(n300.links, [(end(0, 8), end(1, 0)), (end(0, 9), end(1, 1))]);
    assert_eq!(n300.chips[0].pcie, Some(0));
    assert_eq!(n300.chips[1].pcie, None);
    assert_eq!(n300.chips[1].coord, Some(ChipCoord { x: 1, y: 0, rack: 0, shelf: 0 }));
    assert_eq!(n300.chips[0].harvested_rows, [1, 8]);
    assert_eq!(n300.chips[1].harvested_rows, [5, 11]);
    assert!(n300.chips.iter().all(|chip| chip.noc_translation));
    let board = n300.chips[1].board.as_ref().unwrap();
    let code = layouts::ChipKind::Wormhole.layout().arc.board(board.id.unwrap()).unwrap();
    assert_eq!((code.name.as_str(), board.kind.as_deref()), ("n300", Some("n300")));
    for chip in &n300.chips {
        let low = chip.unique_id.unwrap() as u32;
        assert_eq!(low, layouts::short_board_id(board.id.unwrap()));
    }
}

#[test]
fn older_spellings_load() {
    let old = ClusterDescriptor::parse("old.yaml", OLD).unwrap();
    assert_eq!(old.links, [(end(0, 8), end(1, 0)), (end(0, 9), end(1, 1))]);
    assert_eq!(old.chips[1].harvested_rows, [1, 3]);
    assert!(!old.chips[1].noc_translation);
    assert_eq!(old.chips[0].board.as_ref().unwrap().kind.as_deref(), Some("n300"));
}

#[test]
fn a_minimal_descriptor_loads_with_mmio_as_a_plain_list() {
    let text = "arch:\n  0: wormhole_b0\nchips:\n  {}\nethernet_connections:\n  []\nchips_with_mmio:\n  - 0\n";
    let one = ClusterDescriptor::parse("one.yaml", text).unwrap();
    assert_eq!((one.chips.len(), one.chips[0].coord, one.chips[0].pcie), (1, None, Some(0)));
}

#[test]
fn chips_are_numbered_pcie_first_then_by_place() {
    let text = "arch: {7: wormhole_b0, 8: wormhole_b0, 9: wormhole_b0, 10: wormhole_b0}
chips: {7: [0, 1, 0, 0], 8: [0, 0, 0, 0], 9: [1, 0, 0, 0], 10: [1, 1, 0, 0]}
chips_with_mmio: [10: 0, 9: 1]
ethernet_connections: [[{chip: 7, chan: 3}, {chip: 10, chan: 4}]]
ethernet_connections_to_remote_devices:
  - - chip: 8
      chan: 15
    - remote_chip_id: 17716556166399396846
      chan: 14
";
    let mesh = ClusterDescriptor::parse("mesh.yaml", text).unwrap();
    let order: Vec<u32> = mesh.chips.iter().map(|chip| chip.file_id).collect();
    assert_eq!(order, [10, 9, 8, 7]);
    assert_eq!(mesh.links, [(end(0, 4), end(3, 3))]);
    assert_eq!(mesh.outward[0].near, end(2, 15));
    assert_eq!(mesh.outward[0].far_unique_id, 17716556166399396846);
}

#[test]
fn each_mistake_names_its_line() {
    let swap = |from: &str, to: &str| complaint(&OLD.replacen(from, to, 1));
    assert_eq!(
        swap("{chip: 1, chan: 0}", "{chip: 5, chan: 0}"),
        "my.yaml:10: unknown chip 5: `arch` does not list it"
    );
    assert_eq!(
        swap("{chip: 1, chan: 0}", "{chip: 0, chan: 0}"),
        "my.yaml:10: chip 0 is linked to itself (8-0)"
    );
    assert_eq!(
        swap("{chip: 1, chan: 1}", "{chip: 1, chan: 16}"),
        "my.yaml:11: channel 16 is out of range: a chip has 16, from 0"
    );
    assert_eq!(
        swap("{chip: 1, chan: 1}", "{chip: 1, chan: 0}"),
        "my.yaml:11: channel 0 of chip 1 is already linked in line 10"
    );
    assert_eq!(swap("   0: 0,", "   2: 0,"), "my.yaml:14: unknown chip 2: `arch` does not list it");
    assert_eq!(
        swap("1: [1,0,0,0]", "1: [0,0,0,0]"),
        "my.yaml:7: chips 0 and 1 both stand at [0, 0, 0, 0]"
    );
    assert_eq!(
        swap("1: [1,0,0,0]", "1: [1,0,0]"),
        "my.yaml:7: chip 1 needs 4 coordinates (x, y, rack, shelf), not 3"
    );
    assert_eq!(
        swap("1: [1,0,0,0]", "1: [1,0,0,256]"),
        "my.yaml:7: a coordinate of chip 1 is out of range: 0 to 255"
    );
    assert_eq!(
        swap("1: [1,0,0,0]", "1: [-1,0,0,0]"),
        "my.yaml:7: a coordinate of chip 1 is out of range: 0 to 255"
    );
    assert_eq!(swap("   1: [1,0,0,0],\n", ""), "my.yaml:3: chip 1 has no coordinates in `chips`");
    assert_eq!(
        swap("harvest_mask: 5}", "harvest_mask: 1025}"),
        "my.yaml:19: `harvest_mask` 0x401 has bits beyond the 10 compute rows"
    );
    assert_eq!(
        swap("harvest_mask: 5}", "eth_harvesting_mask: 65536}"),
        "my.yaml:19: `eth_harvesting_mask` 0x10000 has bits beyond the 16 Ethernet channels"
    );
    assert_eq!(
        swap("harvest_mask: 5}", "eth_harvesting_mask: 6}"),
        "my.yaml:11: `eth_harvesting_mask` turns channel 1 of chip 1 off"
    );
    assert_eq!(
        swap("1: Wormhole", "1: blackhole"),
        "my.yaml:3: chip 1 is a blackhole, and only Wormhole is supported"
    );
    assert_eq!(
        swap(", {chip: 1, chan: 0}, {routing_enabled: true}", ""),
        "my.yaml:10: a connection needs two ends, not 1"
    );
    assert_eq!(swap("{chip: 1, chan: 0}", "{chip: 1}"), "my.yaml:10: an end has no `chan`");
}

#[test]
fn what_is_no_descriptor_is_said_in_one_line() {
    assert_eq!(complaint(""), "my.yaml: it describes no chip (`arch` is missing or empty)");
    assert_eq!(complaint("arch: {}"), "my.yaml: it describes no chip (`arch` is missing or empty)");
    let no_pcie = complaint("arch: {0: wormhole_b0}");
    assert_eq!(no_pcie, "my.yaml: no chip has PCIe (`chips_with_mmio` is missing or empty)");
    for text in [
        "- 1\n- 2",
        "arch: [",
        "arch: {0: [x]}",
        "\u{7f}ELF\u{1}\u{0}",
        "arch:\n  0: a\n  0: b",
        "a: &a [*a]",
    ] {
        let line = complaint(text);
        assert!(
            line.starts_with("my.yaml:") && line.lines().count() == 1,
            "{text:?} gives {line:?}"
        );
    }
    for text in ["- 1\n- 2", "hello"] {
        let said = "my.yaml:1: this is no cluster descriptor: it is no mapping of keys";
        assert_eq!(complaint(text), said);
    }
    let inside = complaint("arch: {0: wormhole_b0}\nharvesting: [1]");
    assert!(!inside.contains("no cluster descriptor"), "{inside}");
    let negative = complaint(
        "arch: {0: wormhole_b0}\nchips_with_mmio: [0: 0]\nethernet_connections:\n- [{chip: -1}]",
    );
    assert_eq!(negative, "my.yaml:4: invalid u32");
    assert_eq!(complaint("arch:\n  0: a\n  0: b"), "my.yaml:3: duplicate mapping key: 0");
}

#[test]
fn no_cut_of_a_descriptor_panics() {
    for end in (0..OLD.len()).filter(|end| OLD.is_char_boundary(*end)) {
        let _ = ClusterDescriptor::parse("cut.yaml", &OLD[..end]);
    }
}

#[test]
fn routes_lead_one_hop_closer() {
    let n300 = ClusterDescriptor::shipped("n300").unwrap().unwrap().routes();
    assert_eq!(n300.table(ChipId(0)), [(ChipId(1), 0x0300)]);
    assert_eq!(n300.table(ChipId(1)), [(ChipId(0), 0x0003)]);
    assert_eq!((n300.mask(ChipId(0), ChipId(0)), n300.hops(ChipId(0), ChipId(1))), (0, Some(1)));
}

#[test]
fn routes_of_a_ring_go_both_ways_round() {
    // Four chips in a ring: channel 0 leads up, channel 1 comes from below; chip 4 is not linked.
    let links: Vec<_> = (0..4).map(|chip| (end(chip, 0), end((chip + 1) % 4, 1))).collect();
    let ring = layouts::Routes::new(5, &links);
    let table: Vec<u16> = ring.table(ChipId(0)).into_iter().map(|(_, mask)| mask).collect();
    assert_eq!(table, [0b01, 0b11, 0b10, 0]);
    assert_eq!(ring.hops(ChipId(0), ChipId(2)), Some(2));
    assert_eq!(ring.hops(ChipId(0), ChipId(4)), None);
}

#[test]
fn boards_without_coordinates_leave_the_list_empty() {
    // UMD writes 6U Galaxies like this (tt-metal.md 8.4).
    let text = "arch:\n  0: wormhole_b0\n  1: wormhole_b0\nchips:\n  {}\nethernet_connections:\n  - [{chip: 0, chan: 8}, {chip: 1, chan: 0}]\nchips_with_mmio:\n  - 0\n  - 1\n";
    let descriptor = ClusterDescriptor::parse("galaxy.yaml", text).unwrap();
    assert_eq!(descriptor.chips.iter().map(|chip| chip.coord).collect::<Vec<_>>(), [None, None]);
}
