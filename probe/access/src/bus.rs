//! Accesses to tiles over PCIe: windows set by need, many accesses in one batch, each counted.

use crate::windows::Windows;
use layouts::{ChipKind, ChipLayout, NocXy};
use machine::bar::{Bar, BarOp, Elsewhere, Holder, Sharing};
use machine::fault::{ChipAddress, Fault};
use machine::snapshot::{AccessError, Bytes};
use machine::window::Order;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

/// A machine's bus with the windows of its devices.
pub(crate) struct Bus {
    bar: Box<dyn Bar>,
    windows: BTreeMap<u8, Windows>,
    transactions: u64,
    /// The list of the last batch, to be filled again.
    spare: Vec<BarOp>,
}

impl Bus {
    /// A bus whose windows are as a stranger left them.
    pub(crate) fn new(bar: Box<dyn Bar>) -> Self {
        Self { bar, windows: BTreeMap::new(), transactions: 0, spare: Vec::new() }
    }

    /// The bus of one device alone, which leads nowhere until [`Bus::over`]; to be given back by [`Bus::join`].
    pub(crate) fn part(&mut self, device: u8) -> Self {
        let mut part = Self::new(Box::new(Nowhere(self.bar.chip())));
        part.windows = self.windows.remove(&device).map(|own| (device, own)).into_iter().collect();
        part
    }

    /// Leads to this bar from now on.
    pub(crate) fn over(&mut self, bar: Box<dyn Bar>) {
        self.bar = bar;
    }

    /// Takes back what is known of a device's windows.
    pub(crate) fn join(&mut self, part: Self) {
        self.windows.extend(part.windows);
        self.transactions += part.transactions;
    }

    /// What is where on the machine's chips.
    pub(crate) fn layout(&self) -> &'static ChipLayout {
        self.bar.chip().layout()
    }

    /// The machine itself.
    pub(crate) fn bar(&mut self) -> &mut dyn Bar {
        self.bar.as_mut()
    }

    /// How many devices there are at most.
    pub(crate) fn most_devices(&self) -> u8 {
        self.bar.most_devices()
    }

    /// The chips that only other hosts reach.
    pub(crate) fn elsewhere(&self) -> Vec<Elsewhere> {
        self.bar.elsewhere()
    }

    /// What the machine itself found wrong.
    pub(crate) fn remarks(&mut self) -> Vec<String> {
        self.bar.remarks()
    }

    /// Who else has a device open.
    pub(crate) fn holders(&mut self, device: u8) -> Vec<Holder> {
        self.bar.holders(device)
    }

    /// Tells in words what the next batches are about to change.
    pub(crate) fn announce(&mut self, change: &str) {
        self.bar.announce(change);
    }

    /// Makes something go wrong.
    pub(crate) fn disrupt(&mut self, at: ChipAddress, fault: &Fault) -> Result<(), AccessError> {
        self.bar.disrupt(at, fault)
    }

    /// Gives the machine back.
    pub(crate) fn into_bar(self) -> Box<dyn Bar> {
        self.bar
    }

    /// Bus transactions since the bus was opened.
    pub(crate) fn transactions(&self) -> u64 {
        self.transactions
    }

    /// Windows are pointed anew before they are used again.
    pub(crate) fn forget_windows(&mut self) {
        self.windows.values_mut().for_each(Windows::forget);
    }

    /// Takes the lock of the device's routing queues.
    pub(crate) fn lock_queues(&mut self, device: u8) -> Result<Sharing, AccessError> {
        self.bar.lock_queues(device)
    }

    /// Gives the lock back.
    pub(crate) fn unlock_queues(&mut self, device: u8) -> Result<(), AccessError> {
        self.bar.unlock_queues(device)
    }

    /// What the windows show, to be given back after batches that are composed but not run.
    pub(crate) fn windows(&self) -> BTreeMap<u8, Windows> {
        self.windows.clone()
    }

    /// Nothing was run since [`Bus::windows`].
    pub(crate) fn restore(&mut self, windows: BTreeMap<u8, Windows>) {
        self.windows = windows;
    }

    /// Starts a batch.
    pub(crate) fn batch(&mut self) -> Batch<'_> {
        let ops = std::mem::take(&mut self.spare);
        Batch { bus: self, ops, error: None }
    }

    /// The target's own time, in cycles.
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
        Err(AccessError::DeviceGone("nobody works with it".into()))
    }

    fn chip(&self) -> ChipKind {
        self.0
    }
}

/// Accesses on their way to the machine.
pub(crate) struct Batch<'b> {
    bus: &'b mut Bus,
    ops: Vec<BarOp>,
    /// Why the batch cannot be sent.
    error: Option<AccessError>,
}

impl Batch<'_> {
    /// Reads memory of a tile through its window; longer than a window is split.
    #[inline]
    pub(crate) fn read(self, device: u8, tile: NocXy, offset: u64, len: u32) -> Self {
        self.read_as(device, tile, offset, len, Order::Memory)
    }

    /// Reads a range with this ordering.
    #[inline]
    pub(crate) fn read_as(
        mut self,
        device: u8,
        tile: NocXy,
        offset: u64,
        len: u32,
        order: Order,
    ) -> Self {
        let end = offset + u64::from(len);
        let mut at = offset;
        while at < end {
            let Some((bar_offset, room)) = self.window(device, tile, at, end - at, order) else {
                break;
            };
            let now = room.min(end - at);
            self.ops.push(BarOp::Read {
                device,
                bar: 0,
                offset: bar_offset,
                len: now as u32,
                ones: 0,
            });
            at += now;
        }
        self
    }

    /// Reads one 32-bit register: exactly one load.
    pub(crate) fn register(self, device: u8, tile: NocXy, offset: u64) -> Self {
        self.read_as(device, tile, offset, 4, Order::Strict)
    }

    /// Writes bytes of a tile.
    pub(crate) fn write(
        mut self,
        device: u8,
        tile: NocXy,
        offset: u64,
        bytes: &[u8],
        order: Order,
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

    /// Reads a word of BAR0 itself.
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

    /// Asks for the target's own time.
    pub(crate) fn now(mut self) -> Self {
        self.ops.push(BarOp::Now);
        self
    }

    /// Ends the batch after the read just added if the `len` bytes read last are nothing but ones.
    #[inline]
    pub(crate) fn end_if_ones(mut self, len: u32) -> Self {
        if let Some(BarOp::Read { ones, .. }) = self.ops.last_mut() {
            *ones = len;
        }
        self
    }

    /// Transactions that the batch would cost.
    pub(crate) fn transactions(&self) -> u64 {
        self.ops.iter().filter(|op| op.is_transaction()).count() as u64
    }

    /// Carries the batch out. The answer holds what came, and the error that ended it, if any.
    pub(crate) fn run(self) -> Answer {
        let Self { bus, mut ops, error } = self;
        if let Some(error) = error {
            return Answer { bytes: Arc::default(), at: 0, whole: false, error: Some(error) };
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
            // What was not carried out pointed no window.
            if let BarOp::Point { device, window, .. } = op
                && let Some(windows) = bus.windows.get_mut(device)
            {
                windows.forget_one(*window);
            }
        }
        ops.clear();
        bus.spare = ops;
        Answer { bytes: Arc::new(bytes), at: 0, whole, error: result.err() }
    }

    /// BAR0 offset of the byte, and how many bytes can be had from there.
    fn window(
        &mut self,
        device: u8,
        tile: NocXy,
        at: u64,
        len: u64,
        order: Order,
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
            let none = || AccessError::Unreachable(format!("device {device} has no window for us"));
            self.error.get_or_insert_with(none);
            return None;
        };
        self.ops.extend(place.point.map(|point| point.on(device)));
        Some((place.bar_offset, place.room))
    }
}

/// How many operations were carried out before the answer ended at this length.
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

/// What a batch read, taken in the order in which it was asked.
pub(crate) struct Answer {
    bytes: Arc<Vec<u8>>,
    at: usize,
    /// Nothing ended the batch early.
    whole: bool,
    error: Option<AccessError>,
}

impl Answer {
    /// What kept the batch from being carried out to its end; not ones, at which it was told to end.
    pub(crate) fn error(&self) -> Option<&AccessError> {
        self.error.as_ref()
    }

    /// The clock reading at the end of a batch that nothing ended early.
    pub(crate) fn last_cycles(&self) -> Option<u64> {
        let last = self.bytes.last_chunk().filter(|_| self.whole);
        last.map(|cycles| u64::from_le_bytes(*cycles))
    }

    /// Has all that came been taken?
    pub(crate) fn is_spent(&self) -> bool {
        self.at >= self.bytes.len()
    }

    /// The next `len` bytes, or the error that kept them from coming.
    #[inline]
    pub(crate) fn take(&mut self, len: usize) -> Result<&[u8], AccessError> {
        let range = self.at..self.at + len;
        self.at = range.end;
        let short = || AccessError::DeviceGone("an answer was too short".into());
        self.bytes.get(range).ok_or_else(|| self.error.clone().unwrap_or_else(short))
    }

    /// The next `len` bytes, without a copy.
    #[inline]
    pub(crate) fn share(&mut self, len: u32) -> Result<Bytes, AccessError> {
        let start = self.at as u32;
        self.take(len as usize)?;
        Ok(Bytes::of(&self.bytes, start, len))
    }

    /// Leaves some bytes out.
    pub(crate) fn skip(&mut self, len: usize) -> &mut Self {
        self.at += len;
        self
    }

    /// The next word.
    pub(crate) fn word(&mut self) -> Result<u32, AccessError> {
        let mut word = [0; 4];
        word.copy_from_slice(self.take(4)?);
        Ok(u32::from_le_bytes(word))
    }

    /// The next clock reading.
    pub(crate) fn cycles(&mut self) -> Result<u64, AccessError> {
        let mut cycles = [0; 8];
        cycles.copy_from_slice(self.take(8)?);
        Ok(u64::from_le_bytes(cycles))
    }

    /// Did everything arrive?
    pub(crate) fn end(self) -> Result<(), AccessError> {
        self.error.map_or(Ok(()), Err)
    }
}
