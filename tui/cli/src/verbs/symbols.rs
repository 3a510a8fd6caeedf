//! `symbols`: lookups in an ELF, without a target.

mod backtrace;
mod frames;
mod function;
mod layout;
mod line;
mod list;
mod value;

use crate::args::Question;
use crate::output::say_once_each;
use crate::shape::schema;
use crate::shape::{self, Source};
use crate::target::Style;
use crate::verb::{Pages, Schemas, Verb};
use console::exit::{Failure, Outcome};
use console::locate;
use console::machine::Opening;
use std::path::Path;
use symbols::{Location, Symbols};

/// Look up types, values, code and stacks in ELFs; needs no target.
#[derive(clap::Args, Debug)]
pub(crate) struct SymbolsArguments {
    /// What to look up.
    #[command(subcommand)]
    pub(crate) question: Question,
}

impl Verb for SymbolsArguments {
    const NAME: &str = "symbols";
    const READS: bool = true;
    const PAGES: Pages = &[
        ("symbols", include_str!("../manual/verbs/symbols.md")),
        ("symbols type", include_str!("../manual/verbs/symbols-type.md")),
        ("symbols value", include_str!("../manual/verbs/symbols-value.md")),
        ("symbols line", include_str!("../manual/verbs/symbols-line.md")),
        ("symbols function", include_str!("../manual/verbs/symbols-function.md")),
        ("symbols list", include_str!("../manual/verbs/symbols-list.md")),
        ("symbols addr", include_str!("../manual/verbs/symbols-addr.md")),
        ("symbols backtrace", include_str!("../manual/verbs/symbols-backtrace.md")),
    ];
    const SCHEMAS: Schemas = &[
        ("symbols type", schema::<shape::Layout<'_>>),
        ("symbols value", schema::<shape::Valued<'_>>),
        ("symbols line", schema::<shape::Line<'_>>),
        ("symbols function", schema::<shape::Functions<'_>>),
        ("symbols list", schema::<shape::Names<'_>>),
        ("symbols addr", schema::<shape::Frames<'_>>),
        ("symbols backtrace", schema::<shape::Stack<'_>>),
    ];
    fn no_table(&self) -> Option<&'static str> {
        Some("symbols")
    }
    fn run(&self, _: &Opening, style: Style) -> Result<Outcome, Failure> {
        run(style, &self.question)
    }
}

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
