//! All styles of the screens: colours by meaning, or none.

use console::glyph::{Glyphs, Missing};
use console::reading;
use decode::state::{Activity, ChannelMeaning, LinkCondition};
use diagnosis::{Health, Progress};
use images::{Provenance, Reading};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::Span;
use std::fmt::Display;
use strum::{EnumCount, EnumString, VariantNames};

/// The styles, with or without colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Theme {
    /// The colours by meaning; without them only bold, reverse and underline are used.
    palette: Option<Palette>,
}

/// What a colour means; settings name it so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumCount, EnumString, VariantNames)]
#[strum(serialize_all = "kebab-case")]
pub(crate) enum Meaning {
    /// It moves, or is as it should be.
    Good,
    /// A person should know.
    Warn,
    /// Something is wrong.
    Bad,
    /// A tile where something is wrong.
    Fault,
    /// The tile where it began.
    Worst,
    /// What is seldom read: borders, names, what is missing by intention.
    Dim,
    /// Tiles where nothing runs: they make the shape of a chip, and are most of it.
    Off,
    /// Titles and the focused pane.
    Title,
    /// Bytes on their way.
    Traffic,
    /// Tiles that have nothing to do.
    Calm,
    /// Tiles that are neither good nor bad.
    Plain,
    /// Tiles that stand, for longer and longer.
    Cold1,
    Cold2,
    Cold3,
    Cold4,
    /// Tiles of several kinds, none of which is better.
    Hue1,
    Hue2,
    Hue3,
    Hue4,
    Hue5,
    Hue6,
    Hue7,
}

/// The colours, by meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Palette([Color; Meaning::COUNT]);

impl Palette {
    /// For a dark background: the sixteen colours of the terminal, and a dark grey.
    pub(crate) const DARK: Self = Self([
        Color::Green,
        Color::Yellow,
        Color::Red,
        Color::LightRed,
        Color::Red,
        Color::DarkGray,
        Color::Indexed(238),
        Color::Cyan,
        Color::Magenta,
        Color::Gray,
        Color::White,
        Color::LightCyan,
        Color::Cyan,
        Color::LightBlue,
        Color::Blue,
        Color::Cyan,
        Color::Magenta,
        Color::LightBlue,
        Color::LightGreen,
        Color::LightMagenta,
        Color::LightCyan,
        Color::Blue,
    ]);
    /// For a light background: dark colours of the 256, and a light grey.
    pub(crate) const LIGHT: Self = Self([
        Color::Indexed(28),
        Color::Indexed(130),
        Color::Indexed(160),
        Color::Indexed(203),
        Color::Indexed(160),
        Color::Indexed(243),
        Color::Indexed(252),
        Color::Indexed(25),
        Color::Indexed(90),
        Color::Indexed(245),
        Color::Indexed(234),
        Color::Indexed(117),
        Color::Indexed(74),
        Color::Indexed(68),
        Color::Indexed(19),
        Color::Indexed(30),
        Color::Indexed(90),
        Color::Indexed(62),
        Color::Indexed(64),
        Color::Indexed(133),
        Color::Indexed(37),
        Color::Indexed(19),
    ]);

    fn of(&self, meaning: Meaning) -> Color {
        self.0.get(meaning as usize).copied().unwrap_or_default()
    }

    /// Gives a meaning another colour.
    pub(crate) fn set(&mut self, meaning: Meaning, color: Color) {
        if let Some(own) = self.0.get_mut(meaning as usize) {
            *own = color;
        }
    }
}

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

impl Theme {
    /// The usual colours, or none.
    pub fn new(color: bool) -> Self {
        Self { palette: color.then_some(Palette::DARK) }
    }

    /// Whether colours are used.
    pub(crate) fn has_colors(self) -> bool {
        self.palette.is_some()
    }

    /// These colours, if any are used.
    pub(crate) fn with(self, palette: Palette) -> Self {
        Self { palette: self.palette.map(|_| palette) }
    }

    fn tint(self, meaning: Meaning) -> Style {
        self.palette.map_or_else(Style::new, |palette| Style::new().fg(palette.of(meaning)))
    }

    pub(crate) fn ok(self) -> Style {
        self.tint(Meaning::Good)
    }

    pub(crate) fn warn(self) -> Style {
        self.tint(Meaning::Warn)
    }

    pub(crate) fn bad(self) -> Style {
        self.tint(Meaning::Bad).add_modifier(Modifier::BOLD)
    }

    pub(crate) fn dim(self) -> Style {
        match self.palette {
            Some(_) => self.tint(Meaning::Dim),
            None => Style::new().add_modifier(Modifier::DIM),
        }
    }

    pub(crate) fn title(self) -> Style {
        self.tint(Meaning::Title).add_modifier(Modifier::BOLD)
    }

    pub(crate) fn selected() -> Style {
        Style::new().add_modifier(Modifier::REVERSED)
    }

    pub(crate) fn key() -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    pub(crate) fn traffic(self) -> Style {
        self.tint(Meaning::Traffic).add_modifier(Modifier::BOLD)
    }

    pub(crate) fn badge(self, loud: bool) -> Style {
        let style = Style::new().add_modifier(Modifier::BOLD);
        match self.palette {
            Some(_) if loud => style.fg(Color::Black).bg(Color::Yellow),
            Some(_) => style.fg(Color::Black).bg(Color::Cyan),
            None => style.add_modifier(Modifier::REVERSED),
        }
    }

    /// A border; the focused pane stands out.
    pub(crate) fn border(self, focused: bool) -> Style {
        if focused { self.title() } else { self.dim() }
    }

    /// The colour of a tile on the map; one that is dimmed for others are lit. None is not drawn.
    pub(crate) fn tile(self, tone: Tone, dimmed: bool) -> Option<Color> {
        use Meaning as M;
        const COLD: [M; 4] = [M::Cold1, M::Cold2, M::Cold3, M::Cold4];
        const HUES: [M; 7] = [M::Hue1, M::Hue2, M::Hue3, M::Hue4, M::Hue5, M::Hue6, M::Hue7];
        let meaning = match tone {
            Tone::None | Tone::Unread => return None,
            Tone::Bad => M::Fault,
            Tone::Worst => M::Worst,
            Tone::Warn => M::Warn,
            Tone::Cold(_) if dimmed => M::Cold4,
            Tone::Off => M::Off,
            Tone::Good => M::Good,
            Tone::Calm | Tone::Plain if dimmed => M::Dim,
            Tone::Calm => M::Calm,
            Tone::Plain => M::Plain,
            Tone::Cold(step) => COLD.get(usize::from(step)).copied().unwrap_or(M::Cold4),
            Tone::Hue(at) => HUES.get(usize::from(at)).copied().unwrap_or(M::Calm),
        };
        self.palette.map(|palette| palette.of(meaning))
    }

    /// A letter, or a text, in the tone of a tile.
    pub(crate) fn tone(self, tone: Tone, dimmed: bool) -> Style {
        match (self.palette, tone) {
            (Some(_), _) => {
                let style = self.tile(tone, dimmed).map_or(self.dim(), |it| Style::new().fg(it));
                if matches!(tone, Tone::Bad | Tone::Worst) {
                    style.add_modifier(Modifier::BOLD)
                } else {
                    style
                }
            }
            (None, Tone::Bad | Tone::Worst) => Style::new().add_modifier(Modifier::BOLD),
            (None, Tone::None | Tone::Unread | Tone::Off) => self.dim(),
            (None, _) if dimmed => self.dim(),
            (None, _) => Style::new(),
        }
    }

    /// A value that changed since the previous snapshot.
    pub(crate) fn moved(style: Style) -> Style {
        style.add_modifier(Modifier::BOLD | Modifier::UNDERLINED)
    }

    /// The bytes of a named member; neighbours alternate so that their edges can be seen.
    pub(crate) fn member(self, odd: bool) -> Style {
        match (self.palette, odd) {
            (Some(_), false) => self.tint(Meaning::Title),
            (Some(_), true) => self.tint(Meaning::Good),
            (None, false) => Style::new().add_modifier(Modifier::UNDERLINED),
            (None, true) => Style::new().add_modifier(Modifier::BOLD),
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
