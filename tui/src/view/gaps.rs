//! The gaps screen: problems, and ranges that could not be read, each with its reason.

use super::pane::titled;
use crate::keys::{Action, keys_of};
use crate::model::Model;
use console::glyph::Missing;
use console::reading::access;
use console::words;
use decode::state::MeshState;
use machine::target::Quarantined;
use machine::words::counted;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Paragraph, Wrap};

/// Draws the gaps screen.
pub(super) fn draw(model: &Model, frame: &mut Frame, area: Rect) {
    let Some(mesh) = model.mesh() else { return };
    let quarantined = model.shown.as_deref().map_or(&[][..], |snapshot| &snapshot.quarantined);
    let title = title(mesh, quarantined);
    let block = titled(model, &title, true);
    let inner = block.inner(area);
    frame.render_widget(block, area);
    let problems = mesh.problems.iter().map(|p| Line::styled(p.clone(), model.theme.bad()));
    let before = words::before(&mesh.before, model.now_micros).into_iter();
    let before = before.map(|sentence| Line::styled(sentence, model.theme.dim()));
    let gaps = mesh.gaps.iter().map(|gap| {
        let style = model.theme.missing(Missing::of_error(&gap.reason));
        let place = format!("{:<22} {:>6} bytes  ", gap.span.addr.to_string(), gap.span.len);
        Line::from(vec![Span::raw(place), Span::styled(access(model.glyphs, &gap.reason), style)])
    });
    let mut lines: Vec<_> = quarantines(model, quarantined)
        .chain(problems)
        .chain(before)
        .chain(gaps)
        .skip(model.gap)
        .take(usize::from(inner.height))
        .collect();
    if lines.is_empty() {
        lines.push(Line::styled("every requested range was read", model.theme.ok()));
    }
    // A sentence can be longer than the line.
    frame.render_widget(Paragraph::new(lines).wrap(Wrap { trim: false }), inner);
}

fn title(mesh: &MeshState, quarantined: &[Quarantined]) -> String {
    let problems = counted(mesh.problems.len() as u64, "problem", "problems");
    let counts = format!("{problems}, {}", counted(mesh.gaps.len() as u64, "gap", "gaps"));
    match quarantined.len() {
        0 => format!(" {counts} "),
        count => {
            format!(" {count} in quarantine ({} tries again), {counts} ", keys_of(Action::Retry))
        }
    }
}

/// What is in quarantine, and why.
fn quarantines(model: &Model, quarantined: &[Quarantined]) -> impl Iterator<Item = Line<'static>> {
    quarantined.iter().map(|Quarantined { chip, tile, towards, reason }| {
        let style = model.theme.missing(Missing::of_error(reason));
        let place = tile.map_or(format!("chip {chip}"), |tile| format!("tile {chip}:{tile}"));
        let how = match towards {
            Some(far) => format!("not to chip {far}"),
            None => "in quarantine".to_owned(),
        };
        let place = Span::raw(format!("{place:<22} {how:<13} "));
        Line::from(vec![place, Span::styled(access(model.glyphs, reason), style)])
    })
}
