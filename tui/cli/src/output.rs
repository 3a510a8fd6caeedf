//! Standard output of the one-shot verbs: JSON or columns of text; a closed pipe is a silent end.

use crate::environment;
use console::exit::Failure;
pub(crate) use console::table::{Columns, Page, Part};
use console::words::{acts, printable, printable_line};
use schemars::JsonSchema;
use serde::Serialize;
use std::cell::RefCell;
use std::fmt::Write as _;
use std::io::{self, IsTerminal, Write};
use std::sync::{Mutex, PoisonError};

/// The number of the promise: it grows if a key is ever renamed or goes.
const SCHEMA: u32 = 1;

/// Everything that `--json` prints is one object with the key `schema`.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Answer<T> {
    /// The version of these keys. Within one version keys and words are added; none is renamed,
    /// changes its meaning or goes.
    #[schemars(extend("const" = SCHEMA))]
    schema: u32,
    #[serde(flatten)]
    answer: T,
}

impl<T> Answer<T> {
    pub(crate) fn new(answer: T) -> Self {
        Self { schema: SCHEMA, answer }
    }
}

/// Whether the last line of the terminal says what is waited for.
static WAITS: Mutex<bool> = Mutex::new(false);

/// Whether a line can be shown that is replaced later: standard error is a terminal that can erase.
pub(crate) fn can_wait() -> bool {
    io::stderr().is_terminal() && !environment::is_dumb()
}

/// Replaces the last line of the terminal by what is waited for, cut so that a `^C` that the terminal
/// echoes stays on it.
pub(crate) fn wait_for(line: &str) {
    let mut waits = WAITS.lock().unwrap_or_else(PoisonError::into_inner);
    let width = crossterm::terminal::size().map_or(80, |(columns, _)| usize::from(columns));
    let line = printable_line(&format!("meshscope: {line}"));
    let line: String = line.chars().take(width.saturating_sub(3)).collect();
    let _ = write!(io::stderr().lock(), "\r{line}{ERASE}");
    *waits = true;
}

/// Erases from the cursor to the end of the line (ECMA-48, EL).
const ERASE: &str = "\x1b[K";

/// Erases that line, so that something else can be printed.
pub(crate) fn waited() {
    let mut waits = WAITS.lock().unwrap_or_else(PoisonError::into_inner);
    if std::mem::take(&mut *waits) {
        let _ = write!(io::stderr().lock(), "\r{ERASE}");
    }
}

thread_local! {
    /// What is printed on this thread, if it is kept.
    static KEPT: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Keeps what `act` prints on standard output.
#[cfg(feature = "mcp")]
pub(crate) fn kept<T>(act: impl FnOnce() -> T) -> (T, String) {
    KEPT.set(Some(String::new()));
    let done = act();
    (done, KEPT.take().map_or_else(String::new, |text| text))
}

/// Writes text and flushes it.
pub(crate) fn text(text: &str) -> Result<(), Failure> {
    waited();
    let is_kept = KEPT.with_borrow_mut(|kept| kept.as_mut().map(|it| it.push_str(text)).is_some());
    if is_kept {
        return Ok(());
    }
    let mut out = io::stdout().lock();
    out.write_all(printable(text).as_bytes())
        .and_then(|()| out.flush())
        .map_err(|e| Failure::of_output(&e))
}

/// Writes text to standard error, which may be closed.
pub(crate) fn beside(text: &str) {
    waited();
    let _ = io::stderr().lock().write_all(printable(text).as_bytes());
}

/// Writes an answer as one line of JSON.
pub(crate) fn json(answer: impl Serialize) -> Result<(), Failure> {
    text(&json_line(answer)?)
}

/// Returns an answer as one line of JSON, in which characters on which a terminal would act are
/// escaped.
pub(crate) fn json_line(answer: impl Serialize) -> Result<String, Failure> {
    let line = serde_json::to_string(&Answer::new(answer));
    let line = line.map_err(|e| Failure::Internal(format!("JSON: {e}")))?;
    let mut escaped = String::with_capacity(line.len() + 1);
    for c in line.chars() {
        if acts(c) {
            let _ = write!(escaped, "\\u{:04x}", u32::from(c));
        } else {
            escaped.push(c);
        }
    }
    Ok(escaped + "\n")
}

/// Longer words are cut in the middle, so that the rest of the sentence stays readable.
const LONGEST_WORD: usize = 400;
/// Longer lines are cut at the end.
const LONGEST_LINE: usize = 4000;

/// Prints a message on standard error, which may be closed. Control characters are removed and long
/// words cut.
pub fn say(line: &str) {
    let line = printable_line(&readable(line));
    waited();
    let _ = writeln!(io::stderr().lock(), "meshscope: {line}");
}

/// Prints each of several messages once, with the number of its occurrences.
pub(crate) fn say_once_each(lines: impl IntoIterator<Item = String>) {
    let mut counts: Vec<(String, usize)> = Vec::new();
    for line in lines {
        match counts.iter_mut().find(|(known, _)| *known == line) {
            Some((_, times)) => *times += 1,
            None => counts.push((line, 1)),
        }
    }
    for (line, times) in counts {
        say(&if times > 1 { format!("{line} ({times} times)") } else { line });
    }
}

/// Shortens a line: arguments of generated command lines come back in messages.
fn readable(line: &str) -> String {
    let mut words = line.split_inclusive(' ').map(|word| {
        let chars = word.chars().count();
        if chars <= LONGEST_WORD {
            return word.to_owned();
        }
        let head: String = word.chars().take(LONGEST_WORD / 2).collect();
        let tail: String = word.chars().skip(chars - LONGEST_WORD / 4).collect();
        format!("{head}[... {} characters ...]{tail}", chars - LONGEST_WORD * 3 / 4)
    });
    let mut text = String::new();
    for word in words.by_ref() {
        if text.chars().count() + word.chars().count() > LONGEST_LINE {
            return text + "[...]";
        }
        text += &word;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unreadably_long_text_is_cut() {
        let line = format!("target '{}' is none", "x".repeat(200_000));
        let cut = readable(&line);
        assert!(cut.starts_with("target 'xxx") && cut.ends_with("xxx' is none"), "{cut}");
        assert!(cut.contains("[... 199703 characters ...]") && cut.len() < 500, "{cut}");
        let many = readable(&"many words ".repeat(20_000));
        assert!(many.len() < 4100 && many.ends_with("[...]"), "{many}");
        assert_eq!(readable("a plain  line "), "a plain  line ");
    }
}
