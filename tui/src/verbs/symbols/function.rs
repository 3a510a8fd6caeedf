//! `symbols function`: all code of a function.

use super::{load, wrong};
use crate::exit::{Failure, Outcome};
use crate::output::{json, text};
use crate::shape::{Function, FunctionPart, Functions, Inlined};
use crate::verbs::target::Style;
use std::fmt::Write;
use std::path::Path;

/// `symbols function`.
pub(super) fn run(style: Style, name: &str, elf: &Path) -> Result<Outcome, Failure> {
    let symbols = load(elf)?;
    let found = symbols.functions(name).map_err(|e| wrong(&symbols, &e))?;
    if style.json {
        json(Functions { functions: found.iter().map(shape).collect() })?;
    } else {
        text(&found.iter().map(words).collect::<String>())?;
    }
    Ok(Outcome::Healthy)
}

fn shape(of: &symbols::FunctionCode) -> Function<'_> {
    let parts = of.parts.iter().map(|part| FunctionPart {
        begin: part.begin,
        end: part.end,
        symbol: part.symbol.as_deref(),
    });
    let inlined = of.copies.iter().map(|copy| Inlined {
        begin: copy.begin,
        end: copy.end,
        into: copy.into.as_deref(),
        file: copy.file.as_deref(),
        line: copy.line,
    });
    Function {
        name: &of.name,
        linkage_name: of.linkage_name.as_deref(),
        file: of.declared.as_ref().map(|(file, _)| &**file),
        line: of.declared.as_ref().map(|(_, line)| *line),
        size: of.size(),
        parts: parts.collect(),
        inlined: inlined.collect(),
    }
}

fn words(of: &symbols::FunctionCode) -> String {
    let mut text = of.name.clone();
    if let Some((file, line)) = &of.declared {
        let _ = write!(text, " at {file}:{line}");
    }
    let size = of.size();
    let _ = match of.parts.len() {
        0 => writeln!(text, ", inlined wherever it is called"),
        1 => writeln!(text, ", {size} bytes"),
        parts => writeln!(text, ", {size} bytes in {parts} parts"),
    };
    for part in &of.parts {
        let symbol = part.symbol.as_deref().unwrap_or("?");
        let _ = writeln!(text, "  {:#x}..{:#x}  {symbol}", part.begin, part.end);
    }
    for copy in &of.copies {
        let into = copy.into.as_deref().unwrap_or("?");
        let file = copy.file.as_deref().unwrap_or("?");
        let line = copy.line.map_or("?".to_owned(), |line| line.to_string());
        let (begin, end) = (copy.begin, copy.end);
        let _ = writeln!(text, "  {begin:#x}..{end:#x}  inlined into {into} at {file}:{line}");
    }
    text
}
