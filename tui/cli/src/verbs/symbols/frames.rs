//! `symbols addr`: the functions, files and lines at an address.

use super::{address, frame_words, load, source};
use crate::output::{json, say, text};
use crate::shape::Frames;
use crate::target::Style;
use console::exit::{Failure, Outcome};
use std::fmt::Write;
use std::path::Path;
use symbols::Location;

/// `symbols addr`.
pub(super) fn run(style: Style, addr: &str, elf: &Path) -> Result<Outcome, Failure> {
    let at = address(addr)?;
    let symbols = load(elf)?;
    let found = symbols.frames_at(at);
    if found.is_empty() {
        say(&format!("{}: no code is known at {at:#x}", elf.display()));
    }
    if style.json {
        json(Frames { addr: at, frames: found.iter().map(source).collect() })?;
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
    let inlined = if frame.inlined { "  (inlined)" } else { "" };
    format!("#{i} {}{inlined}", frame_words(frame))
}
