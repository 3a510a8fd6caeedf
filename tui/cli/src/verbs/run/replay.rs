//! `run --from`: the packets of a trace are sent again, and what has arrived is printed.

use crate::interrupt::Stop;
use crate::output::{Columns, json, say, waited};
use crate::shape::{self, Sender};
use crate::target::{Style, open};
use crate::verbs::line::{Line, STEP_CYCLES};
use crate::verbs::record::RunRecorder;
use console::exit::{Failure, Outcome};
use console::machine::{Machine, Opening};
use console::run::replay::{Replay, ReplayOrder, read_trace_file};
use console::verdict;
use diagnosis::{Diagnosis, Health};
use fabric::trace::Trace;
use fabric::traffic_outcome::TrafficOutcome;
use fabric::traffic_senders::SenderOutcome;
use launch::Operation;
use launch::outcome::RunError;
use machine::past::Keeps;
use machine::target::Preview;
use machine::words::counted;
use probe::session::WATCHED_CYCLES;
use std::path::Path;

const HEAD: [&str; 9] =
    ["NODE", "CHIP", "PACKETS", "BYTES", "SENT", "ARRIVED", "WRONG", "DROPPED", "TIME (us)"];

/// What is known of a replay that has failed.
#[derive(Default)]
struct Known {
    cause: Option<RunError>,
    /// The verdict on the mesh on which the packets stood still.
    verdict: Option<Diagnosis>,
}

pub(super) fn run(
    opening: &Opening,
    style: Style,
    order: &ReplayOrder,
    record: Option<&Path>,
) -> Result<Outcome, Failure> {
    let trace = read_trace_file(&order.file)?;
    let stop = Stop::listen()?;
    let keeps = if record.is_some() { Keeps::Run } else { Keeps::Nothing };
    let mut machine = open(&opening.keeping(keeps))?.into_machine();
    let (target, images) = machine.session().parts();
    let mut replay = Replay::new(order, &trace, target, images)?;
    let added = replay.added(&trace);
    if added > 0 {
        let added = counted(added, "packet", "packets");
        say(&format!("{added} more, so that the receivers check the last ones of the trace"));
    }
    stop.takes_time();
    let words = format!("run --from {}", order.file.display());
    let mut recorder =
        record.map(|file| RunRecorder::begin(file, &mut machine, &words)).transpose()?;
    let mut known = Known::default();
    let mut following = Following { replay: &mut replay, stop: &stop, known: &mut known };
    let followed = following.follow(&mut machine, &mut recorder);
    // The file is valid however the replay ended.
    let recorded = recorder.map(|recorder| recorder.end(&mut machine));
    waited();
    print(opening, style, &replay, (followed.as_ref().err(), &known))?;
    followed?;
    recorded.transpose()?.iter().for_each(|recorded| say(recorded));
    Ok(if replay.is_right() { Outcome::Healthy } else { Outcome::Findings })
}

/// The writes of a replay.
pub(super) fn preview(
    machine: &mut Machine,
    order: &ReplayOrder,
    trace: &Trace,
) -> Result<Preview, Failure> {
    let (target, images) = machine.session().parts();
    let replay = Replay::new(order, trace, target, images)?;
    let operations = replay.operations(images);
    let operations =
        operations.map_err(|error| Failure::of_control(machine.target().name(), &error))?;
    Ok(Operation::preview(&operations, machine.target()))
}

/// A replay that is followed.
struct Following<'a> {
    replay: &'a mut Replay,
    stop: &'a Stop,
    known: &'a mut Known,
}

impl Following<'_> {
    fn follow(
        &mut self,
        machine: &mut Machine,
        recorder: &mut Option<RunRecorder>,
    ) -> Result<(), Failure> {
        let (mut line, mut stopping) = (Line::new("trace"), false);
        loop {
            let (target, images) = machine.session().parts();
            let (name, layout) = (target.name().to_owned(), target.mesh().layout());
            let failed = |error: &RunError| Failure::of_run(&name, layout, error);
            if self.stop.is_requested() && !stopping {
                stopping = true;
                say("stopping; Ctrl-C again exits at once");
                self.replay.cancel(images).map_err(|error| failed(&error))?;
            }
            match self.replay.poll(target, images) {
                Ok(None) if stopping => return Err(Failure::Interrupted),
                Ok(None) => return Ok(()),
                Ok(Some((words, (done, of)))) => line.show(|| format!("{words}, {done} of {of}")),
                Err(error) => {
                    let failure = failed(&error);
                    self.known.cause = Some(error);
                    return Err(failure);
                }
            }
            target.pass(STEP_CYCLES).map_err(|error| Failure::of_access(&name, &error))?;
            self.look(machine, recorder);
        }
    }

    /// Takes a moment of the recording if one is due, and the verdict if the packets stand still.
    fn look(&mut self, machine: &mut Machine, recorder: &mut Option<RunRecorder>) {
        if self.replay.stands() {
            // Where that is not possible, the error of the replay is the one reported.
            self.known.verdict = machine.diagnose(WATCHED_CYCLES).ok().map(|it| it.diagnosis);
        }
        let Some(recording) = recorder else { return };
        let marked = |verdict: &Diagnosis| recording.mark(verdict);
        let verdict = self.known.verdict.as_ref().filter(|_| self.replay.stands());
        let kept = verdict.map_or(Ok(()), marked);
        if let Err(failure) = kept.and_then(|()| recording.turn(machine)) {
            // The kernels must be ended all the same.
            say(&failure.to_string());
            *recorder = None;
        }
    }
}

/// The nodes that have packets, each with its worker.
fn senders(replay: &Replay) -> impl Iterator<Item = (&SenderOutcome, &TrafficOutcome)> {
    let all = replay.senders().iter().zip(replay.outcomes());
    all.filter(|(sender, _)| sender.packets > 0)
}

fn print(
    opening: &Opening,
    style: Style,
    replay: &Replay,
    (failure, known): (Option<&Failure>, &Known),
) -> Result<(), Failure> {
    if style.json {
        let senders = senders(replay).map(|(sender, outcome)| shape(sender, outcome)).collect();
        let topology = replay.plan().topology.name();
        let whole = shape::Sweep::unknown("trace", &opening.words).of_trace(topology, senders);
        let Known { cause, verdict } = known;
        return match failure {
            Some(failure) => json(whole.failed(failure, cause.as_ref(), verdict.as_ref())),
            None => json(whole),
        };
    }
    if !replay.senders().is_empty() {
        style.print(table(replay))?;
    }
    let says = |it: &&Diagnosis| Health::of(it) != Health::Healthy;
    if let Some(verdict) = known.verdict.as_ref().filter(says) {
        verdict::page(verdict).lines().for_each(say);
    }
    Ok(())
}

fn shape(sender: &SenderOutcome, outcome: &TrafficOutcome) -> Sender {
    Sender {
        node: sender.node.to_string(),
        chip: sender.place.chip,
        packets: sender.packets,
        bytes: sender.bytes,
        sent: outcome.sent,
        arrived: sender.arrived,
        wrong_words: sender.wrong_words,
        dropped: outcome.nacks,
        time_us: time_us(outcome),
    }
}

/// From a worker's start until its last packet was handed over.
fn time_us(outcome: &TrafficOutcome) -> Option<f64> {
    let cycles = outcome.sent_cycles.checked_sub(outcome.started_cycles)?;
    (outcome.sent_cycles > 0).then_some(cycles as f64 / 1e3)
}

fn table(replay: &Replay) -> Columns {
    let mut table = Columns::new(&HEAD);
    for (sender, outcome) in senders(replay) {
        let time = time_us(outcome).map_or_else(|| "-".to_owned(), |time| format!("{time:.2}"));
        table.row(vec![
            sender.node.to_string(),
            sender.place.chip.to_string(),
            sender.packets.to_string(),
            sender.bytes.to_string(),
            outcome.sent.to_string(),
            sender.arrived.to_string(),
            sender.wrong_words.to_string(),
            outcome.nacks.to_string(),
            time,
        ]);
    }
    table
}
