//! What the colour of a tile means on the map: the age since it last moved, its state, what its waypoint
//! waits for, its kernel, its operation, what it sends over its link, or what it moves over the NoC.

pub(crate) mod entries;

use crate::geometry::GRID;
use console::seen::TilesSeen;
use diagnosis::Diagnosis;
pub(crate) use entries::Entry;
use layouts::{ChipId, NocXy};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What the colour of a tile means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Lens {
    /// The time since a core of it was last seen to move.
    #[default]
    Age,
    /// What its most telling core does.
    State,
    /// Who must act before its waypoint ends.
    Waypoint,
    /// The kernel that was launched there.
    Kernel,
    /// The operation whose kernel it is.
    Operation,
    /// How fast it sends over its link.
    Traffic,
    /// How fast it moves data over the NoC.
    Noc,
}

impl Lens {
    const ALL: [Self; 7] = [
        Self::Age,
        Self::State,
        Self::Waypoint,
        Self::Kernel,
        Self::Operation,
        Self::Traffic,
        Self::Noc,
    ];

    /// The meaning that follows.
    pub(crate) fn next(self) -> Self {
        let at = Self::ALL.iter().position(|it| *it == self).map_or(0, |at| at + 1);
        Self::ALL.get(at).copied().unwrap_or_default()
    }

    /// What the legend says that colour means.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Age => "age since last progress",
            Self::State => "state",
            Self::Waypoint => "waypoint waits for",
            Self::Kernel => "kernel",
            Self::Operation => "operation",
            Self::Traffic => "packets/s of links",
            Self::Noc => "bytes/s over the NoC",
        }
    }
}

/// A tile without a core, as every table of entries has it.
pub(crate) const NONE: u8 = 0;
/// A tile that was not read.
pub(crate) const UNREAD: u8 = 1;
/// A tile with nothing to say: no kernel was launched, or it has no waypoint.
pub(crate) const NOTHING: u8 = 2;
/// Kernels with a colour of their own.
pub(crate) const NAMED: usize = 7;

/// What every tile of the mesh shows through a lens.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shades {
    /// What the numbers of tiles mean; of several cores of a tile, the highest counts.
    pub(crate) entries: Vec<Entry>,
    pub(crate) tiles: BTreeMap<ChipId, Vec<u8>>,
    /// What the verdict's snapshot shows, and what that was taken from.
    pub(crate) seen: BTreeMap<ChipId, Vec<u8>>,
    pub(crate) taken: Option<(Lens, Arc<TilesSeen>, Option<Arc<Diagnosis>>)>,
}

impl Shades {
    /// The tiles of a chip, row by row.
    pub(crate) fn chip(&self, chip: ChipId) -> &[u8] {
        self.tiles.get(&chip).map_or(&[], Vec::as_slice)
    }

    /// What a tile shows.
    pub(crate) fn entry(&self, shade: u8) -> Option<&Entry> {
        self.entries.get(usize::from(shade))
    }

    /// All that tiles show, with the number of tiles.
    pub(crate) fn legend(&self) -> impl Iterator<Item = (&Entry, usize)> {
        let mut counts = vec![0; self.entries.len()];
        for shade in self.tiles.values().flatten() {
            if let Some(count) = counts.get_mut(usize::from(*shade)) {
                *count += 1;
            }
        }
        self.entries.iter().zip(counts).skip(1).filter(|(_, count)| *count > 0)
    }

    /// Puts a tile into its chip.
    pub(crate) fn put(tiles: &mut BTreeMap<ChipId, Vec<u8>>, chip: ChipId, xy: NocXy, shade: u8) {
        let all = tiles.entry(chip).or_insert_with(|| vec![NONE; cells()]);
        if let Some(tile) = all.get_mut(cell(xy)) {
            *tile = shade;
        }
    }
}

fn cells() -> usize {
    usize::from(GRID.0) * usize::from(GRID.1)
}

/// The number of a tile in the rows of its chip.
fn cell(xy: NocXy) -> usize {
    usize::from(xy.y) * usize::from(GRID.0) + usize::from(xy.x)
}
