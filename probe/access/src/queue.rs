//! The routing queue of one Ethernet tile's base firmware: the route to chips without PCIe.
//!
//! Rules (wormhole.md 6):
//!
//! * Every index has one writer.
//! * An answer is always in slot (response read index & 3), which may differ from its request's.
//! * A read is complete when the index has moved *and* the flags are nonzero.
//! * Writes are answered never or always, so that they are awaited by counters.
//! * Reads and writes are never in flight together: slots of one number share a data buffer.
//! * At most four entries are requested and not yet taken.
//! * Answers left by a time-out or another client are awaited and dropped before new requests.

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
use machine::patience::Deadlines;
pub(crate) use reader::{Gateway, Results, is_unanswered, read_all};
pub(crate) use words::Far;

use crate::bus::{Batch, Bus};
use layouts::NocXy;
use machine::snapshot::AccessError;
use machine::window::WindowOrdering;
use pace::QueuePace;
use words::Field;

/// Most bytes of one block (wormhole.md 6.6); a test compares with the layouts.
pub(crate) const BLOCK_BYTES: usize = 1024;
/// Alignment of a block's address (wormhole.md 6.6).
pub(crate) const BLOCK_ALIGN: u64 = 32;
/// Entries of a queue, hence the most commands in flight; a test compares with the layouts.
pub(crate) const SLOTS: usize = 4;

/// The state of the indices kept here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// Other clients may have moved them.
    Unread,
    /// They equal the machine's.
    Kept,
    /// A command ran out of time and may still be answered.
    Suspect,
}

/// The queue of one Ethernet tile of a PCIe device.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "four independent facts")]
pub(crate) struct Queue {
    device: u8,
    tile: NocXy,
    base: u64,
    patience: Deadlines,
    request_write: u32,
    request_read: u32,
    response_read: u32,
    step: Step,
    /// Whether a command was given up whose answer may still arrive among others.
    wary: bool,
    /// Whether answers repeat the requested address; learned from the first one.
    echoes: Option<bool>,
    /// Whether the counters agree when nothing is in flight.
    counts: bool,
    /// Whether the response read index has moved but is not yet written.
    pop_owed: bool,
    commands: u64,
    /// The firmware's error counter when the indices were last read.
    errors: u32,
    /// Writes, and answers to them, that occupy the queue.
    outstanding: usize,
    /// Whether posted writes have not yet been awaited.
    unflushed: bool,
    pace: QueuePace,
}

impl Queue {
    /// Finds the queue structure of the tile; writes nothing.
    pub(crate) fn find(
        bus: &mut Bus,
        device: u8,
        tile: NocXy,
        patience: Deadlines,
    ) -> Result<Self, AccessError> {
        let eth = eth();
        let pointer = bus.batch().read(device, tile, eth.l1.queue_pointer.at, 4).run().word()?;
        Ok(Self {
            device,
            tile,
            base: eth.routing.base_of(pointer),
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
            pace: QueuePace::default(),
        })
    }

    fn request(&self, field: Field) -> u64 {
        self.base + eth().queues.request.at + field.offset()
    }

    fn response(&self, field: Field) -> u64 {
        self.base + eth().queues.response.at + field.offset()
    }

    /// Returns the data buffer that the request slot and the response slot of one number share.
    fn buffer(&self, slot: u32) -> u64 {
        self.base + eth().queues.buffer.nth(slot.into())
    }

    /// Returns its Ethernet tile.
    pub(crate) fn tile(&self) -> NocXy {
        self.tile
    }

    /// Returns the number of commands posted since the queue was found.
    pub(crate) fn commands(&self) -> u64 {
        self.commands
    }

    /// Whether a command ran out of time that may still be answered.
    pub(crate) fn is_suspect(&self) -> bool {
        self.step == Step::Suspect
    }

    /// Marks the indices as unread, so that the next command reads them first. Called before every
    /// series of commands, because other clients may have used the queue in between.
    pub(crate) fn out_of_step(&mut self, bus: &mut Bus) -> Result<(), AccessError> {
        self.settle(bus)?;
        if self.step == Step::Kept {
            self.step = Step::Unread;
        }
        Ok(())
    }

    /// Writes the response read index if it is owed.
    pub(crate) fn settle(&mut self, bus: &mut Bus) -> Result<(), AccessError> {
        if !self.pop_owed {
            return Ok(());
        }
        let batch = self.pop(bus.batch());
        batch.run().end()
    }

    /// Adds the response read index to a batch if it is owed.
    fn pop<'b>(&mut self, batch: Batch<'b>) -> Batch<'b> {
        if !std::mem::take(&mut self.pop_owed) {
            return batch;
        }
        let index = self.response_read.to_le_bytes();
        let at = self.response(Field::ReadIndex);
        batch.write(self.device, self.tile, at, &index, WindowOrdering::Strict)
    }

    /// Takes the answer at the response read index out of the queue.
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
                batch = batch.write(device, tile, self.buffer(slot), block, WindowOrdering::Strict);
            }
            let at = self.request(Field::Entry(slot));
            batch = batch.write(device, tile, at, &command.entry(), WindowOrdering::Strict);
            self.request_write = (self.request_write + 1) & 7;
            self.commands += 1;
        }
        if self.commands == before {
            return batch;
        }
        let doorbell = self.request(Field::WriteIndex);
        batch.write(
            device,
            tile,
            doorbell,
            &self.request_write.to_le_bytes(),
            WindowOrdering::Strict,
        )
    }

    /// Marks the queue after giving up a command in flight.
    fn lost(&mut self) {
        self.step = Step::Suspect;
        self.pop_owed = false;
        self.unflushed = false;
    }
}

/// Whether flags are of the late answer to an earlier write, not to the awaited read.
fn is_write_answer(flags: u32) -> bool {
    flags & routing().write_ack != 0 && flags & routing().read_data == 0
}

#[cfg(test)]
mod tests;
