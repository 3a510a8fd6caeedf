//! The core screen of a core under control: where it is, its code, its registers.

use super::pane::titled;
use crate::model::Model;
use crate::theme::Theme;
use console::halted::{HeldCore, Pause, code_rows, register_rows};
use images::without_arguments;
use launch::debugging::{Watched, Watchpoint};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

/// Columns of the registers beside the code, two in a row.
const REGISTERS: u16 = 33;
/// From this width on the registers are beside the code.
const WIDE: u16 = 120;
/// Columns of an instruction.
const INSTRUCTION: usize = 30;

/// Draws the core screen of a core under control.
pub(super) fn draw(model: &Model, held: &HeldCore, frame: &mut Frame, area: Rect) {
    let head = head(model, held);
    let rows = [Constraint::Length(head.len() as u16), Constraint::Min(0)];
    let [above, rest] = Layout::vertical(rows).areas(area);
    frame.render_widget(Paragraph::new(head), above);
    let Some(pause) = &held.pause else { return };
    let wide = area.width >= WIDE;
    let registers = register_rows(pause, if wide { 2 } else { 5 }, if wide { "  " } else { " " });
    let [code, beside] = if wide {
        Layout::horizontal([Constraint::Min(0), Constraint::Length(REGISTERS)]).areas(rest)
    } else {
        let height = registers.len() as u16 + 1;
        Layout::vertical([Constraint::Min(0), Constraint::Length(height)]).areas(rest)
    };
    draw_code(model, held, pause, frame, code);
    let block = titled(model, " registers ", false);
    let inner = block.inner(beside);
    frame.render_widget(block, beside);
    let registers: Vec<_> = registers.into_iter().map(Line::raw).collect();
    frame.render_widget(Paragraph::new(registers), inner);
}

fn head(model: &Model, held: &HeldCore) -> Vec<Line<'static>> {
    let label = |text: &str| Span::styled(format!("{text:<11}"), model.theme.dim());
    let mut lines = Vec::new();
    match &held.pause {
        None => lines.push(Line::from(vec![
            label("state"),
            Span::raw("runs to its next breakpoint or watchpoint; :halt halts it"),
        ])),
        Some(pause) => {
            let addr = pause.addr.map_or_else(String::new, |addr| format!(" {addr:#x}"));
            let image = pause.image.as_deref().unwrap_or("no image that is known there");
            lines.push(Line::from(vec![
                label("state"),
                Span::styled(" HALTED ", model.theme.badge(true)),
                Span::raw(format!(" by {}{addr}  pc {:#010x} in {image}", pause.why, pause.pc)),
            ]));
            let place = pause.lines.first();
            let at = place.map(|line| line.without_arguments().to_string());
            let at = at.unwrap_or_else(|| "unknown".to_owned());
            let text = place.and_then(|line| model.source_text(line)).unwrap_or_default();
            let text = Span::styled(format!("   {text}"), model.theme.title());
            lines.push(Line::from(vec![label("source"), Span::raw(at), text]));
            let within = pause.lines.iter().filter_map(|line| line.function.as_deref());
            let within: Vec<_> = within.map(without_arguments).collect();
            lines.push(Line::from(vec![label("within"), Span::raw(within.join(" < "))]));
        }
    }
    let stops: Vec<_> = held.watchpoints.iter().copied().map(watchpoint).collect();
    let stops = if stops.is_empty() { "no breakpoints".to_owned() } else { stops.join("  ") };
    lines.push(Line::from(vec![label("halts at"), Span::raw(stops)]));
    lines
}

fn watchpoint(watchpoint: Watchpoint) -> String {
    let what = match watchpoint.watched {
        Watched::Execution => "",
        Watched::Loads => "load from ",
        Watched::Stores => "store to ",
        Watched::Accesses => "access of ",
    };
    format!("{what}{:#x}", watchpoint.addr)
}

fn draw_code(model: &Model, held: &HeldCore, pause: &Pause, frame: &mut Frame, area: Rect) {
    let block = titled(model, " code ", true);
    let inner = block.inner(area);
    frame.render_widget(block, area);
    let next = pause.code.iter().position(|instruction| instruction.addr == pause.pc).unwrap_or(0);
    let first = next.saturating_sub(usize::from(inner.height) / 3);
    let code = pause.code.get(first..).unwrap_or_default();
    let rows = code.iter().zip(code_rows(code)).take(inner.height.into());
    let rows = rows.map(|(instruction, [addr, text, source])| {
        let is_next = instruction.addr == pause.pc;
        let breaks = held.watchpoints.iter().any(|watchpoint| {
            watchpoint.watched == Watched::Execution && watchpoint.addr == instruction.addr
        });
        let mark = if is_next { model.glyphs.cursor() } else { " " };
        let dot = if breaks { "*" } else { " " };
        let pushes = pause.pushes.iter().filter(|_| is_next);
        let text = pushes.fold(text, |text, pushed| format!("{text}  # {pushed}"));
        let row = format!("{mark}{dot}{addr}  {text:<INSTRUCTION$}  ");
        let style = if is_next { Theme::selected() } else { Style::new() };
        Line::from(vec![Span::styled(row, style), Span::styled(source, model.theme.dim())])
    });
    let rows: Vec<_> = rows.collect();
    let rows = if rows.is_empty() { vec![Line::raw("its memory could not be read")] } else { rows };
    frame.render_widget(Paragraph::new(rows), inner);
}
