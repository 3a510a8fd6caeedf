//! The routing queue of one Ethernet tile's base firmware: the way to chips without PCIe.
//!
//! Rules that hold here (wormhole.md 6.3 to 6.9): every index has one writer; an answer is always in
//! slot (response read index & 3), never assumed to be the slot of the request; a read is complete
//! when the index has moved *and* the flags are nonzero; a write is answered never or always, so it
//! is waited for by counters; one operation is under way at a time; what a time-out left is drained.

use crate::bus::{Answer, Bus};
use crate::snapshot::AccessError;
use crate::windows::Order;
use layouts::{ChipCoord, NocXy, Routing, wormhole};
use std::time::{Duration, Instant};

const ENTRY_BYTES: usize = 32;
/// Words of a queue from its counters to its read index.
const INDICES_WORDS: usize = 13;
/// Most bytes of one block (wormhole.md 6.6); a test compares with the layouts.
pub(crate) const BLOCK_BYTES: usize = 1024;
/// Alignment of a block's address (wormhole.md 6.6).
pub(crate) const BLOCK_ALIGN: u64 = 32;

/// A slow answer makes the next wait no longer than this before the first look.
const LONGEST_SLEEP_CYCLES: u64 = 4_000;

fn routing() -> &'static Routing {
    &wormhole().eth.routing
}

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
    fn entry(self, data: u32, flags: u32) -> [u8; ENTRY_BYTES] {
        let address = self.offset & 0xF_FFFF_FFFF
            | u64::from(self.tile.x) << 36
            | u64::from(self.tile.y) << 42
            | u64::from(self.coord.x) << 48
            | u64::from(self.coord.y) << 54;
        let mut entry = [0; ENTRY_BYTES];
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

/// Writes on their way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Outgoing {
    #[default]
    None,
    Words,
    /// Out of the slots' buffers, which answers to reads share.
    Blocks,
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
    /// The firmware's error counter when the indices were last read.
    errors: u32,
    /// Writes that were posted and not yet waited for.
    outgoing: Outgoing,
    /// How long words and blocks took at best of late, in cycles: no use to look earlier.
    typical: [u64; 2],
}

impl Queue {
    /// Finds the structure of the tile; nothing is written yet.
    pub(crate) fn find(
        bus: &mut Bus,
        device: u8,
        tile: NocXy,
        patience: Patience,
    ) -> Result<Self, AccessError> {
        let eth = &wormhole().eth;
        let (at, routing) = (eth.l1.queue_pointer.at, &eth.routing);
        let pointer = u64::from(bus.batch().read(device, tile, at, 4).run().word()?);
        let believed = (routing.base_low..routing.base_end).contains(&pointer);
        let base = if believed { pointer } else { routing.fallback_base };
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
            errors: 0,
            outgoing: Outgoing::None,
            typical: [0; 2],
        })
    }

    fn request(&self, field: Field) -> u64 {
        self.base + wormhole().eth.queues.request.at + field.offset()
    }

    fn response(&self, field: Field) -> u64 {
        self.base + wormhole().eth.queues.response.at + field.offset()
    }

    /// The data buffer that request slot and response slot of one number share.
    fn buffer(&self, slot: u32) -> u64 {
        self.base + wormhole().eth.queues.buffer.nth(slot.into())
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
        let at = self.response(Field::ReadIndex);
        bus.batch().write(self.device, self.tile, at, &index, Order::Strict).run().end()
    }

    /// Reads one word.
    pub(crate) fn read_word(&mut self, bus: &mut Bus, far: Far) -> Result<Stamped, AccessError> {
        self.ready(bus)?;
        self.post(bus, &far.entry(4, routing().read_request), &[])?;
        let (data, cycles) = self.await_answer(bus, routing().read_data)?;
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
                    if flags & routing().block_unavailable != 0
                        && flags & routing().unreachable == 0
                        && tries < RETRIES =>
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
        if self.outgoing == Outgoing::Blocks {
            // The answer comes in a buffer that a request may still be using.
            self.flush(bus)?;
        }
        self.ready(bus)?;
        self.post(bus, &far.entry(len, routing().read_request | routing().block), &[])?;
        let (_, cycles) = self.await_answer(bus, routing().read_data | routing().block)?;
        let slot = self.response_read & 3;
        self.response_read = (self.response_read + 1) & 7;
        let buffer = self.buffer(slot);
        let mut answer = bus
            .batch()
            .read_as(self.device, self.tile, buffer, len, Order::Strict)
            .write(
                self.device,
                self.tile,
                self.response(Field::ReadIndex),
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
        self.post(bus, &far.entry(value, routing().write_request), &[])?;
        self.outgoing = self.outgoing.max(Outgoing::Words);
        Ok(())
    }

    /// Writes up to 1 KiB at a 32-byte aligned offset, a multiple of 4 bytes.
    pub(crate) fn write_block(
        &mut self,
        bus: &mut Bus,
        far: Far,
        bytes: &[u8],
    ) -> Result<(), AccessError> {
        self.ready(bus)?;
        self.post(
            bus,
            &far.entry(bytes.len() as u32, routing().write_request | routing().block),
            bytes,
        )?;
        self.outgoing = Outgoing::Blocks;
        Ok(())
    }

    /// Waits until all writes have arrived: requests taken, and as many answered as asked. A write
    /// that could not be carried out shows in the error counter alone.
    pub(crate) fn flush(&mut self, bus: &mut Bus) -> Result<(), AccessError> {
        if std::mem::take(&mut self.outgoing) == Outgoing::None {
            return Ok(());
        }
        let before = self.errors;
        self.poll(bus, |queue, indices| {
            queue.request_read = indices.request_read;
            queue.errors = indices.errors;
            indices.request_write == indices.request_read
                && indices.writes_asked == indices.writes_done
        })?;
        if self.errors == before {
            return Ok(());
        }
        Err(AccessError::Unreachable("base firmware counted an error for a write".into()))
    }

    /// Makes the indices the machine's and a request slot free.
    fn ready(&mut self, bus: &mut Bus) -> Result<(), AccessError> {
        if !self.in_step {
            self.step(bus)?;
        }
        if self.request_write.wrapping_sub(self.request_read) & 7 < 4 {
            return Ok(());
        }
        self.await_room(bus)
    }

    /// A full queue: looks at its read index alone until a request has been taken.
    fn await_room(&mut self, bus: &mut Bus) -> Result<(), AccessError> {
        let at = self.request(Field::ReadIndex);
        let mut wait = Wait::start(self.patience);
        loop {
            let batch = bus.batch().now();
            let mut answer = batch.read_as(self.device, self.tile, at, 4, Order::Strict).run();
            let cycles = answer.cycles()?;
            self.request_read = answer.word()? & 7;
            if self.request_write.wrapping_sub(self.request_read) & 7 < 4 {
                return Ok(());
            }
            if let Err(error) = wait.go_on(bus, cycles) {
                self.lost();
                return Err(error);
            }
        }
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
        self.errors = indices.errors;
        if indices.response_write != indices.response_read {
            self.response_read = indices.response_write;
            self.pop_owed = true;
            self.settle(bus)?;
        }
        self.in_step = true;
        Ok(())
    }

    fn indices(&self, bus: &mut Bus) -> Result<Indices, AccessError> {
        let len = 4 * INDICES_WORDS as u32;
        let queue = &wormhole().eth.queue;
        let both = (queue.read_index.end() - queue.write_index.at) as u32;
        let mut answer = bus
            .batch()
            .now()
            .read_as(self.device, self.tile, self.request(Field::Counters), len, Order::Strict)
            .read_as(self.device, self.tile, self.response(Field::WriteIndex), both, Order::Strict)
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
            self.drop_write_answers(bus, &indices)?;
            if done(self, &indices) {
                return Ok(());
            }
            if let Err(error) = wait.go_on(bus, indices.cycles) {
                self.lost();
                return Err(error);
            }
        }
    }

    /// Firmware may answer writes too. Nothing else can be in the response queue while no read is
    /// under way, so whatever is there is dropped before it fills the queue.
    fn drop_write_answers(&mut self, bus: &mut Bus, indices: &Indices) -> Result<(), AccessError> {
        if !self.in_step || indices.response_write == self.response_read {
            return Ok(());
        }
        self.response_read = indices.response_write;
        self.pop_owed = true;
        self.settle(bus)
    }

    /// Puts the entry (and block) into the request slot and rings the doorbell.
    fn post(
        &mut self,
        bus: &mut Bus,
        entry: &[u8; ENTRY_BYTES],
        block: &[u8],
    ) -> Result<(), AccessError> {
        let (device, tile) = (self.device, self.tile);
        let slot = self.request_write & 3;
        let mut batch = bus.batch();
        if std::mem::take(&mut self.pop_owed) {
            let index = self.response_read.to_le_bytes();
            let at = self.response(Field::ReadIndex);
            batch = batch.write(device, tile, at, &index, Order::Strict);
        }
        if !block.is_empty() {
            let at = self.buffer(slot);
            batch = batch.write(device, tile, at, block, Order::Strict);
        }
        self.request_write = (self.request_write + 1) & 7;
        self.commands += 1;
        let at = self.request(Field::Entry(slot));
        let doorbell = self.request(Field::WriteIndex);
        let posted = batch
            .write(device, tile, at, entry, Order::Strict)
            .write(device, tile, doorbell, &self.request_write.to_le_bytes(), Order::Strict)
            .run()
            .end();
        posted.inspect_err(|_| self.lost())
    }

    /// Waits for the response at our read index; gives its data word and the target's time.
    fn await_answer(&mut self, bus: &mut Bus, expected: u32) -> Result<(u32, u64), AccessError> {
        let index = self.response(Field::WriteIndex);
        let kind = usize::from(expected & routing().block != 0);
        let posted = bus.now()?;
        bus.pass(self.typical[kind])?;
        let mut wait = Wait::start(self.patience);
        let mut moved = false;
        loop {
            let entry = self.response(Field::Entry(self.response_read & 3));
            let mut batch = bus.batch().now();
            if !moved {
                batch = batch.read_as(self.device, self.tile, index, 4, Order::Strict);
            }
            let data_and_flags = entry + wormhole().eth.entry.data.at;
            let mut answer =
                batch.read_as(self.device, self.tile, data_and_flags, 8, Order::Strict).run();
            let cycles = answer.cycles()?;
            moved = moved || answer.word()? != self.response_read;
            let (data, flags) = (answer.word()?, answer.word()?);
            if moved && is_write_answer(flags) {
                self.response_read = (self.response_read + 1) & 7;
                self.pop_owed = true;
                self.settle(bus)?;
                moved = false;
                continue;
            }
            if moved && flags != 0 {
                let took = cycles.saturating_sub(posted);
                // A little sooner next time, so that a faster way is noticed.
                self.typical[kind] = (took - took / 8).min(LONGEST_SLEEP_CYCLES);
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

/// The late answer to an earlier write, not to the read that is waited for.
fn is_write_answer(flags: u32) -> bool {
    flags & routing().write_ack != 0 && flags & routing().read_data == 0
}

/// A place in a queue.
#[derive(Clone, Copy)]
enum Field {
    Counters,
    WriteIndex,
    ReadIndex,
    Entry(u32),
}

impl Field {
    fn offset(self) -> u64 {
        let queue = &wormhole().eth.queue;
        match self {
            Self::Counters => 0,
            Self::WriteIndex => queue.write_index.at,
            Self::ReadIndex => queue.read_index.at,
            Self::Entry(slot) => queue.entry.nth(slot.into()),
        }
    }
}

/// The four indices and the counters, as one look shows them.
struct Indices {
    cycles: u64,
    writes_asked: u32,
    writes_done: u32,
    reads_asked: u32,
    reads_done: u32,
    errors: u32,
    request_write: u32,
    request_read: u32,
    response_write: u32,
    response_read: u32,
}

impl Indices {
    fn take(answer: &mut Answer) -> Result<Self, AccessError> {
        let cycles = answer.cycles()?;
        let mut request = [0; INDICES_WORDS];
        for word in &mut request {
            *word = answer.word()?;
        }
        let layout = &wormhole().eth.queue;
        let at = |offset: u64| request.get((offset / 4) as usize).copied().unwrap_or_default();
        Ok(Self {
            cycles,
            writes_asked: at(layout.writes_requested.at),
            writes_done: at(layout.writes_answered.at),
            reads_asked: at(layout.reads_requested.at),
            reads_done: at(layout.reads_answered.at),
            errors: at(layout.errors.at),
            request_write: at(layout.write_index.at) & 7,
            request_read: at(layout.read_index.at) & 7,
            response_write: answer.word()? & 7,
            response_read: answer
                .skip((layout.read_index.at - layout.write_index.end()) as usize)
                .word()?
                & 7,
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

#[cfg(test)]
mod tests;
