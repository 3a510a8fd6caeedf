//! Handles answers, gateways that do not answer, and chips that stay silent.

use super::super::Stamped;
use super::super::active::{CommandOutcome, Stage, is_no_room};
use super::{QueueReader, STRIKES, is_refusal};
use layouts::NocXy;
use machine::snapshot::AccessError;
use std::time::Instant;

/// How often a block that found no buffer on its route is requested again (flag 30).
const RETRIES: u8 = 8;
/// A chip is given up when this number of tiles in a row cannot be reached.
const UNREACHABLE_TILES: usize = 3;
/// A gateway without room this often in a row counts as refusing. Each time costs a millisecond of
/// waiting for the up to four commands in flight.
const NO_ROOM_IN_A_ROW: u32 = 8;
/// A tile is given up for this series when this number of its commands in a row were refused.
const TILE_REFUSALS: usize = 4;

impl QueueReader<'_> {
    /// Keeps results, and puts commands to be retried in front.
    pub(super) fn settle(&mut self, done: Vec<(usize, CommandOutcome)>) {
        if !done.is_empty() {
            (self.answered, self.quiet) = (Instant::now(), 0);
        }
        for (active, (number, result)) in done {
            self.count_no_room(active, &result);
            self.last_refusal = result.as_ref().err().cloned();
            match &result {
                Err(error) if self.can_find_room(active, number, error) => {
                    self.tries[number] += 1;
                    self.waiting.push_front(number);
                    continue;
                }
                Err(error) if is_refusal(error) => {
                    if self.is_retried_elsewhere(active, number, error) {
                        continue;
                    }
                    self.count_refusal(self.commands[number].far().tile, error);
                }
                Err(_) => self.unreachable.clear(),
                Ok(_) => {
                    self.heard = Some(self.now);
                    self.note_answer(number);
                    self.unreachable.clear();
                }
            }
            if self.unreachable.len() == UNREACHABLE_TILES {
                // The chip itself seems to be at fault: commands in flight are awaited, the rest is
                // not tried.
                self.silent = result.as_ref().err().cloned();
                self.last_error = self.silent.clone().unwrap_or(AccessError::NotRequested);
                for number in std::mem::take(&mut self.waiting) {
                    self.refusals.close(number);
                }
            }
            self.results[number] = Some(result);
        }
    }

    /// Counts how often in a row a gateway had no room.
    fn count_no_room(&mut self, active: usize, result: &Result<Stamped, AccessError>) {
        let no_room = &mut self.active[active].no_room;
        *no_room = match result {
            Err(error) if is_no_room(error) => *no_room + 1,
            _ => 0,
        };
    }

    /// Whether a retry may find room. A gateway that never has room waits for a far end that
    /// releases no slot.
    fn can_find_room(&self, active: usize, number: usize, error: &AccessError) -> bool {
        let retry = self.tries[number] < RETRIES && self.active[active].no_room < NO_ROOM_IN_A_ROW;
        is_no_room(error) && retry
    }

    /// Counts a tile that could not be reached. After some refusals its other commands are ended,
    /// because each may cost a relay's time-out.
    fn count_refusal(&mut self, tile: NocXy, error: &AccessError) {
        if !self.unreachable.iter().any(|(at, _)| *at == tile) {
            self.unreachable.push((tile, 0));
        }
        let mut known = self.unreachable.iter_mut().filter(|(at, _)| *at == tile);
        let Some((_, count)) = known.next() else { return };
        *count += 1;
        if *count < TILE_REFUSALS {
            return;
        }
        let commands = self.commands;
        let of_tile = |number: &usize| commands[*number].far().tile == tile;
        let ended: Vec<usize> = self.waiting.iter().copied().filter(of_tile).collect();
        self.waiting.retain(|number| !of_tile(number));
        for number in ended {
            self.refusals.close(number);
            self.results[number] = Some(Err(error.clone()));
        }
    }

    /// Gives up gateways whose oldest command waited too long.
    pub(super) fn judge_times(&mut self) -> Result<(), AccessError> {
        for at in 0..self.active.len() {
            if self.active[at].is_used() && self.active[at].is_overdue(self.now) {
                self.give_up(at, &self.patience.timed_out());
            }
        }
        self.judge_silence()
    }

    /// Gives up a chip from which no gateway has had an answer for too long, or whose reads take
    /// too long in total.
    pub(super) fn judge_silence(&mut self) -> Result<(), AccessError> {
        let late = self.answered.elapsed() > self.patience.watchdog;
        if late || self.quiet >= STRIKES {
            self.silent = Some(self.patience.timed_out());
            return Err(self.patience.timed_out());
        }
        // Refusals count as silence, too: each takes a relay's time-out, and is tried again.
        let limit = self.patience.deadline_cycles.saturating_mul(u64::from(STRIKES));
        if self.heard.is_some_and(|heard| self.now.saturating_sub(heard) > limit) {
            let why = self.last_refusal.clone().unwrap_or_else(|| self.patience.timed_out());
            self.silent = Some(why.clone());
            return Err(why);
        }
        let deadline_cycles = self.patience.chip_cycles;
        if self.began.is_some_and(|began| self.now.saturating_sub(began) > deadline_cycles) {
            return Err(AccessError::TimedOut { deadline_cycles });
        }
        Ok(())
    }

    /// Handles a failed batch. A single gateway in use is given up; several are tried one by one.
    pub(super) fn blame(&mut self, error: &AccessError) {
        let mut used = (0..self.active.len()).filter(|&at| self.active[at].is_used());
        let alone = used.next().filter(|_| used.next().is_none());
        match alone {
            Some(at) => self.give_up(at, error),
            None => {
                for active in self.active.iter_mut().filter(|active| active.is_used()) {
                    active.stage = if active.is_active() { Stage::Reserve } else { Stage::Dead };
                    active.give_up().into_iter().rev().for_each(|n| self.waiting.push_front(n));
                }
            }
        }
    }

    /// Gives up a gateway; its commands are requested again through another.
    fn give_up(&mut self, at: usize, error: &AccessError) {
        let active = &mut self.active[at];
        active.stage = Stage::Dead;
        self.quiet += u8::from(*error == self.patience.timed_out());
        self.last_error = error.clone();
        for (place, number) in active.give_up().into_iter().enumerate().rev() {
            self.strikes[number] += u8::from(place == 0);
            if self.strikes[number] < STRIKES {
                self.waiting.push_front(number);
            } else {
                self.refusals.close(number);
                self.results[number] = Some(Err(error.clone()));
            }
        }
    }
}
