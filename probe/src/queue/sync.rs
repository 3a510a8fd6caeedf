//! Keeping the indices of a queue in step with the machine's: before use, when it is full, after an accident.

use super::words::{Field, INDICES_WORDS, Indices};
use super::{Queue, Wait};
use crate::bus::Bus;
use crate::snapshot::AccessError;
use crate::windows::Order;
use layouts::wormhole;

impl Queue {
    /// Makes the indices the machine's and a request slot free.
    pub(super) fn ready(&mut self, bus: &mut Bus) -> Result<(), AccessError> {
        if !self.in_step {
            self.step(bus)?;
        }
        if self.request_write.wrapping_sub(self.request_read) & 7 < 4 {
            return Ok(());
        }
        self.await_room(bus)
    }

    /// A full queue: looks at its read index alone until a request has been taken.
    pub(super) fn await_room(&mut self, bus: &mut Bus) -> Result<(), AccessError> {
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

    pub(super) fn step(&mut self, bus: &mut Bus) -> Result<(), AccessError> {
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

    pub(super) fn indices(&self, bus: &mut Bus) -> Result<Indices, AccessError> {
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

    pub(super) fn poll(
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
    pub(super) fn drop_write_answers(
        &mut self,
        bus: &mut Bus,
        indices: &Indices,
    ) -> Result<(), AccessError> {
        if !self.in_step || indices.response_write == self.response_read {
            return Ok(());
        }
        self.response_read = indices.response_write;
        self.pop_owed = true;
        self.settle(bus)
    }
}
