//! Retries refused commands through other gateways: a relay whose next hop does not respond answers
//! that there is no route (wormhole.md 6.3), which may be true of its own link only.

use super::super::active::{ActiveQueue, Stage};
use super::QueueReader;
use layouts::NocXy;
use machine::snapshot::AccessError;
use std::collections::{BTreeMap, VecDeque};

/// The gateways that refused commands.
#[derive(Default)]
pub(super) struct Refusals {
    /// For each refused command that is still open, a bit per gateway.
    open: BTreeMap<usize, u16>,
    /// Every gateway refused a command before any was answered: later refusals are not retried.
    hopeless: bool,
    /// Whether any command was answered.
    answered: bool,
    /// Gateways that refused a command which another one answered, with their errors.
    pub(super) convicted: Vec<(NocXy, AccessError)>,
}

/// Returns the bit of a gateway; a chip has at most sixteen Ethernet tiles, and others would have
/// no bit.
fn bit(active: usize) -> u16 {
    1_u16.checked_shl(active as u32).unwrap_or(0)
}

impl Refusals {
    fn refused(&self, number: usize, active: usize) -> bool {
        self.open.get(&number).is_some_and(|bits| bits & bit(active) != 0)
    }

    /// Returns the gateways that get no new commands until their refusals are settled: those that
    /// refused something, while others did not.
    pub(super) fn held(&self, all_active: &[ActiveQueue<'_>]) -> u16 {
        let doubted = self.open.values().fold(0, |all, bits| all | bits);
        let trusted = |(at, active): &(usize, &ActiveQueue<'_>)| {
            active.is_active() && doubted & bit(*at) == 0
        };
        if all_active.iter().enumerate().any(|entry| trusted(&entry)) { doubted } else { 0 }
    }

    /// Closes a command that has ended.
    pub(super) fn close(&mut self, number: usize) {
        self.open.remove(&number);
    }

    /// Takes the next commands for a gateway from the waiting ones, up to `count`.
    pub(super) fn draw(
        &self,
        waiting: &mut VecDeque<usize>,
        (active, held): (usize, u16),
        count: usize,
    ) -> Vec<usize> {
        if self.open.is_empty() {
            return waiting.drain(..count).collect();
        }
        let fits = |number: &usize| match self.open.get(number) {
            Some(refused_by) => refused_by & bit(active) == 0,
            None => held & bit(active) == 0,
        };
        let drawn: Vec<usize> = waiting.iter().copied().filter(fits).take(count).collect();
        waiting.retain(|number| !drawn.contains(number));
        drawn
    }
}

impl QueueReader<'_> {
    /// Handles a refusal of a gateway. Returns whether the command is retried through another.
    pub(super) fn is_retried_elsewhere(
        &mut self,
        active: usize,
        number: usize,
        error: &AccessError,
    ) -> bool {
        *self.refusals.open.entry(number).or_default() |= bit(active);
        if self.refusals.hopeless || !self.has_others(number) {
            self.refusals.hopeless |= !self.refusals.answered;
            self.refusals.close(number);
            return false;
        }
        self.results[number] = Some(Err(error.clone()));
        self.waiting.push_front(number);
        true
    }

    /// Handles an answer: gateways that refused the command do not lead to the chip.
    pub(super) fn note_answer(&mut self, number: usize) {
        (self.refusals.answered, self.refusals.hopeless) = (true, false);
        let Some(refused_by) = self.refusals.open.remove(&number) else { return };
        let Some(Err(error)) = self.results[number].clone() else { return };
        for (at, active) in self.active.iter_mut().enumerate() {
            if refused_by & bit(at) != 0 && matches!(active.stage, Stage::Active | Stage::Reserve) {
                // Its commands in flight are awaited.
                active.stage = Stage::Leaving;
                self.refusals.convicted.push((active.queue.tile(), error.clone()));
            }
        }
    }

    /// Whether another gateway has not refused the command. A gateway without a link to the chip
    /// passes everything to those with one.
    fn has_others(&self, number: usize) -> bool {
        let linked = self.active.iter().any(|active| active.direct);
        let mut all_active = self.active.iter().enumerate();
        all_active.any(|(at, active)| {
            let usable = match active.stage {
                Stage::Active => true,
                Stage::Reserve => active.direct || !linked,
                Stage::Leaving | Stage::Dead => false,
            };
            usable && !self.refusals.refused(number, at)
        })
    }

    /// Whether commands wait that no gateway in use may carry.
    pub(super) fn lacks_gateway(&self) -> bool {
        if self.refusals.open.is_empty() {
            return !self.waiting.is_empty() && !self.active.iter().any(ActiveQueue::is_active);
        }
        let all_active = || self.active.iter().enumerate().filter(|(_, active)| active.is_active());
        let open = |number: &usize| all_active().any(|(at, _)| !self.refusals.refused(*number, at));
        !self.waiting.iter().all(open)
    }

    /// Ends commands that every gateway refused.
    pub(super) fn end_refused(&mut self) {
        if self.refusals.open.is_empty() {
            return;
        }
        let ended =
            |number: &usize| self.refusals.open.contains_key(number) && !self.has_others(*number);
        let ended: Vec<usize> = self.waiting.iter().copied().filter(ended).collect();
        self.waiting.retain(|number| !ended.contains(number));
        for number in ended {
            self.refusals.close(number);
        }
    }
}
