//! `symbols value`: the value of an expression as contained in the file, and its place.

use super::{address, load, with_suggestions};
use crate::output::{json, text};
use crate::shape::{Decoded, Range, Valued};
use crate::target::Style;
use console::exit::{Failure, Outcome};
use console::locate;
use layouts::{Space, TileKind};
use std::fmt::Write;
use std::path::Path;
use symbols::{EvalError, Expression, Kind, Record, Resolved, Storage, Symbols, Value};

/// `symbols value`.
pub(super) fn run(
    style: Style,
    expression: &str,
    elf: &Path,
    pc: Option<&str>,
) -> Result<Outcome, Failure> {
    let pc = pc.map(address).transpose()?;
    let parsed = Expression::parse(expression).map_err(|e| Failure::Usage(e.to_string()))?;
    let parsed = pc.map_or(parsed.clone(), |pc| parsed.at(pc));
    let symbols = load(elf)?;
    let read = |at: u64, bytes: &mut [u8]| symbols.initial(at, bytes);
    let found = symbols.resolve(&parsed, read).map_err(|e| failure(&symbols, &e))?;
    let answer = Answer::of(&symbols, found);
    if answer.too_large {
        let length = answer.found.size().unwrap_or(0);
        let name = symbols.name();
        let words = format!("{name}: `{expression}` has {length} bytes, too many to show at once");
        return Err(Failure::Usage(words));
    }
    if style.json {
        json(answer.shape(expression))?;
    } else {
        text(&answer.text(expression))?;
    }
    Ok(Outcome::Healthy)
}

fn failure(symbols: &Symbols, error: &EvalError<symbols::Error>) -> Failure {
    match error {
        EvalError::Wrong { error: inner, .. } => {
            with_suggestions(symbols, &error.to_string(), inner)
        }
        // A pointer within the expression whose value is in no file.
        EvalError::Memory { .. } => {
            Failure::Usage(format!("{}: {error}; only a target knows it", symbols.name()))
        }
    }
}

/// The file's answer.
struct Answer<'a> {
    found: Resolved,
    value: Option<Value>,
    source: Option<&'static str>,
    section: Option<&'a str>,
    private: Option<String>,
    /// Number of bytes from its address on that the file contains.
    known: u64,
    too_large: bool,
}

impl<'a> Answer<'a> {
    fn of(symbols: &'a Symbols, found: Resolved) -> Self {
        let place = match found.storage {
            Storage::Address(at) => Some(at),
            _ => None,
        };
        let section = place.and_then(|at| symbols.section_at(at));
        let value = found.read(|at, bytes| symbols.initial(at, bytes)).ok();
        let made_of = matches!(found.ty.plain().kind(), Kind::Array(_) | Kind::Record(_));
        let too_large = made_of && matches!(value, Some(Value::Opaque)) && found.size().is_some();
        let value = value.filter(|value| !matches!(value, Value::Unread | Value::Opaque));
        let source = match (&found.storage, &section) {
            (Storage::Constant(_) | Storage::Computed(_), _) => "constant",
            (_, Some(section)) if !section.writable => "file",
            _ => "initial",
        };
        Self {
            source: value.is_some().then_some(source),
            section: section.map(|section| section.name),
            private: place.and_then(private),
            known: place.map_or(0, |at| symbols.initial_length(at)),
            too_large,
            found,
            value,
        }
    }

    fn shape<'b>(&'b self, expression: &'b str) -> Valued<'b> {
        let ranges = match &self.found.storage {
            Storage::Moving(ranges) => ranges.as_slice(),
            _ => &[],
        };
        let ranges = ranges.iter().map(|range| Range {
            begin: range.begin,
            end: range.end,
            storage: range.storage.to_string(),
        });
        Valued {
            expression,
            kind: self.found.ty.name(),
            size: self.found.ty.size(),
            value: self.value.as_ref().map(|value| Decoded::typed(value, &self.found.ty)),
            source: self.source,
            storage: self.found.storage.to_string(),
            address: match self.found.storage {
                Storage::Address(at) => Some(at),
                _ => None,
            },
            section: self.section,
            private: self.private.clone(),
            ranges: ranges.collect(),
        }
    }

    fn text(&self, expression: &str) -> String {
        let mut text = format!("{expression}: {}", self.found.ty);
        if let Some(value) = &self.value {
            let _ = write!(text, " = {value:#}");
            if let Value::Unsigned(number @ 10..) = value {
                let _ = write!(text, " ({number:#x})");
            }
        }
        let _ = writeln!(text, "\n  {}", self.place());
        let bases = self.found.ty.record().map(Record::all_virtual_bases).unwrap_or_default();
        for base in bases {
            let _ = writeln!(
                text,
                "  without its virtual base {base}: its place depends on the vtable"
            );
        }
        if let Storage::Moving(ranges) = &self.found.storage {
            for range in ranges {
                let (begin, end) = (range.begin, range.end);
                let _ = writeln!(text, "  {begin:#x}..{end:#x}  {}", placed(&range.storage, self));
            }
        }
        text
    }

    /// The place and the value, in one sentence.
    fn place(&self) -> String {
        let storage = &self.found.storage;
        match storage {
            Storage::Elsewhere(words) if words.starts_with("in register") => {
                return format!("{words}, which cannot be read");
            }
            Storage::Address(_) => {}
            other => return other.to_string(),
        }
        let mut words = storage.to_string();
        if let Some(section) = self.section {
            let _ = write!(words, " in {section}");
        }
        if let Some(why) = &self.private {
            let _ = write!(words, ", private to its core ({why})");
        }
        match (self.source, self.known) {
            (Some("file"), _) => words + "; a constant of the file",
            (Some(_), _) => words + "; this is its initial value",
            (None, 0) => words + "; the file has no data for it, so only a target knows the value",
            (None, known) => {
                format!(
                    "{words}; the file has its first {known} bytes, only a target knows the rest"
                )
            }
        }
    }
}

/// A range with a constant has the constant's value.
fn placed(storage: &Storage, answer: &Answer<'_>) -> String {
    match storage {
        Storage::Constant(bytes) => format!("is {}", answer.found.ty.decode(bytes)),
        other => other.to_string(),
    }
}

/// Why only its core can read an address, if that holds on all tiles with cores.
fn private(at: u64) -> Option<String> {
    let mut kinds = [TileKind::Tensix, TileKind::Eth].into_iter();
    kinds.find_map(|kind| {
        let range = locate::layout().ranges.at(Space::Tile(kind), at)?;
        range.private.then(|| range.why.clone().unwrap_or_default())
    })
}
