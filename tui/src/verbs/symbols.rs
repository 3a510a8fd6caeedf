//! `symbols type` and `symbols addr`: questions to an ELF, without a target.

use super::Style;
use crate::exit::{Failure, Outcome};
use crate::locate;
use crate::output::{json, say, text};
use crate::shape::{Frames, Layout, Member, Source};
use std::fmt::Write;
use std::path::Path;
use symbols::{Location, Symbols, Type};

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

/// `symbols type`.
pub(super) fn layout(style: Style, name: &str, elf: &Path) -> Result<Outcome, Failure> {
    let symbols = load(elf)?;
    let fault = |e: symbols::Error| Failure::Usage(format!("{}: {e}", elf.display()));
    let found = match symbols.type_named(name) {
        Some(found) => found,
        None => symbols.member(name).map_err(fault)?.ty,
    };
    if style.json {
        json(&Layout { name, size: found.size(), members: members(&found) })?;
    } else {
        text(&found.layout_text())?;
    }
    Ok(Outcome::Healthy)
}

fn members(of: &Type) -> Vec<Member<'_>> {
    let one = |m: &'_ symbols::Member| -> (Option<u64>, Option<u64>) {
        (m.bits.map(|b| b.size), m.bits.map(|b| b.offset))
    };
    let members = of.members().iter();
    members
        .map(|m| {
            let (bit_size, bit_offset) = one(m);
            Member {
                name: m.name.as_deref(),
                offset: m.offset,
                size: m.ty.size(),
                kind: m.ty.name(),
                bit_size,
                bit_offset,
            }
        })
        .collect()
}

/// `symbols addr`.
pub(super) fn frames(style: Style, addr: &str, elf: &Path) -> Result<Outcome, Failure> {
    let at = locate::number(addr).map_err(Failure::Usage)?;
    if at > u32::MAX.into() {
        return Err(Failure::Usage(format!("{at:#x}: a core's addresses have 32 bits")));
    }
    let symbols = load(elf)?;
    let found = symbols.frames_at(at);
    if found.is_empty() {
        say(&format!("{}: nothing is known of the code at {at:#x}", elf.display()));
    }
    if style.json {
        let frames = found.iter().map(|f| Source {
            function: f.function.as_deref(),
            file: f.file.as_deref(),
            line: f.line,
        });
        json(&Frames { addr: at, frames: frames.collect() })?;
    } else {
        let mut lines = String::new();
        for (i, frame) in found.iter().enumerate() {
            let _ = writeln!(lines, "{}", line(i, frame));
        }
        text(&lines)?;
    }
    Ok(Outcome::Healthy)
}

fn line(i: usize, frame: &Location) -> String {
    let function = frame.function.as_deref().unwrap_or("?");
    let file = frame.file.as_deref().unwrap_or("?");
    let line = frame.line.map_or("?".to_owned(), |l| l.to_string());
    let inlined = if frame.inlined { "  (inlined)" } else { "" };
    format!("#{i} {function} at {file}:{line}{inlined}")
}
