//! A queue that carries reads: its commands in flight, and when to poll it.

mod answers;

use super::words::Field;
use super::{Command, Queue, Stamped};
use crate::bus::{Batch, BatchAnswer};
use crate::eth_firmware::{eth, routing};
use machine::snapshot::AccessError;
use machine::window::WindowOrdering;
use std::collections::VecDeque;

/// Shortest time between two polls for one answer, in cycles. It grows with the wait: an answer is found
/// at most an eighth later than it came, and one that never comes costs few polls.
const LEAST_STEP: u64 = 16;

/// The result of a command, by its number.
pub(super) type CommandOutcome = (usize, Result<Stamped, AccessError>);

/// A block that was answered; its bytes are still in the buffer of its slot.
struct Landed {
    command: usize,
    slot: u32,
    len: u32,
    cycles: u64,
}

/// The stage of a queue's use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// Not in use yet.
    Reserve,
    /// Carries commands.
    Active,
    /// Does not lead to the chip: gets no more commands, and those in flight are awaited.
    Leaving,
    /// Did not answer in time, or cannot be read.
    Dead,
}

/// A queue in use.
pub(super) struct ActiveQueue<'q> {
    pub(super) queue: &'q mut Queue,
    /// Whether its tile has a link to the far chip itself.
    pub(super) direct: bool,
    pub(super) stage: Stage,
    /// Most commands in flight.
    depth: usize,
    /// Numbers of the commands in flight, oldest first.
    pub(super) flight: VecDeque<usize>,
    landed: Vec<Landed>,
    /// When the oldest command became the first; unknown until the batch with its doorbell has
    /// returned.
    head_since: Option<u64>,
    /// Polls for the oldest command so far.
    polls: u32,
    /// When to poll again, if the target's time is known.
    due: u64,
    /// How often in a row it had no room for a request.
    pub(super) no_room: u32,
    /// Number of entries that the present poll reads, and whether with their addresses.
    polled: Option<(usize, bool)>,
}

impl<'q> ActiveQueue<'q> {
    pub(super) fn new(queue: &'q mut Queue, direct: bool, depth: usize) -> Self {
        Self {
            queue,
            direct,
            stage: Stage::Reserve,
            depth,
            flight: VecDeque::new(),
            landed: Vec::new(),
            head_since: None,
            polls: 0,
            due: 0,
            no_room: 0,
            polled: None,
        }
    }

    pub(super) fn is_active(&self) -> bool {
        self.stage == Stage::Active
    }

    /// Whether it carries commands or still has some in flight.
    pub(super) fn is_used(&self) -> bool {
        self.is_active() || self.stage == Stage::Leaving && self.is_busy()
    }

    /// Returns how many more commands may be posted.
    pub(super) fn room(&self) -> usize {
        if self.is_active() { self.depth - self.flight.len() } else { 0 }
    }

    /// Whether commands are in flight or blocks have landed.
    pub(super) fn is_busy(&self) -> bool {
        !(self.flight.is_empty() && self.landed.is_empty())
    }

    /// Returns how long the oldest command has been the first.
    pub(super) fn waited(&self, now: u64) -> u64 {
        self.head_since.map_or(0, |since| now.saturating_sub(since))
    }

    /// Returns the cycles until the next useful poll; None if nothing is in flight.
    pub(super) fn wait(&self, now: u64, commands: &[Command]) -> Option<u64> {
        self.flight.front()?;
        Some(match self.head_since {
            Some(_) => self.due.saturating_sub(now),
            None => self.expected(commands),
        })
    }

    /// Returns the time until half of the commands in flight should be done, so that the far side
    /// never idles.
    fn expected(&self, commands: &[Command]) -> u64 {
        let soon = self.flight.iter().take(self.flight.len().div_ceil(2));
        soon.map(|&number| self.queue.pace.of(&commands[number])).sum()
    }

    /// Adds reads of the landed blocks to a batch, and then releases their slots.
    pub(super) fn fetch<'b>(&mut self, mut batch: Batch<'b>) -> Batch<'b> {
        let Queue { device, tile, .. } = *self.queue;
        for block in &self.landed {
            let at = self.queue.buffer(block.slot);
            batch = batch.read_as(device, tile, at, block.len, WindowOrdering::Strict);
        }
        // Without blocks, slots are released with the next doorbell.
        if self.landed.is_empty() { batch } else { self.queue.pop(batch) }
    }

    /// Takes the bytes that [`ActiveQueue::fetch`] requested.
    pub(super) fn fetched(
        &mut self,
        answer: &mut BatchAnswer,
        done: &mut Vec<CommandOutcome>,
    ) -> Result<(), AccessError> {
        let landed = std::mem::take(&mut self.landed);
        for (index, block) in landed.iter().enumerate() {
            match answer.take(block.len as usize) {
                Ok(bytes) => {
                    let bytes = bytes.to_vec();
                    done.push((block.command, Ok(Stamped { bytes, cycles: block.cycles })));
                }
                Err(error) => {
                    // The missing blocks are requested again elsewhere.
                    let rest = landed[index..].iter().rev();
                    rest.for_each(|block| self.flight.push_front(block.command));
                    return Err(error);
                }
            }
        }
        Ok(())
    }

    /// Adds commands to a batch.
    pub(super) fn post<'b>(
        &mut self,
        batch: Batch<'b>,
        commands: &[Command],
        numbers: &[usize],
    ) -> Batch<'b> {
        if numbers.is_empty() {
            return batch;
        }
        if self.flight.is_empty() {
            self.head_since = None;
            self.polls = 0;
        }
        self.flight.extend(numbers);
        let batch = self.queue.pop(batch);
        self.queue.post(batch, numbers.iter().map(|&number| (&commands[number], [].as_slice())))
    }

    /// Adds a poll for the expected answers to a batch.
    pub(super) fn poll<'b>(&mut self, batch: Batch<'b>) -> Batch<'b> {
        let Queue { device, tile, response_read, .. } = *self.queue;
        let count = self.flight.len().div_ceil(2);
        let whole = self.queue.wary || self.queue.echoes.is_none();
        self.polled = Some((count, whole));
        let entry = &eth().entry;
        let (first, len) = if whole { (entry.address.at, 16) } else { (entry.data.at, 8) };
        let index = self.queue.response(Field::WriteIndex);
        let mut batch = batch.register(device, tile, index);
        for ahead in 0..count as u32 {
            let slot = response_read.wrapping_add(ahead) & 3;
            let at = self.queue.response(Field::Entry(slot)) + first;
            batch = batch.read_as(device, tile, at, len, WindowOrdering::Strict);
        }
        batch
    }

    /// Gives up all commands in flight; returns their numbers, oldest first.
    pub(super) fn give_up(&mut self) -> Vec<usize> {
        if self.is_busy() {
            self.queue.lost();
        }
        self.polled = None;
        self.head_since = None;
        let landed = std::mem::take(&mut self.landed).into_iter().map(|block| block.command);
        landed.chain(std::mem::take(&mut self.flight)).collect()
    }

    /// Whether the oldest command has waited too long.
    pub(super) fn is_overdue(&self, now: u64) -> bool {
        !self.flight.is_empty() && self.waited(now) > self.queue.patience.deadline_cycles
    }
}

/// Whether the error flags of an answer mean: no room, request again.
pub(super) fn is_no_room(error: &AccessError) -> bool {
    let AccessError::QueueError { flags } = error else { return false };
    flags & routing().block_unavailable != 0 && flags & routing().unreachable == 0
}
