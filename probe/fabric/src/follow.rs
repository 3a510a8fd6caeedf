//! Waits until all routers show a status, and says what they wait for if they never do.

use super::progress::FabricStage;
use super::standing::{is_parked, standings, statuses};
use super::words::RouterWords;
use super::{FabricPlan, Router};
use decode::images::ImageMap;
use launch::ControlError;
use launch::outcome::{Cause, Ended, RunError, Stuck};
use layouts::EthId;
use machine::snapshot::{Plan, Span};
use machine::target::Target;
use std::collections::BTreeMap;

/// Routers that are looked at in one poll at most.
const MOST_ROUTERS: usize = 64;

/// Routers on their way to a status.
#[derive(Debug)]
pub(super) struct Follow {
    words: RouterWords,
    stage: FabricStage,
    /// Statuses that are far enough.
    enough: Vec<u32>,
    /// Status of each router that is not there yet.
    open: BTreeMap<EthId, u32>,
    next: Option<EthId>,
    of: usize,
    /// Time of the last change.
    moved: Option<u64>,
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
        let of = open.len();
        Ok(Self { words, stage, enough, open, next: None, of, moved: None, patience_cycles })
    }

    pub(super) fn stage(&self) -> FabricStage {
        self.stage
    }

    pub(super) fn done(&self) -> (u64, u64) {
        ((self.of - self.open.len()) as u64, self.of as u64)
    }

    /// Looks at some of those that are not there yet; tells whether all are.
    pub(super) fn poll(
        &mut self,
        target: &mut dyn Target,
        images: &ImageMap,
        plan: &FabricPlan,
    ) -> Result<bool, RunError> {
        let asked = self.some(plan);
        let statuses = statuses(target, &self.words, &asked)?;
        let now = target.now()?;
        let mut moved = self.moved.is_none();
        for router in &asked {
            let Some(&status) = statuses.get(&router.eth) else { continue };
            self.refuse(target, router, status)?;
            if self.enough.contains(&status) {
                self.open.remove(&router.eth);
                moved = true;
            } else if self.open.insert(router.eth, status) != Some(status) {
                moved = true;
            }
        }
        if moved {
            self.moved = Some(now);
        }
        let since = self.moved.unwrap_or(now);
        let waited = now.saturating_sub(since);
        if !self.open.is_empty() && waited > self.patience_cycles {
            if let Some(mut error) = self.blame(target, images, plan, waited)? {
                error.since_cycles = Some(since);
                return Err(error);
            }
            // Somebody parked a router: that takes as long as it takes.
            self.moved = Some(now);
        }
        Ok(self.open.is_empty())
    }

    /// The next of those that are open.
    fn some<'a>(&mut self, plan: &'a FabricPlan) -> Vec<&'a Router> {
        let after = self.open.keys().filter(|eth| self.next.is_some_and(|next| **eth > next));
        let before = self.open.keys().filter(|eth| self.next.is_none_or(|next| **eth <= next));
        let some: Vec<EthId> = after.chain(before).take(MOST_ROUTERS).copied().collect();
        self.next = some.last().copied();
        some.into_iter().filter_map(|eth| plan.router_at(eth)).collect()
    }

    /// A router that has given up will not get there.
    fn refuse(
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
        let addr = router.place.at(self.words.refusal);
        let snapshot = target.read(&Plan { spans: vec![Span { addr, len: 4 }] });
        let refusal = self.words.refusals.of_value(snapshot.word(addr)?.into()).to_string();
        let peer = router.peer;
        let why = match refusal.as_str() {
            "BAD_ARGUMENTS" => "its arguments make no sense".to_owned(),
            "OTHER_PROTOCOL" => format!("its peer {peer} has another topology or other headers"),
            "OTHER_SLOTS" => format!("its peer {peer} has other slots"),
            "OTHER_NEIGHBOR" => format!("its peer {peer} is not {}", router.neighbor),
            other => format!("for the reason {other}"),
        };
        let ended = Ended::RouterRefused(router.to_string(), why);
        Err(RunError::new(Cause::Kernel(ended)).at(router.place))
    }

    /// Who waits for what, those that are least far first. None: somebody parked one of them.
    fn blame(
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
        let mut standings = standings(target, &self.words, plan, &routers)?;
        let Some(first) = standings.all.pop_front() else { return Ok(None) };
        let stuck = Stuck::Routers {
            stage: self.stage.words(),
            count: routers.len(),
            of: self.of,
            waited_cycles,
            router: first.router.to_string(),
            status: first.status,
        };
        let mut error = RunError::new(Cause::TookTooLong(stuck)).at(first.router.place);
        error.waypoint = Some(first.postcode);
        error.waiting_for = Some(first.waits);
        Ok(Some(error.and(standings.sentences())))
    }
}
