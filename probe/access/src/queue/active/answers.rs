//! Takes the answers that a poll found: matches them to commands, and checks that they are
//! complete.

use super::super::indices::index;
use super::super::{Command, Stamped, Step, is_write_answer};
use super::{ActiveQueue, CommandOutcome, LEAST_STEP, Landed};
use crate::bus::BatchAnswer;
use machine::snapshot::AccessError;

impl ActiveQueue<'_> {
    /// Takes the answers of a poll. The index comes first: the flags of an entry may belong to an
    /// older answer.
    pub(in crate::queue) fn take(
        &mut self,
        answer: &mut BatchAnswer,
        (before, now): (u64, u64),
        commands: &[Command],
        done: &mut Vec<CommandOutcome>,
    ) -> Result<(), AccessError> {
        if self.head_since.is_none() {
            self.due = before + self.expected(commands);
        }
        let since = *self.head_since.get_or_insert(before);
        let Some((count, whole)) = self.polled.take() else { return Ok(()) };
        let head = self.flight.front().map(|&number| commands[number]);
        let moved = index(self.queue.tile, answer.word()?)?;
        let mut present = (moved.wrapping_sub(self.queue.response_read) & 7) as usize;
        present = present.min(count);
        let (mut found, mut open) = (0, true);
        for place in 0..count {
            let echo = if whole { Some((answer.word()?, answer.word()?)) } else { None };
            let (data, flags) = (answer.word()?, answer.word()?);
            // Answers are taken in order; the flags come last.
            open &= place < present && flags != 0;
            if open && self.take_answer(echo, data, flags, now, commands, done) {
                found += 1;
            }
        }
        self.polls += 1;
        let Some(head) = head else { return Ok(()) };
        if found == count && self.polls == 1 {
            self.queue.pace.was_there(&head);
        } else if found > 0 && self.polls > 1 {
            self.queue.pace.came_late(&head, now.saturating_sub(since));
        }
        if found > 0 {
            (self.head_since, self.polls) = (Some(now), 0);
            self.due = now + self.expected(commands);
        } else {
            let waited = now.saturating_sub(since);
            let left = self.queue.patience.deadline_cycles.saturating_sub(waited);
            self.due = now + (waited / 8).min(left).max(LEAST_STEP);
        }
        Ok(())
    }

    /// Takes the next answer out of the queue. Returns whether it was the oldest command's.
    fn take_answer(
        &mut self,
        echo: Option<(u32, u32)>,
        data: u32,
        flags: u32,
        cycles: u64,
        commands: &[Command],
        done: &mut Vec<CommandOutcome>,
    ) -> bool {
        let slot = self.queue.response_read & 3;
        self.queue.popped();
        let Some(&number) = self.flight.front() else { return false };
        let command = &commands[number];
        if is_write_answer(flags) || self.is_late(echo, command) {
            return false;
        }
        self.flight.pop_front();
        self.queue.request_read =
            self.queue.request_write.wrapping_sub(self.flight.len() as u32) & 7;
        if flags != command.expected() {
            // The firmware may have counted it; the next series reads the counter first.
            self.queue.step = Step::Unread;
            done.push((number, Err(AccessError::QueueError { flags })));
        } else if let Some(len) = command.block() {
            self.landed.push(Landed { command: number, slot, len, cycles });
        } else {
            let bytes = data.to_le_bytes().to_vec();
            done.push((number, Ok(Stamped { bytes, cycles })));
        }
        true
    }

    /// Whether this is the late answer to a command that was given up. Only firmware that repeats
    /// the address shows it, which is learned while no command is in doubt.
    fn is_late(&mut self, echo: Option<(u32, u32)>, command: &Command) -> bool {
        let Some((low, high)) = echo else { return false };
        let same = u64::from(high) << 32 | u64::from(low) == command.far().address();
        if !self.queue.wary && self.queue.echoes.is_none() {
            self.queue.echoes = Some(same);
        }
        self.queue.wary && self.queue.echoes == Some(true) && !same
    }
}
