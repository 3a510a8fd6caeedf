//! The fabric screen: routers, muxes and clients above; below, channels or waits.

use super::pane::{row_at, titled};
use super::table::{self, Look};
use crate::lists;
use crate::model::{FabricPane, List, Model};
use console::fabric::{self, FabricPart};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::Style;
use ratatui::text::Line;
use ratatui::widgets::Paragraph;

/// `packets` counts queued packets and, at routers, packets in flight and those that were received
/// and wait there; `pkt/s` those that its end of the link sends per second.
const LOOK: Look = Look {
    nouns: ("router", "routers"),
    idle: "idle",
    head: &["part", "what", "status", "packets", "pkt/s", "still", "link or wait"],
    widths: &[12, 19, 17, 10, 5, 6, 0],
    spared: &[&[], &[4], &[4, 5]],
};
/// From this width on, the target of a client is shown in full.
const WIDE: u16 = 130;
const WIDE_LOOK: Look = Look { widths: &[12, 30, 17, 10, 5, 6, 0], ..LOOK };
/// Minimum height of the lower pane.
const LEAST_BELOW: u16 = 6;

/// The list and the pane below it, which has this many lines.
fn areas(area: Rect, parts: usize, below: usize) -> [Rect; 2] {
    let listed = u16::try_from(parts.max(1) + 2).unwrap_or(u16::MAX);
    let wanted = u16::try_from(below + 1).unwrap_or(u16::MAX);
    let least = wanted.max(LEAST_BELOW).min(area.height / 2);
    let list = listed.min(area.height.saturating_sub(least));
    Layout::vertical([Constraint::Length(list), Constraint::Min(0)]).areas(area)
}

/// The title and the lines of the lower pane.
fn lower(model: &Model) -> (String, Vec<Line<'static>>) {
    let part = lists::part_selected(model);
    let part = part.as_ref();
    match model.fabric_pane {
        FabricPane::Channels => channels(model, part),
        FabricPane::Waits => waits(model),
    }
}

/// The part at a row of the terminal.
pub(super) fn part_at(model: &Model, area: Rect, y: u16) -> Option<usize> {
    let parts = &model.lists[List::Parts];
    let [list, _] = areas(area, parts.count(), lower(model).1.len());
    row_at(list, 2, parts.at, parts.count(), y)
}

/// Draws the fabric screen.
pub(super) fn draw(model: &Model, frame: &mut Frame, area: Rect) {
    let (title, below) = lower(model);
    let [upper, lower] = areas(area, model.lists[List::Parts].count(), below.len());
    draw_list(model, frame, upper);
    let block = titled(model, &title, false);
    let inner = block.inner(lower);
    frame.render_widget(block, lower);
    frame.render_widget(Paragraph::new(below), inner);
}

fn draw_list(model: &Model, frame: &mut Frame, area: Rect) {
    let mut title = table::title(&model.lists[List::Parts], "routers, muxes, clients");
    if let Some(packet) = lists::oldest_packet(model) {
        title = format!("{}; {packet} ", title.trim_end());
    }
    let block = titled(model, &title, true);
    let inner = block.inner(area);
    frame.render_widget(block, area);
    let number = model.shown.as_ref().map_or(0, |snapshot| snapshot.number);
    let none = match model.lists[List::Parts].all() {
        0 if number <= model.fabric_unasked => "the fabric is being read",
        0 => "no router, mux or client found so far",
        _ => "nothing matches",
    };
    let look = if area.width < WIDE { &LOOK } else { &WIDE_LOOK };
    table::draw(model, &model.lists[List::Parts], look, (none, true), (frame, inner));
}

/// The channels of the selected part.
fn channels(model: &Model, part: Option<&FabricPart<'_>>) -> (String, Vec<Line<'static>>) {
    let text = match part {
        Some(FabricPart::Router(router)) => {
            let mesh = model.mesh();
            let all = mesh.map_or(&[][..], |mesh| &mesh.fabric.ledgers);
            let own = all.iter().filter(|it| [it.from, it.to].contains(&router.at));
            let parts = [
                fabric::channel_table(model.glyphs, router).text(),
                fabric::ledger_table(own).text(),
                mesh.map_or_else(String::new, |mesh| fabric::router_text(mesh, router)),
                fabric::candidates(model.glyphs, router),
                fabric::unknown_text(router),
            ];
            parts.concat()
        }
        Some(FabricPart::Mux(mux)) => {
            fabric::mux_table(model.glyphs, std::slice::from_ref(*mux)).text()
                + &fabric::mux_text(model.glyphs, mux)
        }
        Some(FabricPart::Client(client)) => {
            fabric::client_table(model.glyphs, std::slice::from_ref(*client)).text()
                + &fabric::client_text(client)
        }
        None => String::new(),
    };
    let mut lines: Vec<_> = text.lines().map(|line| Line::raw(format!(" {line}"))).collect();
    if let Some(head) = lines.first_mut() {
        head.style = model.theme.dim();
    }
    (part.map_or_else(String::new, |part| format!(" {} ", part.name())), lines)
}

/// Waits that have not changed since the previous snapshot.
fn waits(model: &Model) -> (String, Vec<Line<'static>>) {
    let Some((now, before)) = model.shown.as_deref().zip(model.before.as_deref()) else {
        return (" waits: one more snapshot is needed ".to_owned(), Vec::new());
    };
    let waits = now.fabric_waits().lasting(before.fabric_waits());
    let cycles = waits.cycles();
    let deadlocks = match cycles.len() {
        0 => String::new(),
        1 => "; a deadlock".to_owned(),
        n => format!("; {n} deadlocks"),
    };
    let still = match waits.still.len() {
        0 => String::new(),
        n => format!("; {n} still"),
    };
    let title =
        format!(" waits since the previous snapshot: {}{deadlocks}{still} ", waits.all.len());
    let lines = waits.tree().into_iter().map(|line| {
        let stuck = line.on.is_some() || line.depth == 0 && waits.still.contains(&line.who);
        let style = if stuck { model.theme.bad() } else { Style::new() };
        Line::styled(format!(" {}", fabric::wait(&waits, &line)), style)
    });
    (title, lines.collect())
}
