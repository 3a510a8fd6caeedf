//! `symbols line`: where the code of a source line is, and in which functions.

use super::{frame_words, load, source, wrong};
use crate::output::{json, say, text};
use crate::shape::{Line, LineCode};
use crate::target::Style;
use console::exit::{Failure, Outcome};
use std::path::Path;
use symbols::{Location, Symbols};

/// `symbols line`.
pub(super) fn run(style: Style, place: &str, elf: &Path) -> Result<Outcome, Failure> {
    let parts = place.rsplit_once(':').and_then(|(file, line)| Some((file, line.parse().ok()?)));
    let Some((file, line)) = parts.filter(|(file, _)| !file.is_empty()) else {
        return Err(Failure::Usage(format!(
            "'{place}' is not <file>:<line>, such as erisc.cc:120"
        )));
    };
    let symbols = load(elf)?;
    let code = symbols.code_of_line(file, line).map_err(|e| wrong(&symbols, &e))?;
    if code.is_empty() {
        say(&format!("{}: {}", symbols.name(), no_code(&symbols, file, line)));
    }
    let frames: Vec<Vec<Location>> = code.iter().map(|c| symbols.frames_at(c.begin)).collect();
    if style.json {
        let code = code.iter().zip(&frames).map(|(code, frames)| LineCode {
            begin: code.begin,
            end: code.end,
            file: &code.file,
            frames: frames.iter().map(source).collect(),
        });
        json(Line { file, line, code: code.collect() })?;
    } else {
        let rows = code.iter().zip(&frames).map(|(code, frames)| {
            format!("{:#x}..{:#x}  {}\n", code.begin, code.end, chain(frames))
        });
        text(&rows.collect::<String>())?;
    }
    Ok(Outcome::Healthy)
}

/// The functions around the code, innermost first; each outer one with the line of its call.
fn chain(frames: &[Location]) -> String {
    let mut words = frames.iter().enumerate().map(|(i, frame)| match i {
        0 => format!("in {}", frame.name().unwrap_or("?".into())),
        _ => format!("inlined into {}", frame_words(frame)),
    });
    let first = words.next().unwrap_or_default();
    words.fold(first, |text, next| format!("{text}, {next}"))
}

fn no_code(symbols: &Symbols, file: &str, line: u32) -> String {
    let lines = symbols.lines_with_code(file);
    let after = lines.iter().find(|other| **other > line);
    let before = lines.iter().rfind(|other| **other < line);
    match (before, after) {
        (Some(before), Some(after)) => format!(
            "line {line} of {file} has no code; the nearest lines that have are {before} and {after}"
        ),
        (Some(only), None) | (None, Some(only)) => {
            format!("line {line} of {file} has no code; the nearest line that has is {only}")
        }
        (None, None) => format!("line {line} of {file} has no code"),
    }
}
