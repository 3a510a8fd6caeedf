//! What one gateway refuses is asked through another: a relay that waits in vain for the next hop answers that there is no way
//! (wormhole.md 6.3), and that may be so over its own link alone.

use super::super::active::{ActiveQueue, Stage};
use super::Reader;
use layouts::NocXy;
use machine::snapshot::AccessError;
use std::collections::{BTreeMap, VecDeque};

/// Who refused which commands.
#[derive(Default)]
pub(super) struct Refusals {
    /// For each command that was refused and is still open, a bit per gateway.
    open: BTreeMap<usize, u16>,
    /// Every gateway refused a command before any was answered: what is refused from then on is not asked elsewhere.
    hopeless: bool,
    /// A command was answered.
    answered: bool,
    /// Gateways that refused what another one answered, and what they said.
    pub(super) convicted: Vec<(NocXy, AccessError)>,
}

/// The bit of a gateway; a chip has no more than sixteen Ethernet tiles, and one beyond them has no bit.
fn bit(active: usize) -> u16 {
    1_u16.checked_shl(active as u32).unwrap_or(0)
}

impl Refusals {
    fn refused(&self, number: usize, active: usize) -> bool {
        self.open.get(&number).is_some_and(|bits| bits & bit(active) != 0)
    }

    /// Gateways that get nothing new until it is known who is to blame: those that refused something, while others did not.
    pub(super) fn held(&self, all_active: &[ActiveQueue<'_>]) -> u16 {
        let doubted = self.open.values().fold(0, |all, bits| all | bits);
        let trusted = |(at, active): &(usize, &ActiveQueue<'_>)| {
            active.is_active() && doubted & bit(*at) == 0
        };
        if all_active.iter().enumerate().any(|of| trusted(&of)) { doubted } else { 0 }
    }

    /// A command has come to its end.
    pub(super) fn close(&mut self, number: usize) {
        self.open.remove(&number);
    }

    /// Takes the next commands for a gateway out of those that wait, as many as it may have.
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
            Some(all_active) => all_active & bit(active) == 0,
            None => held & bit(active) == 0,
        };
        let drawn: Vec<usize> = waiting.iter().copied().filter(fits).take(count).collect();
        waiting.retain(|number| !drawn.contains(number));
        drawn
    }
}

impl Reader<'_> {
    /// A gateway says that there is no way. Is the command to be asked again through another?
    pub(super) fn is_asked_elsewhere(
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

    /// A command was answered: whoever refused it does not lead to the chip.
    pub(super) fn is_answered(&mut self, number: usize) {
        (self.refusals.answered, self.refusals.hopeless) = (true, false);
        let Some(all_active) = self.refusals.open.remove(&number) else { return };
        let Some(Err(error)) = self.results[number].clone() else { return };
        for (at, active) in self.active.iter_mut().enumerate() {
            if all_active & bit(at) != 0 && matches!(active.stage, Stage::Active | Stage::Reserve) {
                // What is under way there is waited for.
                active.stage = Stage::Leaving;
                self.refusals.convicted.push((active.queue.tile(), error.clone()));
            }
        }
    }

    /// Is there a gateway that has not refused the command? One without a link to the chip hands everything to those with one.
    fn has_others(&self, number: usize) -> bool {
        let linked = self.active.iter().any(|active| active.direct);
        let mut all_active = self.active.iter().enumerate();
        all_active.any(|(at, active)| {
            let may = match active.stage {
                Stage::Active => true,
                Stage::Reserve => active.direct || !linked,
                Stage::Leaving | Stage::Dead => false,
            };
            may && !self.refusals.refused(number, at)
        })
    }

    /// Do commands wait that none of the gateways in use may be asked for?
    pub(super) fn lacks_gateway(&self) -> bool {
        if self.refusals.open.is_empty() {
            return !self.waiting.is_empty() && !self.active.iter().any(ActiveQueue::is_active);
        }
        let all_active = || self.active.iter().enumerate().filter(|(_, active)| active.is_active());
        let open = |number: &usize| all_active().any(|(at, _)| !self.refusals.refused(*number, at));
        !self.waiting.iter().all(open)
    }

    /// Ends what nobody is left to be asked for.
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
