//! Reading and writing a tile, near or far: the one place that knows which way leads there.

mod cut;
mod far;
mod gateways;

use crate::bus::Bus;
use crate::guard::{Quarantine, read_near, seen};
use crate::planner::MergedRange;
use crate::queue::{Queue, Results, Stamped};
use far::FarRoute;
use layouts::{ChipCoord, NocXy};
use machine::patience::Patience;
use machine::snapshot::AccessError;
use machine::window::Order;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

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
        /// How many of them, from the first, have a link to the far chip itself.
        direct: usize,
        /// Where the far chip stands.
        coord: ChipCoord,
    },
}

/// The machine, with its windows and queues.
pub(crate) struct Access {
    pub(crate) bus: Bus,
    queues: BTreeMap<(u8, NocXy), Queue>,
    /// Gateways through which a write did not arrive: what is written next must not be lost there, too.
    doubted: BTreeSet<(u8, NocXy)>,
    pub(crate) patience: Patience,
    /// What hung, and is not touched again.
    pub(crate) quarantine: Quarantine,
    /// The device whose queues we have the lock of.
    locked: Option<u8>,
}

impl Access {
    pub(crate) fn new(bus: Bus, patience: Patience) -> Self {
        Self {
            bus,
            queues: BTreeMap::new(),
            doubted: BTreeSet::new(),
            patience,
            quarantine: Quarantine::default(),
            locked: None,
        }
    }

    /// What belongs to one device, without a bar yet, to be given back by [`Access::join`].
    pub(crate) fn part(&mut self, device: u8) -> Self {
        let mut part = Self::new(self.bus.part(device), self.patience);
        part.quarantine = self.quarantine.part(device);
        let queues = std::mem::take(&mut self.queues).into_iter();
        (part.queues, self.queues) = queues.partition(|((of, _), _)| *of == device);
        let doubted = std::mem::take(&mut self.doubted).into_iter();
        (part.doubted, self.doubted) = doubted.partition(|(of, _)| *of == device);
        part
    }

    /// Takes back what belongs to one device.
    pub(crate) fn join(&mut self, device: u8, part: Self) {
        self.bus.join(part.bus);
        self.quarantine.join(device, part.quarantine);
        self.queues.extend(part.queues);
        self.doubted.extend(part.doubted);
    }

    /// Lets everything that hung be tried again. Whoever brought it back may have reset it, so no
    /// window is believed to show what it did.
    pub(crate) fn clear_quarantine(&mut self) {
        self.quarantine.clear();
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
        self.flush_queues(|_, _| true)
    }

    /// Reads a range: memory in bulk, anything else word by word.
    pub(crate) fn read(
        &mut self,
        route: &Route,
        tile: NocXy,
        offset: u64,
        len: u32,
    ) -> Result<Stamped, AccessError> {
        let memory = self.bus.layout().is_memory(tile, offset, len.into());
        let whole = offset.is_multiple_of(4) && len.is_multiple_of(4);
        if !(memory || whole) {
            return Err(AccessError::Refused("registers are read as whole words".into()));
        }
        let run = MergedRange { tile, offset, len, memory };
        match route {
            Route::Pcie(device) => self.read_near(*device, &run),
            Route::Queue { .. } => {
                let mut results = self.read_runs(route, &[run]).reads;
                results.pop().unwrap_or(Err(AccessError::NotAsked))
            }
        }
    }

    /// Reads several ranges of a chip; a result for each, in their order. Those of a far chip are
    /// under way together as far as its gateways allow.
    pub(crate) fn read_runs(&mut self, route: &Route, runs: &[MergedRange]) -> Results {
        match route {
            Route::Pcie(device) => {
                let reads = runs.iter().map(|run| self.read_near(*device, run)).collect();
                Results { reads, silent: None, convicted: Vec::new() }
            }
            Route::Queue { device, tiles, direct, coord } => {
                let route = FarRoute { device: *device, tiles, direct: *direct, coord: *coord };
                self.read_through(route, runs)
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
        let short = || AccessError::Unreachable("it gave less than a word".into());
        Ok(u32::from_le_bytes(*read.bytes.first_chunk().ok_or_else(short)?))
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
        let memory = self.bus.layout().is_memory(tile, offset, bytes.len() as u64);
        let whole = offset.is_multiple_of(4) && bytes.len().is_multiple_of(4);
        if !(memory || whole) {
            return Err(AccessError::Refused("registers are written as whole words".into()));
        }
        let run = MergedRange { tile, offset, len: bytes.len() as u32, memory };
        match route {
            Route::Pcie(device) => {
                let (run, bytes) = self.whole_words(route, run, bytes)?;
                self.write_near(*device, &run, &bytes)
            }
            Route::Queue { device, tiles, direct, coord } => {
                let far = FarRoute { device: *device, tiles, direct: *direct, coord: *coord };
                // Nobody may write between reading the neighbours and writing them back.
                self.locked(*device, |access| {
                    let (run, bytes) = access.whole_words(route, run, bytes)?;
                    access.write_through(far, &run, &bytes)
                })
            }
        }
    }

    fn read_near(&mut self, device: u8, run: &MergedRange) -> Result<Stamped, AccessError> {
        let mut result = Err(AccessError::NotAsked);
        let Self { bus, quarantine, patience, .. } = self;
        read_near(bus, quarantine, *patience, device, &[*run], &mut |_, read| result = read);
        result.map(|(bytes, cycles)| Stamped { bytes: bytes.to_vec(), cycles })
    }

    fn write_near(
        &mut self,
        device: u8,
        run: &MergedRange,
        bytes: &[u8],
    ) -> Result<(), AccessError> {
        seen(&mut self.bus, &mut self.quarantine, self.patience, device, run.tile)?;
        let mut batch = self.bus.batch();
        if run.memory {
            // Posted writes are there once a read through the same window has come back.
            let last = run.offset + (bytes.len() as u64).saturating_sub(4);
            batch = batch
                .write(device, run.tile, run.offset, bytes, Order::Memory)
                .read(device, run.tile, last, 4);
        } else {
            for (at, word) in (run.offset..).step_by(4).zip(bytes.chunks(4)) {
                batch = batch.write(device, run.tile, at, word, Order::Strict);
            }
        }
        batch.run().end()
    }

    /// The whole words that `bytes` touches, with the neighbours as they are now.
    fn whole_words<'b>(
        &mut self,
        route: &Route,
        run: MergedRange,
        bytes: &'b [u8],
    ) -> Result<(MergedRange, Cow<'b, [u8]>), AccessError> {
        let start = run.offset & !3;
        let end = (run.offset + bytes.len() as u64).next_multiple_of(4);
        if end - start == bytes.len() as u64 {
            return Ok((run, Cow::Borrowed(bytes)));
        }
        let whole = MergedRange { offset: start, len: (end - start) as u32, ..run };
        let mut merged = self.read(route, run.tile, start, whole.len)?.bytes;
        let at = (run.offset - start) as usize;
        merged[at..at + bytes.len()].copy_from_slice(bytes);
        Ok((whole, Cow::Owned(merged)))
    }
}
