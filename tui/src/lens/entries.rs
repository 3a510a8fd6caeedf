//! The tables of what tiles can show through each lens: a letter, a tone and words. Of several cores
//! of a tile, the one whose entry comes last counts.

use crate::theme::Tone;
use std::borrow::Cow;

/// What a tile shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// Its letter, where there is no colour.
    pub(crate) letter: char,
    /// Its tone.
    pub(crate) tone: Tone,
    /// What the legend says.
    pub(crate) words: Cow<'static, str>,
}

const fn entry(letter: char, tone: Tone, words: &'static str) -> Entry {
    Entry { letter, tone, words: Cow::Borrowed(words) }
}

const BLANK: Entry = entry(' ', Tone::None, "");
const UNREAD: Entry = entry('?', Tone::Unread, "not read");

/// The time since a tile last moved.
pub(crate) mod age {
    use super::{BLANK, Entry, Tone, UNREAD, entry};

    pub(crate) const ENTRIES: &[Entry] = &[
        BLANK,
        UNREAD,
        entry('.', Tone::Off, "no kernel"),
        entry('i', Tone::Calm, "idle"),
        entry('l', Tone::Plain, "launched"),
        entry('m', Tone::Good, "moves"),
        entry('a', Tone::Cold(0), "<100ms"),
        entry('b', Tone::Cold(1), "<1s"),
        entry('c', Tone::Cold(2), "<10s"),
        entry('d', Tone::Cold(3), "longer"),
        entry('P', Tone::Warn, "paused"),
        entry('x', Tone::Bad, "not readable"),
        entry('h', Tone::Bad, "held"),
        entry('F', Tone::Worst, "held first"),
    ];
    pub(crate) const IDLE: u8 = 3;
    pub(crate) const LAUNCHED: u8 = 4;
    pub(crate) const MOVES: u8 = 5;
    const STANDS: u8 = 6;
    pub(crate) const PAUSED: u8 = 10;
    pub(crate) const FAILED: u8 = 11;
    pub(crate) const HELD: u8 = 12;
    pub(crate) const FIRST: u8 = 13;
    /// From these times on a tile stands longer, in cycles of a nanosecond.
    const STEPS: [u64; 3] = [100_000_000, 1_000_000_000, 10_000_000_000];

    /// The entry of a tile that stands for this time.
    pub(crate) fn stands(cycles: u64) -> u8 {
        STANDS + STEPS.iter().filter(|step| cycles >= **step).count() as u8
    }
}

/// What the most telling core of a tile does.
pub(crate) mod state {
    use super::{BLANK, Entry, Tone, UNREAD, entry};
    use decode::state::Activity;
    use diagnosis::Progress;

    pub(crate) const ENTRIES: &[Entry] = &[
        BLANK,
        UNREAD,
        entry('-', Tone::Off, "unknown"),
        entry('o', Tone::Off, "in reset"),
        entry('n', Tone::Off, "never started"),
        entry('d', Tone::Calm, "ended"),
        entry('i', Tone::Calm, "idle"),
        entry('l', Tone::Plain, "launched"),
        entry('m', Tone::Good, "progressing"),
        entry('w', Tone::Cold(0), "waiting"),
        entry('P', Tone::Warn, "paused"),
        entry('x', Tone::Bad, "not readable"),
        entry('S', Tone::Bad, "still"),
        entry('h', Tone::Worst, "held"),
    ];
    const UNKNOWN: u8 = 2;
    const LAUNCHED: u8 = 7;
    pub(crate) const FAILED: u8 = 11;
    pub(crate) const HELD: u8 = 13;

    pub(crate) fn of_progress(progress: Progress) -> u8 {
        match progress {
            Progress::Unknown => UNKNOWN,
            Progress::InReset => 3,
            Progress::NeverStarted => 4,
            Progress::Ended => 5,
            Progress::Idle => 6,
            Progress::Progressing => 8,
            Progress::Waiting(..) => 9,
            Progress::Paused => 10,
            Progress::Unreachable => FAILED,
            Progress::Still => 12,
        }
    }

    pub(crate) fn of_activity(activity: Activity) -> u8 {
        match activity {
            Activity::InReset => 3,
            Activity::BaseFirmware | Activity::Waiting => 4,
            Activity::Done => 5,
            Activity::Running => LAUNCHED,
        }
    }
}

/// Who must act before a waypoint ends.
pub(crate) mod waypoint {
    use super::{BLANK, Entry, Tone, UNREAD, entry};
    use diagnosis::Awaited;

    pub(crate) const ENTRIES: &[Entry] = &[
        BLANK,
        UNREAD,
        entry('.', Tone::Off, "no waypoint"),
        entry('g', Tone::Calm, "a launch"),
        entry('?', Tone::Plain, "unlisted"),
        entry('r', Tone::Good, "nobody: runs"),
        entry('c', Tone::Hue(0), "another core"),
        entry('h', Tone::Hue(1), "the host"),
        entry('n', Tone::Hue(2), "the NoC"),
        entry('e', Tone::Hue(3), "the link's other end"),
        entry('x', Tone::Bad, "not readable"),
    ];
    pub(crate) const OTHER: u8 = 4;
    pub(crate) const FAILED: u8 = 10;

    pub(crate) fn of(awaited: Awaited) -> u8 {
        match awaited {
            Awaited::Launch => 3,
            Awaited::Nobody => 5,
            Awaited::Core => 6,
            Awaited::Host => 7,
            Awaited::Noc => 8,
            Awaited::Link => 9,
        }
    }
}

/// How fast a tile sends over its link, or moves data over the NoC.
pub(crate) mod traffic {
    use super::{BLANK, Entry, Tone, UNREAD, entry};

    pub(crate) const ENTRIES: &[Entry] = &[
        BLANK,
        UNREAD,
        entry('.', Tone::Off, "no link"),
        entry('0', Tone::Calm, "nothing"),
        entry('a', Tone::Cold(2), "<1% of the fastest"),
        entry('b', Tone::Cold(0), "<10%"),
        entry('c', Tone::Good, "10% and more"),
    ];

    /// The entry of what moves at this rate, where the fastest moves at that one.
    pub(crate) fn of(rate: u64, fastest: u64) -> u8 {
        match rate {
            0 => 3,
            _ if rate < fastest / 100 => 4,
            _ if rate < fastest / 10 => 5,
            _ => 6,
        }
    }
}

/// The entries before those of names; the last of them stands for names without an entry of their
/// own.
pub(crate) fn of_names(operations: bool) -> Vec<Entry> {
    let none = if operations { "no operation is named" } else { "no kernel" };
    vec![BLANK, UNREAD, entry('.', Tone::Off, none), entry('z', Tone::Plain, "others")]
}

/// The entry of a kernel or operation.
pub(crate) fn hue(at: u8, name: String) -> Entry {
    Entry { letter: char::from(b'a' + at), tone: Tone::Hue(at), words: name.into() }
}
