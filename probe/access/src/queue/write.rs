//! Writes through a queue: posted while there is room, waited for by counters.

use super::indices::Indices;
use super::wait::Wait;
use super::{Command, Queue, SLOTS};
use crate::bus::Bus;
use machine::snapshot::AccessError;

impl Queue {
    /// Posts writes, each with the bytes of its block, at most `depth` under way; they are done in
    /// order. [`Queue::flush`] waits for the last of them.
    pub(crate) fn write_all(
        &mut self,
        bus: &mut Bus,
        depth: usize,
        writes: &[(Command, &[u8])],
    ) -> Result<(), AccessError> {
        self.ready(bus)?;
        let mut rest = writes;
        while !rest.is_empty() {
            let room = depth.min(SLOTS).saturating_sub(self.outstanding);
            if room == 0 {
                self.poll(bus, |queue, _| queue.outstanding < depth.min(SLOTS))?;
                continue;
            }
            let (now, later) = rest.split_at(room.min(rest.len()));
            let batch = self.pop(bus.batch());
            let posted = self.post(batch, now.iter().map(|(command, block)| (command, *block)));
            self.outstanding += now.len();
            self.unflushed = true;
            posted.run().end().inspect_err(|_| self.lost())?;
            rest = later;
        }
        Ok(())
    }

    /// Waits until all writes have arrived: requests taken, and as many answered as asked. A write
    /// that could not be carried out shows in the error counter alone.
    pub(crate) fn flush(&mut self, bus: &mut Bus) -> Result<(), AccessError> {
        if !std::mem::take(&mut self.unflushed) {
            return Ok(());
        }
        let before = self.errors;
        self.poll(bus, |queue, indices| {
            queue.errors = indices.errors;
            queue.outstanding == 0
        })?;
        if self.errors == before {
            return Ok(());
        }
        Err(AccessError::Unreachable("base firmware counted an error for a write".into()))
    }

    fn poll(
        &mut self,
        bus: &mut Bus,
        mut done: impl FnMut(&mut Self, &Indices) -> bool,
    ) -> Result<(), AccessError> {
        let mut wait = Wait::start(self.patience);
        loop {
            let indices = self.indices(bus).inspect_err(|_| self.lost())?;
            self.request_read = indices.request_read;
            self.drop_write_answers(bus, &indices)?;
            // What is not taken, what is not done, and what is answered take room alike.
            let waiting = self.request_write.wrapping_sub(indices.request_read) & 7;
            let answers = indices.response_write.wrapping_sub(self.response_read) & 7;
            let doing = indices.writes_asked.wrapping_sub(indices.writes_done);
            self.outstanding = (waiting + answers).saturating_add(doing) as usize;
            if done(self, &indices) {
                return Ok(());
            }
            wait.go_on(bus, indices.cycles).inspect_err(|_| self.lost())?;
        }
    }

    /// Firmware may answer writes too. Nothing else can be in the response queue while no read is
    /// under way, so whatever is complete there is dropped before it fills the queue.
    fn drop_write_answers(&mut self, bus: &mut Bus, indices: &Indices) -> Result<(), AccessError> {
        if indices.response_write == self.response_read || !indices.complete {
            return Ok(());
        }
        self.drop_answers(bus, indices)
    }
}
