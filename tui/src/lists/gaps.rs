//! What is in quarantine, problems, what was before, and ranges that could not be read: a line each.

use crate::model::Model;
use console::glyph::Missing;
use console::reading::access;
use console::words;
use machine::target::Quarantined;
use ratatui::text::{Line, Span};

/// All lines of the gaps screen.
pub(crate) fn gaps(model: &Model) -> Vec<Line<'static>> {
    let Some(mesh) = model.mesh() else { return Vec::new() };
    let quarantined = model.shown.as_deref().map_or(&[][..], |snapshot| &snapshot.quarantined);
    let problems = mesh.problems.iter().map(|p| Line::styled(p.clone(), model.theme.bad()));
    let before = words::before(&mesh.before, model.now_micros).into_iter();
    let before = before.map(|sentence| Line::styled(sentence, model.theme.dim()));
    let gaps = mesh.gaps.iter().map(|gap| {
        let style = model.theme.missing(Missing::of_error(&gap.reason));
        let place = format!("{:<22} {:>6} bytes  ", gap.span.addr.to_string(), gap.span.len);
        Line::from(vec![Span::raw(place), Span::styled(access(model.glyphs, &gap.reason), style)])
    });
    quarantines(model, quarantined).chain(problems).chain(before).chain(gaps).collect()
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
