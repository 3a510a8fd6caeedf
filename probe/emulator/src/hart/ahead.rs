//! Harts that run ahead of what may reach their tile, to be undone if something does.
//!
//! A packet takes a few cycles from tile to tile, so tiles could run only a few cycles at a time. But
//! most instructions touch nothing outside the tile. After a run, harts execute such instructions
//! ahead of the tile's present cycle, and the bytes that they replace are kept. The chip then knows
//! until when the tile sends nothing. An event at a cycle that the harts have passed undoes all of
//! it, and the harts execute again, up to the event: no byte and no cycle differs.

use super::before::{HartBefore, SHORTEST};
use super::burst::{burst, in_step};
use super::core::Hart;
use super::mode::Mode;
use super::schedule::{due_number, turn};
use super::{Devices, HartGroup};
use crate::memory::TileMemory;

impl HartGroup {
    /// Executes instructions that touch nothing outside the tile in cycles before `to_cycle`, ahead
    /// of [`HartGroup::now`]. The caller knows of no event before that cycle. Afterwards call
    /// [`HartGroup::run`] up to an event, then [`HartGroup::undo_ahead`], before the event happens.
    pub(crate) fn run_ahead(&mut self, memory: &mut TileMemory, to_cycle: u64) {
        let to = to_cycle.min(self.now + self.ahead.span);
        let disturbed = !self.woken.is_empty() || memory.touched != 0 || !memory.stale.is_empty();
        if disturbed || self.pending.is_some() || !self.orders.is_empty() {
            return;
        }
        if !self.ahead.harts.is_empty() || to < self.now + SHORTEST {
            return;
        }
        if self.ahead.skip > 0 {
            self.ahead.skip -= 1;
            return;
        }
        self.save();
        let mut due = self.due();
        let reached = loop {
            let turn = turn(&due, to);
            if let Some(end) = self.in_step_until(&turn, to) {
                let slow = in_step(&mut self.harts, memory, end, &mut self.ahead.stores);
                due = self.due();
                match slow {
                    Some(slow) => break self.harts[slow].at,
                    None => continue,
                }
            }
            if turn.at >= to {
                break to;
            }
            let hart = &mut self.harts[turn.hart];
            let end = if self.sleep { hart.pace.next } else { u64::MAX };
            if hart.traced || !matches!(hart.mode, Mode::Plain) || turn.at >= end {
                break turn.at;
            }
            burst(hart, memory, turn.horizon.min(end), turn.shared, &mut self.ahead.stores);
            if hart.at == turn.at {
                break turn.at;
            }
            due[turn.hart] = due_number(hart.at, turn.hart);
        };
        self.ahead.adapt(reached - self.now);
        if self.harts.iter().all(|hart| hart.at <= self.now || !hart.running()) {
            self.ahead.keep();
        }
    }

    fn save(&mut self) {
        self.ahead.from = self.now;
        for (index, hart) in self.harts.iter().enumerate() {
            if hart.running() && matches!(hart.mode, Mode::Plain) {
                self.ahead.harts.push(HartBefore::new(index, hart));
            }
        }
    }

    /// Returns whether the harts have already executed everything before `to_cycle`, and then makes
    /// it the present cycle.
    pub(super) fn overtaken(&mut self, memory: &mut TileMemory, to_cycle: u64) -> bool {
        if self.ahead.harts.is_empty() {
            return false;
        }
        let last = self.furthest();
        let first = self.harts.iter().filter_map(Hart::due).min().unwrap_or(u64::MAX);
        if first >= to_cycle {
            self.now = to_cycle;
        }
        if last <= to_cycle {
            self.ahead.keep();
        } else if first < to_cycle {
            self.restore(memory);
        }
        first >= to_cycle
    }

    /// Returns the cycle up to which the hart that is furthest ahead has executed.
    fn furthest(&self) -> u64 {
        let ahead = self.ahead.harts.iter().map(|before| self.harts[before.hart].at);
        ahead.max().unwrap_or(0)
    }

    /// Takes back what was executed after the present cycle, for an event that happens now.
    pub(crate) fn undo_ahead(&mut self, memory: &mut TileMemory, devices: &mut impl Devices) {
        if self.ahead.harts.is_empty() {
            return;
        }
        if self.furthest() <= self.now {
            return self.ahead.keep();
        }
        let now = self.now;
        self.restore(memory);
        self.run(memory, devices, now);
    }

    /// Returns all harts to the cycle from which they ran ahead.
    fn restore(&mut self, memory: &mut TileMemory) {
        let mut stores = std::mem::take(&mut self.ahead.stores);
        let mut harts = std::mem::take(&mut self.ahead.harts);
        for store in stores.0.drain(..).rev() {
            let old = &store.old.to_le_bytes()[..usize::from(store.bytes)];
            if !memory.put_back(store.addr, old) {
                self.harts[usize::from(store.hart)].put_back(store.addr, old);
            }
        }
        for before in harts.drain(..) {
            let hart = &mut self.harts[before.hart];
            (hart.pc, hart.at, hart.retired) = (before.pc, before.at, before.retired);
            hart.regs[..32].copy_from_slice(&before.regs);
        }
        (self.ahead.stores, self.ahead.harts) = (stores, harts);
        self.now = self.ahead.from;
        self.ahead.shrink();
    }
}
