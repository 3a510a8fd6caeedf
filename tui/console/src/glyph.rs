//! One glyph or letter for each state, so that colour is never the only cue. Each has an ASCII
//! variant.

use decode::state::{Activity, ChannelMeaning, LinkCondition};
use diagnosis::Progress;
use images::Reading;
use machine::snapshot::AccessError;
use strum::VariantArray;

/// Which set of glyphs is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Glyphs {
    /// ASCII only.
    pub ascii: bool,
}

/// Why there is no value: each reason has its own word and glyph, and none of them is 0. Help explains
/// them in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr, strum::VariantArray)]
#[strum(serialize_all = "lowercase")]
pub enum Missing {
    /// Read, but the value is not a known one.
    Unknown,
    /// Not requested, or not in the recording.
    Unread,
    /// No answer within the deadline.
    #[strum(serialize = "timed out")]
    TimedOut,
    /// Refused by the access layer.
    Refused,
    /// Unreachable.
    Unreachable,
    /// Held in reset.
    #[strum(serialize = "in reset")]
    InReset,
    /// The device is gone.
    #[strum(serialize = "device gone")]
    Gone,
    /// The routing queue answered with an error.
    #[strum(serialize = "queue error")]
    Queue,
    /// Does not exist.
    Absent,
}

impl Missing {
    /// All reasons.
    pub const ALL: &[Self] = Self::VARIANTS;

    /// The reason of an access error.
    pub fn of_error(error: &AccessError) -> Self {
        match error {
            AccessError::Refused(_) => Self::Refused,
            AccessError::TimedOut { .. } => Self::TimedOut,
            AccessError::Unreachable(_) | AccessError::Overtaken(_) | AccessError::Hung(_) => {
                Self::Unreachable
            }
            AccessError::InReset => Self::InReset,
            AccessError::DeviceGone(_) => Self::Gone,
            AccessError::QueueError { .. } => Self::Queue,
            AccessError::NotRecorded | AccessError::NotRequested => Self::Unread,
        }
    }

    /// The reason of a reading without a value.
    pub fn of<T>(reading: &Reading<T>) -> Option<Self> {
        match reading {
            Reading::Known(_) => None,
            Reading::Unknown(_) => Some(Self::Unknown),
            Reading::Unread(error) => Some(Self::of_error(error)),
            Reading::Absent => Some(Self::Absent),
        }
    }

    /// The word for it.
    pub fn word(self) -> &'static str {
        self.into()
    }
}

impl Glyphs {
    fn pick(self, unicode: &'static str, ascii: &'static str) -> &'static str {
        if self.ascii { ascii } else { unicode }
    }

    /// The glyph of the reason for a missing value.
    pub fn missing(self, missing: Missing) -> &'static str {
        match missing {
            Missing::Unknown => self.pick("¿", "!"),
            Missing::Unread => "?",
            Missing::TimedOut => self.pick("✗", "x"),
            Missing::Refused => self.pick("⊘", "#"),
            Missing::Unreachable => self.pick("↯", "/"),
            Missing::InReset => self.pick("○", "o"),
            Missing::Gone => self.pick("†", "+"),
            Missing::Queue => "Q",
            Missing::Absent => self.pick("–", "-"),
        }
    }

    /// The glyph of a value that was not read again.
    pub fn stale(self) -> &'static str {
        self.pick("◷", "~")
    }

    /// The glyph of what a core does.
    pub fn activity(self, activity: Activity) -> &'static str {
        match activity {
            Activity::InReset => self.pick("○", "o"),
            Activity::BaseFirmware => self.pick("◇", "b"),
            Activity::Waiting => self.pick("◌", "w"),
            Activity::Running => self.pick("▷", "l"),
            Activity::Done => self.pick("■", "d"),
        }
    }

    /// The glyph of whether a core has advanced.
    pub fn progress(self, progress: Progress) -> &'static str {
        match progress {
            Progress::Progressing => self.pick("▶", ">"),
            Progress::Waiting(..) => self.pick("◐", "W"),
            Progress::Paused => self.pick("‖", "P"),
            Progress::Still => self.pick("⊗", "S"),
            Progress::Idle => self.pick("○", "i"),
            Progress::NeverStarted => self.pick("◌", "w"),
            Progress::Ended => self.pick("■", "d"),
            Progress::InReset => self.missing(Missing::InReset),
            Progress::Unreachable => self.missing(Missing::Unreachable),
            Progress::Unknown => self.missing(Missing::Unknown),
        }
    }

    /// The glyph of the condition of a link.
    pub fn link(self, condition: LinkCondition) -> &'static str {
        match condition {
            LinkCondition::Up => self.pick("═", "="),
            LinkCondition::Down => self.pick("╳", "x"),
            LinkCondition::Disagree => self.pick("≠", "!"),
            LinkCondition::Unread => self.pick("┄", "."),
        }
    }

    /// An arrow to the right.
    pub fn to_right(self) -> &'static str {
        self.pick("▶", ">")
    }

    /// The full and the empty cell of a progress bar.
    pub fn bar(self) -> (&'static str, &'static str) {
        (self.pick("█", "#"), self.pick("░", "."))
    }

    /// An arrow to the left.
    pub fn to_left(self) -> &'static str {
        self.pick("◀", "<")
    }

    /// The cursor of a list.
    pub fn cursor(self) -> &'static str {
        self.pick("▸", ">")
    }

    /// The sign of a branch that is open or folded.
    pub fn fold(self, open: bool) -> &'static str {
        if open { self.pick("▾", "-") } else { self.pick("▹", "+") }
    }

    /// The column that rows are sorted by, the largest first or the smallest.
    pub fn sorted(self, down: bool) -> &'static str {
        if down { self.pick("▼", "v") } else { self.pick("▲", "^") }
    }

    /// Marks text that was cut.
    pub fn cut(self) -> &'static str {
        self.pick("…", "..")
    }

    /// The moment on screen.
    pub fn now(self) -> &'static str {
        self.pick("▼", "v")
    }

    /// How many bytes changed in a moment; none: not read.
    pub fn level(self, bytes: Option<u32>) -> &'static str {
        match bytes {
            None => " ",
            Some(0) => self.pick("·", "."),
            Some(1..64) => self.pick("▂", ":"),
            Some(64..1024) => self.pick("▄", "-"),
            Some(1024..16384) => self.pick("▆", "="),
            Some(_) => self.pick("█", "#"),
        }
    }

    /// A rate against the fastest one, in eighths of a row.
    pub fn eighth(self, rate: u64, most: u64) -> &'static str {
        let bars = self.pick("▁▂▃▄▅▆▇█", "_.:-=+*#");
        let width = bars.len() / 8;
        // What is not 0 is more than the lowest.
        let level = match (rate, most) {
            (0, _) | (_, 0) => 0,
            _ => (u128::from(rate) * 7).div_ceil(most.into()).clamp(1, 7) as usize,
        };
        bars.get(level * width..(level + 1) * width).unwrap_or(" ")
    }

    /// A tile that is fused off.
    pub fn harvested(self) -> &'static str {
        self.pick("▒▒▒▒", "xxxx")
    }

    /// An Ethernet tile with a router.
    pub fn router(self) -> &'static str {
        self.pick("·", ".")
    }

    /// The letter of what a channel holds.
    pub fn channel(self, meaning: ChannelMeaning) -> &'static str {
        match meaning {
            ChannelMeaning::Idle => self.pick("·", "."),
            ChannelMeaning::SentUnacknowledged => self.pick("▷", "s"),
            ChannelMeaning::ArrivedUnserviced => self.pick("▶", "a"),
            ChannelMeaning::AcknowledgedNotDone => self.pick("◆", "k"),
            ChannelMeaning::CompletionUnderway => self.pick("◁", "c"),
        }
    }
}

/// The letter of a link's state.
pub fn link_letter(condition: LinkCondition) -> &'static str {
    match condition {
        LinkCondition::Up => "U",
        LinkCondition::Down => "D",
        LinkCondition::Disagree => "!",
        LinkCondition::Unread => "?",
    }
}
