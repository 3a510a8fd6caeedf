//! The routing queue of one Ethernet tile's base firmware: the way to chips without PCIe.
//!
//! Rules that hold here (wormhole.md 6): every index has one writer; an answer is always in
//! slot (response read index & 3), never assumed to be the slot of the request; a read is complete
//! when the index has moved *and* the flags are nonzero; a write is answered never or always, so it
//! is waited for by counters; reads and writes are never under way together, because slots of one
//! number share a data buffer; never more than four entries are asked for and not yet taken; what a
//! time-out or another client left is waited for and dropped before anything new is asked.

mod active;
mod command;
mod indices;
mod pace;
mod reader;
mod wait;
mod words;
mod write;

use crate::eth_firmware::{eth, routing};
pub(crate) use command::{Command, Stamped};
use machine::patience::Patience;
pub(crate) use reader::{Gateway, Results, read_all};
pub(crate) use words::Far;

use crate::bus::{Batch, Bus};
use layouts::NocXy;
use machine::snapshot::AccessError;
use machine::window::Order;
use pace::Pace;
use words::Field;

/// Most bytes of one block (wormhole.md 6.6); a test compares with the layouts.
pub(crate) const BLOCK_BYTES: usize = 1024;
/// Alignment of a block's address (wormhole.md 6.6).
pub(crate) const BLOCK_ALIGN: u64 = 32;
/// Entries of a queue, and so the most commands under way; a test compares with the layouts.
pub(crate) const SLOTS: usize = 4;

/// What is known of the indices kept here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// Others may have moved them.
    Unread,
    /// They are the machine's.
    Kept,
    /// A command ran out of time and may still be answered.
    Suspect,
}

/// The queue of one Ethernet tile of a PCIe device.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "four facts that hold or not, each by itself")]
pub(crate) struct Queue {
    device: u8,
    tile: NocXy,
    base: u64,
    patience: Patience,
    request_write: u32,
    request_read: u32,
    response_read: u32,
    step: Step,
    /// Something was given up without an answer, which may yet come between others.
    wary: bool,
    /// Do answers carry the address that was asked for? Learned from the first one.
    echoes: Option<bool>,
    /// Do the counters agree when nothing is under way?
    counts: bool,
    /// The response read index is ours already but not yet written.
    pop_owed: bool,
    commands: u64,
    /// The firmware's error counter when the indices were last read.
    errors: u32,
    /// Writes, and answers to them, that take room in the queue.
    outstanding: usize,
    /// Writes were posted and not yet waited for.
    unflushed: bool,
    pace: Pace,
}

impl Queue {
    /// Finds the structure of the tile; nothing is written yet.
    pub(crate) fn find(
        bus: &mut Bus,
        device: u8,
        tile: NocXy,
        patience: Patience,
    ) -> Result<Self, AccessError> {
        let eth = eth();
        let (at, routing) = (eth.l1.queue_pointer.at, &eth.routing);
        let pointer = u64::from(bus.batch().read(device, tile, at, 4).run().word()?);
        let resolved = (routing.base_low..routing.base_end).contains(&pointer);
        let base = if resolved { pointer } else { routing.fallback_base };
        Ok(Self {
            device,
            tile,
            base,
            patience,
            request_write: 0,
            request_read: 0,
            response_read: 0,
            step: Step::Unread,
            wary: false,
            echoes: None,
            counts: true,
            pop_owed: false,
            commands: 0,
            errors: 0,
            outstanding: 0,
            unflushed: false,
            pace: Pace::default(),
        })
    }

    fn request(&self, field: Field) -> u64 {
        self.base + eth().queues.request.at + field.offset()
    }

    fn response(&self, field: Field) -> u64 {
        self.base + eth().queues.response.at + field.offset()
    }

    /// The data buffer that request slot and response slot of one number share.
    fn buffer(&self, slot: u32) -> u64 {
        self.base + eth().queues.buffer.nth(slot.into())
    }

    /// The Ethernet tile that it belongs to.
    pub(crate) fn tile(&self) -> NocXy {
        self.tile
    }

    /// Commands posted since the queue was found.
    pub(crate) fn commands(&self) -> u64 {
        self.commands
    }

    /// Did a command run out of time that may still be answered?
    pub(crate) fn is_suspect(&self) -> bool {
        self.step == Step::Suspect
    }

    /// Forgets the indices, so that the next command reads them first. Called before every series
    /// of commands, because others may have used the queue in between.
    pub(crate) fn out_of_step(&mut self, bus: &mut Bus) -> Result<(), AccessError> {
        self.settle(bus)?;
        if self.step == Step::Kept {
            self.step = Step::Unread;
        }
        Ok(())
    }

    /// Writes the response read index if it is still owed.
    pub(crate) fn settle(&mut self, bus: &mut Bus) -> Result<(), AccessError> {
        if !self.pop_owed {
            return Ok(());
        }
        let batch = self.pop(bus.batch());
        batch.run().end()
    }

    /// Adds the response read index to a batch, if it is owed.
    fn pop<'b>(&mut self, batch: Batch<'b>) -> Batch<'b> {
        if !std::mem::take(&mut self.pop_owed) {
            return batch;
        }
        let index = self.response_read.to_le_bytes();
        let at = self.response(Field::ReadIndex);
        batch.write(self.device, self.tile, at, &index, Order::Strict)
    }

    /// Takes the answer at our read index out of the queue.
    fn popped(&mut self) {
        self.response_read = (self.response_read + 1) & 7;
        self.pop_owed = true;
    }

    /// Adds commands to a batch, each in its slot and with its block, and one doorbell for all.
    fn post<'b, 'c>(
        &mut self,
        mut batch: Batch<'b>,
        commands: impl Iterator<Item = (&'c Command, &'c [u8])>,
    ) -> Batch<'b> {
        let (device, tile, before) = (self.device, self.tile, self.commands);
        for (command, block) in commands {
            let slot = self.request_write & 3;
            if !block.is_empty() {
                batch = batch.write(device, tile, self.buffer(slot), block, Order::Strict);
            }
            let at = self.request(Field::Entry(slot));
            batch = batch.write(device, tile, at, &command.entry(), Order::Strict);
            self.request_write = (self.request_write + 1) & 7;
            self.commands += 1;
        }
        if self.commands == before {
            return batch;
        }
        let doorbell = self.request(Field::WriteIndex);
        batch.write(device, tile, doorbell, &self.request_write.to_le_bytes(), Order::Strict)
    }

    /// Something under way was given up.
    fn lost(&mut self) {
        self.step = Step::Suspect;
        self.pop_owed = false;
        self.unflushed = false;
    }
}

/// The late answer to an earlier write, not to the read that is waited for.
fn is_write_answer(flags: u32) -> bool {
    flags & routing().write_ack != 0 && flags & routing().read_data == 0
}

#[cfg(test)]
mod tests;
