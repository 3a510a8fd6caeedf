//! The one-shot verbs: one look, or one question to a file, and the answer as text or JSON.

mod cores;
mod dry_run;
mod expect;
mod fabric;
mod images;
mod links;
mod mesh;
pub(crate) mod print;
mod read;
mod record;
mod run;
mod serve;
mod study;
mod symbols;
mod waiting;
mod write;

pub(crate) use read::hex;

use crate::args::{Arguments, Study, Verb};
use crate::exit::{Failure, Outcome};
use crate::feed::Sample;
use crate::glyph::Glyphs;
use crate::machine::{Machine, Opening};
use crate::output::{say, say_once_each};
use crate::{interrupt, manual, words};
use decode::inspect::Interest;
use decode::state::{LinkCondition, MeshState, Reading};
use machine::snapshot::{AccessError, Snapshot};
use machine::target::Mesh;
use waiting::{Opened, Waiting};

/// How a verb prints.
#[derive(Clone, Copy)]
pub(crate) struct Style {
    pub(crate) json: bool,
    pub(crate) glyphs: Glyphs,
}

/// Carries out a verb.
pub(crate) fn run(verb: &Verb, arguments: &Arguments) -> Result<Outcome, Failure> {
    let style = Style { json: arguments.json, glyphs: Glyphs { ascii: arguments.ascii } };
    let mut target = Opening::of(arguments);
    if let Verb::Run(_) = verb {
        target.words = run::idle(&target.words, arguments.target.is_none());
    }
    // These have something to tidy up, and listen to signals themselves.
    if !matches!(verb, Verb::Record { .. } | Verb::Serve { .. } | Verb::Run(_)) {
        interrupt::watch(|| None)?;
    }
    if arguments.dry_run {
        return dry_run::dry_run(verb, &target, style);
    }
    match verb {
        Verb::Mesh { descriptor: true, .. } => mesh::describe(&target, style),
        Verb::Mesh { expect, .. } => mesh::run(&target, style, expect.as_deref()),
        Verb::Cores { place, words } => cores::run(&target, style, place.as_deref(), *words),
        Verb::Images { place } => images::run(&target, style, place.as_deref()),
        Verb::Links => links::run(&target, style),
        Verb::Fabric { question: Some(question), .. } => fabric::ask(&target, style, question),
        Verb::Fabric { place, question: None } => fabric::run(&target, style, place.as_deref()),
        Verb::Read { place, len } => read::run(&target, style, place, len),
        Verb::Print { core, expression, image } => {
            let question = print::Question::of(core, expression, image.as_deref())?;
            print::run(&target, style, &question)
        }
        Verb::Write { place, values, bytes } => {
            let what = write::What { place, values, bytes: bytes.as_deref() };
            write::run(&target, style, &what)
        }
        Verb::Symbols { question } => symbols::run(style, question),
        Verb::Record { file, moments, every } => record::run(&target, file, moments, every),
        Verb::Study { study } => match study {
            Study::Watching { mesh, seed, cycles } => study::watching(style, mesh, *seed, cycles),
            Study::Latency { seed } => study::latency(style, *seed),
            Study::Bandwidth { mesh, seed } => study::bandwidth(style, mesh, *seed),
            Study::Relaunch { mesh, seed, count } => study::relaunch(style, mesh, *seed, count),
            Study::Traffic { mesh, topology, packets, seed, seeds, mux_percent } => {
                let (topology, seed) = (topology.as_deref(), *seed);
                let asked =
                    study::TrafficWords { mesh, topology, mux_percent, packets, seed, seeds };
                study::traffic(style, &asked)
            }
            Study::Transport { mesh, fabric, workers, seed } => {
                study::transport(style, mesh, *fabric, workers, *seed)
            }
            Study::Reroute { mesh, topology, bytes, packets, seed, seeds } => {
                let (topology, packets) = (topology.as_deref(), packets.as_deref());
                let words =
                    study::RerouteWords { mesh, topology, bytes, packets, seed: *seed, seeds };
                study::reroute(style, &words)
            }
            Study::Race(options) => study::race(style, options),
            Study::Ttl(options) => study::ttl(style, options),
            Study::Timeout(options) => study::time_out(style, options),
            Study::Mux { mesh, seed, seeds, on, workers, links, hang, poll, patience } => {
                let (links, hang) = (links.as_deref(), hang.as_deref());
                let seed = *seed;
                let words =
                    study::MuxWords { mesh, seed, seeds, on, workers, links, hang, poll, patience };
                study::mux(style, &words)
            }
        },
        Verb::Help { name } => manual::show(name),
        Verb::Run(options) => run::run(&target, style, options),
        Verb::Serve { mesh, socket } => {
            serve::run(mesh.as_deref().unwrap_or(&target.words), socket)
        }
    }
}

/// Prints the mesh once: what the program does without a verb where there is no terminal.
pub(crate) fn print_mesh(arguments: &Arguments) -> Result<Outcome, Failure> {
    run(&Verb::Mesh { expect: None, descriptor: false }, arguments)
}

/// Opens the target. A person who waits longer than a moment is told for what.
fn open(target: &Opening) -> Result<Opened, Failure> {
    let words = &target.words;
    let waiting = Waiting::on(format!("{words}: bringing the target up ..."));
    let machine = Machine::open(target)?;
    drop(waiting);
    Ok(Opened::new(machine, words))
}

/// Opens the target and takes one look.
fn look(target: &Opening, interest: impl FnOnce(&Mesh) -> Interest) -> Result<Sample, Failure> {
    let mut machine = open(target)?;
    let interest = interest(&machine.mesh());
    let sample = machine.take(&interest);
    match end_of_all(&sample.memory) {
        Some(gone) => Err(Failure::of_access(&target.words, gone)),
        None => Ok(sample),
    }
}

/// Why the machine is gone, if it went before anything could be read.
fn end_of_all(memory: &Snapshot) -> Option<&AccessError> {
    let mut reasons = memory.gaps.iter().map(|gap| &gap.reason);
    let gone = reasons.find(|reason| matches!(reason, AccessError::DeviceGone(_)));
    gone.filter(|_| memory.pieces.is_empty())
}

/// Says on standard error when and at what cost the look was taken, and what is wrong with it.
fn tell(target: &Opening, state: &MeshState) {
    let cost = state.transactions;
    say(&format!(
        "{} at {} of its own time, {cost} bus transactions",
        target.words,
        words::cycles(state.cycles)
    ));
    say_once_each(state.problems.iter().cloned());
    if !state.gaps.is_empty() {
        say(&format!(
            "{} ranges could not be read; the first: {}",
            state.gaps.len(),
            first_gap(state)
        ));
    }
}

fn first_gap(state: &MeshState) -> String {
    state.gaps.first().map_or_else(String::new, |g| format!("{}: {}", g.span.addr, g.reason))
}

/// What a look at the whole mesh amounts to. A problem that comes with gaps is mostly what made them,
/// so that only a link that is known to be sick counts for more than a part that is not known.
fn judge(state: &MeshState) -> Outcome {
    let sick = |c| matches!(c, LinkCondition::Down | LinkCondition::Disagree);
    let cores = || state.chips.iter().flat_map(|c| &c.tiles).flat_map(|t| &t.cores);
    let images = |wrong| cores().flat_map(|c| &c.findings).any(|f| f.is_unknown() != wrong);
    if state.links.iter().any(|l| sick(l.condition)) || images(true) {
        Outcome::Findings
    } else if !state.gaps.is_empty() || images(false) {
        Outcome::Partial
    } else if !state.problems.is_empty() {
        Outcome::Findings
    } else {
        Outcome::Healthy
    }
}

/// A reading in a cell of a table.
fn cell<T>(style: Style, reading: &Reading<T>, show: impl Fn(&T) -> String) -> String {
    crate::view::short(style.glyphs, reading, show)
}
