//! Meshes as short system specifications of chips and cables, from which cluster descriptors
//! follow. The terms are those of the TT-Fabric specification: ChipSpec, Board, Host, Mesh, Graph.

mod grid;
mod raw;
mod wiring;

use crate::address::{ChipId, EthId};
use crate::bar::short_board_id;
use crate::chip::ChipKind;
use crate::cluster::{
    ClusterDescriptor, DescribedBoard, DescribedChip, DescriptorError, MOST_CHIPS, Problems,
};
use crate::tree::{Node, TextError};
use grid::{Grid, Placed};
use raw::RawSystem;
use std::collections::BTreeMap;

/// The default cabling of a system.
pub const PLAIN_CABLING: &str = "mesh";

/// Shipped specifications by the names of their meshes.
const SHIPPED: [(&str, &str); 7] = [
    ("n150", include_str!("../../data/systems/n150.yaml")),
    ("n300", include_str!("../../data/systems/n300.yaml")),
    ("t3000", include_str!("../../data/systems/t3000.yaml")),
    ("galaxy", include_str!("../../data/systems/galaxy.yaml")),
    ("dual_galaxy", include_str!("../../data/systems/dual_galaxy.yaml")),
    ("tg", include_str!("../../data/systems/tg.yaml")),
    ("tgg", include_str!("../../data/systems/tgg.yaml")),
];

/// A checked system.
#[derive(Clone, Debug)]
pub struct SystemSpec {
    name: String,
    /// Names of the hosts.
    hosts: Vec<String>,
    chips: Vec<SystemChip>,
    /// Links by cabling; the plain cabling is always present.
    links: BTreeMap<String, Vec<(EthId, EthId)>>,
}

/// A chip of a system with its number.
#[derive(Clone, Debug)]
struct SystemChip {
    placed: Placed,
    pcie: Option<u32>,
    harvest_mask: u32,
}

impl SystemSpec {
    /// Reads a specification. Messages call it `name`.
    ///
    /// # Errors
    /// All errors, with their lines.
    pub fn parse(name: &str, text: &str) -> Result<Self, DescriptorError> {
        let mut problems = Problems::default();
        let raw = match Node::from_yaml(text).and_then(|tree| tree.read::<RawSystem>()) {
            Ok(raw) => Some(raw),
            Err(TextError { line, what }) => {
                problems.add(line, what);
                None
            }
        };
        let system = raw.and_then(|raw| Self::build(name, &raw, &mut problems));
        let empty = || Self {
            name: name.into(),
            hosts: Vec::new(),
            chips: Vec::new(),
            links: BTreeMap::new(),
        };
        problems.finish(name, system.unwrap_or_else(empty))
    }

    /// Returns the shipped system of a name, such as `tg`; nothing if there is none.
    pub fn shipped(mesh: &str) -> Option<Result<Self, DescriptorError>> {
        let (name, text) = SHIPPED.iter().find(|(name, _)| *name == mesh)?;
        Some(Self::parse(&format!("{name}.yaml"), text))
    }

    /// Returns the names of the shipped systems.
    pub fn shipped_names() -> impl Iterator<Item = &'static str> {
        SHIPPED.iter().map(|(name, _)| *name)
    }

    /// Whether this text is a system specification rather than a cluster descriptor.
    pub fn is_spec(text: &str) -> bool {
        text.lines().any(|line| line.starts_with("ChipSpec:"))
    }

    fn build(name: &str, raw: &RawSystem, problems: &mut Problems) -> Option<Self> {
        let grids: Option<Vec<Grid>> =
            raw.meshes.iter().map(|mesh| grid::grid(raw, mesh, problems)).collect();
        let grids = grids?;
        if grids.iter().map(|grid| grid.chips.len()).sum::<usize>() > MOST_CHIPS {
            problems.add(0, format!("it describes more than {MOST_CHIPS} chips"));
            return None;
        }
        let ids = number(&grids);
        let mut chips: Vec<Option<SystemChip>> = vec![None; ids.values().len()];
        for (grid, index) in grids
            .iter()
            .enumerate()
            .flat_map(|(at, grid)| (0..grid.chips.len()).map(move |i| (at, i)))
        {
            let id = ids.get(&(grid, index))?;
            let placed = grids.get(grid)?.chips.get(index)?.clone();
            let mask = raw.harvesting.get(&u32::from(id.0)).map_or(0, |mask| mask.value);
            chips[usize::from(id.0)] = Some(SystemChip { placed, pcie: None, harvest_mask: mask });
        }
        let mut chips: Vec<SystemChip> = chips.into_iter().flatten().collect();
        let with_pcie = chips.iter_mut().filter(|chip| chip.placed.pcie);
        for (index, chip) in (0..).zip(with_pcie) {
            chip.pcie = Some(index);
        }
        check(raw, &chips, problems);
        let links = wiring::links(raw, &grids, &ids, problems);
        Some(Self { name: name.into(), hosts: raw.hosts.clone(), chips, links })
    }

    /// Returns the names of its cablings.
    pub fn cablings(&self) -> impl Iterator<Item = &str> {
        let others = self.links.keys().map(String::as_str).filter(|word| *word != PLAIN_CABLING);
        std::iter::once(PLAIN_CABLING).chain(others)
    }

    /// Returns the cluster descriptor of the whole system with all hosts; nothing if it has no such
    /// cabling.
    pub fn describe(&self, cabling: &str) -> Option<ClusterDescriptor> {
        let mut links = self.links.get(cabling)?.clone();
        links.sort_unstable();
        let chips = (0..).zip(&self.chips).map(|(id, chip)| described(id, chip));
        let mut descriptor = ClusterDescriptor {
            name: self.name.clone(),
            kind: ChipKind::default(),
            chips: chips.collect(),
            links,
            io_device_type: Some("PCIe".into()),
            hosts: self.hosts.clone(),
            ..ClusterDescriptor::default()
        };
        descriptor.renumber();
        Some(descriptor)
    }
}

impl ClusterDescriptor {
    /// Returns the descriptor of a shipped mesh, such as `n300`, with the plain cabling; nothing if
    /// there is none of that name.
    pub fn shipped(mesh: &str) -> Option<Result<Self, DescriptorError>> {
        // Every system has the plain cabling.
        SystemSpec::shipped(mesh)?.map(|system| system.describe(PLAIN_CABLING)).transpose()
    }

    /// Returns the names of the shipped meshes.
    pub fn shipped_names() -> impl Iterator<Item = &'static str> {
        SystemSpec::shipped_names()
    }
}

/// Chips by mesh and position in its grid. The chips of a host in a mesh are numbered by their
/// location on the board first, then by board, as in UMD's descriptors. Where positions order the
/// far chips, [`ClusterDescriptor`] decides.
fn number(grids: &[Grid]) -> BTreeMap<(usize, usize), ChipId> {
    let mut order = Vec::new();
    for (at, grid) in grids.iter().enumerate() {
        let keys = grid.chips.iter().enumerate();
        order.extend(keys.map(|(index, chip)| (at, chip.host, chip.location, chip.board.0, index)));
    }
    order.sort_unstable();
    (0..).map(ChipId).zip(order).map(|(id, (at, .., index))| ((at, index), id)).collect()
}

fn check(raw: &RawSystem, chips: &[SystemChip], problems: &mut Problems) {
    let mut places = BTreeMap::new();
    for (id, chip) in chips.iter().enumerate() {
        if let Some(other) = places.insert(chip.placed.coord, id) {
            let crate::address::ChipCoord { x, y, rack, shelf } = chip.placed.coord;
            problems.add(
                0,
                format!("chips {other} and {id} both stand at [{x}, {y}, {rack}, {shelf}]"),
            );
        }
    }
    if chips.iter().all(|chip| !chip.placed.pcie) {
        problems.add(0, "no chip has PCIe (`pcie` of the boards)");
    }
    let rows = ChipKind::default().layout().tiles.tensix.rows.len();
    for (id, mask) in &raw.harvesting {
        let line = mask.line;
        if usize::try_from(*id).is_ok_and(|id| id >= chips.len()) {
            problems
                .add(line, format!("`harvesting` names chip {id}, and there are {}", chips.len()));
        } else if u64::from(mask.value) >> rows != 0 {
            let what = format!(
                "the mask {:#x} of chip {id} has bits beyond the {rows} compute rows",
                mask.value
            );
            problems.add(line, what);
        }
    }
}

fn described(id: u16, chip: &SystemChip) -> DescribedChip {
    let placed = &chip.placed;
    let layout = ChipKind::default().layout();
    let kind = &placed.board.1;
    let kind = layout.arc.board_named(kind).map_or(kind, |board| &board.name);
    DescribedChip {
        id: ChipId(id),
        coord: Some(placed.coord),
        unique_id: Some(unique_id(placed)),
        pcie: chip.pcie,
        noc_translation: true,
        harvested_rows: layout.tiles.rows_from_descriptor_mask(chip.harvest_mask),
        board: Some(DescribedBoard { id: Some(placed.board_id), kind: Some(kind.clone()) }),
        asic_location: Some(placed.location.into()),
        host: placed.host as u16,
        ..DescribedChip::blank(id.into())
    }
}

/// Returns the unique id as the cards' firmware has it: the board's short id in the low word, above
/// it 2 and the chip's location.
fn unique_id(placed: &Placed) -> u64 {
    u64::from(placed.location + 2) << 32 | u64::from(short_board_id(placed.board_id))
}
