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
    /// Returns the bytes that dropping this would free.
    pub(crate) fn own_bytes(&self) -> usize {
        match self {
            Self::Core(tile) if Arc::strong_count(tile) == 1 => {
                tile.memory.pages.own_bytes() + tile.state_bytes()
            }
            Self::Passive(passive) if Arc::strong_count(passive) == 1 => match &passive.backend {
                Backend::Dram(dram) => dram.own_bytes(),
                _ => size_of::<Passive>(),
            },
            _ => 0,
        }
    }
}

impl SavedTile {
    /// Returns the state of a tile, and the bytes that it adds to that of the last call.
    pub(crate) fn new(tile: &mut Tile) -> (Self, usize) {
        let (memory, copied) = tile.memory.save();
        let saved = Self {
            memory,
            group: tile.group.clone(),
            blocks: tile.blocks.clone(),
            harvested: tile.harvested,
            hung: tile.hung,
            stopped: tile.stopped,
        };
        let bytes = copied + saved.state_bytes();
        (saved, bytes)
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

    /// Returns the approximate bytes of harts and blocks.
    fn state_bytes(&self) -> usize {
        size_of::<Self>() + self.group.state_bytes() + self.blocks.state_bytes()
    }
}
