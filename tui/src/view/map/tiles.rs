//! The tiles of a chip on the map: blocks of colour, half a cell for a tile where there is little room; or
//! letters.

use super::super::tiles::{telling, under};
use super::canvas::Canvas;
use super::scale::Scale;
use crate::geometry::GRID;
use crate::lens::NONE;
use crate::model::Model;
use console::seen::CoreSeen;
use decode::state::{ChipState, TileState};
use layouts::{ChipId, NocXy};
use ratatui::style::{Color, Style};
use std::ops::Range;

/// What some tiles show together: that of the most telling one.
#[derive(Clone, Copy)]
struct Part {
    shade: u8,
    dimmed: bool,
}

/// Draws the tiles of a chip.
pub(super) fn draw(
    model: &Model,
    chip: &ChipState,
    scale: Scale,
    (x, y): (i32, i32),
    canvas: &mut Canvas,
) {
    let of = Shown::of(model, chip.chip.id);
    let blocks = model.theme.has_colors() && !model.glyphs.ascii;
    let width = scale.tile_columns();
    for row in 0..scale.rows {
        let [upper, lower] = scale.tiles_down(row);
        for column in 0..scale.columns {
            // Where a tile has several columns, its text follows the first one.
            if width > 2 && column % width > 0 {
                continue;
            }
            let across = scale.tiles_across(column);
            let parts = [of.part(&across, &upper), of.part(&across, &lower)];
            let at = (x + i32::from(column), y + i32::from(row));
            if blocks {
                let (c, style) = block(model, parts);
                canvas.char(at, c, style);
            } else if !(width > 1 && column % width > 0) {
                let (c, style) = letter(model, parts);
                canvas.char(at, c, style);
            }
        }
        if width > 2 {
            texts(&of, chip, scale, (x, y), row, canvas);
        }
    }
}

/// What all tiles of a chip are drawn by.
struct Shown<'a> {
    model: &'a Model,
    chip: ChipId,
    shades: &'a [u8],
    /// Whether some tiles of the map are lit, and the others dimmed.
    lights: bool,
    /// Whether its tiles were looked at long ago.
    old: bool,
}

impl<'a> Shown<'a> {
    fn of(model: &'a Model, chip: ChipId) -> Self {
        let shades = model.shades.chip(chip);
        Self { model, chip, shades, lights: model.lights(), old: model.seen_ago(chip).is_some() }
    }

    /// The most telling of some tiles.
    fn part(&self, across: &Range<u8>, down: &Range<u8>) -> Part {
        let tiles = down.clone().flat_map(|y| across.clone().map(move |x| NocXy { x, y }));
        let shade = |xy: NocXy| {
            let at = usize::from(xy.y) * usize::from(GRID.0) + usize::from(xy.x);
            self.shades.get(at).copied().unwrap_or(NONE)
        };
        let (shade, xy) =
            tiles.map(|xy| (shade(xy), xy)).max().unwrap_or((NONE, NocXy { x: 0, y: 0 }));
        let unlit = self.lights && !self.model.is_lit(self.chip, xy);
        Part { shade, dimmed: unlit || self.old }
    }
}

/// A cell with the colours of its upper and its lower half.
fn block(model: &Model, parts: [Part; 2]) -> (char, Style) {
    let style = Style::new();
    let color = |part: Part| -> Option<Color> {
        model.theme.tile(model.shades.entry(part.shade)?.tone, part.dimmed)
    };
    if parts.iter().all(|part| color(*part).is_none()) {
        let there = parts.iter().any(|part| part.shade != NONE);
        return if there { ('░', model.theme.dim()) } else { (' ', style) };
    }
    // Beside a half with a colour, black is no tile, and dim one that was not read.
    let dim = |part: Part| model.theme.dim().fg.filter(|_| part.shade != NONE);
    match parts.map(|part| color(part).or_else(|| dim(part))) {
        [None, None] => (' ', style),
        [Some(upper), None] => ('▀', style.fg(upper)),
        [None, Some(lower)] => ('▄', style.fg(lower)),
        [Some(upper), Some(lower)] if upper == lower => ('█', style.fg(upper)),
        [Some(upper), Some(lower)] => ('▀', style.fg(upper).bg(lower)),
    }
}

/// The letter of the most telling half.
fn letter(model: &Model, parts: [Part; 2]) -> (char, Style) {
    let [upper, lower] = parts;
    let part = if lower.shade > upper.shade { lower } else { upper };
    model.shades.entry(part.shade).map_or((' ', Style::new()), |entry| {
        (entry.letter, model.theme.tone(entry.tone, part.dimmed))
    })
}

/// Writes the waypoint of each tile after its colour, and below it, where there is room, what `under`
/// says.
fn texts(
    shown: &Shown<'_>,
    chip: &ChipState,
    scale: Scale,
    (x, y): (i32, i32),
    row: u16,
    canvas: &mut Canvas,
) {
    let (model, [down, _]) = (shown.model, scale.tiles_down(row));
    let is_first = row == 0 || scale.tiles_down(row - 1)[0] != down;
    for tile in chip.tiles.iter().filter(|tile| down.contains(&tile.xy.y)) {
        let width = scale.tile_columns();
        let at = (x + i32::from(u16::from(tile.xy.x) * width) + 1, y + i32::from(row));
        let part = shown.part(&(tile.xy.x..tile.xy.x + 1), &down);
        let Some(entry) = model.shades.entry(part.shade) else { continue };
        let style = model.theme.tone(entry.tone, part.dimmed);
        if is_first {
            let room = usize::from(width) - 1;
            let text: String = waypoint(model, chip.chip.id, tile).chars().take(room).collect();
            canvas.text(at, &text, style);
        } else {
            let mut column = at.0;
            for span in &under(model, chip.chip.id, tile).spans {
                if column + span.width() as i32 >= at.0 + i32::from(width) {
                    break;
                }
                column = canvas.span(column, at.1, span);
            }
        }
    }
}

/// The waypoint of a tile's most telling core, by the snapshot or by that of the verdict.
fn waypoint(model: &Model, chip: ChipId, tile: &TileState) -> String {
    let known = telling(model, tile).and_then(|core| core.waypoint.known().cloned());
    let seen = || {
        let cores = model.shown.as_deref()?.seen.get(&(chip, tile.xy))?;
        let telling = cores.iter().find(|core| core.kernel.is_some()).or(cores.first());
        telling.and_then(|core: &CoreSeen| core.waypoint.clone())
    };
    known.or_else(seen).unwrap_or_default()
}
