//! Reads and writes of tiles, near and far: selects the route to each chip.

mod cut;
mod far;
mod gateways;

use crate::bus::Bus;
use crate::guard::{Quarantine, read_near, seen};
use crate::planner::MergedRange;
use crate::queue::{Queue, Results, Stamped};
use far::FarRoute;
use layouts::{ChipCoord, NocXy};
use machine::patience::Deadlines;
use machine::snapshot::AccessError;
use machine::window::WindowOrdering;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// The route to a chip.
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
        /// Number of tiles, from the first, that have a link to the far chip itself.
        direct: usize,
        /// Position of the far chip.
        coord: ChipCoord,
    },
}

/// The machine, with its windows and queues.
pub(crate) struct Access {
    pub(crate) bus: Bus,
    queues: BTreeMap<(u8, NocXy), Queue>,
    /// Gateways that lost a write; the next write must not be lost there, too.
    doubted: BTreeSet<(u8, NocXy)>,
    pub(crate) patience: Deadlines,
    /// Devices, chips, tiles and gateways that are not accessed.
    pub(crate) quarantine: Quarantine,
    /// The device whose queue lock is held.
    locked: Option<u8>,
}

impl Access {
    pub(crate) fn new(bus: Bus, patience: Deadlines) -> Self {
        Self {
            bus,
            queues: BTreeMap::new(),
            doubted: BTreeSet::new(),
            patience,
            quarantine: Quarantine::default(),
            locked: None,
        }
    }

    /// Splits off the state of one device, without a bar, until [`Access::join`].
    pub(crate) fn part(&mut self, device: u8) -> Self {
        let mut part = Self::new(self.bus.part(device), self.patience);
        part.quarantine = self.quarantine.part(device);
        let queues = std::mem::take(&mut self.queues).into_iter();
        (part.queues, self.queues) = queues.partition(|((owner, _), _)| *owner == device);
        let doubted = std::mem::take(&mut self.doubted).into_iter();
        (part.doubted, self.doubted) = doubted.partition(|(owner, _)| *owner == device);
        part
    }

    /// Takes back the state of one device.
    pub(crate) fn join(&mut self, device: u8, part: Self) {
        self.bus.join(part.bus);
        self.quarantine.join(device, part.quarantine);
        self.queues.extend(part.queues);
        self.doubted.extend(part.doubted);
    }

    /// Allows access to everything in quarantine. The repair may have included a reset, so that the
    /// windows are pointed again.
    pub(crate) fn clear_quarantine(&mut self) {
        self.quarantine.clear();
        self.bus.forget_windows();
    }

    /// Returns the number of queue commands posted so far, over all gateways.
    pub(crate) fn queue_commands(&self) -> u64 {
        self.queues.values().map(Queue::commands).sum()
    }

    /// Marks the indices of all queues as unread: other clients may have used the queues since the
    /// last series of commands.
    pub(crate) fn begin(&mut self) -> Result<(), AccessError> {
        self.queues.values_mut().try_for_each(|queue| queue.out_of_step(&mut self.bus))
    }

    /// Writes the response read indices that are still owed to the queues.
    pub(crate) fn finish(&mut self) -> Result<(), AccessError> {
        self.queues.values_mut().try_for_each(|queue| queue.settle(&mut self.bus))
    }

    /// Waits until all far writes have arrived.
    pub(crate) fn flush(&mut self) -> Result<(), AccessError> {
        self.flush_queues(|_, _| true)
    }

    /// Reads a range: memory in bulk, registers word by word.
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
                results.pop().unwrap_or(Err(AccessError::NotRequested))
            }
        }
    }

    /// Reads several ranges of a chip; returns a result for each, in their order. Reads of a far
    /// chip run in parallel as its gateways allow.
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

    pub(crate) fn word(
        &mut self,
        route: &Route,
        tile: NocXy,
        offset: u64,
    ) -> Result<u32, AccessError> {
        let read = self.read(route, tile, offset, 4)?;
        let short = || AccessError::Unreachable("the answer is shorter than a word".into());
        Ok(u32::from_le_bytes(*read.bytes.first_chunk().ok_or_else(short)?))
    }

    /// Writes a range. Parts of words in memory are merged with their neighbours; registers take
    /// whole words only. Writes to one chip arrive in order; [`Access::flush`] waits for those to
    /// far chips.
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
                // The lock keeps other clients from writing between reading the neighbours and
                // writing them back.
                self.locked(*device, |access| {
                    let (run, bytes) = access.whole_words(route, run, bytes)?;
                    access.write_through(far, &run, &bytes)
                })
            }
        }
    }

    fn read_near(&mut self, device: u8, run: &MergedRange) -> Result<Stamped, AccessError> {
        let mut result = Err(AccessError::NotRequested);
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
            // A posted write has arrived once a read through the same window has returned.
            let last = run.offset + (bytes.len() as u64).saturating_sub(4);
            batch = batch
                .write(device, run.tile, run.offset, bytes, WindowOrdering::Memory)
                .read(device, run.tile, last, 4);
        } else {
            for (at, word) in (run.offset..).step_by(4).zip(bytes.chunks(4)) {
                batch = batch.write(device, run.tile, at, word, WindowOrdering::Strict);
            }
        }
        batch.run().end()
    }

    /// Extends `bytes` to whole words with the neighbouring bytes.
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
