//! A sweep on a mesh: size after size, each a run that is polled; never blocks; can be cancelled.

use super::pausing::PauseAt;
use super::schedule::Scheduled;
use super::sweep::Sweep;
use super::table::{ChipMeasured, Measured};
use crate::exit::Failure;
use crate::words;
use collectives::{Park, Program, Run, RunProgress, RunReport, Stage, fits, refuse_if_in_use};
use images::ImageMap;
use launch::occupancy::Loaded;
use launch::outcome::RunError;
use machine::target::{Allow, Mesh, Target};
use std::collections::VecDeque;

/// Permissions that launching needs on a target outside this process.
const NEEDS: Allow = Allow { write: true, sample: false, halt: false, launch: true, reset: true };

/// A running sweep.
pub struct Job {
    sweep: Sweep,
    /// The sizes that were not started.
    left: VecDeque<Program>,
    total: usize,
    run: Option<Run>,
    /// The target's time when the data of the current launch began to move.
    moving_cycles: Option<u64>,
    cancelled: bool,
    /// What the previous size left on the tiles.
    loaded: Loaded,
    /// Where it is to be paused, until it is.
    pause_at: Option<PauseAt>,
    /// Whether it is to be paused as soon as its kernels move data.
    pauses: bool,
    /// Whether its kernels rest where they are to be paused.
    rests: bool,
    /// The error that ended the sweep.
    cause: Option<RunError>,
}

/// The result of a poll.
#[derive(Clone, Debug, PartialEq)]
pub enum SweepTurn {
    /// Time has to pass.
    Going(Going),
    /// A size is done, and more may follow.
    Row(Measured),
    /// All sizes are done.
    Done,
    /// The user stopped the sweep, and every tile is restored.
    Cancelled,
}

/// Progress of the current size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Going {
    /// Its bytes.
    pub size_bytes: u64,
    /// Number of the size, from 1.
    pub number: usize,
    /// Number of sizes.
    pub sizes: usize,
    /// The current stage.
    pub stage: Stage,
    /// Bytes while kernels move, fill or check data, else steps.
    pub done: u64,
    /// Bytes or steps in all.
    pub of: u64,
    /// The number of the newest launch that moves data, and of all such launches.
    pub launches: (u64, u64),
    /// Bytes, and the cycles in which they moved: those of this launch so far, or of several launches
    /// those that have ended, in the mean.
    pub moved: Option<(u64, u64)>,
}

impl Going {
    /// How much is done, and of how much: of the current stage, and of all launches while data move.
    pub fn share(&self) -> (u64, u64) {
        let Going { stage, done, of, launches: (launch, all), .. } = *self;
        let before = launch.saturating_sub(1);
        match stage {
            Stage::Transfer => (before * of + done, all * of),
            Stage::Launch | Stage::Survey if all > 1 && launch > 0 => (before, all),
            _ => (done, of),
        }
    }

    /// Size, stage, and how much of the stage is done.
    pub fn words(&self) -> String {
        let Going { size_bytes, number, sizes, stage, launches, moved, .. } = *self;
        let launch = match launches {
            (launch, all) if all > 1 && launch > 0 => format!(", launch {launch} of {all}"),
            _ => String::new(),
        };
        let size = words::bytes(size_bytes);
        let head = format!("{size} ({number} of {sizes}{launch}): {}", stage.words());
        let (done, of) = self.share();
        if !stage.counts_bytes() {
            return if of == 0 { head } else { format!("{head}, {done} of {of}") };
        }
        let percent = (done * 100).checked_div(of).unwrap_or(0);
        let rate = moved.filter(|(_, cycles)| *cycles > 0 && stage.is_transfer());
        let rate = rate
            .map(|(bytes, cycles)| format!(", {:.2} GB/s in all", bytes as f64 / cycles as f64));
        let rate = rate.unwrap_or_default();
        format!("{head}, {} of {} ({percent}%){rate}", words::bytes(done), words::bytes(of))
    }
}

impl Job {
    /// Compiles every size, so that errors are reported before anything is written.
    ///
    /// # Errors
    /// `Refused` for a target without the permissions, `Usage` for what this mesh cannot do.
    pub fn new(sweep: Sweep, target: &mut dyn Target, images: &ImageMap) -> Result<Self, Failure> {
        may_change(target)?;
        let missing = missing(target.abilities().allow);
        if !missing.is_nothing() {
            return Err(Failure::Refused(format!(
                "{}: a run launches kernels, and {missing} is not allowed there: --allow {NEEDS}",
                target.name()
            )));
        }
        let programs = sweep.compile(target, images).map_err(Failure::Usage)?;
        let left: VecDeque<_> = programs.into();
        let total = left.len();
        Ok(Self {
            pause_at: sweep.pause_at(),
            sweep,
            left,
            total,
            run: None,
            moving_cycles: None,
            pauses: false,
            rests: false,
            cancelled: false,
            loaded: Loaded::default(),
            cause: None,
        })
    }

    /// The error that ended the sweep, if a run or the snapshot before it failed.
    pub fn cause(&self) -> Option<&RunError> {
        self.cause.as_ref()
    }

    /// Whether a run stands still, and the mesh is as it was when that was found.
    pub fn stands(&self) -> bool {
        self.run.as_ref().is_some_and(Run::stands)
    }

    /// The sweep.
    pub fn sweep(&self) -> &Sweep {
        &self.sweep
    }

    /// The program of the current size, or of the next.
    pub fn program(&self) -> Option<&Program> {
        self.run.as_ref().map(Run::program).or(self.left.front())
    }

    /// How many commands of its current slice each worker has carried out, while data move.
    pub fn commands_done(&self) -> Option<Vec<u64>> {
        self.run.as_ref()?.commands_done()
    }

    /// The schedule of the current size, or of the next.
    pub fn scheduled(&self, mesh: &Mesh) -> Option<Scheduled> {
        let program = self.program()?;
        Some(Scheduled::new(self.sweep.title(program), program, mesh))
    }

    /// All programs that were not started.
    pub fn programs(&self) -> impl Iterator<Item = &Program> {
        self.left.iter()
    }

    /// Refuses a size that exceeds the tiles' memories, and a mesh that is in use; writes nothing.
    ///
    /// # Errors
    /// `Usage` for a size that does not fit, `Refused` with the user of each tile.
    pub fn refuse(&mut self, target: &mut dyn Target, images: &ImageMap) -> Result<(), Failure> {
        let Some(program) = self.program() else { return Ok(()) };
        let fit = self.programs().try_for_each(|program| fits(images, program));
        let free = fit.and_then(|()| refuse_if_in_use(target, images, program));
        free.map_err(|error| {
            let failure = Failure::of_run(target.name(), target.mesh().layout(), &error);
            self.cause = Some(error);
            failure
        })
    }

    /// Advances until time has to pass.
    ///
    /// # Errors
    /// The error that ended the sweep.
    pub fn poll(
        &mut self,
        target: &mut dyn Target,
        images: &mut ImageMap,
    ) -> Result<SweepTurn, Failure> {
        let run = match &mut self.run {
            Some(run) => run,
            None if self.cancelled => return Ok(SweepTurn::Cancelled),
            None => match self.left.pop_front() {
                None => return Ok(SweepTurn::Done),
                Some(program) => {
                    self.moving_cycles = None;
                    let mut settings = self.sweep.settings().clone();
                    settings.park = park(self.pauses, self.pause_at);
                    let run = Run::new(program, settings);
                    // The mesh was not released since the previous size.
                    self.run.insert(run.with_loaded(std::mem::take(&mut self.loaded)))
                }
            },
        };
        let progress = run.poll(target, images);
        let now = target.now().map_err(|error| Failure::of_access(target.name(), &error))?;
        let name = target.name();
        let progress = match progress {
            Ok(progress) => progress,
            Err(error) => {
                let failure = Failure::of_run(name, target.mesh().layout(), &error);
                self.cause = Some(error);
                return Err(failure);
            }
        };
        match progress {
            RunProgress::Running { stage, done, of } => {
                let size_bytes = run.program().size_bytes;
                if stage.is_transfer() {
                    self.moving_cycles.get_or_insert(now);
                } else {
                    self.moving_cycles = None;
                }
                let launches = run.launches();
                let share = matches!(self.pause_at, Some(PauseAt::Percent(_)));
                self.rests = share && run.rests(target, images).is_ok_and(|rests| rests);
                let number = self.total - self.left.len();
                let since = self.moving_cycles.map(|since| (done, now - since));
                let mean = run.mean_cycles().filter(|_| launches.1 > 1);
                let moved = mean.map(|cycles| (of, cycles)).or(since);
                let sizes = self.total;
                Ok(SweepTurn::Going(Going {
                    size_bytes,
                    number,
                    sizes,
                    stage,
                    done,
                    of,
                    launches,
                    moved,
                }))
            }
            RunProgress::Finished(Some(report)) => {
                let row = measured(run.program(), &report, self.sweep.request().root);
                self.loaded = self.run.take().map(Run::into_loaded).unwrap_or_default();
                Ok(SweepTurn::Row(row))
            }
            RunProgress::Finished(None) => {
                self.run = None;
                Ok(SweepTurn::Cancelled)
            }
        }
    }

    /// Whether kernels work and may be paused, so that the sweep is not polled until they are
    /// resumed.
    pub fn is_watching(&self) -> bool {
        self.run.as_ref().is_some_and(Run::is_watching)
    }

    /// Whether the sweep has come to where it is to be paused; true once.
    pub fn takes_pause(&mut self, going: &Going) -> bool {
        let is_there = |at: PauseAt| at.is_reached(going.stage, going.done, going.of);
        let reached =
            self.is_watching() && self.pause_at.is_some_and(|at| self.rests || is_there(at));
        if reached {
            self.pause_at = None;
        }
        reached
    }

    /// Lets the kernels of the next launch park before they move data, or, if nothing is to be paused
    /// any more, as the sweep says.
    pub fn pauses(&mut self, pauses: bool) {
        self.pauses = pauses;
        if let Some(run) = &mut self.run {
            run.park_next(park(pauses, self.pause_at));
        }
    }

    /// Where the sweep is to be paused, if it has not come so far.
    pub fn pause_at(&self) -> Option<PauseAt> {
        self.pause_at
    }

    /// Continues the sweep after a pause.
    ///
    /// # Errors
    /// If the machine does not tell the time.
    pub fn resumed(&mut self, target: &mut dyn Target) -> Result<(), Failure> {
        let Some(run) = &mut self.run else { return Ok(()) };
        let resumed = run.resumed(target);
        resumed.map_err(|e| Failure::of_run(target.name(), target.mesh().layout(), &e))
    }

    /// Makes the next polls tear down what is running.
    pub fn cancel(&mut self) {
        self.cancelled = true;
        if let Some(run) = &mut self.run {
            run.cancel();
        }
    }
}

/// Where the kernels of a run park.
fn park(pauses: bool, pause_at: Option<PauseAt>) -> Option<Park> {
    let soon = pauses.then_some(Park::Workers(Stage::Transfer));
    soon.or_else(|| pause_at.and_then(PauseAt::park))
}

/// Refuses targets that no permission makes writable, such as a recording.
///
/// # Errors
/// `Refused`.
pub fn may_change(target: &dyn Target) -> Result<(), Failure> {
    match &target.abilities().unchangeable {
        Some(why) => Err(Failure::Refused(format!("{}: {why}", target.name()))),
        None => Ok(()),
    }
}

/// Permissions that are needed and not granted.
fn missing(allow: Allow) -> Allow {
    let Allow { write, launch, reset, .. } = allow;
    Allow { write: !write, launch: !launch, reset: !reset, ..Allow::default() }
}

fn measured(program: &Program, report: &RunReport, root: u32) -> Measured {
    let chips = report.chips.iter().map(|times| ChipMeasured {
        chip: times.chip,
        kernel_cycles: times.kernel_cycles(),
        transfer_cycles: times.transfer_cycles(),
    });
    Measured {
        op: program.op.name(),
        size_bytes: program.size_bytes,
        count: program.count,
        data_type: program.data_type.name(),
        redop: if program.op.reduces() { "sum" } else { "none" },
        root: program.op.has_root().then_some(root),
        time_cycles: report.time_cycles,
        bus_factor: program.bus_factor,
        link_gbps: program.link_rate(),
        wrong: report.wrong,
        start_skew_cycles: report.start_skew_cycles,
        last: report.last,
        chips: chips.collect(),
        places: report.wrong_ranges.iter().map(ToString::to_string).collect(),
    }
}
