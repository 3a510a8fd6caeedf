//! Loops inside a tick: while a tick is recorded, the loop in which the hart waits is recorded, too,
//! for one iteration. The hart then sleeps over its other iterations, and the recording of the tick
//! goes on when the clock ends that sleep.
//!
//! So a value has two strides, one from tick to tick and one from iteration to iteration of the inner
//! loop. Where a decision or a result depends on both, the inner loop is recorded as any other part of
//! the tick. Otherwise what holds from tick to tick in one iteration holds in all.

use super::core::Hart;
use super::mode::{InnerRecord, Mode, PeriodRecord, Sleep};
use super::record::Before;
use super::step::Touched;
use crate::decode as d;
use crate::memory::TileMemory;

impl PeriodRecord {
    /// Records one executed instruction of the inner loop, before it is one of the tick.
    pub(super) fn follow_inner(
        &mut self,
        hart: &Hart,
        before: &Before,
        touched: Touched,
        memory: &TileMemory,
    ) {
        let strides = &self.strides;
        let follow = |inner: &mut Box<InnerRecord>| {
            let record = &mut inner.record;
            !depends_on_both(before, strides, &record.strides)
                && record.step(hart, before, touched, memory).is_some()
                && record.bound > 1
        };
        self.inner = self.inner.take().and_then(|mut inner| follow(&mut inner).then_some(inner));
    }

    /// Continues the recording of a tick, or sleeps over an inner loop of which one iteration is
    /// recorded.
    pub(super) fn enter_inner(mut self: Box<Self>, hart: &mut Hart, memory: &TileMemory) {
        let ends =
            |inner: &mut Box<InnerRecord>| hart.at >= inner.record.start + inner.record.period;
        if let Some(inner) = self.inner.take_if(ends) {
            if let Some(mut sleep) = self.sleep_over(*inner, hart, memory) {
                sleep.outer = Some(self);
                return hart.mode = Mode::Sleep(Box::new(sleep));
            }
        } else if self.inner.is_none() && self.tick && hart.at != self.resumed {
            let record = hart.record_known(false, memory);
            let inner = record.map(|record| InnerRecord { record, strides: self.strides.clone() });
            self.inner = inner.map(Box::new);
        }
        hart.mode = Mode::Record(self);
    }

    /// Returns the sleep over an inner loop, if the values change from tick to tick as they did before
    /// the iteration, and L1 does not change.
    fn sleep_over(
        &mut self,
        inner: InnerRecord,
        hart: &Hart,
        memory: &TileMemory,
    ) -> Option<Sleep> {
        let stable = inner.record.stable;
        let same = inner.strides == self.strides && inner.record.l1_stores.is_empty();
        let mut sleep = same.then(|| inner.record.finish(hart, memory))??;
        // The last iteration loads last.
        let last = sleep.until - sleep.start - sleep.period;
        self.limit(stable.saturating_sub(last).div_ceil(self.period));
        sleep.devices |= self.devices;
        Some(sleep)
    }

    /// Continues the recording of a tick after the sleep over an inner loop.
    pub(super) fn continue_after(&mut self, inner: &Sleep) {
        let rounds = (inner.until - inner.start) / inner.period;
        self.steps.repeat(&inner.steps, rounds as usize);
        self.resumed = inner.until;
    }
}

/// Whether an instruction decides or computes by a value that changes from tick to tick and by one that
/// changes from iteration to iteration of the inner loop, other than by adding.
fn depends_on_both(before: &Before, tick: &[u32], inner: &[u32]) -> bool {
    let registers = [d::rs1(before.op), d::rs2(before.op)].map(|register| register as usize & 31);
    let strided = |strides: &[u32]| registers.iter().any(|register| strides[*register] != 0);
    let adds = matches!(
        d::kind(before.op),
        d::LUI | d::ADDI | d::ADD | d::SUB | d::SLLI | d::LB..=d::LHU | d::SB..=d::SW | d::NOP | d::JAL
    );
    !adds && strided(tick) && strided(inner)
}
