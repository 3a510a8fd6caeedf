//! Help: the table of keys and the legend of glyphs, both from the tables that the program uses.

use crate::keys::{Keys, PURPOSES};
use crate::panes::Screen;
use crate::theme::Theme;
use cli::line;
use console::glyph::{Glyphs, Missing, link_letter};
use console::words;
use decode::state::{Activity, LinkCondition, Party, WaitReason};
use diagnosis::{Progress, Waypoint};
use ratatui::text::{Line, Span};

/// Signs that are in no table of glyphs.
const SIGNS: &[(&str, &str)] = &[
    ("e8", "Ethernet channel 8 of a chip; 0:e8 is that of chip 0"),
    ("1K>", "bytes in flight on a link, and their direction"),
    ("E 2/16", "cores of Ethernet tiles that are launched, and all that were read"),
    ("T 64/64", "the same of Tensix tiles"),
    ("H", "a link that is held: both ends belong to the first finding"),
    ("!2 >50ms", "a chip on which 2 tiles stand, the first for at least 50 ms"),
    ("<7 ^24", "links to the chips 7 and 24, which are elsewhere on the map"),
    ("_ to #", "at an end of a link: how fast it sends, against the fastest end; in blocks"),
    ("A tile", "the legend below the map says what its colour or letter means; c changes that"),
    ("8+8+0", "packets of a router: queued, in flight, received"),
    ("12/15", "a count of both ends of a link"),
];

/// Width of the names.
const NAMES: usize = 13;

/// All lines of help, for a terminal of `width` columns.
pub(crate) fn lines(
    keys: &Keys,
    (theme, glyphs): (Theme, Glyphs),
    width: u16,
) -> Vec<Line<'static>> {
    let mut lines = Vec::new();
    for (purpose, bindings) in PURPOSES {
        lines.push(Line::styled(*purpose, theme.title()));
        for binding in *bindings {
            let on: Vec<_> = Screen::ALL.iter().filter(|s| binding.on.contains(s)).collect();
            let on: Vec<_> = on.into_iter().map(|screen| screen.name()).collect();
            let on = if on.is_empty() { String::new() } else { format!("  ({})", on.join(", ")) };
            let about = format!("{}{on}", binding.help);
            lines.extend(explained(width, &keys.names(binding), &about));
        }
    }
    lines.push(Line::styled("Commands, after :", theme.title()));
    for (name, about) in line::explained() {
        lines.extend(explained(width, &name, &about));
    }
    lines.push(Line::styled("Cores, by several snapshots", theme.title()));
    let progress = [
        Progress::Progressing,
        Progress::Waiting(Party::Host, WaitReason::Done),
        Progress::Paused,
        Progress::Still,
        Progress::Idle,
        Progress::NeverStarted,
        Progress::Ended,
        Progress::InReset,
        Progress::Unreachable,
        Progress::Unknown,
    ];
    lines.extend(progress.map(|it| entry(glyphs.progress(it), it.word())));
    lines.push(Line::styled("Cores, by one snapshot", theme.title()));
    let activities = [
        Activity::InReset,
        Activity::BaseFirmware,
        Activity::Waiting,
        Activity::Running,
        Activity::Done,
    ];
    lines.extend(activities.map(|a| entry(glyphs.activity(a), words::activity(a))));
    lines.push(Line::styled("Links", theme.title()));
    let conditions =
        [LinkCondition::Up, LinkCondition::Down, LinkCondition::Disagree, LinkCondition::Unread];
    for condition in conditions {
        let text = format!("{} {}", link_letter(condition), glyphs.link(condition));
        lines.push(entry(&text, words::link(condition)));
    }
    lines.push(Line::styled("In place of a value", theme.title()));
    lines.extend(Missing::ALL.iter().map(|m| entry(glyphs.missing(*m), m.word())));
    lines.push(entry(glyphs.stale(), "stale: no newer snapshot for some seconds"));
    lines.push(entry(glyphs.harvested(), "harvested: fused off"));
    lines.push(entry("~", "counts move, and the ends were read more than 10 us apart"));
    lines.push(Line::styled("Signs of the map and the tables", theme.title()));
    for (sign, about) in SIGNS {
        lines.extend(explained(width, sign, about));
    }
    lines.push(Line::styled("Waypoints: meshscope explain NAME says more", theme.title()));
    for it in Waypoint::all() {
        lines.extend(explained(width, &it.waypoints.join(" "), it.meaning));
    }
    lines
}

/// A name and its explanation, in as many lines as the terminal's width needs.
fn explained(width: u16, name: &str, text: &str) -> Vec<Line<'static>> {
    let width = usize::from(width).saturating_sub(NAMES + 3).max(20);
    let mut rows: Vec<String> = Vec::new();
    // A long name takes room from its first line.
    let mut taken = name.chars().count().saturating_sub(NAMES);
    for word in text.split(' ') {
        let fits =
            |row: &&mut String| taken + row.chars().count() + 1 + word.chars().count() <= width;
        if let Some(row) = rows.last_mut().filter(fits) {
            *row = format!("{row} {word}");
        } else {
            taken = if rows.is_empty() { taken } else { 0 };
            rows.push(word.to_owned());
        }
    }
    let name = Span::styled(format!("  {name:<NAMES$} "), Theme::key());
    let first = Line::from(vec![name, Span::raw(rows.first().cloned().unwrap_or_default())]);
    let rest = rows.iter().skip(1).map(|row| Line::raw(format!("{:w$}{row}", "", w = NAMES + 3)));
    std::iter::once(first).chain(rest).collect()
}

fn entry(sign: &str, word: &str) -> Line<'static> {
    Line::raw(format!("  {sign:<14}{word}"))
}
