//! The routing queue of one Ethernet tile's base firmware: the way to chips without PCIe.
//!
//! Rules that hold here (wormhole.md 6.3 to 6.9): every index has one writer; an answer is always in
//! slot (response read index & 3), never assumed to be the slot of the request; a read is complete
//! when the index has moved *and* the flags are nonzero; a write is answered never or always, so it
//! is waited for by counters; one operation is under way at a time; what a time-out left is drained.

use crate::bus::{Answer, Bus};
use crate::snapshot::AccessError;
use crate::windows::Order;
use layouts::{ChipCoord, NocXy};
use std::time::{Duration, Instant};

/// Where the structure stands if the pointer does not say (wormhole.md 6.1).
const FALLBACK_BASE: u64 = 0x11000;
/// L1 word that points to the structure.
const POINTER: u64 = 0x170;
/// The pointer is believed only in this range.
const BASE_RANGE: std::ops::Range<u64> = 0x11000..0x18000;

const REQUEST: u64 = 0x80;
const RESPONSE: u64 = 0x200;
const BUFFERS: u64 = 0x1000;
const WRITE_INDEX: u64 = 0x20;
const READ_INDEX: u64 = 0x30;
const ENTRIES: u64 = 0x40;
const ENTRY_BYTES: u64 = 32;
/// Most bytes of one block, and the alignment that a block needs.
pub(crate) const BLOCK_BYTES: usize = 1024;
/// Alignment of a block's address.
pub(crate) const BLOCK_ALIGN: u64 = 32;

const WRITE: u32 = 1;
const READ: u32 = 1 << 2;
const READ_DATA: u32 = 1 << 3;
const BLOCK: u32 = 1 << 6;
const UNAVAILABLE: u32 = 1 << 30;
const UNREACHABLE: u32 = 1 << 31;

/// A block that found no buffer on its route is asked for again so often (flag 30).
const RETRIES: u32 = 8;

/// How long to wait for the far side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// In the target's own time, per command.
    pub deadline_cycles: u64,
    /// In host time: only to catch a dead driver or child.
    pub watchdog: Duration,
}

impl Default for Patience {
    /// A yielding application answers within its yield period; 4 ms are ten times the slowest seen.
    fn default() -> Self {
        Self { deadline_cycles: 4_000_000, watchdog: Duration::from_mins(1) }
    }
}

/// A place on a far chip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Far {
    pub(crate) coord: ChipCoord,
    pub(crate) tile: NocXy,
    pub(crate) offset: u64,
}

impl Far {
    fn entry(self, data: u32, flags: u32) -> [u8; ENTRY_BYTES as usize] {
        let address = self.offset & 0xF_FFFF_FFFF
            | u64::from(self.tile.x) << 36
            | u64::from(self.tile.y) << 42
            | u64::from(self.coord.x) << 48
            | u64::from(self.coord.y) << 54;
        let mut entry = [0; ENTRY_BYTES as usize];
        entry[..8].copy_from_slice(&address.to_le_bytes());
        entry[8..12].copy_from_slice(&data.to_le_bytes());
        entry[12..16].copy_from_slice(&flags.to_le_bytes());
        entry[16] = self.coord.rack;
        entry[17] = self.coord.shelf;
        entry
    }
}

/// Bytes from afar and the target's time when they had come.
pub(crate) struct Stamped {
    pub(crate) bytes: Vec<u8>,
    pub(crate) cycles: u64,
}

/// The queue of one Ethernet tile of a PCIe device.
#[derive(Debug)]
pub(crate) struct Queue {
    device: u8,
    tile: NocXy,
    base: u64,
    patience: Patience,
    request_write: u32,
    request_read: u32,
    response_read: u32,
    /// The indices above are the machine's.
    in_step: bool,
    /// A command ran out of time and may still be answered.
    suspect: bool,
    /// The response read index is ours already but not yet written.
    pop_owed: bool,
    commands: u64,
}

impl Queue {
    /// Finds the structure of the tile; nothing is written yet.
    pub(crate) fn find(
        bus: &mut Bus,
        device: u8,
        tile: NocXy,
        patience: Patience,
    ) -> Result<Self, AccessError> {
        let pointer = bus.batch().read(device, tile, POINTER, 4).run().word()?;
        let pointer = u64::from(pointer);
        let base = if BASE_RANGE.contains(&pointer) { pointer } else { FALLBACK_BASE };
        Ok(Self {
            device,
            tile,
            base,
            patience,
            request_write: 0,
            request_read: 0,
            response_read: 0,
            in_step: false,
            suspect: false,
            pop_owed: false,
            commands: 0,
        })
    }

    /// Commands posted since the queue was found.
    pub(crate) fn commands(&self) -> u64 {
        self.commands
    }

    /// Forgets the indices, so that the next command reads and drains first. Called before every
    /// series of commands, because others may have used the queue in between.
    pub(crate) fn out_of_step(&mut self, bus: &mut Bus) -> Result<(), AccessError> {
        self.settle(bus)?;
        self.in_step = false;
        Ok(())
    }

    /// Writes the response read index if it is still owed.
    pub(crate) fn settle(&mut self, bus: &mut Bus) -> Result<(), AccessError> {
        if !std::mem::take(&mut self.pop_owed) {
            return Ok(());
        }
        let index = self.response_read.to_le_bytes();
        let at = self.base + RESPONSE + READ_INDEX;
        bus.batch().write(self.device, self.tile, at, &index, Order::Strict).run().end()
    }

    /// Reads one word.
    pub(crate) fn read_word(&mut self, bus: &mut Bus, far: Far) -> Result<Stamped, AccessError> {
        self.ready(bus)?;
        self.post(bus, &far.entry(4, READ), &[])?;
        let (data, cycles) = self.await_answer(bus, READ_DATA)?;
        self.response_read = (self.response_read + 1) & 7;
        self.pop_owed = true;
        Ok(Stamped { bytes: data.to_le_bytes().to_vec(), cycles })
    }

    /// Reads up to 1 KiB at a 32-byte aligned offset, a multiple of 4 bytes.
    pub(crate) fn read_block(
        &mut self,
        bus: &mut Bus,
        far: Far,
        len: u32,
    ) -> Result<Stamped, AccessError> {
        let mut tries = 0;
        loop {
            match self.read_block_once(bus, far, len) {
                Err(AccessError::QueueError { flags })
                    if flags & UNAVAILABLE != 0 && flags & UNREACHABLE == 0 && tries < RETRIES =>
                {
                    tries += 1;
                }
                other => return other,
            }
        }
    }

    fn read_block_once(
        &mut self,
        bus: &mut Bus,
        far: Far,
        len: u32,
    ) -> Result<Stamped, AccessError> {
        self.ready(bus)?;
        self.post(bus, &far.entry(len, READ | BLOCK), &[])?;
        let (_, cycles) = self.await_answer(bus, READ_DATA | BLOCK)?;
        let slot = u64::from(self.response_read & 3);
        self.response_read = (self.response_read + 1) & 7;
        let buffer = self.base + BUFFERS + slot * BLOCK_BYTES as u64;
        let mut answer = bus
            .batch()
            .read_as(self.device, self.tile, buffer, len, Order::Strict)
            .write(
                self.device,
                self.tile,
                self.base + RESPONSE + READ_INDEX,
                &self.response_read.to_le_bytes(),
                Order::Strict,
            )
            .run();
        let bytes = answer.take(len as usize)?.to_vec();
        Ok(Stamped { bytes, cycles })
    }

    /// Writes one word.
    pub(crate) fn write_word(
        &mut self,
        bus: &mut Bus,
        far: Far,
        value: u32,
    ) -> Result<(), AccessError> {
        self.ready(bus)?;
        self.post(bus, &far.entry(value, WRITE), &[])
    }

    /// Writes up to 1 KiB at a 32-byte aligned offset, a multiple of 4 bytes.
    pub(crate) fn write_block(
        &mut self,
        bus: &mut Bus,
        far: Far,
        bytes: &[u8],
    ) -> Result<(), AccessError> {
        self.ready(bus)?;
        self.post(bus, &far.entry(bytes.len() as u32, WRITE | BLOCK), bytes)?;
        // The buffer is shared with the response of the same slot: nothing else until it is taken.
        self.flush(bus)
    }

    /// Waits until all writes have arrived: requests taken, and as many answered as asked.
    pub(crate) fn flush(&mut self, bus: &mut Bus) -> Result<(), AccessError> {
        self.poll(bus, |queue, indices| {
            queue.request_read = indices.request_read;
            indices.request_write == indices.request_read
                && indices.writes_asked == indices.writes_done
        })
    }

    /// Makes the indices the machine's and a request slot free.
    fn ready(&mut self, bus: &mut Bus) -> Result<(), AccessError> {
        if !self.in_step {
            self.step(bus)?;
        }
        if self.request_write.wrapping_sub(self.request_read) & 7 < 4 {
            return Ok(());
        }
        self.poll(bus, |queue, indices| {
            queue.request_read = indices.request_read;
            queue.request_write.wrapping_sub(queue.request_read) & 7 < 4
        })
    }

    fn step(&mut self, bus: &mut Bus) -> Result<(), AccessError> {
        if self.suspect {
            // A late answer would shift all following ones: wait for it first.
            self.poll(bus, |_, indices| {
                indices.request_write == indices.request_read
                    && indices.reads_asked == indices.reads_done
            })?;
            self.suspect = false;
        }
        let indices = self.indices(bus)?;
        self.request_write = indices.request_write;
        self.request_read = indices.request_read;
        self.response_read = indices.response_read;
        if indices.response_write != indices.response_read {
            self.response_read = indices.response_write;
            self.pop_owed = true;
            self.settle(bus)?;
        }
        self.in_step = true;
        Ok(())
    }

    fn indices(&self, bus: &mut Bus) -> Result<Indices, AccessError> {
        let len = (READ_INDEX + 4) as u32;
        let mut answer = bus
            .batch()
            .now()
            .read_as(self.device, self.tile, self.base + REQUEST, len, Order::Strict)
            .read_as(self.device, self.tile, self.base + RESPONSE + WRITE_INDEX, 4, Order::Strict)
            .read_as(self.device, self.tile, self.base + RESPONSE + READ_INDEX, 4, Order::Strict)
            .run();
        Indices::take(&mut answer)
    }

    fn poll(
        &mut self,
        bus: &mut Bus,
        mut done: impl FnMut(&mut Self, &Indices) -> bool,
    ) -> Result<(), AccessError> {
        let mut wait = Wait::start(self.patience);
        loop {
            let indices = self.indices(bus)?;
            if done(self, &indices) {
                return Ok(());
            }
            if let Err(error) = wait.go_on(bus, indices.cycles) {
                self.lost();
                return Err(error);
            }
        }
    }

    /// Puts the entry (and block) into the request slot and rings the doorbell.
    fn post(
        &mut self,
        bus: &mut Bus,
        entry: &[u8; ENTRY_BYTES as usize],
        block: &[u8],
    ) -> Result<(), AccessError> {
        let (device, tile) = (self.device, self.tile);
        let slot = u64::from(self.request_write & 3);
        let mut batch = bus.batch();
        if std::mem::take(&mut self.pop_owed) {
            let index = self.response_read.to_le_bytes();
            let at = self.base + RESPONSE + READ_INDEX;
            batch = batch.write(device, tile, at, &index, Order::Strict);
        }
        if !block.is_empty() {
            let at = self.base + BUFFERS + slot * BLOCK_BYTES as u64;
            batch = batch.write(device, tile, at, block, Order::Strict);
        }
        self.request_write = (self.request_write + 1) & 7;
        self.commands += 1;
        let at = self.base + REQUEST + ENTRIES + slot * ENTRY_BYTES;
        let doorbell = self.base + REQUEST + WRITE_INDEX;
        let posted = batch
            .write(device, tile, at, entry, Order::Strict)
            .write(device, tile, doorbell, &self.request_write.to_le_bytes(), Order::Strict)
            .run()
            .end();
        posted.inspect_err(|_| self.lost())
    }

    /// Waits for the response at our read index; gives its data word and the target's time.
    fn await_answer(&mut self, bus: &mut Bus, expected: u32) -> Result<(u32, u64), AccessError> {
        let entry =
            self.base + RESPONSE + ENTRIES + u64::from(self.response_read & 3) * ENTRY_BYTES;
        let mut wait = Wait::start(self.patience);
        loop {
            let mut answer = bus
                .batch()
                .now()
                .read_as(
                    self.device,
                    self.tile,
                    self.base + RESPONSE + WRITE_INDEX,
                    4,
                    Order::Strict,
                )
                .read_as(self.device, self.tile, entry + 8, 8, Order::Strict)
                .run();
            let cycles = answer.cycles()?;
            let write = answer.word()?;
            let (data, flags) = (answer.word()?, answer.word()?);
            if write != self.response_read && flags != 0 {
                // Its entry is read, so the request was taken out of its slot.
                return self.judge(flags, expected).map(|()| (data, cycles));
            }
            if let Err(error) = wait.go_on(bus, cycles) {
                self.lost();
                return Err(error);
            }
        }
    }

    /// Error flags first: they come together with others. An answer with an error is popped too.
    fn judge(&mut self, flags: u32, expected: u32) -> Result<(), AccessError> {
        if flags == expected {
            // One command at a time: all requests before the answered one have been taken.
            self.request_read = self.request_write.wrapping_sub(1) & 7;
            return Ok(());
        }
        self.response_read = (self.response_read + 1) & 7;
        self.pop_owed = true;
        Err(AccessError::QueueError { flags })
    }

    fn lost(&mut self) {
        self.in_step = false;
        self.suspect = true;
        self.pop_owed = false;
    }
}

/// The four indices and the counters, as one look shows them.
struct Indices {
    cycles: u64,
    writes_asked: u32,
    writes_done: u32,
    reads_asked: u32,
    reads_done: u32,
    request_write: u32,
    request_read: u32,
    response_write: u32,
    response_read: u32,
}

impl Indices {
    fn take(answer: &mut Answer) -> Result<Self, AccessError> {
        let cycles = answer.cycles()?;
        let mut request = [0; (READ_INDEX / 4) as usize + 1];
        for word in &mut request {
            *word = answer.word()?;
        }
        Ok(Self {
            cycles,
            writes_asked: request[0],
            writes_done: request[1],
            reads_asked: request[2],
            reads_done: request[3],
            request_write: request[(WRITE_INDEX / 4) as usize] & 7,
            request_read: request[(READ_INDEX / 4) as usize] & 7,
            response_write: answer.word()? & 7,
            response_read: answer.word()? & 7,
        })
    }
}

/// Waiting with two clocks: the target's own for the deadline, ours for the watchdog.
struct Wait {
    patience: Patience,
    first_cycles: Option<u64>,
    started: Instant,
    step: u64,
}

impl Wait {
    /// Shortest and longest time between two looks, in cycles.
    const STEPS: (u64, u64) = (50, 2000);

    fn start(patience: Patience) -> Self {
        Self { patience, first_cycles: None, started: Instant::now(), step: Self::STEPS.0 }
    }

    /// Lets time pass, or says that there is none left.
    fn go_on(&mut self, bus: &mut Bus, cycles: u64) -> Result<(), AccessError> {
        let waited = cycles - *self.first_cycles.get_or_insert(cycles);
        let Patience { deadline_cycles, watchdog } = self.patience;
        if waited > deadline_cycles || self.started.elapsed() > watchdog {
            return Err(AccessError::TimedOut { deadline_cycles });
        }
        bus.pass(self.step)?;
        self.step = (waited / 4).clamp(Self::STEPS.0, Self::STEPS.1);
        Ok(())
    }
}
