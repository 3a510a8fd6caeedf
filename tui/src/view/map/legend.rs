//! The legend below the map: what colours, letters and signs of links mean there.

use super::Map;
use crate::keys::Action;
use crate::model::Model;
use console::words;
use decode::state::{LinkCondition, LinkState};
use machine::words::counted;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

/// A sign and its meaning.
type Part = Vec<Span<'static>>;

/// What tiles show that comes before links of which something is wrong.
const WRONG: usize = 2;

/// Draws the legend; the parts that have no room are left out, the least important first.
pub(super) fn draw(map: &Map<'_>, hidden: usize, scrolls: bool, frame: &mut Frame, area: Rect) {
    let model = map.model;
    let mut parts = vec![vec![Span::styled(
        format!("{} ({})", model.lens.words(), model.keys.of(Action::Lens)),
        model.theme.title(),
    )]];
    // What is wrong comes first, of tiles and of links.
    let (bad, good) = links(map);
    let tiles = tiles(model);
    let wrong = tiles.len().min(WRONG);
    parts.extend(tiles.get(..wrong).unwrap_or_default().iter().cloned());
    parts.extend(bad);
    parts.extend(tiles.get(wrong..).unwrap_or_default().iter().cloned());
    parts.extend(good);
    if hidden > 0 {
        let text = format!("{} not drawn: see the list", counted(hidden as u64, "link", "links"));
        parts.insert(1, vec![Span::styled(text, model.theme.dim())]);
    }
    if scrolls {
        let text = "a part of the map: hjkl moves";
        parts.insert(1, vec![Span::styled(text, model.theme.dim())]);
    }
    let lines = super::chip::flow(parts, area.width, area.height, 2);
    let lines: Vec<_> = lines.into_iter().map(Line::from).collect();
    frame.render_widget(Paragraph::new(lines), area);
}

/// What tiles show, the most telling first.
fn tiles(model: &Model) -> Vec<Part> {
    let blocks = model.theme.has_colors() && !model.glyphs.ascii;
    let all: Vec<_> = model.shades.legend().collect();
    let part = |(entry, count): &(&crate::lens::Entry, usize)| {
        // What is lit on the map is never dimmed.
        let dimmed = model.lights();
        let sign = match model.theme.tile(entry.tone, dimmed) {
            None if blocks => "░".to_owned(),
            Some(_) if blocks => "█".to_owned(),
            _ => entry.letter.to_string(),
        };
        let sign = Span::styled(sign, model.theme.tone(entry.tone, dimmed));
        vec![sign, Span::raw(format!(" {count} {}", entry.words))]
    };
    all.iter().rev().map(part).collect()
}

/// The signs of links that are on the map: those of which something is wrong, and the others.
fn links(map: &Map<'_>) -> (Vec<Part>, Vec<Part>) {
    let (model, all) = (map.model, &map.mesh.links);
    let part = |sign: &str, style: Style, words: String| -> Part {
        vec![Span::styled(sign.to_owned(), style), Span::raw(format!(" {words}"))]
    };
    // One that is down is no longer held.
    let holds = |link: &LinkState| link.condition == LinkCondition::Up && model.pulse.holds(link);
    let held = all.iter().filter(|link| holds(link)).count();
    let count = |condition: LinkCondition| {
        let is_so = |link: &&LinkState| link.condition == condition && !holds(link);
        all.iter().filter(is_so).count() as u64
    };
    let of = |condition: LinkCondition| {
        let count = Some(count(condition)).filter(|count| *count > 0)?;
        let sign = model.glyphs.link(condition);
        let words = format!("{} {}", counted(count, "link", "links"), words::link(condition));
        Some(part(sign, model.theme.link(condition), words))
    };
    let mut bad = Vec::new();
    let passed = all.iter().filter(|link| model.goes(link).is_some()).count() as u64;
    if passed > 0 {
        let words = format!("the path, over {}", counted(passed, "link", "links"));
        bad.push(part(model.glyphs.to_right(), model.theme.title(), words));
    }
    if held > 0 {
        let words = format!("{} held", counted(held as u64, "link", "links"));
        bad.push(part("H", model.theme.bad(), words));
    }
    bad.extend([LinkCondition::Down, LinkCondition::Disagree].into_iter().filter_map(of));
    let mut good: Vec<Part> =
        [LinkCondition::Up, LinkCondition::Unread].into_iter().filter_map(of).collect();
    let fastest = model.pulse.fastest();
    if fastest > 0 {
        let sign = if model.glyphs.ascii { "_-#" } else { "▁▄█" };
        let words = format!("packets/s to {}", words::count(fastest));
        good.push(part(sign, model.theme.traffic(), words));
    }
    (bad, good)
}
