//! `symbols`: questions to an ELF, without a target.

mod frames;
mod layout;

use super::Style;
use crate::args::Question;
use crate::exit::{Failure, Outcome};
use crate::output::say;
use std::path::Path;
use symbols::Symbols;

/// Answers one question.
pub(super) fn run(style: Style, question: &Question) -> Result<Outcome, Failure> {
    match question {
        Question::Type { name, elf } => layout::run(style, name, elf),
        Question::Addr { addr, elf } => frames::run(style, addr, elf),
    }
}

fn load(elf: &Path) -> Result<Symbols, Failure> {
    let (symbols, problems) = Symbols::open(elf).map_err(|e| {
        let text = e.to_string();
        let name = elf.display().to_string();
        Failure::Usage(if text.contains(&name) { text } else { format!("{name}: {text}") })
    })?;
    for problem in &problems {
        say(&format!("{}: {problem}", elf.display()));
    }
    Ok(symbols)
}

/// A question that this file cannot answer.
fn wrong(elf: &Path, error: &symbols::Error) -> Failure {
    Failure::Usage(format!("{}: {error}", elf.display()))
}
