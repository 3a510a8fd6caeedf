//! The end of a fabric: the master of each chip gets the termination signal and forwards it.
//! Routers that do not return are signalled directly, then reported.

use super::{BringUpTask, Fabric};
use crate::Router;
use crate::progress::{FabricStage, Termination};
use crate::stuck::stuck_routers;
use crate::words::RouterWords;
use images::ImageMap;
use launch::occupancy::{Loaded, TileUse, check_permissions, survey_tiles};
use launch::outcome::RunError;
use launch::{
    Condition, Firmware, Operation, OperationGroup, done_condition, image, mailbox,
    stop_application,
};
use layouts::WritePermission;
use machine::place::Place;
use machine::snapshot::{AccessError, Plan, Span};
use machine::target::Target;
use std::collections::BTreeSet;

/// A wait for routers to return.
#[derive(Debug)]
pub(super) struct Returns {
    words: RouterWords,
    /// Address and condition of the go message of a returned kernel.
    go: (u64, Condition),
    left: BTreeSet<Place>,
    total: usize,
    since: Option<u64>,
    /// Whether every router was signalled, not only the masters.
    signalled_all: bool,
    patience_cycles: u64,
}

impl Returns {
    pub(super) fn done(&self) -> (u64, u64) {
        ((self.total - self.left.len()) as u64, self.total as u64)
    }
}

impl Fabric {
    fn routers(&self, places: &BTreeSet<Place>) -> Vec<Router> {
        let is_placed = |router: &&Router| places.contains(&router.place);
        self.plan.routers.iter().filter(is_placed).copied().collect()
    }

    fn is_awaited(&self, router: &Router) -> bool {
        !self.given_up.contains(&router.eth.chip)
    }

    /// Signals the masters, and the routers whose master does not run.
    pub(super) fn stop(
        &mut self,
        route: Termination,
        target: &mut dyn Target,
        images: &ImageMap,
    ) -> Result<(), RunError> {
        if self.running.is_empty() {
            return Ok(());
        }
        check_permissions(
            target,
            "the end of a fabric",
            &[WritePermission::Write, WritePermission::Launch],
        )?;
        target.never_stop_for_audit();
        let places = self.running.iter().copied().collect();
        let found = survey_tiles(target, images, Vec::new(), places, &Loaded::default())?;
        for (place, finding) in found {
            if matches!(finding, TileUse::Runs(_) | TileUse::Routes(_)) {
                continue;
            }
            self.running.remove(&place);
            if finding != TileUse::Ready {
                self.taken.remove(&place);
            }
            if !self.half_launched {
                self.problems.extend(self.not_up(place, target, images)?);
            }
        }
        let words = RouterWords::of(images, self.plan.router_image())?;
        let signal = words.image.constant(route.name())?;
        let running = self.routers(&self.running);
        let masters: BTreeSet<_> =
            running.iter().filter(|router| router.master).map(|router| router.eth.chip).collect();
        let signalled = running.iter().filter(|it| it.master || !masters.contains(&it.eth.chip));
        let signals = signalled.map(|router| stop_router(&words, router, signal));
        let signals = OperationGroup::tolerant(signals.collect::<Vec<_>>());
        let firmware = image(images, Firmware::BUILT_IN.application)?;
        let returns = Returns {
            go: done_condition(mailbox(&firmware)?),
            words,
            left: self.running.clone(),
            total: self.running.len(),
            since: None,
            signalled_all: false,
            patience_cycles: self.settings.deadline_cycles,
        };
        self.tasks.push_front(BringUpTask::Returns(Box::new(returns)));
        self.tasks.push_front(BringUpTask::Steps(FabricStage::Stop, signals));
        Ok(())
    }

    /// Returns the problem of a router that never ran; none for one that has just returned.
    fn not_up(
        &self,
        place: Place,
        target: &mut dyn Target,
        images: &ImageMap,
    ) -> Result<Option<String>, RunError> {
        let words = RouterWords::of(images, self.plan.router_image())?;
        let Some(router) = self.plan.routers.iter().find(|router| router.place == place) else {
            return Ok(None);
        };
        let status = target.read_word(place.at(words.status))?;
        let ended = ["TERMINATED", "REFUSED"];
        if ended.iter().any(|name| words.image.constant(name) == Ok(status)) {
            return Ok(None);
        }
        let status = words.status_name(status);
        Ok(Some(format!("router {router} never came up: no kernel runs there (status {status})")))
    }

    /// Waits for signalled routers; returns whether the wait has ended.
    pub(super) fn returns(
        &mut self,
        returns: &mut Returns,
        target: &mut dyn Target,
    ) -> Result<bool, RunError> {
        let (word, returned) = returns.go;
        let span = |place: &Place| Span { addr: place.at(word), len: 4 };
        let snapshot = target.read(&Plan { spans: returns.left.iter().map(span).collect() });
        let now = target.now()?;
        for place in returns.left.clone() {
            match snapshot.word(span(&place).addr) {
                Ok(go) if returned.holds(go) => {
                    returns.left.remove(&place);
                    self.running.remove(&place);
                    returns.since = Some(now);
                }
                Err(gone @ AccessError::DeviceGone(_)) => return Err(gone.into()),
                _ => {}
            }
        }
        if returns.left.is_empty() {
            return Ok(true);
        }
        let waited = now.saturating_sub(*returns.since.get_or_insert(now));
        if waited <= returns.patience_cycles {
            return Ok(false);
        }
        if returns.signalled_all {
            self.abandon(returns);
            return Ok(true);
        }
        let signal = returns.words.image.constant(Termination::Immediately.name())?;
        let routers = self.routers(&returns.left);
        let late: Vec<&Router> = routers.iter().filter(|it| self.is_awaited(it)).collect();
        let names =
            stuck_routers(target, &returns.words, &self.plan, &late)?.sentences().join("; ");
        let (count, waited_us) = (late.len(), waited / 1_000);
        if count > 0 {
            self.problems.push(format!(
                "{count} routers did not return within {waited_us} us and got the signal to terminate immediately: {names}"
            ));
        }
        for router in &routers {
            let addr = router.place.at(returns.words.termination);
            target.write(addr, &signal.to_le_bytes())?;
        }
        (returns.signalled_all, returns.since) = (true, Some(now));
        Ok(false)
    }

    /// Leaves routers that do not return on their cores.
    fn abandon(&mut self, returns: &Returns) {
        let routers = self.routers(&returns.left);
        let awaited = routers.iter().filter(|it| self.is_awaited(it));
        let names: Vec<String> = awaited.map(ToString::to_string).collect();
        if !names.is_empty() {
            self.problems.push(format!(
                "these routers did not return and keep their cores: {}",
                names.join(", ")
            ));
        }
        self.taken.retain(|place| !returns.left.contains(place));
        self.running.clear();
    }

    pub(super) fn give_back(&mut self, images: &ImageMap) -> Result<(), RunError> {
        let taken = std::mem::take(&mut self.taken);
        let back = taken.iter().map(|place| stop_application(images, Firmware::BUILT_IN, *place));
        let back = back.collect::<Result<Vec<_>, _>>()?;
        self.tasks
            .push_front(BringUpTask::Steps(FabricStage::GiveBack, OperationGroup::tolerant(back)));
        Ok(())
    }
}

fn stop_router(words: &RouterWords, router: &Router, signal: u32) -> Operation {
    let mut operation = Operation::new(format!("stop router {}", router.eth));
    operation.write_word(router.place.at(words.termination), signal);
    operation
}
