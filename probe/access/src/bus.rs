//! Accesses to tiles over PCIe: windows pointed on demand, many accesses per batch, all counted.

use crate::windows::Windows;
use layouts::{ChipKind, ChipLayout, NocXy};
use machine::bar::{Bar, BarOp, Elsewhere, Sharing};
use machine::clients::Holder;
use machine::fault::{ChipAddress, Fault};
use machine::past::KeptPast;
use machine::snapshot::{AccessError, Bytes, StoppedCore};
use machine::window::WindowOrdering;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

/// A machine's bus with the windows of its devices.
pub(crate) struct Bus {
    bar: Box<dyn Bar>,
    windows: BTreeMap<u8, Windows>,
    transactions: u64,
    /// The list of the last batch, reused.
    spare: Vec<BarOp>,
}

impl Bus {
    /// Creates a bus whose windows are in an unknown state.
    pub(crate) fn new(bar: Box<dyn Bar>) -> Self {
        Self { bar, windows: BTreeMap::new(), transactions: 0, spare: Vec::new() }
    }

    /// Splits off the bus of one device, which has no bar until [`Bus::over`] and returns with
    /// [`Bus::join`].
    pub(crate) fn part(&mut self, device: u8) -> Self {
        let mut part = Self::new(Box::new(Nowhere(self.bar.chip())));
        part.windows = self.windows.remove(&device).map(|own| (device, own)).into_iter().collect();
        part
    }

    /// Sets the bar.
    pub(crate) fn over(&mut self, bar: Box<dyn Bar>) {
        self.bar = bar;
    }

    /// Takes back the windows of a device.
    pub(crate) fn join(&mut self, part: Self) {
        self.windows.extend(part.windows);
        self.transactions += part.transactions;
    }

    /// Returns the layout of the machine's chips.
    pub(crate) fn layout(&self) -> &'static ChipLayout {
        self.bar.chip().layout()
    }

    pub(crate) fn bar(&mut self) -> &mut dyn Bar {
        self.bar.as_mut()
    }

    /// Returns the largest possible number of devices.
    pub(crate) fn most_devices(&self) -> u8 {
        self.bar.most_devices()
    }

    /// Returns the chips that only other hosts reach.
    pub(crate) fn elsewhere(&self) -> Vec<Elsewhere> {
        self.bar.elsewhere()
    }

    /// Returns how much of its past the machine keeps.
    pub(crate) fn kept_past(&self) -> Option<KeptPast> {
        self.bar.kept_past()
    }

    /// Returns the cores of some chips that the machine has stopped, by the index of the chip.
    pub(crate) fn stopped_cores(&mut self, chips: &[ChipAddress]) -> Vec<(usize, StoppedCore)> {
        self.bar.stopped_cores(chips)
    }

    /// Returns the problems that the machine found.
    pub(crate) fn remarks(&mut self) -> Vec<String> {
        self.bar.remarks()
    }

    /// Returns the other processes that have a device open.
    pub(crate) fn holders(&mut self, device: u8) -> Vec<Holder> {
        self.bar.holders(device)
    }

    /// Returns the number of a device's file in this host's driver.
    pub(crate) fn card(&mut self, device: u8) -> Option<u16> {
        self.bar.card(device)
    }

    /// Closes the devices until the next access, which asks for windows again.
    pub(crate) fn give_back(&mut self) {
        self.windows.clear();
        self.bar.give_back();
    }

    /// Describes the change that the next batches make.
    pub(crate) fn announce(&mut self, change: &str) {
        self.bar.announce(change);
    }

    /// Injects a fault.
    pub(crate) fn disrupt(&mut self, at: ChipAddress, fault: &Fault) -> Result<(), AccessError> {
        self.bar.disrupt(at, fault)
    }

    pub(crate) fn into_bar(self) -> Box<dyn Bar> {
        self.bar
    }

    /// Returns the number of bus transactions since the bus was opened.
    pub(crate) fn transactions(&self) -> u64 {
        self.transactions
    }

    /// Makes every window be pointed again before its next use.
    pub(crate) fn forget_windows(&mut self) {
        self.windows.values_mut().for_each(Windows::forget);
    }

    /// Takes the lock of the device's routing queues.
    pub(crate) fn lock_queues(&mut self, device: u8) -> Result<Sharing, AccessError> {
        self.bar.lock_queues(device)
    }

    /// Releases the lock.
    pub(crate) fn unlock_queues(&mut self, device: u8) -> Result<(), AccessError> {
        self.bar.unlock_queues(device)
    }

    /// Returns the state of the windows, to be restored after batches that are composed but not
    /// run.
    pub(crate) fn windows(&self) -> BTreeMap<u8, Windows> {
        self.windows.clone()
    }

    /// Restores the state of the windows if nothing was run since [`Bus::windows`].
    pub(crate) fn restore(&mut self, windows: BTreeMap<u8, Windows>) {
        self.windows = windows;
    }

    /// Starts a batch.
    pub(crate) fn batch(&mut self) -> Batch<'_> {
        let ops = std::mem::take(&mut self.spare);
        Batch { bus: self, ops, error: None }
    }

    /// Returns the target's time, in cycles.
    pub(crate) fn now(&mut self) -> Result<u64, AccessError> {
        self.batch().now().run().cycles()
    }

    /// Lets time pass.
    pub(crate) fn pass(&mut self, cycles: u64) -> Result<(), AccessError> {
        self.batch().pass(cycles).run().end()
    }
}

/// No machine, in place of one with this kind of chip.
struct Nowhere(ChipKind);

impl Bar for Nowhere {
    fn submit(&mut self, _batch: &[BarOp], _answer: &mut Vec<u8>) -> Result<(), AccessError> {
        Err(AccessError::DeviceGone("the device has no bar".into()))
    }

    fn chip(&self) -> ChipKind {
        self.0
    }
}

/// A batch of accesses under construction.
pub(crate) struct Batch<'b> {
    bus: &'b mut Bus,
    ops: Vec<BarOp>,
    /// Why the batch cannot be sent.
    error: Option<AccessError>,
}

impl Batch<'_> {
    /// Reads memory of a tile through its window; longer reads are split at window ends.
    #[inline]
    pub(crate) fn read(self, device: u8, tile: NocXy, offset: u64, len: u32) -> Self {
        self.read_as(device, tile, offset, len, WindowOrdering::Memory)
    }

    /// Reads a range with the given ordering.
    #[inline]
    pub(crate) fn read_as(
        mut self,
        device: u8,
        tile: NocXy,
        offset: u64,
        len: u32,
        order: WindowOrdering,
    ) -> Self {
        let end = offset + u64::from(len);
        let mut at = offset;
        while at < end {
            let Some((bar_offset, room)) = self.window(device, tile, at, end - at, order) else {
                break;
            };
            let count = room.min(end - at);
            self.ops.push(BarOp::Read {
                device,
                bar: 0,
                offset: bar_offset,
                len: count as u32,
                ones: 0,
            });
            at += count;
        }
        self
    }

    /// Reads one 32-bit register: exactly one load.
    pub(crate) fn register(self, device: u8, tile: NocXy, offset: u64) -> Self {
        self.read_as(device, tile, offset, 4, WindowOrdering::Strict)
    }

    /// Writes bytes of a tile.
    pub(crate) fn write(
        mut self,
        device: u8,
        tile: NocXy,
        offset: u64,
        bytes: &[u8],
        order: WindowOrdering,
    ) -> Self {
        let mut at = offset;
        let mut rest = bytes;
        while !rest.is_empty() {
            let len = rest.len() as u64;
            let Some((bar_offset, room)) = self.window(device, tile, at, len, order) else { break };
            let (now, later) = rest.split_at(rest.len().min(room as usize));
            self.ops.push(BarOp::Write { device, bar: 0, offset: bar_offset, bytes: now.to_vec() });
            at += now.len() as u64;
            rest = later;
        }
        self
    }

    /// Reads a word of BAR0, outside of the windows.
    pub(crate) fn bar_word(mut self, device: u8, offset: u64) -> Self {
        self.ops.push(BarOp::Read { device, bar: 0, offset, len: 4, ones: 0 });
        self
    }

    /// Reads a word of PCI config space.
    pub(crate) fn config(mut self, device: u8, offset: u16) -> Self {
        self.ops.push(BarOp::ConfigRead { device, offset });
        self
    }

    /// Lets time pass.
    pub(crate) fn pass(mut self, cycles: u64) -> Self {
        self.ops.push(BarOp::Pass { cycles });
        self
    }

    /// Reads the target's time.
    pub(crate) fn now(mut self) -> Self {
        self.ops.push(BarOp::Now);
        self
    }

    /// Ends the batch after the read just added if the last `len` bytes read are all 0xFF.
    #[inline]
    pub(crate) fn end_if_ones(mut self, len: u32) -> Self {
        if let Some(BarOp::Read { ones, .. }) = self.ops.last_mut() {
            *ones = len;
        }
        self
    }

    /// Returns the transactions that the batch would take.
    pub(crate) fn transactions(&self) -> u64 {
        self.ops.iter().filter(|op| op.is_transaction()).count() as u64
    }

    /// Runs the batch. The answer holds the bytes read, and the error that ended the batch, if any.
    pub(crate) fn run(self) -> BatchAnswer {
        let Self { bus, mut ops, error } = self;
        if let Some(error) = error {
            return BatchAnswer { bytes: Arc::default(), at: 0, whole: false, error: Some(error) };
        }
        let expected = ops.iter().map(BarOp::answer_len).sum();
        let mut bytes = Vec::with_capacity(expected);
        let result = bus.bar.submit(&ops, &mut bytes);
        let whole = bytes.len() == expected;
        let done = if whole { ops.len() } else { reached(&ops, bytes.len()) };
        bus.transactions += ops[..done].iter().filter(|op| op.is_transaction()).count() as u64;
        if result.is_err() {
            bus.forget_windows();
        }
        for op in &ops[done..] {
            // Points that were not carried out.
            if let BarOp::Point { device, window, .. } = op
                && let Some(windows) = bus.windows.get_mut(device)
            {
                windows.forget_one(*window);
            }
        }
        ops.clear();
        bus.spare = ops;
        BatchAnswer { bytes: Arc::new(bytes), at: 0, whole, error: result.err() }
    }

    /// Returns the BAR0 offset of the byte, and the number of accessible bytes from there.
    fn window(
        &mut self,
        device: u8,
        tile: NocXy,
        at: u64,
        len: u64,
        order: WindowOrdering,
    ) -> Option<(u64, u64)> {
        let layout = self.bus.layout();
        let windows = match self.bus.windows.entry(device) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(free) => match self.bus.bar.windows(device) {
                Ok(usable) => free.insert(Windows::new(layout, &usable)),
                Err(error) => {
                    self.error.get_or_insert(error);
                    return None;
                }
            },
        };
        let Some(place) = windows.place(tile, at, len, order) else {
            let none = || AccessError::Unreachable(format!("device {device} has no usable window"));
            self.error.get_or_insert_with(none);
            return None;
        };
        self.ops.extend(place.point.map(|point| point.on(device)));
        Some((place.bar_offset, place.room))
    }
}

/// Returns the number of operations that were carried out, given the length of the answer.
fn reached(ops: &[BarOp], answered: usize) -> usize {
    let mut bytes = 0;
    for (op, done) in ops.iter().zip(0..) {
        bytes += op.answer_len();
        if bytes > answered {
            return done;
        }
        if bytes == answered && matches!(op, BarOp::Read { ones: 1.., .. }) {
            return done + 1;
        }
    }
    ops.len()
}

/// The bytes that a batch read, taken in the order of the reads.
pub(crate) struct BatchAnswer {
    bytes: Arc<Vec<u8>>,
    at: usize,
    /// Whether the batch ran to its end.
    whole: bool,
    error: Option<AccessError>,
}

impl BatchAnswer {
    /// Returns the error that ended the batch; none if the batch ended at a read of ones.
    pub(crate) fn error(&self) -> Option<&AccessError> {
        self.error.as_ref()
    }

    /// Returns the final clock reading of a complete batch.
    pub(crate) fn last_cycles(&self) -> Option<u64> {
        let last = self.bytes.last_chunk().filter(|_| self.whole);
        last.map(|cycles| u64::from_le_bytes(*cycles))
    }

    /// Whether all bytes have been taken.
    pub(crate) fn is_spent(&self) -> bool {
        self.at >= self.bytes.len()
    }

    /// Takes the next `len` bytes, or returns the error that ended the batch before them.
    #[inline]
    pub(crate) fn take(&mut self, len: usize) -> Result<&[u8], AccessError> {
        let range = self.at..self.at + len;
        self.at = range.end;
        let short = || AccessError::DeviceGone("an answer was too short".into());
        self.bytes.get(range).ok_or_else(|| self.error.clone().unwrap_or_else(short))
    }

    /// Takes the next `len` bytes, without a copy.
    #[inline]
    pub(crate) fn share(&mut self, len: u32) -> Result<Bytes, AccessError> {
        let start = self.at as u32;
        self.take(len as usize)?;
        Ok(Bytes::of(&self.bytes, start, len))
    }

    /// Skips `len` bytes.
    pub(crate) fn skip(&mut self, len: usize) -> &mut Self {
        self.at += len;
        self
    }

    /// Takes the next word.
    pub(crate) fn word(&mut self) -> Result<u32, AccessError> {
        let mut word = [0; 4];
        word.copy_from_slice(self.take(4)?);
        Ok(u32::from_le_bytes(word))
    }

    /// Takes the next clock reading.
    pub(crate) fn cycles(&mut self) -> Result<u64, AccessError> {
        let mut cycles = [0; 8];
        cycles.copy_from_slice(self.take(8)?);
        Ok(u64::from_le_bytes(cycles))
    }

    /// Returns the error that ended the batch, if any.
    pub(crate) fn end(self) -> Result<(), AccessError> {
        self.error.map_or(Ok(()), Err)
    }
}
