//! `run` on several lists of chips: the collective runs on all of them at the same time, each with its
//! table and its verdict.

use super::{Line, STEP_CYCLES, SweepHead, table};
use crate::args::RunArguments;
use crate::interrupt::Stop;
use crate::output::{json, say, text, waited};
use crate::shape;
use crate::target::{Style, open};
use crate::verbs::record::RunRecorder;
use console::exit::{Failure, Outcome};
use console::machine::{Machine, Opening};
use console::run::table::{Head, Measured, foot, head, out_of_bounds};
use console::run::{Job, Sweep, SweepTurn};
use console::verdict;
use diagnosis::{Diagnosis, Health};
use machine::past::Keeps;
use probe::session::WATCHED_CYCLES;

/// The run on one list of chips.
struct ListRun {
    job: Job,
    sweep_head: SweepHead,
    /// What is printed above its table.
    title: String,
    rows: Vec<Measured>,
    /// The verdict on the mesh on which it stood still.
    verdict: Option<Diagnosis>,
    ended: Option<Result<(), Failure>>,
}

impl ListRun {
    fn new(sweep: Sweep, words: &str, machine: &mut Machine) -> Result<Self, Failure> {
        let (target, images) = machine.session().parts();
        let mut job = Job::new(sweep, target, images)?;
        job.refuse(target, images)?;
        let sweep_head = SweepHead::of(&job);
        let title = head(&sweep_head.head(words, job.sweep()), target.mesh());
        Ok(Self { job, sweep_head, title, rows: Vec::new(), verdict: None, ended: None })
    }

    /// Continues until it has to wait or has ended; what it does, in words.
    fn poll(&mut self, machine: &mut Machine) -> Option<String> {
        while self.ended.is_none() {
            let (target, images) = machine.session().parts();
            self.ended = match self.job.poll(target, images) {
                Ok(SweepTurn::Going(going)) => return Some(going.words()),
                Ok(SweepTurn::Row(row)) => {
                    self.rows.push(row);
                    None
                }
                Ok(SweepTurn::Done) => Some(Ok(())),
                Ok(SweepTurn::Cancelled) => Some(Err(Failure::Interrupted)),
                Err(failure) => Some(Err(failure)),
            };
        }
        None
    }

    fn failure(&self) -> Option<&Failure> {
        self.ended.as_ref().and_then(|ended| ended.as_ref().err())
    }

    fn shape<'a>(&'a self, head: &'a Head<'a>) -> shape::Sweep<'a> {
        let shape = shape::Sweep::new(head, &self.rows);
        match self.failure() {
            Some(failure) => shape.failed(failure, self.job.cause(), self.verdict.as_ref()),
            None => shape,
        }
    }

    fn is_wrong(&self) -> bool {
        let impossible = self.rows.iter().any(|row| row.impossible().is_some());
        impossible || out_of_bounds(&self.rows).unwrap_or(0) > 0
    }
}

pub(super) fn run(
    opening: &Opening,
    style: Style,
    options: &RunArguments,
) -> Result<Outcome, Failure> {
    let mut lists = Vec::new();
    let carried = carry_out(opening, options, &mut lists);
    waited();
    print(opening, style, options, (&lists, carried.as_ref().err()))?;
    for list in &lists {
        list.rows.iter().flat_map(|row| &row.places).for_each(|place| say(place));
        list.rows.iter().filter_map(Measured::impossible).for_each(|why| say(&why));
    }
    carried?;
    // Each failure was printed with its list; the first decides the exit code.
    if let Some(failure) = lists.iter().find_map(ListRun::failure) {
        return Err(failure.clone());
    }
    let wrong = lists.iter().any(ListRun::is_wrong);
    Ok(if wrong { Outcome::Findings } else { Outcome::Healthy })
}

fn carry_out(
    opening: &Opening,
    options: &RunArguments,
    lists: &mut Vec<ListRun>,
) -> Result<(), Failure> {
    let sweeps = options.sweeps().map_err(Failure::Usage)?;
    let stop = Stop::listen()?;
    let keeps = if options.record.is_some() { Keeps::Run } else { Keeps::Nothing };
    let mut machine = open(&opening.keeping(keeps))?.into_machine();
    for sweep in sweeps {
        lists.push(ListRun::new(sweep, &opening.words, &mut machine)?);
    }
    stop.takes_time();
    let words = format!("run {} on {} lists of chips", options.op_name(), lists.len());
    let recorder = options.record.as_deref();
    let mut recorder =
        recorder.map(|file| RunRecorder::begin(file, &mut machine, &words)).transpose()?;
    let followed = follow(&mut machine, lists, (&stop, options.op_name()), &mut recorder);
    // The file is valid however the runs ended.
    let recorded = recorder.map(|recorder| recorder.end(&mut machine));
    followed?;
    recorded.transpose()?.iter().for_each(|recorded| say(recorded));
    Ok(())
}

/// Polls all runs in turn until each has ended.
fn follow(
    machine: &mut Machine,
    lists: &mut [ListRun],
    (stop, op): (&Stop, &'static str),
    recorder: &mut Option<RunRecorder>,
) -> Result<(), Failure> {
    let (mut stopping, mut line) = (false, Line::new(op));
    loop {
        if stop.is_requested() && !stopping {
            stopping = true;
            say("stopping; Ctrl-C again exits at once");
            for list in lists.iter_mut() {
                list.job.cancel();
            }
        }
        let going: Vec<String> = lists.iter_mut().filter_map(|list| list.poll(machine)).collect();
        if going.is_empty() {
            return Ok(());
        }
        line.show(|| going.join("; "));
        let passed = machine.target().pass(STEP_CYCLES);
        passed.map_err(|error| Failure::of_access(machine.target().name(), &error))?;
        for list in lists.iter_mut().filter(|list| list.job.stands()) {
            list.verdict = machine.diagnose(WATCHED_CYCLES).ok().map(|it| it.diagnosis);
        }
        if let Some(Err(failure)) = recorder.as_mut().map(|recorder| recorder.turn(machine)) {
            // The kernels must be ended all the same.
            say(&failure.to_string());
            *recorder = None;
        }
    }
}

/// Prints the table of each list, or all of them as one JSON; `early`: why none was started.
fn print(
    opening: &Opening,
    style: Style,
    options: &RunArguments,
    (lists, early): (&[ListRun], Option<&Failure>),
) -> Result<(), Failure> {
    let whole = || shape::Sweep::unknown(options.op_name(), &opening.words);
    match early {
        Some(failure) if style.json => return json(whole().failed(failure, None, None)),
        Some(_) => return Ok(()),
        None => {}
    }
    if style.json {
        let heads = lists.iter();
        let heads = heads.map(|list| list.sweep_head.head(&opening.words, list.job.sweep()));
        let heads: Vec<Head<'_>> = heads.collect();
        let shapes = lists.iter().zip(&heads).map(|(list, head)| list.shape(head)).collect();
        let whole = whole().of_lists(shapes);
        let failed = lists.iter().find_map(|list| Some((list.failure()?, list.job.cause())));
        return match failed {
            Some((failure, cause)) => json(whole.failed(failure, cause, None)),
            None => json(whole),
        };
    }
    for (number, list) in lists.iter().enumerate() {
        if number > 0 {
            text("\n")?;
        }
        print_list(style, options, list)?;
    }
    Ok(())
}

fn print_list(style: Style, options: &RunArguments, list: &ListRun) -> Result<(), Failure> {
    if style.csv {
        style.print(table(&list.rows))?;
    } else {
        let lines: String = list.rows.iter().map(Measured::line).collect();
        let end = match list.failure() {
            Some(failure) => format!("# {failure}\n"),
            None => foot(options.op_name(), &list.rows),
        };
        text(&format!("{}{lines}{end}", list.title))?;
    }
    let says = |it: &&Diagnosis| Health::of(it) != Health::Healthy;
    if let Some(verdict) = list.verdict.as_ref().filter(says) {
        verdict::page(verdict).lines().for_each(say);
    }
    Ok(())
}
