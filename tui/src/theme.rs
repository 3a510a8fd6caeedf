//! All styles of the screens: sixteen colours by meaning, or none.

use console::glyph::{Glyphs, Missing};
use console::reading;
use decode::state::{Activity, ChannelMeaning, LinkCondition};
use diagnosis::{Health, Progress};
use images::{Provenance, Reading};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::Span;
use std::fmt::Display;

/// The styles, with or without colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Theme {
    /// Whether colours are used; otherwise only bold, reverse and underline are.
    pub color: bool,
}

#[expect(clippy::unused_self, reason = "themes may differ later")]
impl Theme {
    fn tint(self, color: Color) -> Style {
        if self.color { Style::new().fg(color) } else { Style::new() }
    }

    pub(crate) fn ok(self) -> Style {
        self.tint(Color::Green)
    }

    pub(crate) fn warn(self) -> Style {
        self.tint(Color::Yellow)
    }

    pub(crate) fn bad(self) -> Style {
        self.tint(Color::Red).add_modifier(Modifier::BOLD)
    }

    pub(crate) fn dim(self) -> Style {
        if self.color {
            Style::new().fg(Color::DarkGray)
        } else {
            Style::new().add_modifier(Modifier::DIM)
        }
    }

    pub(crate) fn title(self) -> Style {
        self.tint(Color::Cyan).add_modifier(Modifier::BOLD)
    }

    pub(crate) fn selected(self) -> Style {
        Style::new().add_modifier(Modifier::REVERSED)
    }

    pub(crate) fn key(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    pub(crate) fn traffic(self) -> Style {
        self.tint(Color::Magenta).add_modifier(Modifier::BOLD)
    }

    pub(crate) fn badge(self, loud: bool) -> Style {
        let style = Style::new().add_modifier(Modifier::BOLD);
        match (self.color, loud) {
            (true, true) => style.fg(Color::Black).bg(Color::Yellow),
            (true, false) => style.fg(Color::Black).bg(Color::Cyan),
            (false, _) => style.add_modifier(Modifier::REVERSED),
        }
    }

    /// A border; the focused pane stands out.
    pub(crate) fn border(self, focused: bool) -> Style {
        if focused { self.title() } else { self.dim() }
    }

    /// A value that changed since the previous snapshot.
    pub(crate) fn moved(self, style: Style) -> Style {
        style.add_modifier(Modifier::BOLD | Modifier::UNDERLINED)
    }

    /// The bytes of a named member; neighbours alternate so that their edges can be seen.
    pub(crate) fn member(self, odd: bool) -> Style {
        match (self.color, odd) {
            (true, false) => Style::new().fg(Color::Cyan),
            (true, true) => Style::new().fg(Color::Green),
            (false, false) => Style::new().add_modifier(Modifier::UNDERLINED),
            (false, true) => Style::new().add_modifier(Modifier::BOLD),
        }
    }

    pub(crate) fn link(self, condition: LinkCondition) -> Style {
        match condition {
            LinkCondition::Up => self.ok(),
            LinkCondition::Down | LinkCondition::Disagree => self.bad(),
            LinkCondition::Unread => self.dim(),
        }
    }

    pub(crate) fn activity(self, activity: Activity) -> Style {
        match activity {
            Activity::Running | Activity::Waiting | Activity::BaseFirmware | Activity::Done => {
                Style::new()
            }
            Activity::InReset => self.dim(),
        }
    }

    pub(crate) fn progress(self, progress: Progress) -> Style {
        match progress {
            Progress::Progressing => self.ok(),
            Progress::Paused => self.warn(),
            Progress::Still | Progress::Unreachable => self.bad(),
            // Waiting is the usual state of a healthy core; what stands is lit by the verdict.
            Progress::Waiting(..)
            | Progress::Unknown
            | Progress::Idle
            | Progress::NeverStarted
            | Progress::Ended => Style::new(),
            Progress::InReset => self.dim(),
        }
    }

    pub(crate) fn health(self, health: Health) -> Style {
        match health {
            Health::Healthy => self.ok(),
            Health::Slow | Health::NotFinished | Health::Paused => self.warn(),
            Health::Fault | Health::Hang => self.bad(),
            Health::Unknown => self.dim(),
        }
    }

    pub(crate) fn missing(self, missing: Missing) -> Style {
        match missing {
            Missing::Absent | Missing::Unread | Missing::InReset => self.dim(),
            Missing::Unknown | Missing::Refused => self.warn(),
            Missing::TimedOut | Missing::Unreachable | Missing::Gone | Missing::Queue => self.bad(),
        }
    }

    /// The style of a reading's text: that of the missing reason, or the given one.
    pub(crate) fn reading<T>(self, reading: &Reading<T>, known: Style) -> Style {
        Missing::of(reading).map_or(known, |missing| self.missing(missing))
    }

    pub(crate) fn channel(self, meaning: ChannelMeaning) -> Style {
        match meaning {
            ChannelMeaning::Idle => self.dim(),
            ChannelMeaning::SentUnacknowledged | ChannelMeaning::ArrivedUnserviced => {
                self.traffic()
            }
            ChannelMeaning::AcknowledgedNotDone | ChannelMeaning::CompletionUnderway => {
                Style::new()
            }
        }
    }

    pub(crate) fn evidence(self, evidence: Provenance) -> Style {
        match evidence {
            Provenance::Verified => self.ok(),
            Provenance::Stated | Provenance::Recorded | Provenance::Sampled => Style::new(),
            Provenance::Mismatch => self.bad(),
        }
    }

    /// The short text of a reading, in its style.
    pub(crate) fn span<T: Display>(
        self,
        glyphs: Glyphs,
        reading: &Reading<T>,
        known: Style,
    ) -> Span<'static> {
        Span::styled(reading::short(glyphs, reading, T::to_string), self.reading(reading, known))
    }
}
