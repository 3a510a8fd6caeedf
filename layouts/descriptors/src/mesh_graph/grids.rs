//! The grids of a mesh graph, and of the meshes that ship.

use layouts::{ChipCoord, ChipId, ClusterDescriptor, EthId, SystemSpec};
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
        let grids = |it: &ClusterDescriptor| -> Result<Vec<Grid>, String> {
            shelves(it)?.iter().map(|shelf| shelf.grid(&it.links)).collect()
        };
        described.find(|it| grids(it).is_ok_and(|grids| sorted(grids) == wanted))
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

/// Chips of a rack and shelf that links join, by row and column.
pub(super) struct Shelf {
    name: (u8, u8),
    rows: Vec<u8>,
    columns: Vec<u8>,
    cells: BTreeMap<(u8, u8), ChipId>,
}

/// Rack and shelf, and the first of the chips that links join there.
type Part = ((u8, u8), ChipId);

/// Returns the chips by rack and shelf, those that no links within it join apart.
///
/// # Errors
/// A chip without coordinates, or with those of another, in one sentence.
pub(super) fn shelves(mesh: &ClusterDescriptor) -> Result<Vec<Shelf>, String> {
    let alone = (mesh.chips.len() == 1).then_some(ChipCoord { x: 0, y: 0, rack: 0, shelf: 0 });
    let mut all: BTreeMap<(u8, u8, u8, u8), ChipId> = BTreeMap::new();
    for chip in &mesh.chips {
        let none = || format!("chip {} has no coordinates", chip.id);
        let at = chip.coord.or(alone).ok_or_else(none)?;
        if let Some(other) = all.insert((at.rack, at.shelf, at.y, at.x), chip.id) {
            return Err(format!("chips {other} and {} have the same coordinates", chip.id));
        }
    }
    let mut parts: BTreeMap<ChipId, Part> =
        all.iter().map(|((rack, shelf, ..), chip)| (*chip, ((*rack, *shelf), *chip))).collect();
    for (a, b) in &mesh.links {
        if let (Some(&(a, first)), Some(&(b, other))) = (parts.get(&a.chip), parts.get(&b.chip))
            && a == b
        {
            let (first, other) = (first.min(other), first.max(other));
            let of_other = parts.values_mut().filter(|part| **part == (a, other));
            of_other.for_each(|part| part.1 = first);
        }
    }
    let mut shelves: BTreeMap<_, BTreeMap<(u8, u8), ChipId>> = BTreeMap::new();
    for ((_, _, y, x), chip) in all {
        shelves.entry(parts.get(&chip).copied()).or_default().insert((y, x), chip);
    }
    let shelf = |(part, cells): (Option<Part>, BTreeMap<(u8, u8), ChipId>)| {
        let axis = |of: fn(&(u8, u8)) -> u8| {
            cells.keys().map(of).collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>()
        };
        let name = part.map_or((0, 0), |part| part.0);
        Shelf { name, rows: axis(|at| at.0), columns: axis(|at| at.1), cells }
    };
    Ok(shelves.into_iter().map(shelf).collect())
}

impl Shelf {
    /// Its chips.
    pub(super) fn chips(&self) -> impl Iterator<Item = ChipId> {
        self.cells.values().copied()
    }

    /// Returns the chip of a row and column, both counted around.
    fn chip(&self, [row, column]: [usize; 2]) -> Result<ChipId, String> {
        let at = (self.rows[row % self.rows.len()], self.columns[column % self.columns.len()]);
        self.cells.get(&at).copied().ok_or_else(|| {
            let ((rack, shelf), (y, x)) = (self.name, at);
            format!("the chips of rack {rack} shelf {shelf} are no grid: none is at x {x} y {y}")
        })
    }

    /// Returns its grid, with as many links as all neighbours have.
    ///
    /// # Errors
    /// A place without a chip, or neighbours without a link, in one sentence.
    pub(super) fn grid(&self, links: &[(EthId, EthId)]) -> Result<Grid, String> {
        let dims = [self.rows.len(), self.columns.len()];
        let between = |a: ChipId, b: ChipId| {
            let is = |(c, d): &&(EthId, EthId)| [c.chip, d.chip] == [a.min(b), a.max(b)];
            links.iter().filter(is).count()
        };
        let (mut rings, mut least) = ([false; 2], 4);
        for axis in 0..2 {
            let mut wraps = Vec::new();
            for (row, column) in (0..dims[0]).flat_map(|row| (0..dims[1]).map(move |it| (row, it)))
            {
                let (at, mut next) = ([row, column], [row, column]);
                next[axis] += 1;
                let (a, b) = (self.chip(at)?, self.chip(next)?);
                let count = between(a, b);
                if next[axis] == dims[axis] {
                    wraps.push(count);
                } else if count == 0 {
                    return Err(format!(
                        "chips {a} and {b} are neighbours, and no link joins them"
                    ));
                } else {
                    least = least.min(count);
                }
            }
            rings[axis] = dims[axis] > 2 && wraps.iter().all(|count| *count > 0);
            if rings[axis] {
                least = wraps.into_iter().fold(least, usize::min);
            }
        }
        let links = if dims == [1, 1] { 1 } else { least };
        Ok(Grid { dims, rings, links, hosts: [1, 1] })
    }
}

/// Returns the chips of each grid in a mesh of these grids, row by row.
///
/// # Errors
/// A grid that is not there, in one sentence.
pub(super) fn rows(
    mesh: &ClusterDescriptor,
    of: impl Iterator<Item = Grid>,
) -> Result<Vec<Vec<ChipId>>, String> {
    let mut left = shelves(mesh)?;
    let chips = |grid: Grid| {
        let [rows, columns] = grid.dims;
        let lies = |shelf: &Shelf| [shelf.rows.len(), shelf.columns.len()];
        let straight = left.iter().position(|shelf| lies(shelf) == grid.dims);
        let at = straight.or_else(|| left.iter().position(|shelf| lies(shelf) == [columns, rows]));
        let shelf = left.remove(at.ok_or("a grid of its meshes is in no shelf")?);
        let cells = (0..rows).flat_map(|row| (0..columns).map(move |column| [row, column]));
        let cell = |[row, column]: [usize; 2]| {
            shelf.chip(if straight.is_some() { [row, column] } else { [column, row] })
        };
        cells.map(cell).collect()
    };
    of.map(chips).collect()
}

impl Grid {
    /// The number of its links.
    pub(super) fn links(&self) -> usize {
        let edges =
            |axis: usize| (self.dims[axis] - usize::from(!self.rings[axis])) * self.dims[1 - axis];
        (edges(0) + edges(1)) * self.links
    }
}
