//! Help: the table of keys and the legend of glyphs, both printed from what the program uses itself.

use super::mesh::titled;
use crate::glyph::{MISSING, link_letter};
use crate::keys::BINDINGS;
use crate::model::{Model, Screen};
use crate::words;
use probe::state::{Activity, LinkCondition};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

const SCREENS: [(Screen, &str); 4] = [
    (Screen::Mesh, "mesh"),
    (Screen::Chip, "chip"),
    (Screen::Core, "core"),
    (Screen::Gaps, "gaps"),
];

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

fn lines(model: &Model) -> Vec<Line<'static>> {
    let mut lines = vec![Line::styled("Keys", model.theme.title())];
    for binding in BINDINGS {
        let on: Vec<_> =
            SCREENS.iter().filter(|(s, _)| binding.on.contains(s)).map(|(_, n)| *n).collect();
        let on = if on.is_empty() { String::new() } else { format!("  ({})", on.join(", ")) };
        lines.push(Line::from(vec![
            Span::styled(format!("  {:<14}", binding.keys()), model.theme.key()),
            Span::raw(binding.help),
            Span::styled(on, model.theme.dim()),
        ]));
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
    lines
}

fn entry(sign: &str, word: &str) -> Line<'static> {
    Line::raw(format!("  {sign:<14}{word}"))
}
