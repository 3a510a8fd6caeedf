//! A unit of a chip at the moment of a checkpoint.

use crate::blocks::Blocks;
use crate::hart::HartGroup;
use crate::memory::{SavedMemory, TileMemory};
use crate::passive::{Backend, Passive};
use crate::tile::Tile;
use std::sync::Arc;

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
    pub(crate) group: HartGroup,
    blocks: Blocks,
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
    size_of::<Passive>() + memory
}

impl SavedTile {
    /// Returns the state of a tile. Pages that were not written share those of the last call; all
    /// writes since are from before cycle `written_by`.
    pub(crate) fn new(tile: &mut Tile, written_by: u64) -> Self {
        Self {
            memory: tile.memory.save(written_by),
            group: tile.group.clone(),
            blocks: tile.blocks.clone(),
            harvested: tile.harvested,
            hung: tile.hung,
            stopped: tile.stopped,
        }
    }

    /// Creates a tile in this state.
    pub(crate) fn tile(&self) -> Tile {
        let mut memory = TileMemory::restored(&self.memory);
        self.group.set_watches(&mut memory);
        Tile {
            memory,
            group: self.group.clone(),
            blocks: self.blocks.clone(),
            harvested: self.harvested,
            hung: self.hung,
            stopped: self.stopped,
        }
    }

    fn bytes_beyond(&self, earlier: Option<&Self>) -> usize {
        let state = size_of::<Self>() + self.group.state_bytes() + self.blocks.state_bytes();
        state + self.memory.bytes_beyond(earlier.map(|earlier| &earlier.memory))
    }
}
