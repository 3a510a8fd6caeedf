//! A unit of a chip at the moment of a checkpoint.

use super::tile::Tile;
use crate::devices::blocks::Blocks;
use crate::devices::passive::{Backend, Passive};
use crate::hart::HartGroup;
use crate::hart::core::Hart;
use crate::heap::{BESIDE, COUNTS, allocation, of_box, of_vec};
use crate::memory::{SavedMemory, TileMemory};
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, OnceLock};

/// What allocators keep beside the parts of a hart, and its count in an [`Arc`].
const BESIDE_HART: usize = 8 * BESIDE + 2 * COUNTS;

/// A unit at the moment of a checkpoint.
#[derive(Clone, Debug)]
pub(crate) enum SavedUnit {
    Core(Arc<SavedTile>),
    Passive(Arc<Passive>),
}

/// A tile with cores at the moment of a checkpoint.
#[derive(Debug)]
pub(crate) struct SavedTile {
    pub(crate) memory: SavedMemory,
    pub(crate) harts: Vec<Arc<Hart>>,
    /// The group without its harts.
    group: HartGroup,
    blocks: Arc<Blocks>,
    harvested: bool,
    hung: bool,
    stopped: [bool; 5],
}

impl SavedUnit {
    /// Returns the approximate bytes of what the same unit at an earlier moment has not in common.
    pub(crate) fn bytes_beyond(&self, earlier: Option<&Self>) -> usize {
        match (self, earlier) {
            (Self::Core(a), Some(Self::Core(b))) if Arc::ptr_eq(a, b) => 0,
            (Self::Passive(a), Some(Self::Passive(b))) if Arc::ptr_eq(a, b) => 0,
            (Self::Core(tile), Some(Self::Core(earlier))) => tile.bytes_beyond(Some(earlier)),
            (Self::Core(tile), _) => tile.bytes_beyond(None),
            (Self::Passive(unit), Some(Self::Passive(earlier))) => {
                passive_bytes(unit, Some(earlier))
            }
            (Self::Passive(unit), _) => passive_bytes(unit, None),
        }
    }
}

fn passive_bytes(unit: &Passive, earlier: Option<&Passive>) -> usize {
    let memory = match (&unit.backend, earlier.map(|earlier| &earlier.backend)) {
        (Backend::Dram(dram), Some(Backend::Dram(earlier))) => dram.bytes_beyond(Some(earlier)),
        (Backend::Dram(dram), _) => dram.bytes_beyond(None),
        (Backend::Arc(arc), Some(Backend::Arc(earlier))) => arc.bytes_beyond(Some(earlier)),
        (Backend::Arc(arc), _) => arc.bytes_beyond(None),
        _ => 0,
    };
    let backend = match &unit.backend {
        Backend::Pcie(endpoint) => of_box(&**endpoint),
        _ => 0,
    };
    let own = allocation(size_of::<Passive>() + COUNTS);
    own + backend + of_vec(&unit.ports) + unit.events.bytes() + unit.out.bytes() + memory
}

impl SavedTile {
    /// Returns the state of a tile, which has in common with that of its last checkpoint what did not
    /// change since; all writes since are from before cycle `written_by`.
    pub(crate) fn new(tile: &mut Tile, last: Option<&Self>, written_by: u64) -> Self {
        let mut harts = std::mem::take(&mut tile.group.harts);
        let group = tile.group.clone();
        let before = |index: usize| last?.harts.get(index);
        let saved = harts.iter_mut().enumerate();
        let saved = saved.map(|(index, hart)| hart.save(before(index))).collect();
        tile.group.harts = harts;
        Self {
            memory: tile.memory.save(written_by),
            harts: saved,
            group,
            blocks: tile.blocks.save(last.map(|last| &last.blocks)),
            harvested: tile.harvested,
            hung: tile.hung,
            stopped: tile.stopped,
        }
    }

    /// Creates a tile in this state.
    pub(crate) fn tile(&self) -> Tile {
        let mut memory = TileMemory::restored(&self.memory);
        let mut group = self.group.clone();
        group.harts = self.harts.iter().map(|hart| Hart::clone(hart)).collect();
        group.set_watches(&mut memory);
        Tile {
            memory,
            group,
            blocks: Blocks::clone(&self.blocks),
            harvested: self.harvested,
            hung: self.hung,
            stopped: self.stopped,
        }
    }

    fn bytes_beyond(&self, earlier: Option<&Self>) -> usize {
        let harts = self.harts.iter().enumerate().map(|(index, hart)| {
            let earlier = earlier.and_then(|earlier| earlier.harts.get(index));
            // Registers, private memory, a loop and its steps are allocations of their own.
            let same = earlier.is_some_and(|earlier| Arc::ptr_eq(hart, earlier));
            let beside = if same { 0 } else { of_vec(&hart.watched) + BESIDE_HART };
            hart.bytes_beyond(earlier) + beside
        });
        allocation(size_of::<Self>() + COUNTS)
            + of_vec(&self.harts)
            + of_vec(&self.group.orders)
            + harts.sum::<usize>()
            + self.blocks.bytes_beyond(earlier.map(|earlier| &earlier.blocks))
            + self.memory.bytes_beyond(earlier.map(|earlier| &earlier.memory))
    }
}

/// A tile of a mesh, which is created from a checkpoint only when it is needed: most tiles of a mesh
/// of the past are never looked at and have nothing to do in the time that it runs.
#[derive(Clone, Debug)]
pub(crate) enum LazyTile {
    /// As in a checkpoint, with a copy for those who look at it.
    Saved(Arc<SavedTile>, OnceLock<Box<Tile>>),
    /// One that may have run on.
    Tile(Box<Tile>),
}

impl From<Tile> for LazyTile {
    fn from(tile: Tile) -> Self {
        Self::Tile(Box::new(tile))
    }
}

impl From<&Arc<SavedTile>> for LazyTile {
    fn from(saved: &Arc<SavedTile>) -> Self {
        Self::Saved(Arc::clone(saved), OnceLock::new())
    }
}

impl Deref for LazyTile {
    type Target = Tile;

    fn deref(&self) -> &Tile {
        match self {
            Self::Tile(tile) => tile,
            Self::Saved(saved, copy) => copy.get_or_init(|| Box::new(saved.tile())),
        }
    }
}

impl DerefMut for LazyTile {
    #[inline]
    fn deref_mut(&mut self) -> &mut Tile {
        if let Self::Saved(saved, copy) = self {
            *self = Self::Tile(copy.take().unwrap_or_else(|| Box::new(saved.tile())));
        }
        let Self::Tile(tile) = self else { unreachable!() };
        tile
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use super::LazyTile;
    use crate::chip::Unit;
    use crate::{Mesh, MeshConfig};

    /// Returns the number of tiles that were created.
    fn created(mesh: &Mesh) -> usize {
        let units = mesh.chips.iter().flat_map(|chip| &chip.units);
        let created = units.filter(|unit| match unit {
            Unit::Core(LazyTile::Saved(_, copy)) => copy.get().is_some(),
            Unit::Core(LazyTile::Tile(_)) => true,
            Unit::Passive(_) => false,
        });
        created.count()
    }

    #[test]
    fn a_mesh_of_the_past_creates_the_tiles_that_it_needs() {
        let mut mesh = Mesh::new(MeshConfig::n300()).unwrap();
        let all = created(&mesh);
        let mut past = Mesh::from_checkpoint(&mesh.checkpoint());
        past.clock(1_000_000);
        // The ends of the links only.
        assert_eq!((all, created(&past)), (192, 4));
        let tile = (0..12).flat_map(|y| (0..10).map(move |x| (x, y)));
        let hart = tile.clone().find(|(x, y)| past.hart(0, *x, *y, 0).is_some());
        assert_eq!((hart.is_some(), created(&past)), (true, 5));
        let found = tile.filter(|(x, y)| past.l1(0, *x, *y).is_some()).count();
        assert_eq!((found, created(&past)), (96, 4 + 96 - 2));
    }
}
