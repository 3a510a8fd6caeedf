//! `symbols`: lookups in an ELF, without a target.

mod backtrace;
mod frames;
mod function;
mod layout;
mod line;
mod list;
mod value;

use super::target::Style;
use crate::args::Question;
use crate::output::say_once_each;
use crate::shape::Source;
use console::exit::{Failure, Outcome};
use console::locate;
use std::path::Path;
use symbols::{Location, Symbols};

/// Runs a subcommand.
pub(super) fn run(style: Style, question: &Question) -> Result<Outcome, Failure> {
    match question {
        Question::Type { name, elf } => layout::run(style, name, elf),
        Question::Value { expression, elf, pc } => {
            value::run(style, expression, elf, pc.as_deref())
        }
        Question::Line { place, elf } => line::run(style, place, elf),
        Question::Function { name, disassemble, elf } => {
            function::run(style, name, *disassemble, elf)
        }
        Question::List { kind, pattern, elf } => list::run(style, *kind, pattern.as_deref(), elf),
        Question::Addr { addr, elf } => frames::run(style, addr, elf),
        Question::Backtrace { elf, reg, memory } => backtrace::run(style, elf, reg, memory),
    }
}

fn load(elf: &Path) -> Result<Symbols, Failure> {
    let (symbols, problems) = Symbols::open(elf).map_err(|e| {
        let text = e.to_string();
        let name = elf.display().to_string();
        Failure::Usage(if text.contains(&name) { text } else { format!("{name}: {text}") })
    })?;
    say_once_each(problems.iter().map(|problem| format!("{}: {problem}", elf.display())));
    Ok(symbols)
}

/// The failure of a lookup in this file.
fn wrong(symbols: &Symbols, error: &symbols::Error) -> Failure {
    with_suggestions(symbols, &error.to_string(), error)
}

/// The failure with another message, and suggestions.
fn with_suggestions(symbols: &Symbols, words: &str, error: &symbols::Error) -> Failure {
    let near = symbols.suggestions(error);
    let near = match near.as_slice() {
        [] => String::new(),
        names => format!("; did you mean {}?", names.join(", ")),
    };
    Failure::Usage(format!("{}: {words}{near}", symbols.name()))
}

/// An address as a core sees it.
fn address(text: &str) -> Result<u64, Failure> {
    let at = locate::number(text).map_err(Failure::Usage)?;
    if at > u32::MAX.into() {
        return Err(Failure::Usage(format!("{at:#x}: a core's addresses have 32 bits")));
    }
    Ok(at)
}

fn source(frame: &Location) -> Source<'_> {
    Source { function: frame.name(), file: frame.file.as_deref(), line: frame.line }
}

/// `function at file:line`.
fn frame_words(frame: &Location) -> String {
    let function = frame.name().unwrap_or("?".into());
    let file = frame.file.as_deref().unwrap_or("?");
    let line = frame.line.map_or("?".to_owned(), |l| l.to_string());
    format!("{function} at {file}:{line}")
}
