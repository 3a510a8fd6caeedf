//! `symbols addr`: the functions, files and lines at an address.

use super::load;
use crate::exit::{Failure, Outcome};
use crate::locate;
use crate::output::{json, say, text};
use crate::shape::{Frames, Source};
use crate::verbs::Style;
use std::fmt::Write;
use std::path::Path;
use symbols::Location;

/// `symbols addr`.
pub(super) fn run(style: Style, addr: &str, elf: &Path) -> Result<Outcome, Failure> {
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
