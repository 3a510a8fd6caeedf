//! `run`: a collective, size after size, with the table that nccl-tests prints.

mod follow;
mod list;
pub(super) mod relaunch;
mod replay;

use super::line::Line;
use super::record::RunRecorder;
use crate::args::{Arguments, DEFAULT_TARGET, RunArguments};
use crate::interrupt::Stop;
use crate::output::{json, say, text, waited};
use crate::shape::{self, schema};
use crate::target::{Style, open};
use crate::verb::{Ask, Pages, Schemas, Verb};
use collectives::writes;
use console::exit::{Failure, Outcome};
use console::machine::{Machine, Opening};
use console::run::replay::read_trace_file;
use console::run::{Sweep, may_change, schedule};
use follow::Following;
use list::ListRun;
use machine::past::Keeps;
use machine::target::Preview;
use probe::spec::TargetSpec;

impl Verb for RunArguments {
    const NAME: &str = "run";
    const PAGES: Pages = &[("run", include_str!("../manual/verbs/run.md"))];
    const SCHEMAS: Schemas = &[("run", schema::<shape::Sweep<'_>>)];
    fn cleans_up(&self) -> bool {
        true
    }
    fn opening(&self, arguments: &Arguments) -> Opening {
        idle(arguments)
    }
    const QUESTION: Ask<Self> = Some(|verb, _| {
        // Invalid arguments are reported before a target is opened.
        if let Some(file) = &verb.from {
            let order = verb.replay(file).map_err(Failure::Usage)?;
            let trace = read_trace_file(file)?;
            return Ok(Some(Box::new(move |machine| replay::preview(machine, &order, &trace))));
        }
        let sweeps = verb.sweeps().map_err(Failure::Usage)?;
        Ok(Some(Box::new(move |machine| preview(machine, &sweeps))))
    });
    fn run(&self, target: &Opening, style: Style) -> Result<Outcome, Failure> {
        if let Some(file) = &self.from {
            let order = self.replay(file).map_err(Failure::Usage)?;
            return replay::run(target, style, &order, self.record.as_deref());
        }
        if self.schedule {
            return schedule(target, style, &self.sweep().map_err(Failure::Usage)?);
        }
        run(target, style, self)
    }
}

/// The target of a run or launch: without `--target`, and for an emulated mesh without `run=`,
/// nothing else runs there.
pub(super) fn idle(arguments: &Arguments) -> Opening {
    let opening = arguments.opening();
    let default = arguments.target.is_none() && opening.words == DEFAULT_TARGET;
    let words = match TargetSpec::parse(&opening.words) {
        _ if default => format!("{DEFAULT_TARGET},run=idle"),
        Ok(TargetSpec::Emulator(scene)) if scene.run.is_none() => {
            format!("{},run=idle", opening.words)
        }
        _ => return opening,
    };
    Opening { words, ..opening }
}

/// Runs the collective on each list of chips. With --json what is known of a failed run is printed, too.
fn run(opening: &Opening, style: Style, options: &RunArguments) -> Result<Outcome, Failure> {
    let mut lists = Vec::new();
    let carried = carry_out(opening, style, options, &mut lists);
    waited();
    list::print(opening, style, options.op_name(), (&lists, carried.as_ref().err()))?;
    carried?;
    // Each failure of several lists was printed with its list; the first decides the exit code.
    let failed = lists.iter().filter(|list| !list.is_relaunched).find_map(ListRun::failure);
    if let Some(failure) = failed {
        return Err(failure.clone());
    }
    let wrong = lists.iter().any(|list| list.is_relaunched || list.is_wrong());
    Ok(if wrong { Outcome::Findings } else { Outcome::Healthy })
}

fn carry_out(
    opening: &Opening,
    style: Style,
    options: &RunArguments,
    lists: &mut Vec<ListRun>,
) -> Result<(), Failure> {
    let sweeps = options.sweeps().map_err(Failure::Usage)?;
    let stop = Stop::listen()?;
    let keeps = if options.record.is_some() { Keeps::Run } else { Keeps::Nothing };
    let mut machine = open(&opening.keeping(keeps))?.into_machine();
    // One table is printed as it comes.
    let streams = sweeps.len() == 1 && !style.json && !style.csv;
    for sweep in sweeps {
        lists.push(ListRun::new(sweep, streams, &mut machine)?);
    }
    for list in lists.iter_mut() {
        list.begin(&opening.words, &mut machine)?;
    }
    stop.takes_time();
    let words = match &lists[..] {
        [list] => list.title(),
        lists => format!("{} on {} lists of chips", options.op_name(), lists.len()),
    };
    let recorder = options.record.as_deref();
    let recorder = recorder
        .map(|file| RunRecorder::begin(file, &mut machine, &format!("run {words}")))
        .transpose()?;
    let op = options.op_name();
    let line = Line::new(op);
    let relaunches = options.relaunch.then_some(opening.words.as_str());
    let mut following = Following { op, lists, stop, line, recorder, relaunches };
    let followed = following.follow(&mut machine);
    // The file is valid however the runs ended.
    let recorded = following.recorder.map(|recorder| recorder.end(&mut machine));
    followed?;
    recorded.transpose()?.iter().for_each(|recorded| say(recorded));
    Ok(())
}

/// Columns of a schedule where no terminal says how many there are.
const COLUMNS: usize = 120;

/// Prints the schedule of a sweep.
fn schedule(opening: &Opening, style: Style, sweep: &Sweep) -> Result<Outcome, Failure> {
    let mut machine = open(opening)?.into_machine();
    let (target, images) = machine.session().parts();
    let scheduled = sweep.scheduled(target, images).map_err(Failure::Usage)?;
    let Some(scheduled) = scheduled else { return Ok(Outcome::Healthy) };
    if style.json {
        let shape = shape::Sweep::unknown(sweep.request().op.name(), &opening.words);
        json(shape.scheduled(&scheduled.schedule))?;
    } else {
        let columns = crossterm::terminal::size().map_or(COLUMNS, |(columns, _)| columns.into());
        text(&schedule::text(&schedule::beside(&[scheduled], columns)))?;
    }
    Ok(Outcome::Healthy)
}

/// The writes of runs.
fn preview(machine: &mut Machine, sweeps: &[Sweep]) -> Result<Preview, Failure> {
    let (target, images) = machine.session().parts();
    may_change(target)?;
    let mut whole = Preview::default();
    for sweep in sweeps {
        for program in sweep.compile(target, images).map_err(Failure::Usage)? {
            let spans = writes(&program, target.mesh(), images);
            let spans = spans
                .map_err(|error| Failure::of_run(target.name(), target.mesh().layout(), &error))?;
            for span in spans {
                let Preview { accesses: visits, gaps } = target.preview_write(span);
                whole.accesses.extend(visits);
                whole.gaps.extend(gaps);
            }
        }
    }
    Ok(whole)
}
