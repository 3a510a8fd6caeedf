//! A watch for writes, in the unit that has the memory.

use crate::blocks::Special;
use crate::chip::{Chip, Unit};
use crate::mesh::Mesh;
use crate::passive::Backend;
use crate::watch::{Counts, Write, WriteWatch, Writer};

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
                tile.group.wake_all(&mut tile.memory);
                tile.memory.watch_writes(watch);
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
    /// Takes away a watch, with the unit it is in.
    pub(crate) fn take_watch(&mut self) -> Option<(usize, Box<WriteWatch>)> {
        let at = self.units.iter_mut().position(|unit| unit.write_watch().is_some())?;
        let watch = self.units[at].write_watch()?.clone();
        self.units[at].set_watch(None);
        Some((at, watch))
    }

    /// Gives back the watch to a chip that was reset.
    pub(crate) fn return_watch(&mut self, watch: Option<(usize, Box<WriteWatch>)>, now: u64) {
        let Some((at, mut watch)) = watch else { return };
        let (addr, len) = watch.range();
        if let Some(bytes) = self.units.get(at).and_then(|unit| unit.bytes(addr, len)) {
            watch.replaced(now, &bytes);
            self.units[at].set_watch(Some(watch));
        }
    }
}

impl Mesh {
    /// Watches for writes to a range of a tile's L1 or DRAM from this cycle on. Returns whether the
    /// range exists.
    pub(crate) fn watch_writes(&mut self, range: &TileRange, counts: Counts) -> bool {
        let now = self.now;
        let Some((chip, unit)) = self.unit(range.chip, range.tile) else { return false };
        chip.units[unit].run(now, u64::MAX / 2);
        chip.collect(unit);
        let bytes = chip.units[unit].bytes(range.addr, range.len).filter(|all| !all.is_empty());
        let watch = bytes.map(|bytes| Box::new(WriteWatch::new(range.addr, bytes, counts)));
        let exists = watch.is_some();
        chip.units[unit].set_watch(watch);
        chip.refresh(unit);
        exists
    }

    /// Returns the last write that a watch has seen.
    pub(crate) fn seen_write(&mut self, range: &TileRange) -> Option<Write> {
        let device = self.devices.iter().position(|chip| *chip == range.chip);
        let (chip, unit) = self.unit(range.chip, range.tile)?;
        let channel = match &chip.units[unit] {
            Unit::Core(tile) => match &tile.blocks.special {
                Special::Eth(eth) => Some(eth.channel),
                Special::Tensix(_) => None,
            },
            Unit::Passive(_) => None,
        };
        let mut write = chip.units[unit].write_watch()?.last()?;
        match &mut write.by {
            Writer::Link { peer } => {
                let end = channel.map(|channel| (range.chip, channel));
                *peer = end.and_then(|end| self.peers.get(&end).copied());
            }
            Writer::Host { device: known } => *known = device.unwrap_or(0),
            _ => {}
        }
        Some(write)
    }

    fn unit(&mut self, chip: usize, (x, y): (u8, u8)) -> Option<(&mut Chip, usize)> {
        let chip = self.chips.get_mut(chip)?;
        let unit = usize::from(*chip.grid.get(usize::from(y))?.get(usize::from(x))?);
        (unit < chip.units.len()).then_some((chip, unit))
    }
}
