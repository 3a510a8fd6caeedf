//! The memory pane: bytes of the tile, with the names of the members at these addresses.

use super::pane::titled;
use crate::model::Model;
use crate::theme::Theme;
use console::glyph::Missing;
use console::members::{self, MemberRow};
use console::reading::{access, long, short};
use decode::state::CoreState;
use images::Reading;
use layouts::NocAddr;
use machine::snapshot::AccessError;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;
use symbols::Value;

/// Width from which text is shown next to the names.
const WIDE: u16 = 120;

/// Draws the memory pane; its last line describes the byte under the cursor.
pub(super) fn draw(model: &Model, core: &CoreState, frame: &mut Frame, area: Rect, focused: bool) {
    let title =
        format!(" memory of tile {}:{}   / or : goes to an address ", model.chip, model.tile);
    let block = titled(model, &title, focused);
    let inner = block.inner(area);
    frame.render_widget(block, area);
    let rows = u64::from(inner.height.saturating_sub(1));
    let mut lines: Vec<_> = (0..rows)
        .map(|row| row_line(model, core, model.top + row * 16, inner.width, focused))
        .collect();
    lines.push(cursor_line(model, core));
    frame.render_widget(Paragraph::new(lines), inner);
}

fn byte(model: &Model, addr: u64) -> Result<u8, AccessError> {
    let Some(snapshot) = model.shown.as_deref() else { return Err(AccessError::NotRequested) };
    let at = NocAddr { chip: model.chip, tile: model.tile, offset: addr };
    snapshot.memory.bytes(at, 1).map(|b| b.first().copied().unwrap_or_default())
}

fn row_line(
    model: &Model,
    core: &CoreState,
    addr: u64,
    width: u16,
    focused: bool,
) -> Line<'static> {
    let mut line = vec![Span::styled(format!("{addr:06x} "), model.theme.dim())];
    let members = members::over(core, addr, addr + 16);
    let mut text = String::new();
    let mut reason = None;
    for i in 0..16 {
        let at = addr + i;
        let member = members.iter().find(|(_, w)| (w.addr()..w.end()).contains(&at));
        let style = member.map_or(Style::new(), |(n, _)| model.theme.member(n % 2 == 1));
        let gap = if i % 4 == 0 { " " } else { "" };
        let (cell, style) = match byte(model, at) {
            Ok(byte) => {
                text.push(if byte.is_ascii_graphic() { char::from(byte) } else { '.' });
                (format!("{byte:02x}"), style)
            }
            Err(error) => {
                let missing = Missing::of_error(&error);
                text.push_str(model.glyphs.missing(missing));
                let cell = model.glyphs.missing(missing).repeat(2);
                reason.get_or_insert(error);
                (cell, model.theme.missing(missing))
            }
        };
        let style =
            if focused && at == model.cursor { style.patch(Theme::selected()) } else { style };
        line.push(Span::raw(gap));
        line.push(Span::styled(cell, style));
        if width >= WIDE {
            line.push(Span::raw(" "));
        }
    }
    if width >= WIDE {
        line.push(Span::styled(format!(" {text}"), model.theme.dim()));
    }
    line.push(Span::raw(" "));
    if let Some(error) = reason {
        line.push(Span::styled(
            access(model.glyphs, &error),
            model.theme.missing(Missing::of_error(&error)),
        ));
        return Line::from(line);
    }
    // A name is in the row where its member starts. Its parent's path is shown once, if there is
    // room.
    let mut holder = "";
    for (n, row) in members.into_iter().filter(|(_, w)| (addr..addr + 16).contains(&w.addr())) {
        let (holds, member) = row.path().rsplit_once('.').unwrap_or(("", row.path()));
        let name = if width >= WIDE && holds != holder { row.path() } else { member };
        holder = holds;
        let text = format!("{name}={} ", brief(model, &row));
        line.push(Span::styled(text, model.theme.member(n % 2 == 1)));
    }
    Line::from(line)
}

fn cursor_line(model: &Model, core: &CoreState) -> Line<'static> {
    let at = model.cursor;
    let mut line = vec![Span::styled(format!("{at:#x}: "), Theme::key())];
    match members::over(core, at, at + 1).first() {
        None => line.push(Span::styled("no member of a known type is here", model.theme.dim())),
        Some((_, row)) => {
            let memory = model.shown.as_deref().map(|snapshot| &snapshot.memory);
            let reading = memory
                .map_or(Reading::Absent, |memory| members::text(model.core_id(), memory, row));
            let text = long(model.glyphs, &reading, Clone::clone);
            let (path, addr, size) = (row.path(), row.addr(), row.size());
            line.push(Span::raw(format!("{path} at {addr:#x}, {size} bytes = {text}")));
        }
    }
    Line::from(line)
}

/// A short value, for the row of its member.
fn brief(model: &Model, row: &MemberRow<'_>) -> String {
    let number = |v: &u64| if *v < 10 { v.to_string() } else { format!("{v:#x}") };
    let node = match row {
        MemberRow::Word(word) => return short(model.glyphs, &word.value, number),
        MemberRow::Member(node, _) => node,
    };
    let Some(snapshot) = model.shown.as_deref() else { return String::new() };
    match members::bytes(model.core_id(), &snapshot.memory, node) {
        Err(error) => model.glyphs.missing(Missing::of_error(&error)).to_owned(),
        Ok(bytes) => match node.value(bytes) {
            Value::Unsigned(value) => number(&value),
            Value::Array(_) | Value::Struct(_) => "..".to_owned(),
            value => value.to_string(),
        },
    }
}
