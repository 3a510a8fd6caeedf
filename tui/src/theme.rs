//! All styles of the screens: sixteen colours by meaning and a dark grey for tiles, or none.

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

/// The colour of tiles where nothing runs: they make the shape of a chip, and are most of it.
const OFF: Color = Color::Indexed(238);

/// The tone of a tile on the map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    /// Nothing is drawn.
    None,
    /// Not read.
    Unread,
    /// Nothing runs there.
    Off,
    /// What runs there has nothing to do.
    Calm,
    /// Neither good nor bad.
    Plain,
    /// It moves.
    Good,
    /// It stands, from 0 to 3 for longer and longer.
    Cold(u8),
    /// A person should know.
    Warn,
    /// Something is wrong.
    Bad,
    /// Where it began.
    Worst,
    /// One of several kinds, none of which is better.
    Hue(u8),
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

    /// The colour of a tile on the map; one that is dimmed for others are lit. None is not drawn.
    pub(crate) fn tile(self, tone: Tone, dimmed: bool) -> Option<Color> {
        const COLD: [Color; 4] = [Color::LightCyan, Color::Cyan, Color::LightBlue, Color::Blue];
        const HUES: [Color; 7] = [
            Color::Cyan,
            Color::Magenta,
            Color::LightBlue,
            Color::LightGreen,
            Color::LightMagenta,
            Color::LightCyan,
            Color::Blue,
        ];
        let color = match tone {
            Tone::None | Tone::Unread => return None,
            Tone::Bad => Color::LightRed,
            Tone::Worst => Color::Red,
            Tone::Warn => Color::Yellow,
            Tone::Cold(_) if dimmed => Color::Blue,
            Tone::Off => OFF,
            Tone::Good => Color::Green,
            Tone::Calm | Tone::Plain if dimmed => Color::DarkGray,
            Tone::Calm => Color::Gray,
            Tone::Plain => Color::White,
            Tone::Cold(step) => COLD.get(usize::from(step)).copied().unwrap_or(Color::Blue),
            Tone::Hue(at) => HUES.get(usize::from(at)).copied().unwrap_or(Color::Gray),
        };
        Some(color)
    }

    /// A letter, or a text, in the tone of a tile.
    pub(crate) fn tone(self, tone: Tone, dimmed: bool) -> Style {
        match (self.color, tone) {
            (true, _) => {
                let style = self.tile(tone, dimmed).map_or(self.dim(), |it| Style::new().fg(it));
                if matches!(tone, Tone::Bad | Tone::Worst) {
                    style.add_modifier(Modifier::BOLD)
                } else {
                    style
                }
            }
            (false, Tone::Bad | Tone::Worst) => Style::new().add_modifier(Modifier::BOLD),
            (false, Tone::None | Tone::Unread | Tone::Off) => self.dim(),
            (false, _) if dimmed => self.dim(),
            (false, _) => Style::new(),
        }
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
