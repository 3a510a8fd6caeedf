//! `record`: writes snapshots of a target to a file, which is itself a target.

mod moments;
mod ring;
mod running;

use crate::amount;
use crate::interrupt;
use crate::output::say;
use crate::target::{Style, open, report};
use crate::verb::{Pages, Verb};
use console::exit::{Failure, Outcome};
use console::locate;
use console::machine::{Machine, Opening};
use console::recording::RecordingFile;
use console::words;
use machine::past::Keeps;
use machine::words::counted;
pub(super) use moments::Moments;
use probe::session::{Session, WATCHED_CYCLES};
pub(super) use running::RunRecorder;
use std::ops::RangeInclusive;
use std::path::Path;
use std::path::PathBuf;

/// Record snapshots of the target in a file, which --target FILE opens again.
///
/// A recording as the target is copied, in the present format.
#[derive(clap::Args, Debug)]
pub(crate) struct RecordArguments {
    /// The file; an existing one is not overwritten.
    pub(crate) file: PathBuf,
    /// Number of snapshots; 10 unless --for or --on is given.
    #[arg(long, value_name = "N")]
    pub(crate) moments: Option<String>,
    /// Record for this time of the target, such as 30s.
    #[arg(long = "for", value_name = "TIME", conflicts_with = "moments")]
    pub(crate) over: Option<String>,
    /// Time of the target from one snapshot to the next, such as 10ms or 0ns; it is at least as long
    /// as a snapshot takes.
    #[arg(long, default_value = "1ms", value_name = "TIME")]
    pub(crate) every: String,
    /// Keep only the newest snapshots in memory of this size, and write them when something is found.
    #[arg(long, value_name = "SIZE", requires = "on")]
    pub(crate) ring: Option<String>,
    /// When the snapshots in memory are written; 4 more are recorded then.
    #[arg(long, value_enum, value_name = "WHAT")]
    pub(crate) on: Option<Trigger>,
}

/// What ends a recording in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Trigger {
    /// Something stands still because of a fault or a deadlock.
    Stall,
    /// `why` finds anything worse than slow.
    Finding,
    /// Enter is pressed.
    Key,
}

impl Verb for RecordArguments {
    const NAME: &str = "record";
    const PAGES: Pages = &[("record", include_str!("../manual/verbs/record.md"))];
    fn no_table(&self) -> Option<&'static str> {
        Some("record")
    }
    fn cleans_up(&self) -> bool {
        true
    }
    fn run(&self, target: &Opening, _: Style) -> Result<Outcome, Failure> {
        run(target, self)
    }
}

/// Limit of the number of snapshots.
const MOST: u64 = 100_000;
/// Number of snapshots if nothing is asked for.
const USUAL: u64 = 10;
/// Limit of a recording's time, a week of the target, and of the time between two snapshots.
const MOST_CYCLES: u64 = 7 * 24 * 3600 * 1_000_000_000;

/// How much is recorded.
#[derive(Clone, Copy, Debug)]
enum Amount {
    /// This many snapshots.
    Moments(u64),
    /// As many as fit into this time of the target, in cycles.
    Cycles(u64),
}

/// What was asked for.
struct Order {
    /// None: the usual number of snapshots, and all of a recording.
    amount: Option<Amount>,
    every_cycles: u64,
}

impl Order {
    fn of(options: &RecordArguments) -> Result<Self, Failure> {
        let amount = match (&options.moments, &options.over) {
            (Some(moments), _) => Some(Amount::Moments(number("--moments", moments, 1..=MOST)?)),
            (None, Some(over)) => Some(Amount::Cycles(time("--for", over)?)),
            (None, None) => None,
        };
        Ok(Self { amount, every_cycles: time("--every", &options.every)? })
    }

    fn words(&self) -> String {
        let every = words::cycles(self.every_cycles);
        match self.amount.unwrap_or(Amount::Moments(USUAL)) {
            Amount::Moments(count) => {
                format!("{}, one every {every}", counted(count, "moment", "moments"))
            }
            Amount::Cycles(cycles) => format!("{}, a moment every {every}", words::cycles(cycles)),
        }
    }
}

pub(super) fn run(target: &Opening, options: &RecordArguments) -> Result<Outcome, Failure> {
    let order = Order::of(options)?;
    let kept = RecordingFile::new(&options.file)?;
    if let Some(trigger) = options.on {
        let bytes = amount::bytes("--ring", options.ring.as_deref().unwrap_or("64M"));
        let bytes = bytes.map_err(Failure::Usage)?;
        return ring::run(target, &kept, (trigger, bytes, order.every_cycles));
    }
    interrupt::end_file(&kept)?;
    let mut machine = open(&target.keeping(Keeps::Run))?;
    let gaps = kept
        .create(machine.target(), (&order.words(), Some(order.every_cycles)))
        .and_then(|()| keep(&mut machine, target, &kept, &order));
    // The file is valid however the recording ended.
    let ended = kept.end();
    let gaps = gaps?;
    say(&ended?);
    if kept.is_stopped() {
        return Err(Failure::Interrupted);
    }
    Ok(if gaps == 0 { Outcome::Healthy } else { Outcome::Partial })
}

/// Records this many moments of an open session at this interval, in cycles, and marks what is found
/// at the last one; returns what was recorded. `asked` says in the file what was asked for.
///
/// # Errors
/// When the file cannot be written or the target is gone, one sentence.
pub fn record_session(
    session: Session,
    asked: &str,
    file: &Path,
    (count, every_cycles): (u64, u64),
) -> Result<String, String> {
    let recorded = || {
        let kept = RecordingFile::new(file)?;
        let mut machine = Machine::with_session(session);
        kept.create(machine.target(), (asked, Some(every_cycles)))?;
        let target = Opening::of_words(asked);
        keep_moments(&mut machine, &target, &kept, (count, every_cycles))?;
        let verdict = machine.diagnose(WATCHED_CYCLES);
        let verdict = verdict.map_err(|error| Failure::of_access(asked, &error))?.diagnosis;
        verdict.findings.first().map_or(Ok(()), |found| kept.mark_finding(found))?;
        kept.end()
    };
    recorded().map_err(|failure: Failure| failure.to_string())
}

/// Parses a number within a range.
pub(super) fn number(option: &str, text: &str, range: RangeInclusive<u64>) -> Result<u64, Failure> {
    let number = locate::number(text).map_err(|why| Failure::Usage(format!("{option}: {why}")))?;
    if range.contains(&number) {
        return Ok(number);
    }
    let (least, most) = range.into_inner();
    Err(Failure::Usage(format!("{option} {number}: it can be from {least} to {most}")))
}

/// Parses a time, or a number of cycles.
fn time(option: &str, text: &str) -> Result<u64, Failure> {
    let cycles = match locate::number(text) {
        Ok(cycles) => cycles,
        Err(_) => amount::time(option, text).map_err(Failure::Usage)?,
    };
    if cycles > MOST_CYCLES {
        return Err(Failure::Usage(format!("{option} {text}: it is at most a week")));
    }
    Ok(cycles)
}

/// Records this many snapshots, and counts the gaps.
pub(super) fn keep_moments(
    machine: &mut Machine,
    target: &Opening,
    kept: &RecordingFile,
    (count, every_cycles): (u64, u64),
) -> Result<usize, Failure> {
    let order = Order { amount: Some(Amount::Moments(count)), every_cycles };
    keep(machine, target, kept, &order)
}

/// Records snapshots and counts the gaps. A recording is copied, moment by moment.
fn keep(
    machine: &mut Machine,
    target: &Opening,
    kept: &RecordingFile,
    order: &Order,
) -> Result<usize, Failure> {
    let mut moments = Moments::new(machine);
    let amount = match (order.amount, machine.target().history()) {
        (amount, Some(history)) => {
            history.seek(0);
            amount.unwrap_or(Amount::Moments(MOST))
        }
        (amount, None) => amount.unwrap_or(Amount::Moments(USUAL)),
    };
    let begun = now(machine, target)?;
    let (mut gaps, mut due) = (0, begun);
    for moment in 0.. {
        if moment > 0 && !advance(machine, target, due, moment)? {
            break;
        }
        // Further moments of a recording are copied, not decoded.
        let copies = moment > 0 && machine.target().history().is_some();
        let mut taken = (!copies).then(|| moments.take(machine));
        match (machine.target().history(), &mut taken) {
            (Some(history), taken) => {
                let partial = history.is_partial(history.position());
                let taken = taken.as_ref().map(|taken| &taken.memory);
                if let Some(memory) = history.moment().or(taken) {
                    gaps += taken.unwrap_or(memory).gaps.len();
                    kept.append(memory, partial)?;
                }
            }
            (None, Some(snapshot)) => {
                gaps += snapshot.memory.gaps.len();
                kept.keep(machine.session(), snapshot)?;
            }
            (None, None) => {}
        }
        if let Some(snapshot) = taken.filter(|_| moment == 0) {
            kept.attach(machine.images())?;
            report(target, &snapshot.state);
        }
        due = due.saturating_add(order.every_cycles).max(now(machine, target)?);
        let ends = match amount {
            Amount::Moments(count) => moment + 1 == count,
            Amount::Cycles(cycles) => due.saturating_sub(begun) > cycles,
        };
        if ends || kept.is_stopped() {
            break;
        }
    }
    if let Some(history) = machine.target().history() {
        history.marks().iter().try_for_each(|mark| kept.mark(mark.clone()))?;
        let recorded = |moment: &usize| *moment <= history.position();
        let notes = history.notes().into_iter().filter(|(moment, _)| recorded(moment));
        notes.map(|(_, note)| note).try_for_each(|note| kept.note(note))?;
    }
    kept.attach_run(machine.session())?.iter().for_each(|missing| say(missing));
    Ok(gaps)
}

fn now(machine: &mut Machine, target: &Opening) -> Result<u64, Failure> {
    machine.target().now().map_err(|error| Failure::of_access(&target.words, &error))
}

/// Lets time pass until the next moment is due; goes to the next moment of a recording. Returns
/// false if there is none.
fn advance(
    machine: &mut Machine,
    target: &Opening,
    due: u64,
    moment: u64,
) -> Result<bool, Failure> {
    if let Some(history) = machine.target().history() {
        history.seek(moment as usize);
        return Ok((moment as usize) < history.moments().len());
    }
    let left = due.saturating_sub(now(machine, target)?);
    let passed = machine.session().pass(left);
    passed.map(|()| true).map_err(|error| Failure::of_access(&target.words, &error))
}
