//! The chip screen: the NoC grid with a waypoint per tile, and the cores of the selected tile.

use super::pane::titled;
use super::tiles;
use crate::geometry::GRID;
use crate::model::Model;
use crate::theme::Theme;
use console::reading::short;
use console::words;
use decode::state::{CoreState, EthState, TileState};
use layouts::NocXy;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::Style;
use ratatui::text::Line;
use ratatui::widgets::{Paragraph, Row, Table};
use std::ops::Range;

/// Columns left of the grid, for row numbers.
const MARGIN: u16 = 3;

/// Where the tiles of a chip are.
struct Grid {
    area: Rect,
    detail: Rect,
    /// Columns and rows of a tile.
    cell: (u16, u16),
    /// The rows of tiles in sight.
    rows: Range<u16>,
}

impl Grid {
    fn new(model: &Model, area: Rect) -> Self {
        let (columns, rows) = GRID;
        let high = if area.height >= 2 * u16::from(rows) + 10 { 2 } else { 1 };
        let grid_height = 1 + high * u16::from(rows);
        // The detail below keeps at least its title and two lines; a grid that is too short scrolls.
        let tall = grid_height.min(area.height.saturating_sub(3));
        let [area, detail] =
            Layout::vertical([Constraint::Length(tall), Constraint::Min(0)]).areas(area);
        let width = (area.width.saturating_sub(MARGIN) / u16::from(columns)).clamp(1, 15);
        let fit = (area.height.saturating_sub(1) / high).max(1);
        let last = u16::from(rows).saturating_sub(fit);
        let first = u16::from(model.tile.y).saturating_sub(fit / 2).min(last);
        let rows = first..(first + fit).min(u16::from(rows));
        Self { area, detail, cell: (width, high), rows }
    }
}

/// The tile at a place of the terminal.
pub(super) fn tile_at(model: &Model, area: Rect, (x, y): (u16, u16)) -> Option<NocXy> {
    let Grid { area, cell, rows, .. } = Grid::new(model, area);
    let column = x.checked_sub(area.x + MARGIN)? / cell.0;
    let row = rows.start + y.checked_sub(area.y + 1)? / cell.1;
    let inside = column < u16::from(GRID.0) && rows.contains(&row) && y < area.bottom();
    inside.then_some(NocXy { x: column as u8, y: row as u8 })
}

/// Draws the chip screen.
pub(super) fn draw(model: &Model, frame: &mut Frame, area: Rect) {
    let Some(chip) = model.chip_state() else { return };
    let columns = GRID.0;
    let Grid { area: grid, detail, cell: (width, high), rows } = Grid::new(model, area);
    let head: Vec<_> = (0..columns).map(|x| format!("{x:<w$}", w = usize::from(width))).collect();
    frame.buffer_mut().set_stringn(
        grid.x + MARGIN,
        grid.y,
        head.concat(),
        usize::from(grid.width.saturating_sub(MARGIN)),
        model.theme.dim(),
    );
    for y in rows.clone() {
        let top = grid.y + 1 + (y - rows.start) * high;
        frame.buffer_mut().set_stringn(grid.x, top, format!("{y:>2}"), 2, model.theme.dim());
        for tile in chip.tiles.iter().filter(|t| u16::from(t.xy.y) == y && t.xy.x < columns) {
            let left = grid.x + MARGIN + u16::from(tile.xy.x) * width;
            draw_cell(model, frame, tile, Rect::new(left, top, width, high).intersection(grid));
        }
    }
    draw_detail(model, frame, detail);
}

fn draw_cell(model: &Model, frame: &mut Frame, tile: &TileState, area: Rect) {
    let inner = Rect { width: area.width.saturating_sub(1), ..area };
    let chosen = tile.xy == model.tile;
    let style = if chosen { Theme::selected() } else { Style::new() };
    let mut lines = vec![tiles::cell(model, tile, usize::from(area.width))];
    if area.height > 1 {
        lines.push(tiles::under(model, model.chip, tile));
    }
    frame.render_widget(Paragraph::new(lines).style(style), inner);
    if chosen {
        // The selection does not rely on colour: the whole cell is reversed, blanks included.
        frame.buffer_mut().set_style(inner, style);
    }
}

fn draw_detail(model: &Model, frame: &mut Frame, area: Rect) {
    let NocXy { x, y } = model.tile;
    let Some(tile) = model.tile_state() else {
        let block = titled(model, &format!(" tile {x}-{y}: not in this chip's layout "), true);
        frame.render_widget(block, area);
        return;
    };
    let fused = if tile.harvested { ", harvested" } else { "" };
    let channel = tile.eth.as_ref().map_or(String::new(), |e| format!(" e{}", e.channel));
    let without = words::without_waypoints(&tile.cores).is_some();
    let built = if without { format!(", {}", words::NO_WAYPOINTS) } else { String::new() };
    let kind = words::tile(tile.kind);
    let title = format!(" chip {} tile {x}-{y}: {kind}{channel}{fused}{built} ", model.chip);
    let block = titled(model, &title, true);
    let inner = block.inner(area);
    frame.render_widget(block, area);
    let facts = facts(model, tile);
    let [upper, lower] =
        Layout::vertical([Constraint::Length(facts.len() as u16), Constraint::Min(0)]).areas(inner);
    frame.render_widget(Paragraph::new(facts), upper);
    let rows = tile.cores.iter().map(|core| core_row(model, core));
    let widths = [
        Constraint::Length(1),
        Constraint::Length(6),
        Constraint::Length(15),
        Constraint::Length(8),
        Constraint::Length(14),
        Constraint::Min(20),
    ];
    frame.render_widget(Table::new(rows, widths), lower);
}

fn core_row(model: &Model, core: &CoreState) -> Row<'static> {
    let chosen = core.id.core == model.core;
    let state = Line::from(tiles::activity_words(model, core));
    let go = short(model.glyphs, &core.go, |g| words::go(*g).to_owned());
    Row::new(vec![
        Line::raw(if chosen { model.glyphs.cursor() } else { " " }),
        Line::raw(core.id.core.name()),
        state,
        Line::from(tiles::waypoint(model, core)),
        Line::raw(format!("go {go}")),
        Line::styled(words::sources(core).unwrap_or_default(), model.theme.dim()),
    ])
    .style(if chosen { Theme::key() } else { Style::new() })
}

/// The state of an Ethernet tile's link and its counters.
fn facts(model: &Model, tile: &TileState) -> Vec<Line<'static>> {
    let Some(eth) = &tile.eth else { return Vec::new() };
    let far = match tiles::link(model, model.chip, tile) {
        None => Line::styled("no peer known", model.theme.dim()),
        Some((link, far)) => {
            let text = format!("link {} to {far}", words::link(link.condition));
            Line::styled(text, model.theme.link(link.condition))
        }
    };
    vec![far, Line::raw(counters(model, eth))]
}

fn counters(model: &Model, eth: &EthState) -> String {
    let g = model.glyphs;
    let version = short(g, &eth.firmware_version, |(a, b, c)| format!("{a}.{b}.{c}"));
    let counts = eth.counts();
    let counts =
        counts.iter().map(|(words, count)| words.to_string() + &short(g, count, u64::to_string));
    counts.collect::<String>() + &format!(" base fw {version}")
}
