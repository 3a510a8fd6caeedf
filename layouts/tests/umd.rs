//! What tt-umd 0.9.14 requires of a cluster descriptor (`device/cluster_descriptor.cpp`): what this
//! crate writes has it, and what UMD accepts this crate reads.
#![allow(clippy::unwrap_used, reason = "tests")]

use layouts::{ChipId, ClusterDescriptor, Node};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

/// The keys that UMD reads.
#[derive(Deserialize)]
struct Umd {
    arch: BTreeMap<u32, String>,
    chips: BTreeMap<u32, Vec<u8>>,
    ethernet_connections: Vec<Vec<End>>,
    #[serde(default)]
    ethernet_connections_to_remote_devices: Vec<Vec<End>>,
    chips_with_mmio: Vec<BTreeMap<u32, u32>>,
    harvesting: BTreeMap<u32, Harvesting>,
    #[serde(default)]
    boards: Vec<Vec<Item>>,
    #[serde(default)]
    chip_to_bus_id: BTreeMap<u32, String>,
    #[serde(default)]
    chip_pci_bdfs: BTreeMap<u32, String>,
}

#[derive(Deserialize)]
struct End {
    chip: Option<u32>,
    remote_chip_id: Option<u64>,
    chan: u32,
}

#[derive(Deserialize)]
struct Harvesting {
    #[serde(rename = "noc_translation")]
    _noc_translation: bool,
    #[serde(rename = "harvest_mask")]
    _harvest_mask: u32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Item {
    board_id: Option<u64>,
    board_type: Option<String>,
    chips: Option<Vec<u32>>,
}

/// Returns the number of chips, or why UMD refuses the text.
fn umd(text: &str) -> Result<usize, String> {
    let tree = Node::from_yaml(text).map_err(|error| error.to_string())?;
    let read: Umd = tree.read().map_err(|error| error.to_string())?;
    let known = |chip: &u32| read.arch.contains_key(chip).then_some(*chip).ok_or("unknown chip");
    if read.arch.values().any(|arch| arch != "wormhole_b0") {
        return Err("architecture".into());
    }
    if read.chips.values().any(|place| place.len() != 4) {
        return Err("coords must be size 4".into());
    }
    let with_mmio: BTreeSet<u32> =
        read.chips_with_mmio.iter().flat_map(|it| it.keys()).copied().collect();
    let mut board_of = BTreeMap::new();
    for board in &read.boards {
        let [
            Item { board_id: Some(id), .. },
            Item { board_type: Some(kind), .. },
            Item { chips: Some(chips), .. },
        ] = board.as_slice()
        else {
            return Err("Each board entry should be a sequence of 3 maps.".into());
        };
        let types: &[&str] = match id >> 36 & 0xF_FFFF {
            0x14 => &["n300"],
            0x18 => &["n150"],
            0x35 => &["ubb", "ubb_wormhole"],
            _ => return Err(format!("No existing board type for board ID: {id:#x}")),
        };
        if !types.contains(&kind.as_str()) {
            return Err(format!("board {id:#x} is no {kind}"));
        }
        for chip in chips {
            if board_of.insert(known(chip)?, *id).is_some_and(|other| other != *id) {
                return Err(format!("Chip {chip} is already mapped to board"));
            }
        }
    }
    if read.chip_to_bus_id.values().any(|bus| !bus.starts_with("0x")) {
        return Err("Bus string without 0x prefix".into());
    }
    if read.chip_pci_bdfs.keys().any(|chip| !with_mmio.contains(chip)) {
        return Err("PCI BDF specified but is not MMIO mapped".into());
    }
    if !read.harvesting.is_empty() && read.harvesting.len() != read.arch.len() {
        return Err("harvesting of some chips".into());
    }
    let mut taken = BTreeSet::new();
    for ends in read.ethernet_connections.iter().chain(&read.ethernet_connections_to_remote_devices)
    {
        let [near, far] = ends.as_slice() else { return Err("not two ends".into()) };
        for end in [near, far] {
            let Some(chip) = &end.chip else { continue };
            if !taken.insert((known(chip)?, end.chan)) {
                return Err("Duplicate eth connection found".into());
            }
        }
        if far.chip.is_some() == far.remote_chip_id.is_some() {
            return Err("far end".into());
        }
    }
    for chip in read.arch.keys().filter(|chip| !read.chips.is_empty() && !with_mmio.contains(chip))
    {
        let board = board_of.get(chip).ok_or(format!("Chip to board mapping for chip {chip}"))?;
        let mut same = board_of.iter().filter(|(_, other)| *other == board);
        if !same.any(|(chip, _)| with_mmio.contains(chip)) {
            return Err(format!("Closest MMIO capable chip not found for chip {chip}."));
        }
    }
    let without = read.arch.keys().find(|chip| !board_of.contains_key(*chip));
    without
        .map_or(Ok(read.arch.len()), |chip| Err(format!("Chip {chip} does not have a board type")))
}

#[test]
fn umd_accepts_every_shipped_mesh_and_each_hosts_part() {
    for name in ClusterDescriptor::shipped_names() {
        let mesh = ClusterDescriptor::shipped(name).unwrap().unwrap();
        assert_eq!(umd(&mesh.to_yaml()), Ok(mesh.chips.len()), "{name}");
        for host in 0..mesh.host_count() {
            let part = mesh.of_host(host);
            assert_eq!(umd(&part.to_yaml()), Ok(part.chips.len()), "{name} host {host}");
        }
    }
}

#[test]
fn umd_refuses_boards_that_it_does_not_know() {
    let n300 = ClusterDescriptor::shipped("n300").unwrap().unwrap().to_yaml();
    let swap = |from: &str, to: &str| umd(&n300.replace(from, to)).unwrap_err();
    let board = "{board_id: 72058985900941320}, ";
    assert_eq!(swap(board, ""), "Each board entry should be a sequence of 3 maps.");
    assert_eq!(swap("72058985900941320", "4660"), "No existing board type for board ID: 0x1234");
    assert_eq!(swap("chips: [0, 1]", "chips: [0]"), "Chip to board mapping for chip 1");
}

/// Two cards in the same host that no `tt-topology` has numbered; their chips of both sides have
/// the same coordinates.
const TWO_CARDS: &str = "
arch: {0: wormhole_b0, 1: wormhole_b0, 2: wormhole_b0, 3: wormhole_b0}
chips: {0: [0, 0, 0, 0], 1: [0, 0, 0, 0], 2: [1, 0, 0, 0], 3: [1, 0, 0, 0]}
ethernet_connections:
  - [{chip: 0, chan: 8}, {chip: 3, chan: 0}]
  - [{chip: 1, chan: 8}, {chip: 2, chan: 0}]
chips_with_mmio: [{0: 0}, {1: 1}]
harvesting: {}
";

#[test]
fn cards_that_no_link_joins_may_have_the_same_coordinates() {
    let cards = ClusterDescriptor::parse("cards.yaml", TWO_CARDS).unwrap();
    let routes = cards.routes();
    let far: Vec<_> = (2..4).map(|chip| routes.hops(ChipId(0), ChipId(chip))).collect();
    assert_eq!(far, [None, Some(1)]);
    let joined = TWO_CARDS.replace(
        "chips_with_mmio",
        "  - [{chip: 0, chan: 1}, {chip: 1, chan: 1}]\nchips_with_mmio",
    );
    let error = ClusterDescriptor::parse("cards.yaml", &joined).unwrap_err().to_string();
    assert_eq!(error, "cards.yaml:3: chips 0 and 1 both stand at [0, 0, 0, 0] (and 1 more)");
}

#[test]
fn older_keys_have_the_types_of_boards() {
    let boards = "boards: [[{board_id: 72058994491072686}, {board_type: n300}, {chips: [1, 2]}]]";
    for (keys, kinds) in [
        (
            "chip_to_boardtype: {0: n300, 1: GALAXY, 2: p9, 3: ubb}",
            ["n300", "galaxy", "p9", "galaxy"],
        ),
        ("boardtype: {0: n150, 1: n150, 2: n300, 3: n300}", ["n150", "n150", "n300", "n300"]),
        (
            "chip_to_boardtype: {0: n300, 1: n300, 2: n300, 3: n300}\nboardtype: {0: n150}",
            ["n300"; 4],
        ),
    ] {
        let text = format!("{TWO_CARDS}{keys}\n");
        let read = ClusterDescriptor::parse("old.yaml", &text).unwrap();
        let kind = |chip: &layouts::DescribedChip| chip.board.clone().unwrap().kind.unwrap();
        assert_eq!(read.chips.iter().map(kind).collect::<Vec<_>>(), kinds);
        assert_eq!(ClusterDescriptor::parse("old.yaml", &read.to_yaml()).unwrap(), read);
        let both = ClusterDescriptor::parse("old.yaml", &format!("{text}{boards}\n")).unwrap();
        assert_eq!(both.chips[1].board.as_ref().unwrap().id, Some(72058994491072686));
    }
    let wrong = format!("{TWO_CARDS}boardtype: {{7: n150}}\n");
    let error = ClusterDescriptor::parse("old.yaml", &wrong).unwrap_err().to_string();
    assert_eq!(error, "old.yaml:9: unknown chip 7: `arch` does not list it");
}
