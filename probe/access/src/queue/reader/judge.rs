//! What becomes of answers, of gateways that do not answer, and of a chip that stays silent.

use super::super::Stamped;
use super::super::active::{CommandOutcome, Stage, asks_again};
use super::{Reader, STRIKES, is_refusal};
use layouts::NocXy;
use machine::snapshot::AccessError;
use std::time::Instant;

/// A block that found no buffer on its route is asked for again so often (flag 30).
const RETRIES: u8 = 8;
/// A chip of which so many tiles in a row cannot be reached is not asked for any more.
const UNREACHABLE_TILES: usize = 3;
/// A gateway that had no room so often in a row refuses what it is asked. Each time is a millisecond of waiting, for the four
/// that may be under way together.
const NO_ROOM_IN_A_ROW: u32 = 8;
/// A tile of which so many commands in a row were refused is not asked for any more in this series.
const TILE_REFUSALS: usize = 4;

impl Reader<'_> {
    /// Keeps results, and puts what is to be tried again in front.
    pub(super) fn settle(&mut self, done: Vec<(usize, CommandOutcome)>) {
        if !done.is_empty() {
            (self.heard, self.quiet) = (Instant::now(), 0);
        }
        for (active, (number, result)) in done {
            self.count_no_room(active, &result);
            match &result {
                Err(error) if self.may_find_room(active, number, error) => {
                    self.tries[number] += 1;
                    self.waiting.push_front(number);
                    continue;
                }
                Err(error) if is_refusal(error) => {
                    if self.is_asked_elsewhere(active, number, error) {
                        continue;
                    }
                    self.count_refusal(self.commands[number].far().tile, error);
                }
                Err(_) => self.unreachable.clear(),
                Ok(_) => {
                    self.is_answered(number);
                    self.unreachable.clear();
                }
            }
            if self.unreachable.len() == UNREACHABLE_TILES {
                // The chip itself, it seems: what is under way is waited for, the rest not tried.
                self.silent = result.as_ref().err().cloned();
                self.last_error = self.silent.clone().unwrap_or(AccessError::NotAsked);
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
            Err(error) if asks_again(error) => *no_room + 1,
            _ => 0,
        };
    }

    /// Is there only no room for now? A gateway that never has any waits for a far end that gives no slot back.
    fn may_find_room(&self, active: usize, number: usize, error: &AccessError) -> bool {
        let once = self.tries[number] < RETRIES && self.active[active].no_room < NO_ROOM_IN_A_ROW;
        asks_again(error) && once
    }

    /// A tile could not be reached. After some refusals nothing more of it is asked for: each may cost a relay's patience.
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

    /// Gives up a chip that none of the gateways has had an answer from for too long, and one that
    /// takes too long altogether.
    pub(super) fn judge_silence(&mut self) -> Result<(), AccessError> {
        let late = self.heard.elapsed() > self.patience.watchdog;
        if late || self.quiet >= STRIKES {
            self.silent = Some(self.patience.timed_out());
            return Err(self.patience.timed_out());
        }
        let deadline_cycles = self.patience.chip_cycles;
        if self.began.is_some_and(|began| self.now.saturating_sub(began) > deadline_cycles) {
            return Err(AccessError::TimedOut { deadline_cycles });
        }
        Ok(())
    }

    /// A batch failed. With one gateway in use that is to blame; else they are tried one by one.
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

    /// Asks again through another gateway for what this one was to answer.
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
