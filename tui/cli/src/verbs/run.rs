//! `run`: a collective, size after size, with the table that nccl-tests prints.

mod replay;
mod several;

use super::record::RunRecorder;
use super::step;
use crate::args::{Arguments, DEFAULT_TARGET, RunArguments, StepArguments};
use crate::interrupt::Stop;
use crate::output::{self, Columns, json, say, text};
use crate::shape::{self, schema};
use crate::target::{Style, open};
use crate::verb::{Ask, Pages, Schemas, Verb};
use collectives::writes;
use console::exit::{Failure, Outcome};
use console::machine::{Machine, Opening};
use console::run::pausing::{release, settle};
use console::run::stepping::Stepping;
use console::run::table::{CELLS, Head, Measured, foot, head, out_of_bounds};
use console::run::{Job, Sweep, SweepTurn, may_change, schedule};
use console::verdict;
use diagnosis::{Diagnosis, Health};
use layouts::ChipId;
use machine::past::Keeps;
use machine::target::Preview;
use probe::session::{Session, WATCHED_CYCLES};
use probe::spec::TargetSpec;
use std::io::IsTerminal;
use std::time::{Duration, Instant};

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
            let order = verb.replay(file)?;
            return Ok(Some(Box::new(move |machine| replay::preview(machine, &order))));
        }
        let sweeps = verb.sweeps().map_err(Failure::Usage)?;
        Ok(Some(Box::new(move |machine| preview(machine, &sweeps))))
    });
    fn run(&self, target: &Opening, style: Style) -> Result<Outcome, Failure> {
        if let Some(file) = &self.from {
            let order = self.replay(file)?;
            return replay::run(target, style, &order, self.record.as_deref());
        }
        if self.chips.len() > 1 && !self.schedule {
            return several::run(target, style, self);
        }
        if self.schedule {
            return schedule(target, style, &self.sweep().map_err(Failure::Usage)?);
        }
        run(target, style, self)
    }
}

/// Cycles of the target between two polls.
const STEP_CYCLES: u64 = 20_000;
/// Interval of the progress line on a terminal.
const DRAW_PAUSE: Duration = Duration::from_millis(100);
/// Interval of the progress lines otherwise.
const SAY_PAUSE: Duration = Duration::from_secs(5);

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

/// Runs the sweep. With --json a failed one prints what is known of it, too.
pub(super) fn run(
    opening: &Opening,
    style: Style,
    options: &RunArguments,
) -> Result<Outcome, Failure> {
    let mut known = SweepState::default();
    let result = carry_out(opening, style, options, &mut known);
    let SweepState { sweep_head, job, rows, verdict } = &known;
    if style.json {
        let both = sweep_head.as_ref().zip(job.as_ref());
        let about = both.map(|(sweep_head, job)| sweep_head.head(&opening.words, job.sweep()));
        let shape = match &about {
            Some(about) => shape::Sweep::new(about, rows),
            None => shape::Sweep::unknown(options.op_name(), &opening.words),
        };
        match &result {
            Ok(_) => json(shape)?,
            Err(failure) => {
                let cause = job.as_ref().and_then(Job::cause);
                json(shape.failed(failure, cause, verdict.as_ref()))?;
            }
        }
    } else if style.csv {
        style.print(table(rows))?;
    } else if result.is_ok() {
        text(&foot(options.op_name(), rows))?;
    }
    // A cleanup that failed on a mesh that looks healthy has said so itself.
    let says = |it: &&Diagnosis| !style.json && Health::of(it) != Health::Healthy;
    if let Some(verdict) = verdict.as_ref().filter(says) {
        verdict::page(verdict).lines().for_each(say);
    }
    for place in rows.iter().flat_map(|row| &row.places) {
        say(place);
    }
    rows.iter().filter_map(Measured::impossible).for_each(|why| say(&why));
    result
}

/// The rows that were measured.
fn table(rows: &[Measured]) -> Columns {
    let mut table = Columns::new(&CELLS);
    for row in rows {
        table.row(row.cells());
    }
    table
}

/// What is known of a sweep, also after a failure.
#[derive(Default)]
struct SweepState {
    sweep_head: Option<SweepHead>,
    job: Option<Job>,
    rows: Vec<Measured>,
    /// The verdict on the mesh on which a run stood still.
    verdict: Option<Diagnosis>,
}

fn carry_out(
    opening: &Opening,
    style: Style,
    options: &RunArguments,
    known: &mut SweepState,
) -> Result<Outcome, Failure> {
    let sweep = options.sweep().map_err(Failure::Usage)?;
    let stop = Stop::listen()?;
    let keeps = if options.record.is_some() { Keeps::Run } else { Keeps::Nothing };
    let mut machine = open(&opening.keeping(keeps))?.into_machine();
    let (target, images) = machine.session().parts();
    let job = known.job.insert(Job::new(sweep, target, images)?);
    let sweep_head = known.sweep_head.insert(SweepHead::of(job));
    let title = (!style.json && !style.csv)
        .then(|| head(&sweep_head.head(&opening.words, job.sweep()), target.mesh()));
    job.refuse(target, images)?;
    if let Some(title) = title {
        text(&title)?;
    }
    stop.takes_time();
    let line = Line::new(options.op_name());
    let words = job.program().map(|program| job.sweep().title(program)).unwrap_or_default();
    let recorder = options.record.as_deref();
    let recorder = recorder
        .map(|file| RunRecorder::begin(file, &mut machine, &format!("run {words}")))
        .transpose()?;
    let (rows, verdict) = (&mut known.rows, &mut known.verdict);
    let mut carrying = Carrying { job, stop, line, rows, verdict, recorder };
    let result = carrying.out(&mut machine, style);
    // The file is valid however the run ended.
    let recorded = carrying.recorder.map(|recorder| recorder.end(&mut machine));
    result?;
    recorded.transpose()?.iter().for_each(|recorded| say(recorded));
    let wrong = out_of_bounds(&known.rows).unwrap_or(0);
    let wrong = wrong > 0 || known.rows.iter().any(|row| row.impossible().is_some());
    Ok(if wrong { Outcome::Findings } else { Outcome::Healthy })
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

/// Properties of the programs for the header, kept while the programs are consumed.
struct SweepHead {
    ranks: Vec<ChipId>,
    topology: &'static str,
    most: u64,
    faults: Vec<String>,
    fabric: Option<&'static str>,
    muxes: usize,
}

impl SweepHead {
    fn of(job: &Job) -> Self {
        let program = job.program();
        let crossing = program.and_then(|program| program.crossing.as_ref());
        let faults = job.sweep().settings().faults.iter().map(ToString::to_string).collect();
        Self {
            ranks: program.map(|program| program.ranks.clone()).unwrap_or_default(),
            topology: program.map_or("", |program| program.topology.name()),
            most: job.sweep().ends().1,
            faults,
            fabric: crossing.map(|crossing| crossing.plan.topology.name()),
            muxes: crossing.map_or(0, |crossing| crossing.muxes.len()),
        }
    }

    fn head<'a>(&'a self, target: &'a str, sweep: &Sweep) -> Head<'a> {
        let (request, settings) = (sweep.request(), sweep.settings());
        Head {
            target,
            op: request.op.name(),
            topology: self.topology,
            ranks: &self.ranks,
            sizes: (sweep.ends().0, self.most),
            step: sweep.step(),
            warmups: settings.warmups,
            iterations: settings.iterations,
            check: settings.check,
            links: request.links,
            layout: request.layout.name(),
            bidirectional: request.bidirectional.name(),
            seed: request.seed,
            faults: self.faults.clone(),
            transport: request.transport.name(),
            workers: request.workers,
            fabric: self.fabric,
            muxes: self.muxes,
        }
    }
}

/// A running sweep.
struct Carrying<'a> {
    job: &'a mut Job,
    stop: Stop,
    line: Line,
    rows: &'a mut Vec<Measured>,
    verdict: &'a mut Option<Diagnosis>,
    recorder: Option<RunRecorder>,
}

impl Carrying<'_> {
    /// Runs it, and prints each line of the table as it comes.
    fn out(&mut self, machine: &mut Machine, style: Style) -> Result<(), Failure> {
        let mut stopping = false;
        loop {
            if self.stop.is_requested() && !stopping {
                stopping = true;
                say("stopping; Ctrl-C again exits at once");
                self.job.cancel();
            }
            let (target, images) = machine.session().parts();
            let turn = self.job.poll(target, images);
            match turn? {
                SweepTurn::Going(going) => {
                    self.line.show(|| going.words());
                    if self.job.takes_pause(&going) {
                        self.pause(machine)?;
                        continue;
                    }
                    let passed = target.pass(STEP_CYCLES);
                    passed.map_err(|error| Failure::of_access(target.name(), &error))?;
                    self.record(machine, None);
                    if self.job.stands() {
                        // Where that is not possible, the error of the run is the one reported.
                        let verdict = machine.diagnose(WATCHED_CYCLES).ok().map(|it| it.diagnosis);
                        self.record(machine, verdict.as_ref());
                        *self.verdict = verdict;
                    }
                }
                SweepTurn::Row(row) => {
                    if !style.json && !style.csv {
                        text(&row.line())?;
                    }
                    self.rows.push(row);
                }
                SweepTurn::Done => {
                    if self.job.pause_at().is_some() {
                        say("--pause-at: the run ended before it was seen there");
                    }
                    return Ok(());
                }
                SweepTurn::Cancelled => {
                    return Err(Failure::Interrupted);
                }
            }
        }
    }
}

impl Carrying<'_> {
    /// Takes a moment of the recording if one is due, and marks what a verdict found. A run whose
    /// recording cannot be written goes on without it: its kernels must be ended.
    fn record(&mut self, machine: &mut Machine, verdict: Option<&Diagnosis>) {
        let Some(recorder) = &mut self.recorder else { return };
        let turned = recorder.turn(machine);
        let kept = turned.and_then(|()| verdict.map_or(Ok(()), |verdict| recorder.mark(verdict)));
        if let Err(failure) = kept {
            say(&failure.to_string());
            self.recorder = None;
        }
    }

    /// Pauses the run, and lets it run on when the user wishes.
    fn pause(&mut self, machine: &mut Machine) -> Result<(), Failure> {
        let settled = settle(machine.session());
        match &settled {
            Ok(rest) => {
                say(&rest.sentence());
                rest.balance.miscounts.iter().for_each(|miscount| say(miscount));
                if std::io::stdin().is_terminal() {
                    say(
                        "Enter lets it run on; s lets each kernel begin its next stage, as `step` does",
                    );
                    self.steps(machine);
                }
            }
            // The run itself goes on; what is parked is released.
            Err(failure) => say(&failure.to_string()),
        }
        // Steps may have led every kernel to its end.
        if !machine.session().running_kernels().is_empty()
            && let Err(failure) = release(machine.session())
            && settled.is_ok()
        {
            say(&failure.to_string());
        }
        self.job.resumed(machine.target())
    }

    /// Steps as the lines of the user say, until an empty one.
    fn steps(&self, machine: &mut Machine) {
        let mut stepping = Stepping::default();
        loop {
            let mut line = String::new();
            let read = std::io::stdin().read_line(&mut line);
            if !read.is_ok_and(|bytes| bytes > 0)
                || line.trim().is_empty()
                || self.stop.is_requested()
            {
                return;
            }
            if let Err(failure) = steps(machine.session(), &mut stepping, &line) {
                say(&failure.to_string());
            }
        }
    }
}

/// Steps as a line such as `s --link 0.8` says.
fn steps(session: &mut Session, stepping: &mut Stepping, line: &str) -> Result<(), Failure> {
    let mut words = line.split_whitespace();
    if words.next() != Some("s") {
        return Err(Failure::Usage(
            "`s [CORE] [--link LINK] [-n N]` steps, Enter lets it run on".into(),
        ));
    }
    let order = StepArguments::of(words)?.order()?;
    // Standard output has the table of the run.
    step::carry_out(&order, session, stepping, |heading, kernels| {
        output::beside(&step::page(&heading, &kernels));
        Ok(())
    })
}

/// The progress: one line that changes on a terminal, a line each otherwise.
struct Line {
    op: &'static str,
    next: Instant,
    terminal: bool,
}

impl Line {
    fn new(op: &'static str) -> Self {
        let terminal = output::can_wait();
        let next = Instant::now() + if terminal { Duration::ZERO } else { SAY_PAUSE };
        Self { op, next, terminal }
    }

    fn show(&mut self, words: impl FnOnce() -> String) {
        if Instant::now() < self.next {
            return;
        }
        let words = words();
        if !self.terminal {
            self.next = Instant::now() + SAY_PAUSE;
            say(&format!("{} {words}", self.op));
            return;
        }
        self.next = Instant::now() + DRAW_PAUSE;
        output::wait_for(&format!("{} {words}", self.op));
    }
}
