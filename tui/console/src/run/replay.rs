//! A trace that is sent again: a fabric is brought up unless one runs, workers send the packets, and
//! their arrival is followed; polled, never blocks, can be cancelled.

mod ending;
mod order;

pub use order::{ReplayOrder, read_trace_file};

use collectives::Clean;
use fabric::random::{PacketLoad, RandomTraffic};
use fabric::traffic_outcome::TrafficOutcome;
use fabric::traffic_senders::SenderOutcome;
use fabric::{Fabric, FabricPlan, FabricProgress, Release, Termination};
use images::ImageMap;
use launch::occupancy::{
    Loaded, TileUse, check_holders, check_permissions, check_tiles, reserve_audit, survey_tiles,
};
use launch::outcome::{Cause, RunError, Stuck};
use launch::{Firmware, OperationGroup, boot_tensix, task};
use layouts::WritePermission;
use machine::fault::Fault;
use machine::place::Place;
use machine::target::Target;
use std::collections::VecDeque;

/// The name of the kernel that sends and checks.
const KERNEL: &str = "fabric_traffic";
/// Cycles of the target between two looks at the workers.
const LOOK_CYCLES: u64 = 50_000;
/// What permissions are for.
const WHAT: &str = "a replay";

/// A trace that is sent again.
pub struct Replay {
    random: RandomTraffic,
    load: PacketLoad,
    fabric: Fabric,
    /// Whether the fabric was found running, so that it stays.
    is_found: bool,
    faults: Vec<Fault>,
    /// Without progress for so long it fails, in cycles.
    deadline_cycles: u64,
    tasks: VecDeque<ReplayTask>,
    /// Whether its tiles were free, so that all that stands on them is its own.
    is_ours: bool,
    /// Why it ends early.
    error: Option<RunError>,
    /// What came of the packets of each node.
    senders: Vec<SenderOutcome>,
    /// The workers, by node.
    outcomes: Vec<TrafficOutcome>,
}

/// What a replay does, in words, and how much of it is done.
pub type ReplayStage = (&'static str, (u64, u64));

enum ReplayTask {
    /// Checks that the mesh is free.
    Survey,
    /// Carries out operations in parallel.
    Steps(&'static str, Box<OperationGroup>),
    /// Brings the fabric up.
    Up((u64, u64)),
    /// Composes the launch of the workers.
    Launch,
    /// Injects the faults; their times count from now.
    Disrupt,
    /// Follows the workers.
    Watch(Watch),
    /// Reads what came of the packets.
    Count,
    /// The mesh stands still; whether that was seen.
    Stands(bool),
    /// Takes the fabric down.
    Down((u64, u64)),
    /// Tears down what stands on the tiles.
    Clean(Box<Clean>, (u64, u64)),
    /// Closes the channels of a fabric that stays.
    Close(Box<Release>),
}

#[derive(Clone, Copy, Default)]
struct Watch {
    /// Packets that were sent and ranges that arrived, and when that last changed.
    moved: u64,
    since_cycles: Option<u64>,
    /// The next look is at this time of the target.
    next_cycles: u64,
}

impl ReplayTask {
    fn stage(&self) -> ReplayStage {
        match self {
            Self::Survey => ("looking whether the mesh is free", (0, 1)),
            Self::Steps(words, together) => (words, together.done()),
            Self::Up(done) => ("bringing the fabric up", *done),
            Self::Launch | Self::Disrupt => ("launching workers", (0, 1)),
            Self::Watch(watch) => ("packets and arrivals", (watch.moved, watch.moved)),
            Self::Count => ("counting", (0, 1)),
            Self::Stands(_) => ("standing still", (0, 1)),
            Self::Down(done) => ("taking the fabric down", *done),
            Self::Clean(_, done) => ("tearing down", *done),
            Self::Close(release) => ("closing channels", release.done()),
        }
    }
}

impl Replay {
    /// The fabric.
    pub fn plan(&self) -> &FabricPlan {
        self.fabric.plan()
    }

    /// What came of the packets of each node, once that was read.
    pub fn senders(&self) -> &[SenderOutcome] {
        &self.senders
    }

    /// The workers, by node, as they were last seen.
    pub fn outcomes(&self) -> &[TrafficOutcome] {
        &self.outcomes
    }

    /// Whether everything was sent, and has arrived as it was sent.
    pub fn is_right(&self) -> bool {
        let right = |it: &TrafficOutcome| {
            let wrong = [it.refused, it.wrong_words, it.doubled, it.missing, it.nacks];
            it.is_finished() && wrong == [0; 5]
        };
        self.outcomes.iter().all(right)
    }

    /// Number of packets.
    pub fn packets(&self) -> u64 {
        self.load.packets
    }

    /// Whether the packets stand still, and the mesh is as it was when that was found.
    pub fn stands(&self) -> bool {
        matches!(self.tasks.front(), Some(ReplayTask::Stands(_)))
    }

    /// Advances until time has to pass; none once it has ended.
    ///
    /// # Errors
    /// Why it was refused or did not finish, once everything is given back.
    pub fn poll(
        &mut self,
        target: &mut dyn Target,
        images: &mut ImageMap,
    ) -> Result<Option<ReplayStage>, RunError> {
        target.commanded_by("run --from");
        let carry_out = |replay: &mut Self, task: &mut ReplayTask| {
            let carried = replay.carry_out(task, target, images);
            carried.or_else(|error| replay.failed(error, images))
        };
        match task::poll(self, |replay| &mut replay.tasks, ReplayTask::stage, carry_out)? {
            None => self.error.take().map_or(Ok(None), Err),
            going => Ok(going),
        }
    }

    fn tiles(&self) -> Vec<Place> {
        self.random.tiles(false).collect()
    }

    fn carry_out(
        &mut self,
        task: &mut ReplayTask,
        target: &mut dyn Target,
        images: &mut ImageMap,
    ) -> Result<bool, RunError> {
        match task {
            ReplayTask::Survey => self.survey(target, images)?,
            ReplayTask::Steps(_, together) => return Ok(together.poll(target)?),
            ReplayTask::Up(done) => return self.poll_fabric(done, target, images),
            ReplayTask::Launch => self.launch(target, images)?,
            ReplayTask::Disrupt => {
                let now = target.now()?;
                for fault in self.faults.drain(..) {
                    target.disrupt(&fault.counted_from(now))?;
                }
            }
            ReplayTask::Watch(watch) => return self.watch(watch, target, images),
            ReplayTask::Count => self.senders = self.load.traffic.senders(target, images)?,
            ReplayTask::Stands(seen) => return Ok(std::mem::replace(seen, true)),
            ReplayTask::Down(done) => {
                self.fabric.terminate(Termination::Gracefully);
                return self.poll_fabric(done, target, images);
            }
            ReplayTask::Clean(clean, done) => return self.clean(clean, done, target, images),
            ReplayTask::Close(release) => return self.close(release, target),
        }
        Ok(true)
    }

    /// Checks that the tiles are free, and boots those without firmware. Nothing is written before.
    fn survey(&mut self, target: &mut dyn Target, images: &mut ImageMap) -> Result<(), RunError> {
        let mut needs = vec![WritePermission::Write, WritePermission::Launch];
        check_permissions(target, WHAT, &needs)?;
        check_holders(target)?;
        if !self.is_found {
            self.fabric.refuse(target, images)?;
        }
        let found = survey_tiles(target, images, self.tiles(), Vec::new(), &Loaded::default())?;
        check_tiles(&found)?;
        let cold = found.into_iter().filter(|(_, found)| *found == TileUse::Cold);
        let cold: Vec<Place> = cold.map(|(place, _)| place).collect();
        if !cold.is_empty() {
            needs.push(WritePermission::Reset);
            check_permissions(target, WHAT, &needs)?;
        }
        reserve_audit(target, "replay a trace")?;
        self.is_ours = true;
        let boots = cold.into_iter().map(|place| boot_tensix(images, Firmware::BUILT_IN, place));
        let boots = OperationGroup::new(boots.collect::<Result<Vec<_>, _>>()?);
        self.tasks.push_front(ReplayTask::Steps("booting tiles", Box::new(boots)));
        Ok(())
    }

    fn launch(&mut self, target: &mut dyn Target, images: &mut ImageMap) -> Result<(), RunError> {
        // The time tells the payloads of this launch from those of an earlier one.
        let run_id = (target.now()? as u32).max(1);
        let [_, places, gos] = self.random.launch(images, &self.load, run_id)?;
        let steps = |operations| {
            ReplayTask::Steps("launching workers", Box::new(OperationGroup::new(operations)))
        };
        self.tasks.push_front(steps(gos));
        self.tasks.push_front(ReplayTask::Disrupt);
        self.tasks.push_front(steps(places));
        Ok(())
    }

    fn poll_fabric(
        &mut self,
        done: &mut (u64, u64),
        target: &mut dyn Target,
        images: &mut ImageMap,
    ) -> Result<bool, RunError> {
        let progress = self.fabric.poll(target, images)?;
        target.commanded_by("run --from");
        if let FabricProgress::Running { done: now, of, .. } = progress {
            *done = (now, of);
            return Ok(false);
        }
        Ok(true)
    }

    /// Looks at the workers; returns whether all have ended.
    fn watch(
        &mut self,
        watch: &mut Watch,
        target: &mut dyn Target,
        images: &ImageMap,
    ) -> Result<bool, RunError> {
        let now = target.now()?;
        let since = *watch.since_cycles.get_or_insert(now);
        if now < watch.next_cycles {
            return Ok(false);
        }
        watch.next_cycles = now + LOOK_CYCLES;
        self.outcomes = self.load.traffic.outcomes(target, images, &self.load.ids)?;
        let counts = self.outcomes.iter().map(|it| u64::from(it.sent) + u64::from(it.arrived));
        let moved = counts.sum();
        if moved != watch.moved {
            (watch.moved, watch.since_cycles) = (moved, Some(now));
        } else if now.saturating_sub(since) > self.deadline_cycles {
            return self.stuck(now - since).map_or(Ok(true), Err);
        }
        Ok(self.outcomes.iter().all(TrafficOutcome::is_over))
    }

    /// Returns the workers that have not ended, as an error; none if all have.
    fn stuck(&self, waited_cycles: u64) -> Option<RunError> {
        let workers = self.random.tiles(false).zip(self.plan().nodes()).zip(&self.outcomes);
        let left = workers.filter(|(_, outcome)| !outcome.is_over());
        let left = left.map(|((place, node), _)| (place, format!("{KERNEL} of {node}")));
        let left: Vec<(Place, String)> = left.collect();
        let (first, of) = (left.first()?.0, self.outcomes.len());
        let stuck = Stuck::Kernels { left, of, waited_cycles };
        Some(RunError::new(Cause::TookTooLong(stuck)).at(first))
    }
}
