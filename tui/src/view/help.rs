//! Help: the table of keys and the legend of glyphs, both printed from what the program uses itself.

use super::mesh::titled;
use crate::glyph::{MISSING, link_letter};
use crate::keys::BINDINGS;
use crate::model::{Model, Screen};
use crate::words;
use decode::state::{Activity, LinkCondition};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

const SCREENS: [(Screen, &str); 5] = [
    (Screen::Mesh, "mesh"),
    (Screen::Chip, "chip"),
    (Screen::Core, "core"),
    (Screen::Gaps, "gaps"),
    (Screen::Fabric, "fabric"),
];

/// Columns of a name.
const NAMES: usize = 13;

/// Lines of the whole help text.
pub(crate) fn line_count(model: &Model) -> usize {
    lines(model).len()
}

/// Draws help from this line on.
pub(super) fn draw(model: &Model, frame: &mut Frame, area: Rect, first: usize) {
    let block = titled(model, " help: j k scroll, Esc goes back ", true);
    let inner = block.inner(area);
    frame.render_widget(block, area);
    let lines: Vec<_> = lines(model).into_iter().skip(first).collect();
    frame.render_widget(Paragraph::new(lines), inner);
}

/// The whole help text.
pub(crate) fn lines(model: &Model) -> Vec<Line<'static>> {
    let mut lines = vec![Line::styled("Keys", model.theme.title())];
    for binding in BINDINGS {
        let on: Vec<_> =
            SCREENS.iter().filter(|(s, _)| binding.on.contains(s)).map(|(_, n)| *n).collect();
        let on = if on.is_empty() { String::new() } else { format!("  ({})", on.join(", ")) };
        lines.extend(explained(model, &binding.keys(), &format!("{}{on}", binding.help)));
    }
    lines.push(Line::styled("Orders, after :", model.theme.title()));
    for (name, about) in crate::line::explained() {
        lines.extend(explained(model, &name, &about));
    }
    lines.push(Line::styled("Cores", model.theme.title()));
    let activities = [
        Activity::InReset,
        Activity::BaseFirmware,
        Activity::Waiting,
        Activity::Running,
        Activity::Done,
    ];
    lines.extend(activities.map(|a| entry(model.glyphs.activity(a), words::activity(a))));
    lines.push(Line::styled("Links", model.theme.title()));
    let conditions = [
        LinkCondition::Up,
        LinkCondition::Training,
        LinkCondition::Down,
        LinkCondition::Disagree,
        LinkCondition::Unread,
    ];
    for condition in conditions {
        let text = format!("{} {}", link_letter(condition), model.glyphs.link(condition));
        lines.push(entry(&text, words::link(condition)));
    }
    lines.push(Line::styled("In place of a value", model.theme.title()));
    lines.extend(MISSING.map(|m| entry(model.glyphs.missing(m), m.word())));
    lines.push(entry(model.glyphs.stale(), "stale: nothing newer came for some seconds"));
    lines.push(entry(model.glyphs.harvested(), "harvested: fused off"));
    lines.push(entry("~", "between counts that move: the ends were read more than 10 us apart"));
    lines
}

/// A name and what it means, in as many lines as the terminal's width asks for.
fn explained(model: &Model, name: &str, text: &str) -> Vec<Line<'static>> {
    let width = usize::from(model.size.0).saturating_sub(NAMES + 2).max(20);
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
    let name = Span::styled(format!("  {name:<NAMES$} "), model.theme.key());
    let first = Line::from(vec![name, Span::raw(rows.first().cloned().unwrap_or_default())]);
    let rest = rows.iter().skip(1).map(|row| Line::raw(format!("{:w$}{row}", "", w = NAMES + 3)));
    std::iter::once(first).chain(rest).collect()
}

fn entry(sign: &str, word: &str) -> Line<'static> {
    Line::raw(format!("  {sign:<14}{word}"))
}
