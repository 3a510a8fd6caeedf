//! A row: one observation, and what it was made on.

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use std::sync::Arc;

/// A text that many rows share.
pub type Text = Arc<str>;

/// A longer text of a row is cut, in bytes.
const MOST_BYTES: usize = 4096;

/// Returns a text of a row: characters that control a terminal are replaced, and the end is cut from 4096
/// bytes on.
pub fn text(words: &str) -> Text {
    let words = words.get(..words.floor_char_boundary(MOST_BYTES)).unwrap_or_default();
    if words.contains(char::is_control) {
        let shown = |c: char| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c };
        return words.chars().map(shown).collect::<String>().into();
    }
    words.into()
}

/// Characters of a host's name at most.
const MOST_CHARS: usize = 64;

/// Returns a host's name as rows and folders have it: letters, digits, `-`, `.`, and `_` for anything else,
/// which every engine reads alike in the name of a folder.
pub fn host_name(words: &str) -> Text {
    let allowed = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '.';
    let shown = |c: char| if allowed(c) { c } else { '_' };
    let name: String = words.chars().take(MOST_CHARS).map(shown).collect();
    if name.is_empty() { "unknown".into() } else { name.into() }
}

/// What kind of observation a row is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, strum::IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum Kind {
    /// A gauge of a card, such as its temperature.
    Card,
    /// A command that changed a mesh, or a write of it.
    Command,
    /// What is so until something else is observed: a version, an option.
    Fact,
    /// A finding of a verdict.
    Finding,
    /// A counter or state of one end of a link.
    Link,
    /// A line of a log of tt-metal.
    Log,
    /// A mark in a recording.
    Mark,
    /// An entry of a router's status queue.
    Status,
    /// A line of a report of tt-triage.
    Triage,
    /// A line of the Watcher's log.
    Watcher,
}

impl Kind {
    /// Returns its word in the column `kind`.
    pub fn word(self) -> &'static str {
        self.into()
    }
}

/// Which clock the time of a row is by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum Clock {
    /// The host's: the file says when it was.
    Host,
    /// That of the file: its last line is taken to be as old as its last modification.
    File,
}

impl Clock {
    /// Returns its word in the column `clock`.
    pub fn word(self) -> &'static str {
        self.into()
    }
}

/// An observation. The columns of the Parquet files are its fields, after `day`.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// When, in microseconds since the Unix epoch, UTC.
    pub time_micros: i64,
    /// By which clock.
    pub clock: Clock,
    /// The host on which it was made.
    pub host: Text,
    /// The file that has it, below the folder that was scanned.
    pub source: Text,
    /// What kind it is.
    pub kind: Kind,
    /// The counter, condition, event, check or option.
    pub name: Text,
    /// Whether it says that something is wrong.
    pub trouble: bool,
    /// The id of the board, hexadecimal.
    pub board: Option<Text>,
    /// The tray of the board in its host, from 1.
    pub tray: Option<i32>,
    /// The chip.
    pub chip: Option<i32>,
    /// The Ethernet channel of the chip.
    pub channel: Option<i32>,
    /// The link, by its host and both of its ends, or by both of its ports if a descriptor tells them.
    pub cable: Option<Text>,
    /// The core or tile, in the words of its source.
    pub place: Option<Text>,
    /// The value of a counter.
    pub value: Option<i64>,
    /// By how much the counter grew since it was observed before.
    pub change: Option<i64>,
    /// What was observed, in words.
    pub text: Option<Text>,
    /// What equal hangs have in common.
    pub signature: Option<Text>,
}

impl Row {
    /// Returns the day of the row, UTC; none if its time is out of any calendar.
    pub fn day(&self) -> Option<Date> {
        let time = Timestamp::from_microsecond(self.time_micros).ok()?;
        Some(time.to_zoned(TimeZone::UTC).date())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_short_and_control_nothing() {
        assert_eq!(&*text("a\u{1b}[2Jb\n"), "a\u{fffd}[2Jb\u{fffd}");
        assert_eq!(text(&"\u{e9}".repeat(4000)).len(), 4096);
    }

    #[test]
    fn hosts_are_named_like_folders() {
        assert_eq!(&*host_name("wh-glx-2.lab"), "wh-glx-2.lab");
        assert_eq!(&*host_name("a/../b=\u{1b}c"), "a_.._b__c");
        assert_eq!(&*host_name(""), "unknown");
        assert_eq!(host_name(&"x".repeat(1000)).len(), 64);
    }

    #[test]
    fn kinds_have_words() {
        assert_eq!((Kind::Watcher.word(), Clock::File.word()), ("watcher", "file"));
    }
}
