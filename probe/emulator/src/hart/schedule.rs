//! Which hart of a tile executes next, and how far it may go alone.
//!
//! The order is that of cycles, and of indices within a cycle. Only *shared* accesses (L1, devices, decoding) can tell the
//! difference, so a hart runs ahead over private instructions, up to the first boundary at which another could change its
//! code or reset it.

use super::burst::{Exit, burst};
use super::core::{Hart, State};
use super::decode;
use super::group::HartGroup;
use super::sleep::{Before, Mode};
use super::step::{self, Outside, Touched};
use super::{BOUNDARY_CYCLES, Devices, Nature, Order, Stop, Stored};
use crate::memory::TileMemory;

/// A stretch of instructions of one hart.
#[derive(Debug, Clone, Copy)]
struct Turn {
    hart: usize,
    /// The cycle of its first instruction.
    at: u64,
    /// Shared accesses are made only in cycles before this one.
    shared: u64,
    /// Nothing is executed in this cycle or after it.
    horizon: u64,
}

impl HartGroup {
    /// The first cycle at which something can happen without an event from outside: `None` if that is never, the present
    /// cycle if a hart is executing. Until then the machine need not call [`HartGroup::run`], except to bring the group to the
    /// cycle of an event before the event is applied.
    pub fn next_wake(&self, memory: &TileMemory) -> Option<u64> {
        if self.woken || memory.touched != 0 {
            return Some(self.now);
        }
        let first = self.harts.iter().filter_map(Hart::due).min();
        first.into_iter().chain(self.pending).min()
    }

    /// Brings all harts to exactly `to_cycle`, or to the devices' deadline if that comes before; [`HartGroup::now`] tells.
    /// Nothing if that is not ahead.
    pub fn run(&mut self, memory: &mut TileMemory, devices: &mut impl Devices, to_cycle: u64) {
        if to_cycle <= self.now {
            return;
        }
        self.notify(memory, self.now, None);
        self.drop_idle_watches(memory);
        memory.inside = true;
        loop {
            let to_cycle = to_cycle.min(devices.deadline());
            let limit = self.pending.map_or(to_cycle, |boundary| boundary.min(to_cycle));
            if let Some(turn) = self.turn(limit) {
                self.take(turn, memory, devices);
            } else if self.pending == Some(limit) {
                self.boundary(memory, limit);
            } else {
                break;
            }
        }
        memory.inside = false;
        self.now = to_cycle.min(devices.deadline());
    }

    /// The hart whose instruction is due first, if it is due before `limit`.
    fn turn(&self, limit: u64) -> Option<Turn> {
        let mut first: Option<(u64, usize)> = None;
        let (mut shared, mut others) = (limit, u64::MAX);
        for (index, hart) in self.harts.iter().enumerate() {
            let Some(due) = hart.due() else { continue };
            match first {
                // In one cycle the lower index goes first, so it may still act in the cycle of a later hart.
                Some((at, _)) if due >= at => {
                    shared = shared.min(due + 1);
                    others = others.min(due);
                }
                _ => {
                    let passed = first.map_or(u64::MAX, |(at, _)| at);
                    shared = shared.min(passed);
                    others = others.min(passed);
                    first = Some((due, index));
                }
            }
        }
        let (at, hart) = first.filter(|&(at, _)| at < limit)?;
        let horizon = if others == u64::MAX { limit } else { limit.min(next_boundary(others)) };
        Some(Turn { hart, at, shared, horizon })
    }

    fn take(&mut self, turn: Turn, memory: &mut TileMemory, devices: &mut impl Devices) {
        let hart = &mut self.harts[turn.hart];
        match hart.mode {
            Mode::Plain => {
                let pause = if self.sleep { hart.pace.next } else { u64::MAX };
                if turn.at >= pause {
                    hart.observe();
                    return;
                }
                let exit = burst(hart, memory, turn.horizon.min(pause), turn.shared);
                if exit == Exit::Slow && hart.at < turn.shared {
                    self.step(turn.hart, memory, devices);
                }
            }
            Mode::Sleep(_) => {
                hart.wake(turn.at);
                hart.unwatch(memory);
            }
            Mode::Search(_) | Mode::Record(_) => {
                let end = turn.shared.min(turn.horizon);
                while self.harts[turn.hart].observing(end.min(devices.deadline()))
                    && !self.step(turn.hart, memory, devices)
                {}
            }
        }
    }

    /// Executes one instruction in full. Says whether others may be concerned, so that turns must be taken anew.
    fn step(&mut self, index: usize, memory: &mut TileMemory, devices: &mut impl Devices) -> bool {
        let hart = &mut self.harts[index];
        let cycle = hart.at;
        let mut out = Outside { memory, devices, orders: &mut self.orders };
        let done = step::fetch(hart, out.memory).and_then(|op| {
            let before = Before {
                op,
                pc: hart.pc,
                a: hart.regs[decode::rs1(op) as usize],
                b: hart.regs[decode::rs2(op) as usize],
            };
            Ok((before, step::execute(hart, op, &mut out)?))
        });
        match done {
            Ok((before, touched)) => {
                hart.at += 1;
                hart.retired += 1;
                hart.observed(before, touched, memory);
                self.woken |= matches!(
                    touched,
                    Touched::DeviceLoad { nature: Nature::Volatile }
                        | Touched::DeviceStore { stored: Stored::Changed }
                );
            }
            Err((cause, address)) => {
                hart.plain(memory);
                hart.state =
                    State::Stopped(Stop { cause, hart: hart.index, pc: hart.pc, address, cycle });
            }
        }
        let (notices, pends) = (
            self.woken || memory.touched != 0,
            !self.orders.is_empty() || !memory.stale.is_empty(),
        );
        if notices {
            self.notify(memory, cycle, Some(index));
        }
        if pends && self.pending.is_none() {
            self.pending = Some(next_boundary(cycle));
        }
        notices || pends || !self.harts[index].running()
    }

    /// Tells the harts that sleep or are observed what has changed: at a cycle, by a hart or from outside before the cycle.
    fn notify(&mut self, memory: &mut TileMemory, cycle: u64, by: Option<usize>) {
        let touched = std::mem::take(&mut memory.touched);
        let woken = std::mem::take(&mut self.woken);
        if touched == 0 && !woken {
            return;
        }
        for (index, hart) in
            self.harts.iter_mut().enumerate().filter(|(index, _)| Some(*index) != by)
        {
            let waits = match &hart.mode {
                Mode::Sleep(sleep) => woken && sleep.devices,
                Mode::Record(_) => woken,
                Mode::Plain | Mode::Search(_) => continue,
            };
            if waits || touched & 1 << index != 0 {
                // A hart of lower index has had its turn in this cycle before the change.
                hart.wake(cycle + u64::from(by.is_some_and(|by| index < by)));
                hart.disturb(memory);
                hart.unwatch(memory);
            }
        }
    }

    /// What [`HartGroup::run`] must be indistinguishable from.
    #[cfg(test)]
    pub(super) fn run_plainly(
        &mut self,
        memory: &mut TileMemory,
        devices: &mut impl Devices,
        to_cycle: u64,
    ) {
        while self.now < to_cycle {
            memory.inside = true;
            for index in 0..self.harts.len() {
                if self.harts[index].running() {
                    self.step(index, memory, devices);
                }
            }
            memory.inside = false;
            self.now += 1;
            if self.pending == Some(self.now) {
                self.boundary(memory, self.now);
            }
        }
    }

    fn drop_idle_watches(&mut self, memory: &mut TileMemory) {
        for hart in &mut self.harts {
            if !hart.watched.is_empty() && matches!(hart.mode, Mode::Plain) {
                hart.unwatch(memory);
            }
        }
    }

    fn boundary(&mut self, memory: &mut TileMemory, cycle: u64) {
        self.now = cycle;
        self.pending = None;
        memory.drop_stale();
        for order in std::mem::take(&mut self.orders) {
            match order {
                Order::Assert { hart } => self.assert_reset(hart),
                Order::Release { hart } => self.release_reset(hart),
                Order::ResetPc { hart, pc } => self.set_reset_pc(hart, pc),
                Order::LoadIram { hart, offset, bytes } => self.load_iram(hart, offset, &bytes),
            }
        }
    }
}

impl Hart {
    fn observing(&self, end: u64) -> bool {
        self.at < end && self.running() && matches!(self.mode, Mode::Search(_) | Mode::Record(_))
    }
}

fn next_boundary(cycle: u64) -> u64 {
    (cycle / BOUNDARY_CYCLES + 1) * BOUNDARY_CYCLES
}
