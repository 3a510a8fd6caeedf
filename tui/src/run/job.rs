//! A sweep on a mesh: size after size, each a run that is polled; never blocks, and can be cancelled at each step.

use super::sweep::Sweep;
use super::table::{ChipMeasured, Measured};
use crate::exit::Failure;
use crate::words;
use collectives::{Program, Run, RunProgress, RunReport, Stage, fits, refuse_if_in_use};
use decode::images::ImageMap;
use launch::occupancy::Loaded;
use launch::outcome::RunError;
use machine::target::{Allow, Target};
use std::collections::VecDeque;

/// What launching takes on a machine that is not this program's own.
const NEEDS: Allow = Allow { write: true, halt: false, launch: true, reset: true };

/// A sweep under way.
pub(crate) struct Job {
    sweep: Sweep,
    /// The sizes that were not begun.
    left: VecDeque<Program>,
    total: usize,
    run: Option<Run>,
    /// The target's own time when the data of the present size began to move.
    moving_cycles: Option<u64>,
    cancelled: bool,
    /// What the size before left on the tiles.
    loaded: Loaded,
    /// What ended the sweep.
    cause: Option<RunError>,
}

/// Where a sweep stands.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Turn {
    /// Time has to pass.
    Going(Going),
    /// A size is done, and there may be more.
    Row(Measured),
    /// All sizes are done.
    Done,
    /// A person stopped it, and everything is given back.
    Cancelled,
}

/// How far the present size is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Going {
    /// Its bytes.
    pub size_bytes: u64,
    /// Which size of how many, from 1.
    pub number: usize,
    /// How many sizes there are.
    pub sizes: usize,
    /// What it is at.
    pub stage: Stage,
    /// Bytes while kernels move, fill or check data, else steps.
    pub done: u64,
    /// Of so many.
    pub of: u64,
    /// Since the data began to move, in cycles of the target.
    pub moving_cycles: Option<u64>,
}

impl Going {
    /// Its size, its stage, and how much of that is done.
    pub(crate) fn words(&self) -> String {
        let Going { size_bytes, number, sizes, stage, done, of, moving_cycles } = *self;
        let head = format!("{} ({number} of {sizes}): {}", words::bytes(size_bytes), stage.words());
        if !stage.counts_bytes() {
            return if of == 0 { head } else { format!("{head}, {done} of {of}") };
        }
        let percent = (done * 100).checked_div(of).unwrap_or(0);
        let rate = moving_cycles.filter(|cycles| *cycles > 0 && stage.is_transfer());
        let rate = rate.map(|cycles| format!(", {:.2} GB/s in all", done as f64 / cycles as f64));
        let rate = rate.unwrap_or_default();
        format!("{head}, {} of {} ({percent}%){rate}", words::bytes(done), words::bytes(of))
    }
}

impl Job {
    /// Compiles every size, so that what cannot be is told before anything is written.
    ///
    /// # Errors
    /// `Refused` for a target that does not allow it, `Usage` for what this mesh cannot do.
    pub(crate) fn new(
        sweep: Sweep,
        target: &mut dyn Target,
        images: &ImageMap,
    ) -> Result<Self, Failure> {
        may_change(target)?;
        let missing = missing(target.abilities().allow);
        if !missing.is_nothing() {
            return Err(Failure::Refused(format!(
                "{}: a run launches kernels, and what may be done there lacks {missing}: --allow {NEEDS}",
                target.name()
            )));
        }
        let programs = sweep.compile(target, images).map_err(Failure::Usage)?;
        let left: VecDeque<_> = programs.into();
        let total = left.len();
        Ok(Self {
            sweep,
            left,
            total,
            run: None,
            moving_cycles: None,
            cancelled: false,
            loaded: Loaded::default(),
            cause: None,
        })
    }

    /// What ended the sweep, where that was a run or the look before it.
    pub(crate) fn cause(&self) -> Option<&RunError> {
        self.cause.as_ref()
    }

    /// What was asked for.
    pub(crate) fn sweep(&self) -> &Sweep {
        &self.sweep
    }

    /// The program of the present size, or of the next.
    pub(crate) fn program(&self) -> Option<&Program> {
        self.run.as_ref().map(Run::program).or(self.left.front())
    }

    /// All programs that were not begun.
    pub(crate) fn programs(&self) -> impl Iterator<Item = &Program> {
        self.left.iter()
    }

    /// Refuses a size that does not fit into the tiles' memories, and a mesh that somebody uses; nothing is written.
    ///
    /// # Errors
    /// `Usage` for what does not fit, `Refused` with who uses what.
    pub(crate) fn refuse(
        &mut self,
        target: &mut dyn Target,
        images: &ImageMap,
    ) -> Result<(), Failure> {
        let Some(program) = self.program() else { return Ok(()) };
        let fit = self.programs().try_for_each(|program| fits(images, program));
        let free = fit.and_then(|()| refuse_if_in_use(target, images, program));
        free.map_err(|error| {
            let failure = Failure::of_run(target.name(), target.mesh().layout(), &error);
            self.cause = Some(error);
            failure
        })
    }

    /// Goes on until time has to pass.
    ///
    /// # Errors
    /// What ended the sweep.
    pub(crate) fn poll(
        &mut self,
        target: &mut dyn Target,
        images: &mut ImageMap,
    ) -> Result<Turn, Failure> {
        let run = match &mut self.run {
            Some(run) => run,
            None if self.cancelled => return Ok(Turn::Cancelled),
            None => match self.left.pop_front() {
                None => return Ok(Turn::Done),
                Some(program) => {
                    self.moving_cycles = None;
                    let run = Run::new(program, self.sweep.settings().clone());
                    // Nobody else had the mesh since the size before.
                    self.run.insert(run.knowing(std::mem::take(&mut self.loaded)))
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
            RunProgress::Going { stage, done, of } => {
                let size_bytes = run.program().size_bytes;
                if stage.is_transfer() {
                    self.moving_cycles.get_or_insert(now);
                }
                let number = self.total - self.left.len();
                let moving_cycles = self.moving_cycles.map(|since| now - since);
                let sizes = self.total;
                Ok(Turn::Going(Going { size_bytes, number, sizes, stage, done, of, moving_cycles }))
            }
            RunProgress::Over(Some(report)) => {
                let row = measured(run.program(), &report, self.sweep.request().root);
                self.loaded = self.run.take().map(Run::into_loaded).unwrap_or_default();
                Ok(Turn::Row(row))
            }
            RunProgress::Over(None) => {
                self.run = None;
                Ok(Turn::Cancelled)
            }
        }
    }

    /// The next polls tear down what is under way.
    pub(crate) fn cancel(&mut self) {
        self.cancelled = true;
        if let Some(run) = &mut self.run {
            run.cancel();
        }
    }
}

/// Refuses what no permission makes changeable, such as a recording.
///
/// # Errors
/// `Refused`.
pub(crate) fn may_change(target: &dyn Target) -> Result<(), Failure> {
    match &target.abilities().unchangeable {
        Some(why) => Err(Failure::Refused(format!("{}: {why}", target.name()))),
        None => Ok(()),
    }
}

/// What is needed and not allowed.
fn missing(allow: Allow) -> Allow {
    let Allow { write, halt: _, launch, reset } = allow;
    Allow { write: !write, halt: false, launch: !launch, reset: !reset }
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
        wrong: report.wrong,
        start_skew_cycles: report.start_skew_cycles,
        last: report.last,
        chips: chips.collect(),
        places: report.wrong_stretches.iter().map(ToString::to_string).collect(),
    }
}
