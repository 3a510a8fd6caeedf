//! `symbols function`: all code of a function.

use super::{load, wrong};
use crate::output::{json, text};
use crate::shape::{CodeInstruction, Function, FunctionPart, Functions, Inlined};
use crate::target::Style;
use console::exit::{Failure, Outcome};
use console::halted::code_rows;
use console::locate;
use images::code::{Instruction, listing_of};
use std::fmt::Write;
use std::ops::Range;
use std::path::Path;
use symbols::FunctionCode;

/// `symbols function`.
pub(super) fn run(
    style: Style,
    name: &str,
    disassemble: bool,
    elf: &Path,
) -> Result<Outcome, Failure> {
    let symbols = load(elf)?;
    let found = symbols.functions(name).map_err(|e| wrong(&symbols, &e))?;
    if disassemble && symbols.has_compressed_code() {
        let why = "its code is compressed, which is not disassembled: no baby RISC-V core has that";
        return Err(Failure::Usage(format!("{}: {why}", symbols.name())));
    }
    let code = |range| disassemble.then(|| listing_of(locate::layout(), &symbols, range));
    if style.json {
        json(Functions { functions: found.iter().map(|of| shape(of, &code)).collect() })?;
    } else {
        text(&found.iter().map(|of| words(of, &code)).collect::<String>())?;
    }
    Ok(Outcome::Healthy)
}

/// The instructions of a part or of an inlined copy, if they were asked for.
type Code<'a> = &'a dyn Fn(Range<u64>) -> Option<Vec<Instruction>>;

fn shape<'a>(of: &'a FunctionCode, code: Code<'_>) -> Function<'a> {
    let code = |range| code(range).map(|code| code.iter().map(CodeInstruction::new).collect());
    let parts = of.parts.iter().map(|part| FunctionPart {
        begin: part.begin,
        end: part.end,
        symbol: part.symbol.as_deref(),
        code: code(part.begin..part.end),
    });
    let inlined = of.copies.iter().map(|copy| Inlined {
        begin: copy.begin,
        end: copy.end,
        into: copy.into.as_deref(),
        file: copy.file.as_deref(),
        line: copy.line,
        code: code(copy.begin..copy.end),
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

fn words(of: &FunctionCode, code: Code<'_>) -> String {
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
        text += &listing(code(part.begin..part.end));
    }
    for copy in &of.copies {
        let into = copy.into.as_deref().unwrap_or("?");
        let file = copy.file.as_deref().unwrap_or("?");
        let line = copy.line.map_or("?".to_owned(), |line| line.to_string());
        let (begin, end) = (copy.begin, copy.end);
        let _ = writeln!(text, "  {begin:#x}..{end:#x}  inlined into {into} at {file}:{line}");
        text += &listing(code(begin..end));
    }
    text
}

fn listing(code: Option<Vec<Instruction>>) -> String {
    let rows = code.map(|code| code_rows(&code)).unwrap_or_default();
    let row = |[addr, instruction, source]: [String; 3]| {
        let row = format!("    {addr}  {instruction:<30}  {source}");
        format!("{}\n", row.trim_end())
    };
    rows.into_iter().map(row).collect()
}
