//! The whole state of a mesh at one cycle, from which it can run again.
//!
//! A checkpoint costs what changed since the one before: units without activity, pages of L1 and
//! DRAM without writes, instruction RAMs and telemetry are shared with it. It leaves out what has
//! no effect on results: decoded instructions, which follow from the bytes, and host threads.

use crate::chip::saved::{SavedTile, SavedUnit};
use crate::chip::{Chip, Unit};
use crate::condition::Condition;
use crate::config::MeshConfig;
use crate::devices::passive::{Backend, Passive};
use crate::devices::pci::ConfigSpace;
use crate::disruption::Disruptor;
use crate::heap::{COUNTS, allocation, of_arc, of_vec};
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
}

impl Checkpoint {
    /// Returns the cycle of the mesh.
    pub fn cycle(&self) -> u64 {
        self.now
    }

    /// Returns the unit at a place of a chip.
    pub(crate) fn unit(&self, chip: usize, (x, y): (u8, u8)) -> Option<&SavedUnit> {
        let chip = self.chips.get(chip)?;
        let unit = *chip.rest.grid.get(usize::from(y))?.get(usize::from(x))?;
        chip.units.get(usize::from(unit))
    }

    /// Returns the approximate memory in bytes of what an earlier checkpoint of the same mesh has not
    /// in common with this one; all of it without an earlier one.
    pub fn bytes_beyond(&self, earlier: Option<&Self>) -> usize {
        let units =
            |checkpoint: &Self, chip: usize| checkpoint.chips.get(chip).map(SavedChip::units);
        let chips = self.chips.iter().enumerate().map(|(index, chip)| {
            let earlier = earlier.and_then(|earlier| units(earlier, index));
            chip.rest.own_bytes() + chip.bytes_beyond(earlier.as_ref())
        });
        let own = allocation(size_of::<Self>() + COUNTS) + of_vec(&self.devices);
        let own = own + of_vec(&self.chips) + of_vec(&self.spaces) + of_vec(&self.links_up);
        own + of_vec(&self.conditions) + chips.sum::<usize>()
    }
}

impl SavedChip {
    fn units(&self) -> Arc<Vec<SavedUnit>> {
        Arc::clone(&self.units)
    }

    fn bytes_beyond(&self, earlier: Option<&Arc<Vec<SavedUnit>>>) -> usize {
        if earlier.is_some_and(|earlier| Arc::ptr_eq(earlier, &self.units)) {
            return 0;
        }
        let earlier = |unit: usize| earlier.and_then(|units| units.get(unit));
        let units = self.units.iter().enumerate();
        let units = units.map(|(index, unit)| unit.bytes_beyond(earlier(index)));
        of_arc(&self.units) + of_vec(&self.units) + units.sum::<usize>()
    }
}

impl Unit {
    fn save(&mut self, last: Option<&SavedUnit>, written_by: u64) -> SavedUnit {
        match self {
            Self::Core(tile) => {
                let last = match last {
                    Some(SavedUnit::Core(last)) => Some(&**last),
                    _ => None,
                };
                SavedUnit::Core(Arc::new(SavedTile::new(tile, last, written_by)))
            }
            Self::Passive(passive) => SavedUnit::Passive(Arc::new(Passive::clone(passive))),
        }
    }

    fn restored(saved: &SavedUnit) -> Self {
        match saved {
            SavedUnit::Core(tile) => Self::Core(tile.into()),
            SavedUnit::Passive(passive) => {
                let mut passive = Box::new(Passive::clone(passive));
                if let Backend::Pcie(endpoint) = &mut passive.backend {
                    // A copy of a mesh gets the answers on the tape.
                    endpoint.host = None;
                }
                Self::Passive(passive)
            }
        }
    }
}

impl Chip {
    /// Returns the memory of what is not in its units in bytes, without its own size.
    fn own_bytes(&self) -> usize {
        let lists = of_vec(&self.changed) + of_vec(&self.senders) + of_vec(&self.frames);
        lists + of_vec(&self.conditions) + self.agenda.bytes()
    }

    /// Returns the state. Units that did not change share that of the last call; all writes since are
    /// from before cycle `written_by`.
    pub(crate) fn save(&mut self, written_by: u64) -> SavedChip {
        if self.changed.contains(&true) {
            let mut saved = self.saved.to_vec();
            for (index, unit) in self.units.iter_mut().enumerate() {
                if std::mem::take(&mut self.changed[index]) {
                    let unit = unit.save(saved.get(index), written_by);
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
        SavedChip { rest, units: Arc::clone(&self.saved) }
    }

    /// Creates a chip in this state.
    pub(crate) fn restored(saved: &SavedChip) -> Self {
        let mut chip = saved.rest.clone();
        chip.units = saved.units.iter().map(Unit::restored).collect();
        chip
    }
}
