//! The verification of one iteration of a loop.

use super::core::Hart;
use super::mode::{FIRST_LOCAL, PeriodRecord, Sleep, l1_slot, slot_addr};
use super::step::Touched;
use super::steps::{LoopStep, LoopSteps};
use super::stride::{self, NEVER, Strided};
use super::{DeviceSet, IRAM, Nature, Stored};
use crate::decode::{self as d, Op};
use crate::memory::TileMemory;
use std::sync::Arc;

/// A sleep shorter than this does not pay for its recording.
const SHORTEST_SLEEP_CYCLES: u64 = 64;

/// The state before an instruction that the verification needs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Before {
    pub(crate) op: Op,
    pub(crate) pc: u32,
    pub(crate) a: u32,
    pub(crate) b: u32,
}

impl PeriodRecord {
    pub(crate) fn new(
        head: u32,
        start: u64,
        period: u64,
        tick: bool,
        initial: Vec<(u32, Strided)>,
    ) -> Self {
        let strides = initial.iter().map(|(_, value)| value.stride).collect();
        Self {
            head,
            start,
            period,
            tick,
            initial,
            strides,
            steps: LoopSteps::default(),
            bound: NEVER,
            stable: NEVER,
            devices: DeviceSet::NONE,
            stores: false,
            l1_stores: Vec::new(),
            inner: None,
            resumed: start,
        }
    }

    /// Creates the record of a loop that the hart has left and enters again with other values.
    pub(crate) fn resume(last: &Sleep, hart: &Hart, memory: &TileMemory) -> Self {
        let mut initial = last.initial.clone();
        for (slot, value) in &mut initial {
            value.value = hart.slot(*slot, memory);
        }
        Self::new(hart.pc, hart.at, last.period, last.tick, initial)
    }

    /// Records one executed instruction.
    pub(crate) fn follow(
        mut self: Box<Self>,
        hart: &mut Hart,
        before: &Before,
        touched: Touched,
        memory: &mut TileMemory,
    ) {
        self.follow_inner(hart, before, touched, memory);
        if self.step(hart, before, touched, memory).is_none() {
            self.bound = 0;
        }
        if before.pc < IRAM {
            hart.watch(memory, before.pc);
        }
        if let Touched::L1Load { addr } | Touched::L1Store { addr, .. } = touched {
            hart.watch(memory, addr);
        }
        self.advance(hart, memory);
    }

    /// Goes on after what is recorded.
    pub(super) fn advance(self: Box<Self>, hart: &mut Hart, memory: &mut TileMemory) {
        let (observed, tick) = (3 * self.steps.len() as u64, self.tick);
        if self.bound <= 1 {
            return hart.abandon(memory, observed, tick);
        }
        if hart.at < self.start + self.period {
            return self.enter_inner(hart, memory);
        }
        match self.finish(hart, memory) {
            Some(sleep) => hart.fall_asleep(sleep),
            None => hart.abandon(memory, observed, tick),
        }
    }

    pub(super) fn limit(&mut self, bound: u64) {
        self.bound = self.bound.min(bound);
    }

    /// Adds the step of the instruction; `None` if the loop cannot be verified.
    pub(super) fn step(
        &mut self,
        hart: &Hart,
        before: &Before,
        touched: Touched,
        memory: &TileMemory,
    ) -> Option<()> {
        let op = before.op;
        let (kind, rd, imm) = (d::kind(op), d::rd(op), d::imm(op));
        let a = Strided { value: before.a, stride: self.strides[d::rs1(op) as usize & 31] };
        let b = Strided { value: before.b, stride: self.strides[d::rs2(op) as usize & 31] };
        let stride = match kind {
            d::BEQ..=d::BGEU | d::BRANCH_ODD => {
                self.limit(stride::branch_bound(
                    if kind == d::BRANCH_ODD { rd } else { kind },
                    a,
                    b,
                ));
                self.steps.push(LoopStep::nothing(before.pc));
                return Some(());
            }
            d::NOP => {
                self.steps.push(LoopStep::nothing(before.pc));
                return Some(());
            }
            d::SB..=d::SW if a.stride != 0 => return None,
            d::SB..=d::SW => {
                let step = self.store(kind, hart, before.pc, b, touched, memory)?;
                self.steps.push(step);
                return Some(());
            }
            d::JALR | d::CSR if a.stride != 0 || touched != Touched::Nothing => return None,
            d::JAL | d::JALR | d::CSR => 0,
            d::LB..=d::LHU if a.stride != 0 => return None,
            d::LB..=d::LHU => self.load(kind, touched, hart.at - 1)?,
            _ => {
                let (stride, bound) = stride::compute_stride(kind, a, b, imm)?;
                self.limit(bound);
                stride
            }
        };
        if rd == d::DISCARD {
            self.steps.push(LoopStep::nothing(before.pc));
            return Some(());
        }
        self.strides[rd as usize] = stride;
        let result = Strided { value: hart.regs[rd as usize], stride };
        self.steps.push(LoopStep { pc: before.pc, slot: u32::from(rd), result });
        Some(())
    }

    /// Returns the index of a word of private RAM or L1. Words without a store during the search have
    /// none; they keep their values.
    fn word(&self, slot: u32) -> Option<usize> {
        let words = self.initial.get(FIRST_LOCAL as usize..)?;
        words.iter().position(|(word, _)| *word == slot).map(|index| index + FIRST_LOCAL as usize)
    }

    /// Returns the stride of a loaded value.
    fn load(&mut self, kind: u8, touched: Touched, cycle: u64) -> Option<u32> {
        match touched {
            Touched::L1Load { addr } => self.loaded(kind, l1_slot(addr)),
            Touched::LocalLoad { slot } => self.loaded(kind, slot),
            Touched::DeviceLoad { nature, device } => {
                self.devices |= device;
                match nature {
                    Nature::Stable => Some(0),
                    Nature::Until(end) => {
                        let stable = end.saturating_sub(cycle);
                        self.stable = self.stable.min(stable);
                        self.limit(stable.div_ceil(self.period));
                        Some(0)
                    }
                    Nature::Clock => (kind == d::LW).then_some(self.period as u32),
                    Nature::Volatile => None,
                }
            }
            _ => None,
        }
    }

    fn loaded(&self, kind: u8, slot: u32) -> Option<u32> {
        let stride = self.word(slot).map_or(0, |word| self.strides[word]);
        (stride == 0 || kind == d::LW).then_some(stride)
    }

    fn store(
        &mut self,
        kind: u8,
        hart: &Hart,
        pc: u32,
        b: Strided,
        touched: Touched,
        memory: &TileMemory,
    ) -> Option<LoopStep> {
        let slot = match touched {
            // Who watches for writes sees each of them.
            Touched::L1Store { addr, .. }
                if !memory.holds_code(addr) && !memory.shows_writes(addr) =>
            {
                self.stores = true;
                l1_slot(addr)
            }
            Touched::LocalStore { slot, .. } => slot,
            Touched::DeviceStore { stored: Stored::Same, device } if b.stride == 0 => {
                self.devices |= device;
                return Some(LoopStep::nothing(pc));
            }
            _ => return None,
        };
        match (self.word(slot), touched) {
            (None, Touched::L1Store { changed: false, .. }) if b.stride == 0 => {
                Some(LoopStep::nothing(pc))
            }
            (None, _) => None,
            (Some(word), _) => {
                if kind != d::SW && (b.stride != 0 || self.strides[word] != 0) {
                    return None;
                }
                self.strides[word] = b.stride;
                if slot_addr(slot).is_some() {
                    self.l1_stores.push(self.steps.len() as u32);
                }
                let result = Strided { value: hart.slot(slot, memory), stride: b.stride };
                Some(LoopStep { pc, slot, result })
            }
        }
    }

    /// Returns the verified loop, if the iteration ended in its initial state plus one stride.
    pub(super) fn finish(self, hart: &Hart, memory: &TileMemory) -> Option<Sleep> {
        let mut slots = self.initial.iter().zip(&self.strides);
        let returned = slots.all(|((slot, initial), &stride)| {
            initial.stride == stride && hart.slot(*slot, memory) == initial.at(1)
        });
        let until =
            self.bound.checked_mul(self.period).and_then(|cycles| cycles.checked_add(self.start));
        let until = until.unwrap_or(u64::MAX);
        let worth = until - self.start >= SHORTEST_SLEEP_CYCLES + self.period;
        let at_head = hart.pc == self.head && hart.at == self.start + self.period;
        (returned && worth && at_head).then_some(Sleep {
            start: self.start,
            period: self.period,
            initial: self.initial,
            steps: Arc::new(self.steps),
            until,
            since: hart.at,
            devices: self.devices,
            tick: self.tick,
            l1_stores: self.l1_stores,
            stores: self.stores,
            outer: None,
        })
    }
}
