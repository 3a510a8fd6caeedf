//! The routing queue of one Ethernet tile's base firmware: the way to chips without PCIe.
//!
//! Rules that hold here (wormhole.md 6.3 to 6.9): every index has one writer; an answer is always in
//! slot (response read index & 3), never assumed to be the slot of the request; a read is complete
//! when the index has moved *and* the flags are nonzero; a write is answered never or always, so it
//! is waited for by counters; one operation is under way at a time; what a time-out left is drained.

mod sync;
mod wait;
mod words;

pub use wait::Patience;
pub(crate) use words::Far;

use crate::bus::Bus;
use crate::snapshot::AccessError;
use crate::windows::Order;
use layouts::{NocXy, wormhole};
use wait::Wait;
use words::{ENTRY_BYTES, Field, routing};

/// Most bytes of one block (wormhole.md 6.6); a test compares with the layouts.
pub(crate) const BLOCK_BYTES: usize = 1024;
/// Alignment of a block's address (wormhole.md 6.6).
pub(crate) const BLOCK_ALIGN: u64 = 32;

/// A slow answer makes the next wait no longer than this before the first look.
const LONGEST_SLEEP_CYCLES: u64 = 4_000;

/// A block that found no buffer on its route is asked for again so often (flag 30).
const RETRIES: u32 = 8;

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

#[cfg(test)]
mod tests;
