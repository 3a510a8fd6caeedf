//! A watch for writes, in the unit that has the memory.

use super::Mesh;
use crate::chip::tile::Tile;
use crate::chip::{Chip, Unit};
use crate::devices::blocks::Special;
use crate::devices::passive::Backend;
use crate::watch::{Counts, WriteWatch, Writer, Writes};

/// A range of the memory of one tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TileRange {
    /// Chip index.
    pub chip: usize,
    /// Column and row of the tile on NOC 0.
    pub tile: (u8, u8),
    /// Tile-local address of the first byte, in L1 or DRAM.
    pub addr: u64,
    /// Number of bytes.
    pub len: usize,
}

impl Unit {
    /// Returns the watch for writes, if it has one.
    pub(crate) fn write_watch(&mut self) -> Option<&mut Box<WriteWatch>> {
        match self {
            Self::Core(tile) => tile.memory.write_watch.as_mut(),
            Self::Passive(passive) => match &mut passive.backend {
                Backend::Dram(dram) => dram.write_watch.as_mut(),
                _ => None,
            },
        }
    }

    fn set_watch(&mut self, watch: Option<Box<WriteWatch>>) {
        match self {
            Self::Core(tile) => {
                // A hart that slept in a loop with stores executes them from now on.
                let Tile { group, memory, .. } = &mut **tile;
                group.wake_all(memory);
                memory.watch_writes(watch);
            }
            Self::Passive(passive) => {
                if let Backend::Dram(dram) = &mut passive.backend {
                    dram.write_watch = watch;
                }
            }
        }
    }

    /// Returns bytes of the memory; `None` if the unit has none there.
    fn bytes(&self, addr: u64, len: usize) -> Option<Vec<u8>> {
        let mut bytes = vec![0; len];
        match self {
            Self::Core(tile) => tile.memory.read(u32::try_from(addr).ok()?, &mut bytes).ok()?,
            Self::Passive(passive) => match &passive.backend {
                Backend::Dram(dram) => dram.read(addr, &mut bytes).ok()?,
                _ => return None,
            },
        }
        Some(bytes)
    }
}

impl Chip {
    /// Takes away the watches, each with the unit it is in.
    pub(crate) fn take_watches(&mut self) -> Vec<(usize, Box<WriteWatch>)> {
        let mut taken = Vec::new();
        for (at, unit) in self.units.iter_mut().enumerate() {
            if let Some(watch) = unit.write_watch() {
                taken.push((at, watch.clone()));
                unit.set_watch(None);
            }
        }
        taken
    }

    /// Gives back the watches to a chip that was reset.
    pub(crate) fn return_watches(&mut self, watches: Vec<(usize, Box<WriteWatch>)>, now: u64) {
        for (at, mut watch) in watches {
            if let Some(unit) = self.units.get_mut(at) {
                watch.replaced(now, |addr, len| unit.bytes(addr, len));
                unit.set_watch(Some(watch));
            }
        }
    }
}

impl Mesh {
    /// Watches for writes to ranges of the L1 or DRAM of tiles from this cycle on, and keeps this many
    /// of each. Returns whether the ranges exist.
    pub(crate) fn watch_writes(
        &mut self,
        ranges: &[TileRange],
        counts: Counts,
        most: usize,
    ) -> bool {
        let now = self.now;
        ranges.iter().all(|range| {
            let Some((chip, unit)) = self.unit(range.chip, range.tile) else { return false };
            chip.units[unit].run(now, u64::MAX / 2);
            chip.collect(unit);
            let bytes = chip.units[unit].bytes(range.addr, range.len).filter(|all| !all.is_empty());
            let watch = bytes.map(|bytes| {
                let before = chip.units[unit].write_watch().cloned();
                let mut watch = before.unwrap_or_else(|| Box::new(WriteWatch::new(counts)));
                watch.add(range.addr, bytes, most);
                watch
            });
            let exists = watch.is_some();
            chip.units[unit].set_watch(watch);
            chip.refresh(unit);
            exists
        })
    }

    /// Returns the writes to a range that a watch has seen.
    pub(crate) fn seen_writes(&mut self, range: &TileRange) -> Option<Writes> {
        let device = self.devices.iter().position(|chip| *chip == range.chip);
        let (chip, unit) = self.unit(range.chip, range.tile)?;
        let channel = match &chip.units[unit] {
            Unit::Core(tile) => match &tile.blocks.special {
                Special::Eth(eth) => Some(eth.channel),
                Special::Tensix(_) => None,
            },
            Unit::Passive(_) => None,
        };
        let mut writes = chip.units[unit].write_watch()?.writes(range.addr, range.len)?;
        let end = channel.map(|channel| (range.chip, channel));
        let linked = end.and_then(|end| self.peers.get(&end).copied());
        for write in &mut writes.kept {
            match &mut write.by {
                Writer::Link { peer } => *peer = linked,
                Writer::Host { device: known } => *known = device.unwrap_or(0),
                _ => {}
            }
        }
        Some(writes)
    }

    fn unit(&mut self, chip: usize, (x, y): (u8, u8)) -> Option<(&mut Chip, usize)> {
        let chip = self.chips.get_mut(chip)?;
        let unit = usize::from(*chip.grid.get(usize::from(y))?.get(usize::from(x))?);
        (unit < chip.units.len()).then_some((chip, unit))
    }
}
