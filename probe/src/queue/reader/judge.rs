//! What becomes of answers, of gateways that do not answer, and of a chip that stays silent.

use super::super::lane::{Outcome, Stage, asks_again};
use super::{Reader, STRIKES, is_unreachable};
use crate::snapshot::AccessError;
use std::time::Instant;

/// A block that found no buffer on its route is asked for again so often (flag 30).
const RETRIES: u8 = 8;
/// A chip of which so many tiles in a row cannot be reached is not asked for any more.
const UNREACHABLE_TILES: usize = 3;

impl Reader<'_> {
    /// Keeps results, and puts what is to be tried again in front.
    pub(super) fn settle(&mut self, done: Vec<Outcome>) {
        if !done.is_empty() {
            (self.heard, self.quiet) = (Instant::now(), 0);
        }
        for (number, result) in done {
            match &result {
                Err(error) if asks_again(error) && self.tries[number] < RETRIES => {
                    self.tries[number] += 1;
                    self.waiting.push_front(number);
                    continue;
                }
                Err(error) if is_unreachable(error) => {
                    let tile = self.commands[number].far().tile;
                    if !self.unreachable.contains(&tile) {
                        self.unreachable.push(tile);
                    }
                }
                _ => self.unreachable.clear(),
            }
            if self.unreachable.len() == UNREACHABLE_TILES {
                // The chip itself, it seems: what is under way is waited for, the rest not tried.
                self.silent = result.as_ref().err().cloned();
                self.last_error = self.silent.clone().unwrap_or(AccessError::NotAsked);
                self.waiting.clear();
            }
            self.results[number] = Some(result);
        }
    }

    /// Gives up gateways whose oldest command waited too long.
    pub(super) fn judge_times(&mut self) -> Result<(), AccessError> {
        for at in 0..self.lanes.len() {
            if self.lanes[at].is_active() && self.lanes[at].is_overdue(self.now) {
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
        let mut active = (0..self.lanes.len()).filter(|&at| self.lanes[at].is_active());
        let alone = active.next().filter(|_| active.next().is_none());
        match alone {
            Some(at) => self.give_up(at, error),
            None => {
                for lane in self.lanes.iter_mut().filter(|lane| lane.is_active()) {
                    lane.stage = Stage::Reserve;
                    lane.give_up().into_iter().rev().for_each(|n| self.waiting.push_front(n));
                }
            }
        }
    }

    /// Asks again through another gateway for what this one was to answer.
    fn give_up(&mut self, at: usize, error: &AccessError) {
        let lane = &mut self.lanes[at];
        lane.stage = Stage::Dead;
        self.quiet += u8::from(*error == self.patience.timed_out());
        self.last_error = error.clone();
        for (place, number) in lane.give_up().into_iter().enumerate().rev() {
            self.strikes[number] += u8::from(place == 0);
            if self.strikes[number] < STRIKES {
                self.waiting.push_front(number);
            } else {
                self.results[number] = Some(Err(error.clone()));
            }
        }
    }
}
