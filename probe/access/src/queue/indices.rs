//! Reads the state of a queue as a whole: before use, when it is full, after an error.

use super::wait::Wait;
use super::words::{COUNTERS, Field};
use super::{Queue, SLOTS, Step};
use crate::bus::{BatchAnswer, Bus};
use crate::eth_firmware::{eth, routing};
use layouts::NocXy;
use machine::snapshot::AccessError;
use machine::window::WindowOrdering;

/// The four indices and the counters, as read in one batch.
pub(super) struct Indices {
    pub(super) cycles: u64,
    pub(super) writes_asked: u32,
    pub(super) writes_done: u32,
    reads_asked: u32,
    reads_done: u32,
    pub(super) errors: u32,
    request_write: u32,
    pub(super) request_read: u32,
    pub(super) response_write: u32,
    response_read: u32,
    /// Whether all answers that were not taken yet are complete.
    pub(super) complete: bool,
}

impl Indices {
    /// Whether no command is in flight that could still be answered.
    fn is_settled(&self, counts: bool) -> bool {
        let counted = self.reads_asked == self.reads_done && self.writes_asked == self.writes_done;
        self.request_write == self.request_read && self.complete && (counted || !counts)
    }
}

/// Checks an index word. A tile that is dead or runs no firmware has another value.
pub(super) fn index(tile: NocXy, word: u32) -> Result<u32, AccessError> {
    let none =
        || AccessError::Unreachable(format!("{word:#x} at tile {tile} is not a queue index"));
    if word < routing().index_modulus { Ok(word) } else { Err(none()) }
}

impl Queue {
    /// Adopts the machine's indices, once no earlier command of any client can be answered any
    /// more; drops the answers that are present.
    pub(crate) fn ready(&mut self, bus: &mut Bus) -> Result<(), AccessError> {
        let (mut wait, mut retried) = (Wait::start(self.patience), false);
        while self.step != Step::Kept {
            let indices = self.indices(bus)?;
            if self.adopt(bus, &indices)? {
                return Ok(());
            }
            let Err(timeout) = wait.pause(bus, indices.cycles) else { continue };
            if indices.request_write == indices.request_read {
                // Requests that were taken will not be answered: the tile was reset, or its
                // firmware counts differently.
                self.counts = self.counts && !indices.complete;
                self.wary = true;
                self.take_over(bus, &indices)?;
            } else if retried || indices.complete {
                self.lost();
                return Err(timeout);
            } else {
                // Answers that a reset cut off may fill the queue and block all requests.
                self.drop_answers(bus, &indices)?;
                (wait, retried) = (Wait::start(self.patience), true);
            }
        }
        Ok(())
    }

    /// Reads the indices once; returns whether they are in step or were put in step.
    pub(super) fn try_ready(&mut self, bus: &mut Bus) -> Result<bool, AccessError> {
        if self.step == Step::Kept {
            return Ok(true);
        }
        let indices = self.indices(bus)?;
        self.adopt(bus, &indices)
    }

    fn adopt(&mut self, bus: &mut Bus, indices: &Indices) -> Result<bool, AccessError> {
        let settled = indices.is_settled(self.counts);
        if settled {
            self.take_over(bus, indices)?;
        } else if indices.complete {
            // Firmware may need the room for requests that it has not begun.
            self.drop_answers(bus, indices)?;
        }
        Ok(settled)
    }

    pub(super) fn drop_answers(
        &mut self,
        bus: &mut Bus,
        indices: &Indices,
    ) -> Result<(), AccessError> {
        self.response_read = indices.response_write;
        self.pop_owed = indices.response_write != indices.response_read;
        self.settle(bus)
    }

    fn take_over(&mut self, bus: &mut Bus, indices: &Indices) -> Result<(), AccessError> {
        self.request_write = indices.request_write;
        self.request_read = indices.request_read;
        self.errors = indices.errors;
        self.outstanding = 0;
        self.step = Step::Kept;
        self.drop_answers(bus, indices)
    }

    pub(super) fn indices(&self, bus: &mut Bus) -> Result<Indices, AccessError> {
        let (device, tile) = (self.device, self.tile);
        // Read in the order in which firmware changes them, so that no change in between is missed.
        let batch = bus.batch().now();
        let batch = batch
            .register(device, tile, self.request(Field::WriteIndex))
            .register(device, tile, self.request(Field::ReadIndex))
            .read_as(
                device,
                tile,
                self.request(Field::Counters),
                4 * COUNTERS,
                WindowOrdering::Strict,
            )
            .register(device, tile, self.response(Field::WriteIndex))
            .register(device, tile, self.response(Field::ReadIndex));
        let mut indices = self.taken(&mut batch.run())?;
        indices.complete = self.are_complete(bus, &indices)?;
        Ok(indices)
    }

    fn taken(&self, answer: &mut BatchAnswer) -> Result<Indices, AccessError> {
        Ok(Indices {
            cycles: answer.cycles()?,
            request_write: index(self.tile, answer.word()?)?,
            request_read: index(self.tile, answer.word()?)?,
            writes_asked: answer.word()?,
            writes_done: answer.word()?,
            reads_asked: answer.word()?,
            reads_done: answer.word()?,
            errors: answer.word()?,
            response_write: index(self.tile, answer.word()?)?,
            response_read: index(self.tile, answer.word()?)?,
            complete: true,
        })
    }

    /// Whether all answers that were not taken have their flags.
    fn are_complete(&self, bus: &mut Bus, indices: &Indices) -> Result<bool, AccessError> {
        let waiting = indices.response_write.wrapping_sub(indices.response_read) & 7;
        let mut batch = bus.batch();
        // Firmware that does not check for room overwrites slots; each slot is read once.
        let waiting = waiting.min(SLOTS as u32);
        for back in 1..=waiting {
            let slot = indices.response_write.wrapping_sub(back) & 3;
            let at = self.response(Field::Entry(slot)) + eth().entry.flags.at;
            batch = batch.register(self.device, self.tile, at);
        }
        if waiting == 0 {
            return Ok(true);
        }
        let mut answer = batch.run();
        let mut complete = true;
        for _ in 0..waiting {
            complete &= answer.word()? != 0;
        }
        Ok(complete)
    }
}
