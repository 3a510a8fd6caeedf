//! A depth-first search for a rectangle of chips whose neighbours are joined.

use super::FabricMesh;
use launch::topology::FreeLinks;
use layouts::ChipId;

/// Most steps of the search.
const BUDGET: u32 = 100_000;

/// The number of links between chips, by index.
pub(super) struct Edges {
    chips: Vec<ChipId>,
    links: Vec<Vec<u32>>,
}

impl Edges {
    pub(super) fn of(free: &FreeLinks, chips: &[ChipId]) -> Self {
        let links =
            chips.iter().map(|&a| chips.iter().map(|&b| free.between(a, b).len() as u32).collect());
        Self { links: links.collect(), chips: chips.to_vec() }
    }

    fn between(&self, a: usize, b: usize) -> u32 {
        self.links.get(a).and_then(|links| links.get(b)).map_or(0, |links| *links)
    }

    fn degree(&self, chip: usize) -> usize {
        let links = self.links.get(chip).into_iter().flatten();
        links.filter(|&&links| links > 0).count()
    }
}

/// A partly filled rectangle.
pub(super) struct Grid<'a> {
    edges: &'a Edges,
    mesh: FabricMesh,
    planes: u32,
    budget: u32,
    placed: Vec<usize>,
}

impl<'a> Grid<'a> {
    /// Starts a search for the chips of a mesh with this shape.
    pub(super) fn new(edges: &'a Edges, mesh: FabricMesh, planes: u32) -> Self {
        Self { edges, mesh, planes, budget: BUDGET, placed: Vec::new() }
    }

    pub(super) fn search(mut self) -> Option<FabricMesh> {
        if !self.extend() {
            return None;
        }
        let chips = self.placed.iter().filter_map(|&index| self.edges.chips.get(index));
        Some(FabricMesh { chips: chips.copied().collect(), ..self.mesh })
    }

    /// Fills the next position, row by row.
    fn extend(&mut self) -> bool {
        let chips = self.edges.chips.len();
        if self.placed.len() == chips {
            return true;
        }
        // Corners and edges first: they have the fewest neighbours.
        let mut candidates: Vec<usize> = (0..chips).filter(|&chip| self.fits(chip)).collect();
        candidates.sort_by_key(|&chip| self.edges.degree(chip));
        for chip in candidates {
            if self.budget == 0 {
                return false;
            }
            self.budget -= 1;
            self.placed.push(chip);
            if self.extend() {
                return true;
            }
            self.placed.pop();
        }
        false
    }

    /// Whether a chip is joined to its placed neighbours at the next position.
    fn fits(&self, chip: usize) -> bool {
        let device = self.placed.len();
        let joined = |(other, shared): (usize, bool)| {
            let wanted = if shared { 2 * self.planes } else { self.planes };
            let other = self.placed.get(other);
            other.is_none_or(|&other| self.edges.between(chip, other) >= wanted)
        };
        !self.placed.contains(&chip) && self.mesh.around(device).into_iter().all(joined)
    }
}
