//! The fabric of a run: brought up before the first kernel and taken down after the last, unless it
//! was already running.

use super::Run;
use super::outcome::RunEnd;
use crate::launcher::firmware_of;
use crate::report::{Park, Stage};
use crate::task::RunTask;
use crate::transport::Crossing;
use crate::worker::worker_semaphore;
use fabric::{Fabric, FabricProgress, FabricSettings, Release, Termination};
use images::ImageMap;
use launch::outcome::{Cause, RunError, Stuck};
use launch::{Condition, ControlError, done_condition, image, mailbox};
use layouts::{TileKind, WritePermission};
use machine::place::Place;
use machine::snapshot::{Plan, Span};
use machine::target::Target;
use std::collections::BTreeMap;

/// Returns the fabric of a program: a new one to bring up, or the one found running.
/// Its routers can be launched to park before their handshake.
pub(super) fn ownership(crossing: &Crossing, park: Option<Park>) -> Fabric {
    let pause_at_stage = u32::from(park == Some(Park::Handshake));
    let settings = FabricSettings { pause_at_stage, ..FabricSettings::default() };
    let plan = crossing.plan.clone();
    if crossing.found { Fabric::found(plan, settings) } else { Fabric::new(plan, settings) }
}

pub(super) fn is_mux(kernel: &str) -> bool {
    kernel.starts_with("fabric_mux_")
}

fn blamed(stuck: Stuck, core: Place) -> RunError {
    RunError::new(Cause::TookTooLong(stuck)).at(core)
}

/// Holds a core in reset. The error is the reason why not, as a relative clause.
fn hold_in_reset(target: &mut dyn Target, place: Place) -> Result<(), String> {
    let stands = || "which stands still".to_owned();
    let layout = target.mesh().layout();
    if layout.kind_at(place.tile) != TileKind::Tensix {
        return Err(stands());
    }
    let at = layout.soft_reset(TileKind::Tensix).ok_or_else(stands)?;
    if !target.abilities().allow.covers(WritePermission::Reset) {
        return Err("which stands still and may not be reset without --allow reset".to_owned());
    }
    let written = target.write(place.at(at), &layout.tensix.reset_all.to_le_bytes());
    written.map_err(|error| format!("which stands still and cannot be reset ({error})"))
}

impl Run {
    /// Whether the fabric was already running, so that it is not the run's.
    fn is_found(&self) -> bool {
        self.program.crossing.as_ref().is_some_and(|crossing| crossing.found)
    }

    /// Polls the fabric; returns whether it has reached its goal.
    pub(super) fn poll_fabric(
        &mut self,
        stage: Stage,
        done: &mut (u64, u64),
        target: &mut dyn Target,
        images: &mut ImageMap,
    ) -> Result<bool, RunError> {
        let found = self.is_found();
        let Some(fabric) = &mut self.fabric else { return Ok(true) };
        if stage == Stage::FabricDown {
            if found {
                return Ok(true);
            }
            fabric.terminate(Termination::Gracefully);
        }
        let progress = fabric.poll(target, images)?;
        target.commanded_by(self.program.op.name());
        match progress {
            FabricProgress::Running { done: now, of, .. } => {
                *done = (now, of);
                Ok(false)
            }
            FabricProgress::Finished(_) => Ok(true),
        }
    }

    /// Names the cores that do not answer the immediate termination signal, their effect on the
    /// fabric, and the workers whose packets were dropped.
    pub(super) fn call_roll(
        &mut self,
        target: &mut dyn Target,
        images: &ImageMap,
    ) -> Result<(), RunError> {
        let mut words = BTreeMap::new();
        for (&place, &kernel) in &self.running {
            let firmware = image(images, firmware_of(kernel))?;
            let (at, done) = done_condition(mailbox(&firmware)?);
            words.insert(place, (Span { addr: place.at(at), len: 4 }, done));
        }
        let nacks = u64::from(worker_semaphore(images, "CCL_SEMAPHORE_NACKS")?);
        let workers: Vec<Place> = self.program.workers.iter().map(|worker| worker.place).collect();
        let nacks = workers
            .into_iter()
            .filter(|place| self.running.contains_key(place))
            .map(|place| (place, Span { addr: place.at(nacks), len: 4 }));
        let nacks: Vec<(Place, Span)> = nacks.collect();
        let spans = words.values().map(|(span, _)| *span);
        let spans = spans.chain(nacks.iter().map(|(_, span)| *span)).collect();
        let snapshot = target.read(&Plan { spans });
        let answers =
            |span: Span, done: Condition| snapshot.word(span.addr).is_ok_and(|go| done.holds(go));
        let dead = words.iter().filter(|(_, (span, done))| !answers(*span, *done));
        self.dead = dead.map(|(place, _)| *place).collect();
        let mut found: Vec<RunError> =
            self.dead.iter().filter_map(|place| self.absent(*place)).collect();
        let dropped = nacks.iter().filter_map(|(place, span)| {
            let count = snapshot.word(span.addr).ok().filter(|count| *count > 0)?;
            Some(blamed(Stuck::Dropped(count), *place))
        });
        found.extend(dropped);
        let RunEnd::Failed(error) = &self.outcome else { return Ok(()) };
        let mut found = found.into_iter();
        if let Some(mut first) = found.next() {
            let layout = target.mesh().layout();
            // They say the same as the steps that waited for them.
            self.left.clear();
            first.since_cycles = error.since_cycles;
            let others = found.map(|other| other.headline(layout)).chain([error.headline(layout)]);
            self.outcome = RunEnd::Failed(first.and(others).and(error.notes.iter().cloned()));
        }
        Ok(())
    }

    /// Closes the channels of a fabric that continues, for their clients. A core that did not
    /// answer must not resume while the next client sends packets, so it is held in reset first.
    pub(super) fn release(
        &mut self,
        target: &mut dyn Target,
        images: &ImageMap,
    ) -> Result<(), RunError> {
        let crossing = self.program.crossing.as_ref().filter(|crossing| crossing.found);
        let Some(crossing) = crossing else { return Ok(()) };
        let mut kept = BTreeMap::new();
        for &place in &self.dead {
            if let Err(why) = hold_in_reset(target, place) {
                kept.insert(place, why);
            }
        }
        let mut routers = Vec::new();
        for (router, client) in crossing.clients() {
            let Some(why) = kept.get(&client) else {
                routers.push(router);
                continue;
            };
            let client = client.name(images.layout());
            self.left.push(ControlError::Settings(format!(
                                "the channel of the router of {router} stays open for {client}, {why}: the fabric must be brought up again"
            )));
        }
        let patience = self.settings.deadline_cycles;
        let release = Release::new(images, &crossing.plan, routers, patience)?;
        self.tasks.push_front(RunTask::Close(Box::new(release)));
        Ok(())
    }

    /// Returns the effect on the fabric of a core that does not answer.
    fn absent(&self, place: Place) -> Option<RunError> {
        let crossing = self.program.crossing.as_ref()?;
        if let Some(mux) = crossing.muxes.iter().find(|mux| mux.place == place) {
            return Some(blamed(Stuck::Mux(mux.router, mux.clients.len()), place));
        }
        let worker = self.program.workers.iter().find(|worker| worker.place == place)?;
        let muxes = crossing.muxes.iter().filter(|mux| mux.clients.contains(&place));
        let muxes = muxes.map(|mux| (mux.place, mux.router)).collect();
        Some(blamed(Stuck::Client(muxes, worker.role.clone()), place))
    }

    /// Starts to take the fabric down, in whatever state it is. Returns false if there is none, or
    /// if it was already running before the run.
    pub(super) fn leave_fabric(&mut self, way: Termination) -> bool {
        let found = self.is_found();
        let Some(fabric) = &mut self.fabric else { return false };
        if found {
            return false;
        }
        fabric.terminate(way);
        true
    }
}
