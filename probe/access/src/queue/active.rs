//! One queue while reads go through it: what is under way there, and when to look again.

mod answers;

use super::words::Field;
use super::{Command, Queue, Stamped};
use crate::bus::{Answer, Batch};
use crate::eth_firmware::{eth, routing};
use machine::snapshot::AccessError;
use machine::window::Order;
use std::collections::VecDeque;

/// Shortest and longest time between two looks for one answer, in cycles.
const STEPS: (u64, u64) = (16, 2000);

/// What became of a command, by its number.
pub(super) type CommandOutcome = (usize, Result<Stamped, AccessError>);

/// A block whose answer came; its bytes still stand in the buffer of its slot.
struct Landed {
    command: usize,
    slot: u32,
    len: u32,
    cycles: u64,
}

/// Is a queue in use?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// Not yet.
    Reserve,
    /// Commands go through it.
    Active,
    /// It gets no more commands, as it does not lead to the chip; those under way are waited for.
    Leaving,
    /// It did not answer in time, or cannot be looked at.
    Dead,
}

/// A queue in use.
pub(super) struct ActiveQueue<'q> {
    pub(super) queue: &'q mut Queue,
    /// Has its tile a link to the far chip itself?
    pub(super) direct: bool,
    pub(super) stage: Stage,
    /// Most commands under way at a time.
    depth: usize,
    /// Numbers of the commands under way, oldest first.
    pub(super) flight: VecDeque<usize>,
    landed: Vec<Landed>,
    /// When the oldest command came first; unknown until the batch with its doorbell is back.
    head_since: Option<u64>,
    /// Looks for the oldest command so far.
    polls: u32,
    /// When to look again, if the target's time is known.
    due: u64,
    /// How often in a row it had no room for what it was asked.
    pub(super) no_room: u32,
    /// Entries that the look under way reads, and whether with their addresses.
    asked: Option<(usize, bool)>,
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
            asked: None,
        }
    }

    pub(super) fn is_active(&self) -> bool {
        self.stage == Stage::Active
    }

    /// Is it in use, or are commands still under way there?
    pub(super) fn is_used(&self) -> bool {
        self.is_active() || self.stage == Stage::Leaving && self.is_busy()
    }

    /// How many more commands may be posted.
    pub(super) fn room(&self) -> usize {
        if self.is_active() { self.depth - self.flight.len() } else { 0 }
    }

    /// Is anything under way or landed?
    pub(super) fn is_busy(&self) -> bool {
        !(self.flight.is_empty() && self.landed.is_empty())
    }

    /// How long the oldest command has been first in line.
    pub(super) fn waited(&self, now: u64) -> u64 {
        self.head_since.map_or(0, |since| now.saturating_sub(since))
    }

    /// Cycles from now until a look is worth its while; None if nothing is under way.
    pub(super) fn wait(&self, now: u64, commands: &[Command]) -> Option<u64> {
        self.flight.front()?;
        Some(match self.head_since {
            Some(_) => self.due.saturating_sub(now),
            None => self.expected(commands),
        })
    }

    /// The time until half of what is under way should be done: the far side never runs dry then.
    fn expected(&self, commands: &[Command]) -> u64 {
        let soon = self.flight.iter().take(self.flight.len().div_ceil(2));
        soon.map(|&number| self.queue.pace.of(&commands[number])).sum()
    }

    /// Adds the bytes of landed blocks to a batch, and then gives their slots back.
    pub(super) fn fetch<'b>(&mut self, mut batch: Batch<'b>) -> Batch<'b> {
        let Queue { device, tile, .. } = *self.queue;
        for block in &self.landed {
            let at = self.queue.buffer(block.slot);
            batch = batch.read_as(device, tile, at, block.len, Order::Strict);
        }
        // A slot that nobody waits for can be given back with the next doorbell.
        if self.landed.is_empty() { batch } else { self.queue.pop(batch) }
    }

    /// The bytes that [`ActiveQueue::fetch`] asked for.
    pub(super) fn fetched(
        &mut self,
        answer: &mut Answer,
        done: &mut Vec<CommandOutcome>,
    ) -> Result<(), AccessError> {
        let landed = std::mem::take(&mut self.landed);
        for (at, block) in landed.iter().enumerate() {
            match answer.take(block.len as usize) {
                Ok(bytes) => {
                    let bytes = bytes.to_vec();
                    done.push((block.command, Ok(Stamped { bytes, cycles: block.cycles })));
                }
                Err(error) => {
                    // What did not come is asked for again elsewhere.
                    let rest = landed[at..].iter().rev();
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

    /// Adds a look for the answers that should be there to a batch.
    pub(super) fn ask<'b>(&mut self, batch: Batch<'b>) -> Batch<'b> {
        let Queue { device, tile, response_read, .. } = *self.queue;
        let count = self.flight.len().div_ceil(2);
        let whole = self.queue.wary || self.queue.echoes.is_none();
        self.asked = Some((count, whole));
        let entry = &eth().entry;
        let (first, len) = if whole { (entry.address.at, 16) } else { (entry.data.at, 8) };
        let index = self.queue.response(Field::WriteIndex);
        let mut batch = batch.register(device, tile, index);
        for ahead in 0..count as u32 {
            let slot = response_read.wrapping_add(ahead) & 3;
            let at = self.queue.response(Field::Entry(slot)) + first;
            batch = batch.read_as(device, tile, at, len, Order::Strict);
        }
        batch
    }

    /// Gives everything under way up; the numbers, oldest first.
    pub(super) fn give_up(&mut self) -> Vec<usize> {
        if self.is_busy() {
            self.queue.lost();
        }
        self.asked = None;
        self.head_since = None;
        let landed = std::mem::take(&mut self.landed).into_iter().map(|block| block.command);
        landed.chain(std::mem::take(&mut self.flight)).collect()
    }

    /// Did the oldest command wait longer than it may?
    pub(super) fn is_overdue(&self, now: u64) -> bool {
        !self.flight.is_empty() && self.waited(now) > self.queue.patience.deadline_cycles
    }
}

/// Error flags of an answer that only says: no room, ask again.
pub(super) fn asks_again(error: &AccessError) -> bool {
    let AccessError::QueueError { flags } = error else { return false };
    flags & routing().block_unavailable != 0 && flags & routing().unreachable == 0
}
