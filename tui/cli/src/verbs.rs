//! The one-shot verbs: one snapshot, or one question to a file, and the answer as text or JSON.

mod bundle;
mod changes;
mod check;
mod clean;
mod cores;
mod debug;
mod dry_run;
mod expect;
mod explain;
mod export;
mod fabric;
mod gdb;
mod images;
mod launch;
mod links;
mod merge;
mod mesh;
mod pause;
mod print;
mod read;
mod record;
mod run;
mod sample;
mod schema;
mod serve;
mod step;
mod symbols;
mod tables;
mod target;
mod waiting;
mod who_wrote;
mod why;
mod write;

use crate::args::{Arguments, CoresArguments, Verb};
use crate::screens::Screens;
use crate::{interrupt, manual};
use console::exit::{Failure, Outcome};
pub use record::record_session;
use target::Style;

/// Runs a verb.
pub(crate) fn run(
    verb: &Verb,
    arguments: &Arguments,
    screens: &'static dyn Screens,
) -> Result<Outcome, Failure> {
    let looks = arguments.looks(true);
    let style = Style { json: arguments.json, csv: arguments.csv, looks, screens };
    if let Some(verb) = tables::without(verb).filter(|_| style.csv && !arguments.dry_run) {
        return Err(Failure::Usage(format!("--csv: {verb} prints no table")));
    }
    let mut target = arguments.opening();
    if let Verb::Run(_) | Verb::Launch(_) = verb {
        target.words = run::idle(&target.words, arguments.target.is_none());
    }
    // These verbs clean up at the end and listen to signals themselves.
    let cleans_up = match verb {
        Verb::Record(_)
        | Verb::Why(_)
        | Verb::Bundle(_)
        | Verb::Serve { .. }
        | Verb::Run(_)
        | Verb::Launch(_)
        | Verb::Clean(_)
        | Verb::Debug(_)
        | Verb::Gdb(_) => true,
        Verb::Cores(cores) => cores.sample.is_some(),
        _ => false,
    };
    if !cleans_up {
        interrupt::watch(|| None)?;
    }
    if arguments.dry_run {
        return dry_run::dry_run(verb, &target, style);
    }
    match verb {
        Verb::Mesh { descriptor: true, .. } => mesh::describe(&target, style),
        Verb::Mesh { expect, .. } => mesh::run(&target, style, expect.as_deref()),
        Verb::Cores(options @ CoresArguments { merge: true, .. }) => {
            merge::run(&target, style, options)
        }
        Verb::Cores(CoresArguments { place, sample: Some(count), every, .. }) => {
            sample::run(&target, style, place.as_deref(), (count, every))
        }
        Verb::Cores(options) => cores::run(&target, style, options),
        Verb::Images(options) => images::run(&target, style, options.place.as_deref()),
        Verb::Links => links::run(&target, style),
        Verb::Why(options) => why::run(&target, style, options),
        Verb::Check(options) => check::run(&target, style, options),
        Verb::Fabric { question: Some(question), .. } => fabric::ask(&target, style, question),
        Verb::Fabric { place, question: None } => fabric::run(&target, style, place.as_deref()),
        Verb::Read { place, len } => read::run(&target, style, place, len),
        Verb::Print { core, expression, image } => {
            let question = print::Question::of(core, expression, image.as_deref())?;
            print::run(&target, style, &question)
        }
        Verb::WhoWrote(options) => who_wrote::run(&target, style, options),
        Verb::Changes(options) => changes::changes(&target, style, options),
        Verb::Diff(options) => changes::diff(&target, style, options),
        Verb::Write { place, values, bytes } => {
            let what = write::What { place, values, bytes: bytes.as_deref() };
            write::run(&target, style, &what)
        }
        Verb::Pause => pause::pause(&target, style),
        Verb::Step(options) => step::run(&target, style, options),
        Verb::Resume => pause::resume(&target, style),
        Verb::Debug(options) => debug::run(&target, style, options),
        Verb::Gdb(options) => gdb::run(&target, options),
        Verb::Symbols { question } => symbols::run(style, question),
        Verb::Record(options) => record::run(&target, options),
        Verb::Export(options) => export::run(&target, style, options),
        Verb::Bundle(options) => bundle::run(&target, style, options),
        Verb::Explain(options) => explain::run(style, options.name.as_deref()),
        Verb::Help { name } => manual::show(name, screens),
        Verb::Schema { verb } => schema::run(verb),
        Verb::Run(options) => run::run(&target, style, options),
        Verb::Launch(options) => launch::run(&target, style, options),
        Verb::Clean(options) => clean::run(&target, style, *options),
        Verb::Serve { mesh, socket } => {
            serve::run(mesh.as_deref().unwrap_or(&target.words), socket)
        }
    }
}

/// Prints the mesh once: the default without a verb and without a terminal.
pub(crate) fn print_mesh(
    arguments: &Arguments,
    screens: &'static dyn Screens,
) -> Result<Outcome, Failure> {
    run(&Verb::Mesh { expect: None, descriptor: false }, arguments, screens)
}
