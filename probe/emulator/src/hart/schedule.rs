//! Which hart of a tile executes next, and how far it may run alone.
//!
//! Harts execute in the order of cycles, and of indices within a cycle. Only *shared* accesses (L1,
//! devices, decoding) depend on this order. So a hart runs ahead over private instructions, up to
//! the first boundary at which another could change its code or reset it.

use super::burst::{Exit, burst, in_step};
use super::core::{Hart, MOST_HARTS, State};
use super::group::HartGroup;
use super::mode::Mode;
use super::record::Before;
use super::step::{self, Outside, Touched};
use super::{BOUNDARY_CYCLES, Cause, DeviceSet, Devices, HartStop, Nature, Stored};
use crate::decode;
use crate::memory::TileMemory;

/// When each hart is due: cycle and index in one number, so that the smallest is next; `NOT_DUE` if
/// the hart is not due.
type Due = [u64; MOST_HARTS];
/// Fewer cycles do not pay for the start of executing in step.
const SHORTEST_IN_STEP: u64 = 8;
const NOT_DUE: u64 = u64::MAX;

/// Consecutive instructions of one hart.
#[derive(Debug, Clone, Copy)]
pub(super) struct HartSlice {
    pub(super) hart: usize,
    /// The cycle of its first instruction.
    pub(super) at: u64,
    /// Shared accesses happen only in cycles before this one.
    pub(super) shared: u64,
    /// The hart executes only in cycles before this one.
    pub(super) horizon: u64,
}

impl HartSlice {
    /// Whether no other hart is due before `limit`.
    fn alone(&self, limit: u64) -> bool {
        self.shared >= limit
    }
}

impl HartGroup {
    /// Returns the first cycle at which something can happen without an event from outside: `None`
    /// if nothing will, the present cycle if a hart is executing. Until then the machine need not
    /// call [`HartGroup::run`], except to run the group to the cycle of an event before it applies
    /// the event.
    pub fn next_wake(&self, memory: &TileMemory) -> Option<u64> {
        if !self.woken.is_empty() || memory.touched != 0 {
            return Some(self.now);
        }
        let first = self.harts.iter().filter_map(Hart::due).min();
        let ordered = (!self.orders.is_empty()).then(|| next_boundary(self.now));
        first.into_iter().chain(self.pending).chain(ordered).min()
    }

    /// Runs all harts to exactly `to_cycle`, or to the devices' deadline if that is earlier;
    /// [`HartGroup::now`] then returns the cycle reached. Does nothing if that cycle is not ahead.
    pub fn run(&mut self, memory: &mut TileMemory, devices: &mut impl Devices, to_cycle: u64) {
        if to_cycle <= self.now || self.overtaken(memory, to_cycle) {
            return;
        }
        self.notify(memory, self.now, None);
        self.drop_idle_watches(memory);
        if self.pending.is_none() && (!self.orders.is_empty() || !memory.stale.is_empty()) {
            self.pending = Some(next_boundary(self.now));
        }
        let mut due = self.due();
        let mut limit = self.limit(devices, to_cycle);
        loop {
            let turn = turn(&due, limit);
            if let Some(end) = self.in_step_until(&turn, limit) {
                if let Some(slow) = in_step(&mut self.harts, memory, end, &mut ()) {
                    self.step(slow, memory, devices);
                }
            } else if turn.at >= limit {
                if self.pending != Some(limit) {
                    break;
                }
                self.boundary(memory, limit);
            } else if self.take(turn, memory, devices) {
                due[turn.hart] = due_number(self.harts[turn.hart].at, turn.hart);
                continue;
            }
            (due, limit) = (self.due(), self.limit(devices, to_cycle));
        }
        self.arrive(memory, limit);
    }

    /// Makes a cycle the present one.
    fn arrive(&mut self, memory: &mut TileMemory, cycle: u64) {
        self.now = cycle;
        if let [hart] = &self.harts[..] {
            hart.update_l1(memory, cycle);
        }
    }

    /// Returns until when the harts can execute in step; `None` if not, or if few would.
    pub(super) fn in_step_until(&self, turn: &HartSlice, limit: u64) -> Option<u64> {
        if turn.alone(limit) {
            return None;
        }
        let until = |hart: &Hart| match hart.mode {
            _ if hart.traced => hart.due(),
            Mode::Plain if self.sleep => hart.due().map(|_| hart.pace.next),
            Mode::Plain => None,
            _ => hart.due(),
        };
        let end = self.harts.iter().filter_map(until).fold(limit, u64::min);
        let several = self.harts.iter().filter(|hart| hart.due().is_some_and(|at| at < end));
        (end >= turn.at + SHORTEST_IN_STEP && several.count() > 1).then_some(end)
    }

    fn limit(&self, devices: &impl Devices, to_cycle: u64) -> u64 {
        to_cycle.min(devices.deadline()).min(self.pending.unwrap_or(u64::MAX))
    }

    pub(super) fn due(&self) -> Due {
        let mut due = [NOT_DUE; MOST_HARTS];
        for (index, (number, hart)) in due.iter_mut().zip(&self.harts).enumerate() {
            *number = hart.due().map_or(NOT_DUE, |cycle| due_number(cycle, index));
        }
        due
    }

    /// Executes a turn. Returns true if only the hart itself has advanced.
    fn take(
        &mut self,
        turn: HartSlice,
        memory: &mut TileMemory,
        devices: &mut impl Devices,
    ) -> bool {
        let alone = self.harts.len() == 1;
        let hart = &mut self.harts[turn.hart];
        match hart.mode {
            Mode::Plain if hart.traced => {
                let end = turn.shared.min(turn.horizon);
                while self.harts[turn.hart].traced && self.harts[turn.hart].at < end {
                    if self.step(turn.hart, memory, devices) {
                        return false;
                    }
                }
                true
            }
            Mode::Plain => {
                let pause = if self.sleep { hart.pace.next } else { u64::MAX };
                if turn.at >= pause {
                    hart.observe(memory, alone);
                    return true;
                }
                let exit = burst(hart, memory, turn.horizon.min(pause), turn.shared, &mut ());
                exit != Exit::Slow
                    || hart.at >= turn.shared
                    || !self.step(turn.hart, memory, devices)
            }
            Mode::Sleep(ref sleep) => {
                let from_tick = sleep.tick;
                hart.update_l1(memory, turn.at);
                hart.wake(turn.at);
                if let Mode::Record(outer) = std::mem::replace(&mut hart.mode, Mode::Plain) {
                    outer.advance(hart, memory);
                } else {
                    hart.unwatch(memory);
                    if alone {
                        hart.observe_ticks(memory, from_tick);
                    }
                }
                !matches!(hart.mode, Mode::Sleep(_))
            }
            Mode::Search(_) | Mode::Record(_) => {
                let end = turn.shared.min(turn.horizon);
                while self.harts[turn.hart].observing(end) {
                    if self.step(turn.hart, memory, devices) {
                        return false;
                    }
                }
                !matches!(self.harts[turn.hart].mode, Mode::Sleep(_))
            }
        }
    }

    /// Executes one instruction. Returns true if other harts or the limits may be affected, so that
    /// turns must be computed anew.
    fn step(&mut self, index: usize, memory: &mut TileMemory, devices: &mut impl Devices) -> bool {
        let hart = &mut self.harts[index];
        let cycle = hart.at;
        let mut out = Outside { memory, devices, orders: &mut self.orders };
        let fetched = hart.served().map_or_else(|| step::fetch(hart, out.memory), Ok);
        if fetched.is_ok_and(|op| hart.pauses_before(op)) {
            return true;
        }
        let done = fetched.and_then(|op| {
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
                match std::mem::replace(&mut hart.mode, Mode::Plain) {
                    Mode::Search(search) => search.follow(hart, touched, memory),
                    Mode::Record(record) => record.follow(hart, &before, touched, memory),
                    other => hart.mode = other,
                }
                hart.pause_after(&before);
                // What a hart does with a device may reach others.
                if let Touched::DeviceLoad { nature: Nature::Volatile, .. }
                | Touched::DeviceStore { stored: Stored::Changed, .. } = touched
                {
                    self.woken = DeviceSet::ALL;
                }
            }
            Err((cause, address)) => {
                hart.plain(memory);
                hart.state = State::Stopped(HartStop {
                    cause,
                    hart: hart.index,
                    pc: hart.pc,
                    address,
                    cycle,
                });
                if matches!(cause, Cause::Ebreak | Cause::Ecall) {
                    // They execute as `nop` and pause the hart.
                    hart.pc = hart.pc.wrapping_add(4);
                }
            }
        }
        let device_access =
            matches!(done, Ok((_, Touched::DeviceLoad { .. } | Touched::DeviceStore { .. })));
        let (notices, pending) = (
            !self.woken.is_empty() || memory.touched != 0,
            !self.orders.is_empty() || !memory.stale.is_empty(),
        );
        if notices {
            self.notify(memory, cycle, Some(index));
        }
        if pending && self.pending.is_none() {
            self.pending = Some(next_boundary(cycle));
        }
        device_access || notices || pending || !self.harts[index].running()
    }

    /// Notifies sleeping or observed harts of changes: at a cycle, by a hart, or from outside
    /// before the cycle.
    fn notify(&mut self, memory: &mut TileMemory, cycle: u64, by: Option<usize>) {
        let touched = std::mem::take(&mut memory.touched);
        let woken = std::mem::take(&mut self.woken);
        if touched == 0 && woken.is_empty() {
            return;
        }
        for (index, hart) in
            self.harts.iter_mut().enumerate().filter(|(index, _)| Some(*index) != by)
        {
            let waits = match &hart.mode {
                Mode::Sleep(sleep) => woken.meets(sleep.devices),
                Mode::Record(record) => woken.meets(record.devices),
                Mode::Plain | Mode::Search(_) => continue,
            };
            if waits || touched & 1 << index != 0 {
                // A hart of lower index has executed in this cycle before the change.
                hart.wake(cycle + u64::from(by.is_some_and(|by| index < by)));
                hart.disturb(memory);
                hart.unwatch(memory);
            }
        }
    }

    /// The reference for [`HartGroup::run`], which must be indistinguishable from it.
    #[cfg(test)]
    pub(super) fn run_plainly(
        &mut self,
        memory: &mut TileMemory,
        devices: &mut impl Devices,
        to_cycle: u64,
    ) {
        while self.now < to_cycle.min(devices.deadline()) {
            if self.pending.is_none() && (!self.orders.is_empty() || !memory.stale.is_empty()) {
                self.pending = Some(next_boundary(self.now));
            }
            self.woken = DeviceSet::NONE;
            for index in 0..self.harts.len() {
                if self.harts[index].due().is_some() {
                    self.step(index, memory, devices);
                }
            }
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
        self.arrive(memory, cycle);
        self.pending = None;
        memory.drop_stale();
        for order in std::mem::take(&mut self.orders) {
            self.carry_out(order);
        }
    }
}

fn next_boundary(cycle: u64) -> u64 {
    (cycle / BOUNDARY_CYCLES + 1) * BOUNDARY_CYCLES
}

pub(super) fn due_number(cycle: u64, hart: usize) -> u64 {
    cycle << 3 | hart as u64
}

/// Returns the turn of the hart that is due first. If none is due before `limit`, the turn begins
/// at or after it.
#[inline]
pub(super) fn turn(due: &Due, limit: u64) -> HartSlice {
    let (mut first, mut second) = (NOT_DUE, NOT_DUE);
    for &number in due {
        second = second.min(first.max(number));
        first = first.min(number);
    }
    let hart = first & 7;
    // Within a cycle the lower index executes first, so a hart may still execute in the cycle in
    // which one of higher index is due.
    let shared = (second - hart).div_ceil(8).min(limit);
    HartSlice {
        hart: hart as usize,
        at: first >> 3,
        shared,
        horizon: limit.min(next_boundary(second >> 3)),
    }
}
