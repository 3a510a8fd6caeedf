//! Waits until all routers reach a status, and reports what they wait for if they do not.

use super::progress::FabricStage;
use super::stuck::{is_parked, statuses, stuck_routers};
use super::words::RouterWords;
use super::{FabricPlan, Router};
use images::ImageMap;
use launch::ControlError;
use launch::outcome::{Cause, Ended, RunError, Stuck};
use layouts::EthId;
use machine::target::Target;
use std::collections::BTreeMap;

/// Most routers read in one poll.
const MOST_ROUTERS: usize = 64;

/// A wait for all routers to reach a status.
#[derive(Debug)]
pub(super) struct Follow {
    words: RouterWords,
    stage: FabricStage,
    /// Statuses that end the wait for a router.
    enough: Vec<u32>,
    /// Status of each router that has not reached one of them.
    open: BTreeMap<EthId, u32>,
    next: Option<EthId>,
    total: usize,
    /// Time of the last change.
    changed: Option<u64>,
    patience_cycles: u64,
}

impl Follow {
    pub(super) fn new(
        words: RouterWords,
        plan: &FabricPlan,
        stage: FabricStage,
        patience_cycles: u64,
    ) -> Result<Self, ControlError> {
        let ready = words.image.constant("READY_FOR_TRAFFIC")?;
        let enough = match stage {
            FabricStage::Ready => vec![ready],
            _ => vec![words.image.constant("LOCAL_HANDSHAKE_COMPLETE")?, ready],
        };
        let open: BTreeMap<EthId, u32> =
            plan.routers.iter().map(|router| (router.eth, 0)).collect();
        let total = open.len();
        Ok(Self { words, stage, enough, open, next: None, total, changed: None, patience_cycles })
    }

    pub(super) fn stage(&self) -> FabricStage {
        self.stage
    }

    /// Counts its patience from this time on.
    pub(super) fn restart(&mut self, now_cycles: u64) {
        self.changed = Some(now_cycles);
    }

    pub(super) fn done(&self) -> (u64, u64) {
        ((self.total - self.open.len()) as u64, self.total as u64)
    }

    /// Reads the next of the remaining routers; returns true when none remains.
    pub(super) fn poll(
        &mut self,
        target: &mut dyn Target,
        images: &ImageMap,
        plan: &FabricPlan,
    ) -> Result<bool, RunError> {
        let batch = self.next_batch(plan);
        let statuses = statuses(target, &self.words, &batch)?;
        let now = target.now()?;
        let mut changed = self.changed.is_none();
        for router in &batch {
            let Some(&status) = statuses.get(&router.eth) else { continue };
            self.check_refusal(target, router, status)?;
            if self.enough.contains(&status) {
                self.open.remove(&router.eth);
                changed = true;
            } else if self.open.insert(router.eth, status) != Some(status) {
                changed = true;
            }
        }
        if changed {
            self.changed = Some(now);
        }
        let since = self.changed.unwrap_or(now);
        let waited = now.saturating_sub(since);
        if !self.open.is_empty() && waited > self.patience_cycles {
            if let Some(mut error) = self.explain(target, images, plan, waited)? {
                error.since_cycles = Some(since);
                return Err(error);
            }
            // A parked router has no deadline.
            self.changed = Some(now);
        }
        Ok(self.open.is_empty())
    }

    /// Returns the next of the remaining routers.
    fn next_batch<'a>(&mut self, plan: &'a FabricPlan) -> Vec<&'a Router> {
        let after = self.open.keys().filter(|eth| self.next.is_some_and(|next| **eth > next));
        let before = self.open.keys().filter(|eth| self.next.is_none_or(|next| **eth <= next));
        let batch: Vec<EthId> = after.chain(before).take(MOST_ROUTERS).copied().collect();
        self.next = batch.last().copied();
        batch.into_iter().filter_map(|eth| plan.router_at(eth)).collect()
    }

    /// Fails for a router that has ended or refused.
    fn check_refusal(
        &self,
        target: &mut dyn Target,
        router: &Router,
        status: u32,
    ) -> Result<(), RunError> {
        if self.words.image.constant("TERMINATED") == Ok(status) {
            let ended = Ended::RouterTerminated(router.to_string());
            return Err(RunError::new(Cause::Kernel(ended)).at(router.place));
        }
        if self.words.image.constant("REFUSED") != Ok(status) {
            return Ok(());
        }
        let refusal = target.read_word(router.place.at(self.words.refusal))?;
        let refusal = self.words.refusals.of_value(refusal.into()).to_string();
        let peer = router.peer;
        let why = match refusal.as_str() {
            "BAD_ARGUMENTS" => "its arguments are invalid".to_owned(),
            "OTHER_PROTOCOL" => format!("its peer {peer} has a different topology or header"),
            "OTHER_SLOTS" => format!("its peer {peer} has different slots"),
            "OTHER_NEIGHBOR" => format!("its peer {peer} is not {}", router.neighbor),
            other => format!("reason {other}"),
        };
        let ended = Ended::RouterRefused(router.to_string(), why);
        Err(RunError::new(Cause::Kernel(ended)).at(router.place))
    }

    /// Returns the error with the waits of the remaining routers, the earliest status first. None
    /// if one of them is parked.
    fn explain(
        &self,
        target: &mut dyn Target,
        images: &ImageMap,
        plan: &FabricPlan,
        waited_cycles: u64,
    ) -> Result<Option<RunError>, RunError> {
        let mut open: Vec<(&Router, u32)> = self
            .open
            .iter()
            .filter_map(|(eth, status)| Some((plan.router_at(*eth)?, *status)))
            .collect();
        open.sort_by_key(|(router, status)| (self.words.rank(*status), router.eth));
        let routers: Vec<&Router> = open.into_iter().map(|(router, _)| router).collect();
        if is_parked(target, images, &routers)? {
            return Ok(None);
        }
        let mut stuck = stuck_routers(target, &self.words, plan, &routers)?;
        let Some(first) = stuck.all.pop_front() else { return Ok(None) };
        let cause = Stuck::Routers {
            stage: self.stage.words(),
            count: routers.len(),
            of: self.total,
            waited_cycles,
            router: first.router.to_string(),
            status: first.status,
        };
        let mut error = RunError::new(Cause::TookTooLong(cause)).at(first.router.place);
        error.waypoint = Some(first.postcode);
        error.waiting_for = Some(first.waits);
        Ok(Some(error.and(stuck.sentences())))
    }
}
