//! Reading and writing a tile, near or far: the one place that knows which way leads there.

use crate::bus::Bus;
use crate::guard::{Latch, read_near, seen};
use crate::planner::Run;
use crate::queue::{BLOCK_ALIGN, BLOCK_BYTES, Far, Patience, Queue, Stamped};
use crate::snapshot::AccessError;
use crate::windows::Order;
use crate::wormhole::is_memory;
use layouts::{ChipCoord, NocXy};
use std::collections::BTreeMap;

/// How a chip is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Route {
    /// Over its own PCIe endpoint.
    Pcie(u8),
    /// Through the routing queue of one of these Ethernet tiles of a PCIe device, best first.
    Queue {
        /// The PCIe device.
        device: u8,
        /// Ethernet tiles whose firmware serves the queue.
        tiles: Vec<NocXy>,
        /// Where the far chip stands.
        coord: ChipCoord,
    },
}

/// The machine, with its windows and queues.
pub(crate) struct Access {
    pub(crate) bus: Bus,
    queues: BTreeMap<(u8, NocXy), Queue>,
    pub(crate) patience: Patience,
    /// What hung, and is not touched again.
    pub(crate) latch: Latch,
}

impl Access {
    pub(crate) fn new(bus: Bus, patience: Patience) -> Self {
        Self { bus, queues: BTreeMap::new(), patience, latch: Latch::default() }
    }

    /// Lets everything that hung be tried again. Whoever brought it back may have reset it, so no
    /// window is believed to show what it did.
    pub(crate) fn clear_latch(&mut self) {
        self.latch.clear();
        self.bus.forget_windows();
    }

    /// Queue commands posted so far, over all gateways.
    pub(crate) fn queue_commands(&self) -> u64 {
        self.queues.values().map(Queue::commands).sum()
    }

    /// Others may have used the queues since the last series of commands: look again before use.
    pub(crate) fn begin(&mut self) -> Result<(), AccessError> {
        self.queues.values_mut().try_for_each(|queue| queue.out_of_step(&mut self.bus))
    }

    /// Gives back what is owed to the queues.
    pub(crate) fn finish(&mut self) -> Result<(), AccessError> {
        self.queues.values_mut().try_for_each(|queue| queue.settle(&mut self.bus))
    }

    /// Waits until all far writes have arrived.
    pub(crate) fn flush(&mut self) -> Result<(), AccessError> {
        self.queues.values_mut().try_for_each(|queue| queue.flush(&mut self.bus))
    }

    /// Reads a range: memory in bulk, anything else word by word.
    pub(crate) fn read(
        &mut self,
        route: &Route,
        tile: NocXy,
        offset: u64,
        len: u32,
    ) -> Result<Stamped, AccessError> {
        let memory = is_memory(tile, offset, len.into());
        let whole = offset.is_multiple_of(4) && len.is_multiple_of(4);
        if !(memory || whole) {
            return Err(AccessError::Refused("registers are read as whole words".into()));
        }
        match route {
            Route::Pcie(device) => self.read_near(*device, Run { tile, offset, len, memory }),
            Route::Queue { device, tiles, coord } => {
                let far = Far { coord: *coord, tile, offset };
                self.through(*device, tiles, |queue, bus| {
                    if memory {
                        read_far(queue, bus, far, len)
                    } else {
                        words(queue, bus, far, len)
                    }
                })
            }
        }
    }

    /// The word at `offset`.
    pub(crate) fn word(
        &mut self,
        route: &Route,
        tile: NocXy,
        offset: u64,
    ) -> Result<u32, AccessError> {
        let read = self.read(route, tile, offset, 4)?;
        let word = read.bytes.first_chunk().copied().unwrap_or_default();
        Ok(u32::from_le_bytes(word))
    }

    /// Writes a range. Parts of words in memory are merged with what is there; registers take
    /// whole words only. Writes to one chip arrive in order; [`Access::flush`] waits for the far ones.
    pub(crate) fn write(
        &mut self,
        route: &Route,
        tile: NocXy,
        offset: u64,
        bytes: &[u8],
    ) -> Result<(), AccessError> {
        let memory = is_memory(tile, offset, bytes.len() as u64);
        let whole = offset.is_multiple_of(4) && bytes.len().is_multiple_of(4);
        if !(memory || whole) {
            return Err(AccessError::Refused("registers are written as whole words".into()));
        }
        let merged;
        let (offset, bytes) = if whole {
            (offset, bytes)
        } else {
            merged = self.merge(route, tile, offset, bytes)?;
            (offset & !3, merged.as_slice())
        };
        match route {
            Route::Pcie(device) => self.write_near(*device, tile, offset, bytes, memory),
            Route::Queue { device, tiles, coord } => {
                let far = Far { coord: *coord, tile, offset };
                self.through(*device, tiles, |queue, bus| write_far(queue, bus, far, bytes, memory))
            }
        }
    }

    fn read_near(&mut self, device: u8, run: Run) -> Result<Stamped, AccessError> {
        let mut result = Err(AccessError::NotAsked);
        let Self { bus, latch, patience, .. } = self;
        read_near(bus, latch, *patience, device, &[run], &mut |_, read| result = read);
        result.map(|(bytes, cycles)| Stamped { bytes, cycles })
    }

    fn write_near(
        &mut self,
        device: u8,
        tile: NocXy,
        offset: u64,
        bytes: &[u8],
        memory: bool,
    ) -> Result<(), AccessError> {
        let len = bytes.len() as u32;
        seen(&mut self.bus, &mut self.latch, device, Run { tile, offset, len, memory })?;
        let mut batch = self.bus.batch();
        if memory {
            // Posted writes are there once a read through the same window has come back.
            let last = offset + (bytes.len() as u64).saturating_sub(4);
            batch =
                batch.write(device, tile, offset, bytes, Order::Memory).read(device, tile, last, 4);
        } else {
            for (at, word) in (offset..).step_by(4).zip(bytes.chunks(4)) {
                batch = batch.write(device, tile, at, word, Order::Strict);
            }
        }
        batch.run().end()
    }

    /// The whole words that `bytes` touches, with the neighbours as they are now.
    fn merge(
        &mut self,
        route: &Route,
        tile: NocXy,
        offset: u64,
        bytes: &[u8],
    ) -> Result<Vec<u8>, AccessError> {
        let start = offset & !3;
        let end = (offset + bytes.len() as u64).next_multiple_of(4);
        let mut whole = self.read(route, tile, start, (end - start) as u32)?.bytes;
        let at = (offset - start) as usize;
        whole[at..at + bytes.len()].copy_from_slice(bytes);
        Ok(whole)
    }

    /// Does something through the first queue that works. A queue that timed out is passed over;
    /// what the far side answered, good or bad, is the answer.
    fn through<T>(
        &mut self,
        device: u8,
        tiles: &[NocXy],
        mut act: impl FnMut(&mut Queue, &mut Bus) -> Result<T, AccessError>,
    ) -> Result<T, AccessError> {
        let mut last = AccessError::Unreachable("no Ethernet tile leads there".into());
        for &tile in tiles {
            if let Some(reason) = self.latch.tile(device, tile) {
                last = reason.clone();
                continue;
            }
            let queue = match self.queues.entry((device, tile)) {
                std::collections::btree_map::Entry::Occupied(known) => known.into_mut(),
                std::collections::btree_map::Entry::Vacant(free) => {
                    free.insert(Queue::find(&mut self.bus, device, tile, self.patience)?)
                }
            };
            match act(queue, &mut self.bus) {
                Err(timeout @ AccessError::TimedOut { .. }) => last = timeout,
                other => return other,
            }
        }
        Err(last)
    }
}

/// Words one by one.
fn words(queue: &mut Queue, bus: &mut Bus, far: Far, len: u32) -> Result<Stamped, AccessError> {
    let mut read = Stamped { bytes: Vec::with_capacity(len as usize), cycles: 0 };
    for at in (far.offset..far.offset + u64::from(len)).step_by(4) {
        let word = queue.read_word(bus, Far { offset: at, ..far })?;
        read.bytes.extend(word.bytes);
        read.cycles = word.cycles;
    }
    Ok(read)
}

/// Memory in blocks: reading a little more than was asked does no harm there.
fn read_far(queue: &mut Queue, bus: &mut Bus, far: Far, len: u32) -> Result<Stamped, AccessError> {
    let end = far.offset + u64::from(len);
    if len <= 4 && far.offset / 4 == (end - 1).max(far.offset) / 4 {
        return word_part(queue, bus, far, len);
    }
    let start = far.offset / BLOCK_ALIGN * BLOCK_ALIGN;
    let stop = end.next_multiple_of(BLOCK_ALIGN);
    let mut read = Stamped { bytes: Vec::with_capacity((stop - start) as usize), cycles: 0 };
    for at in (start..stop).step_by(BLOCK_BYTES) {
        let now = (stop - at).min(BLOCK_BYTES as u64) as u32;
        let block = queue.read_block(bus, Far { offset: at, ..far }, now)?;
        read.bytes.extend(block.bytes);
        read.cycles = block.cycles;
    }
    read.bytes.drain(..(far.offset - start) as usize);
    read.bytes.truncate(len as usize);
    Ok(read)
}

fn word_part(queue: &mut Queue, bus: &mut Bus, far: Far, len: u32) -> Result<Stamped, AccessError> {
    let mut read = queue.read_word(bus, Far { offset: far.offset & !3, ..far })?;
    read.bytes.drain(..(far.offset & 3) as usize);
    read.bytes.truncate(len as usize);
    Ok(read)
}

/// Words up to the first 32-byte boundary, then blocks of whole words; registers by words alone.
fn write_far(
    queue: &mut Queue,
    bus: &mut Bus,
    far: Far,
    bytes: &[u8],
    memory: bool,
) -> Result<(), AccessError> {
    let mut at = far.offset;
    let mut rest = bytes;
    while !rest.is_empty() {
        let here = Far { offset: at, ..far };
        let blocks = memory && at.is_multiple_of(BLOCK_ALIGN) && rest.len() > 4;
        let now = rest.len().min(if blocks { BLOCK_BYTES } else { 4 });
        let (part, later) = rest.split_at(now);
        if blocks {
            queue.write_block(bus, here, part)?;
        } else {
            let word = part.first_chunk().copied().unwrap_or_default();
            queue.write_word(bus, here, u32::from_le_bytes(word))?;
        }
        at += now as u64;
        rest = later;
    }
    Ok(())
}
