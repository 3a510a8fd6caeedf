//! The grids of a mesh graph, and of the meshes that ship.

use layouts::{ChipCoord, ChipId, ClusterDescriptor, SystemSpec};
use std::collections::{BTreeMap, BTreeSet};

/// A mesh of rows and columns, with a number of links between neighbours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Grid {
    pub(super) dims: [usize; 2],
    /// Whether the ends of each dimension are joined.
    pub(super) rings: [bool; 2],
    pub(super) links: usize,
    pub(super) hosts: [usize; 2],
}

/// Returns the shipped mesh of the same grids, whose boards and channels are those of machines.
pub(super) fn shipped(of: impl Iterator<Item = Grid>) -> Option<ClusterDescriptor> {
    let wanted = sorted(of);
    SystemSpec::shipped_names().find_map(|name| {
        let system = SystemSpec::shipped(name)?.ok()?;
        let cablings: Vec<_> = system.cablings().map(str::to_owned).collect();
        let mut described = cablings.iter().filter_map(|cabling| system.describe(cabling));
        described.find(|it| sorted(grids(it)) == wanted)
    })
}

fn sorted(grids: impl IntoIterator<Item = Grid>) -> Vec<Grid> {
    // A mesh may lie either way, and who hosts it does not matter here.
    let lying = |grid: Grid| {
        let turned = Grid {
            dims: [grid.dims[1], grid.dims[0]],
            rings: [grid.rings[1], grid.rings[0]],
            ..grid
        };
        Grid { hosts: [1, 1], ..grid.min(turned) }
    };
    let mut grids: Vec<_> = grids.into_iter().map(lying).collect();
    // A single chip has no neighbours.
    grids.iter_mut().filter(|grid| grid.dims == [1, 1]).for_each(|grid| grid.links = 1);
    grids.sort_unstable();
    grids
}

/// Returns the grids of chips of one rack and shelf.
fn grids(descriptor: &ClusterDescriptor) -> Vec<Grid> {
    let mut shelves: BTreeMap<(u8, u8), Vec<(ChipId, ChipCoord)>> = BTreeMap::new();
    for (chip, coord) in descriptor.chips.iter().filter_map(|chip| Some((chip.id, chip.coord?))) {
        shelves.entry((coord.rack, coord.shelf)).or_default().push((chip, coord));
    }
    let of = |chips: &Vec<(ChipId, ChipCoord)>| {
        let size = |axis: fn(&ChipCoord) -> u8| {
            let places: BTreeSet<u8> = chips.iter().map(|(_, coord)| axis(coord)).collect();
            places.len()
        };
        let dims = [size(|coord| coord.y), size(|coord| coord.x)];
        let at: BTreeMap<ChipId, ChipCoord> = chips.iter().copied().collect();
        let steps =
            descriptor.links.iter().filter_map(|(a, b)| Some((at.get(&a.chip)?, at.get(&b.chip)?)));
        let steps: Vec<[usize; 2]> =
            steps.map(|(a, b)| [a.y.abs_diff(b.y).into(), a.x.abs_diff(b.x).into()]).collect();
        let rings = [0, 1]
            .map(|axis| dims[axis] > 2 && steps.iter().any(|step| step[axis] + 1 == dims[axis]));
        let edges = |axis: usize| (dims[axis] - usize::from(!rings[axis])) * dims[1 - axis];
        Grid {
            dims,
            rings,
            links: steps.len().checked_div(edges(0) + edges(1)).unwrap_or_default(),
            hosts: [1, 1],
        }
    };
    shelves.values().map(of).collect()
}
