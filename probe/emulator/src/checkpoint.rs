//! The whole state of a mesh at one cycle, from which it can run again.
//!
//! A checkpoint costs what changed since the one before: units without activity, pages of L1 and
//! DRAM without writes, instruction RAMs and telemetry are shared with it. It leaves out what has
//! no effect on results: decoded instructions, which follow from the bytes, and host threads.

use crate::chip::{Chip, Unit};
use crate::condition::Condition;
use crate::config::MeshConfig;
use crate::disruption::Disruptor;
use crate::passive::{Backend, Passive};
use crate::pci::ConfigSpace;
use crate::saved::{SavedTile, SavedUnit};
use crate::timing::Timing;
use std::collections::HashMap;
use std::sync::Arc;

/// A chip at the moment of a checkpoint.
#[derive(Clone, Debug)]
pub(crate) struct SavedChip {
    /// The chip without its units.
    rest: Chip,
    pub(crate) units: Arc<Vec<SavedUnit>>,
}

/// A mesh at one cycle.
#[derive(Clone, Debug)]
pub struct Checkpoint {
    pub(crate) now: u64,
    pub(crate) config: Arc<MeshConfig>,
    pub(crate) timing: Arc<Timing>,
    pub(crate) devices: Vec<usize>,
    pub(crate) peers: Arc<HashMap<(usize, u8), (usize, u8)>>,
    pub(crate) lookahead: u64,
    pub(crate) chips: Vec<SavedChip>,
    pub(crate) spaces: Vec<ConfigSpace>,
    pub(crate) links_up: Vec<bool>,
    pub(crate) disruptor: Disruptor,
    pub(crate) conditions: Vec<Condition>,
    pub(crate) new_bytes: usize,
}

impl Checkpoint {
    /// Returns the cycle of the mesh.
    pub fn cycle(&self) -> u64 {
        self.now
    }

    /// Returns the memory in bytes that this checkpoint added to those before it.
    pub fn new_bytes(&self) -> usize {
        self.new_bytes
    }

    /// Returns the memory in bytes that dropping this checkpoint would free: what no other
    /// checkpoint and no mesh has in common with it.
    pub fn own_bytes(&self) -> usize {
        let units = self.chips.iter().filter(|chip| Arc::strong_count(&chip.units) == 1);
        units.flat_map(|chip| chip.units.iter()).map(SavedUnit::own_bytes).sum()
    }
}

impl Unit {
    fn save(&mut self) -> (SavedUnit, usize) {
        match self {
            Self::Core(tile) => {
                let (saved, bytes) = SavedTile::new(tile);
                (SavedUnit::Core(Arc::new(saved)), bytes)
            }
            Self::Passive(passive) => {
                (SavedUnit::Passive(Arc::new((**passive).clone())), size_of::<Passive>())
            }
        }
    }

    fn restored(saved: &SavedUnit) -> Self {
        match saved {
            SavedUnit::Core(tile) => Self::Core(Box::new(tile.tile())),
            SavedUnit::Passive(passive) => {
                let mut passive = Box::new((**passive).clone());
                if let Backend::Pcie(endpoint) = &mut passive.backend {
                    // The host has one memory, and a copy does not write to it.
                    endpoint.host = None;
                }
                Self::Passive(passive)
            }
        }
    }
}

impl Chip {
    /// Returns the state, and the bytes that it adds to that of the last call.
    pub(crate) fn save(&mut self) -> (SavedChip, usize) {
        let mut bytes = size_of::<Self>();
        if self.changed.contains(&true) {
            let mut saved = self.saved.to_vec();
            for (index, unit) in self.units.iter_mut().enumerate() {
                if std::mem::take(&mut self.changed[index]) {
                    let (unit, added) = unit.save();
                    bytes += added;
                    match saved.get_mut(index) {
                        Some(place) => *place = unit,
                        None => saved.push(unit),
                    }
                }
            }
            self.saved = Arc::new(saved);
        }
        let units = std::mem::take(&mut self.units);
        let rest = self.clone();
        self.units = units;
        (SavedChip { rest, units: Arc::clone(&self.saved) }, bytes)
    }

    /// Creates a chip in this state.
    pub(crate) fn restored(saved: &SavedChip) -> Self {
        let mut chip = saved.rest.clone();
        chip.units = saved.units.iter().map(Unit::restored).collect();
        chip
    }
}
