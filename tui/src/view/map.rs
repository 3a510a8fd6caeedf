//! The map of the mesh: a box per chip at its coordinates; links are in the gutters between boxes.

mod chip;

use self::chip::chip_lines;
use crate::lists::{standing, waypoint};
use crate::model::{MeshPane, Model};
use crate::place::{GridCell, places};
use console::words;
use decode::state::{ChipState, LinkState, MeshState};
use layouts::{ChipId, EthId};
use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::Span;
use std::collections::BTreeMap;

/// Columns of a box and of the gutter right of it, the preferred first.
const WIDTHS: [(u16, u16); 6] = [(26, 28), (26, 16), (24, 16), (15, 10), (11, 8), (6, 4)];
/// Rows of a box, its border included, the preferred first.
const HEIGHTS: [u16; 3] = [7, 5, 3];

/// The map, with its scale chosen.
pub(super) struct Map<'a> {
    model: &'a Model,
    mesh: &'a MeshState,
    places: Vec<GridCell>,
    box_size: (u16, u16),
    gutter: (u16, u16),
}

/// A window onto a map that may be larger than the terminal.
struct Canvas<'a> {
    buffer: &'a mut Buffer,
    area: Rect,
    left: i32,
    top: i32,
}

impl Canvas<'_> {
    /// Writes one span; what lies outside the window is cut.
    fn text(&mut self, x: i32, y: i32, text: &str, style: Style) {
        let y = y - self.top;
        if y < 0 || y >= i32::from(self.area.height) {
            return;
        }
        for (i, c) in text.chars().enumerate() {
            let x = x - self.left + i as i32;
            if x < 0 || x >= i32::from(self.area.width) {
                continue;
            }
            let at = (self.area.x + x as u16, self.area.y + y as u16);
            if let Some(cell) = self.buffer.cell_mut(at) {
                cell.set_char(c).set_style(style);
            }
        }
    }

    fn span(&mut self, x: i32, y: i32, span: &Span) -> i32 {
        self.text(x, y, &span.content, span.style);
        x + span.content.chars().count() as i32
    }
}

impl<'a> Map<'a> {
    /// Chooses the largest scale at which the whole map fits, or the smallest, which scrolls.
    pub(super) fn new(model: &'a Model, mesh: &'a MeshState, area: Rect) -> Self {
        let places = places(mesh);
        let columns = places.iter().map(|p| p.column + 1).max().unwrap_or(1);
        let rows = places.iter().map(|p| p.row + 1).max().unwrap_or(1);
        let fits = |(w, g): &(u16, u16)| {
            columns * usize::from(*w) + (columns - 1) * usize::from(*g) <= usize::from(area.width)
        };
        let (wide, gap) = WIDTHS.into_iter().find(fits).unwrap_or((6, 4));
        let room = usize::from(area.height.saturating_sub(5));
        let high =
            HEIGHTS.into_iter().find(|h| rows * usize::from(*h) + (rows - 1) <= room).unwrap_or(3);
        Self { model, mesh, places, box_size: (wide, high), gutter: (gap, u16::from(rows > 1)) }
    }

    /// Rows of the whole map: the boxes and a line about links that are not drawn.
    pub(super) fn height(&self) -> u16 {
        let rows = self.places.iter().map(|p| p.row + 1).max().unwrap_or(1);
        let (high, gap) = (usize::from(self.box_size.1), usize::from(self.gutter.1));
        let all = rows * high + (rows - 1) * gap + usize::from(self.hidden() > 0);
        u16::try_from(all).unwrap_or(u16::MAX)
    }

    fn corner(&self, place: GridCell) -> (i32, i32) {
        let x = place.column as i32 * i32::from(self.box_size.0 + self.gutter.0);
        let y = place.row as i32 * i32::from(self.box_size.1 + self.gutter.1);
        (x, y)
    }

    fn place(&self, chip: ChipId) -> Option<GridCell> {
        self.places.iter().copied().find(|p| p.chip == chip)
    }

    /// The ends of a link between adjacent boxes, the left or upper end first.
    fn neighbours(&self, link: &LinkState) -> Option<Edge> {
        let (a, b) = (link.link.a, link.link.b);
        let (pa, pb) = (self.place(a.chip)?, self.place(b.chip)?);
        let edge = |from, to, first, second, swapped| Edge { from, to, first, second, swapped };
        let beside = |p: GridCell, q: GridCell| p.row == q.row && p.column + 1 == q.column;
        let above = |p: GridCell, q: GridCell| p.column == q.column && p.row + 1 == q.row;
        if beside(pa, pb) || above(pa, pb) {
            Some(edge(pa, pb, a, b, false))
        } else if beside(pb, pa) || above(pb, pa) {
            Some(edge(pb, pa, b, a, true))
        } else {
            None
        }
    }

    /// Number of links that no gutter can hold, such as those that wrap around.
    fn hidden(&self) -> usize {
        self.mesh.links.iter().filter(|l| self.neighbours(l).is_none()).count()
    }

    /// The chip at a place of the terminal.
    pub(super) fn chip_at(&self, area: Rect, (x, y): (u16, u16)) -> Option<ChipId> {
        let (left, top) = self.scrolled(area);
        let x = i32::from(x) - i32::from(area.x) + left;
        let y = i32::from(y) - i32::from(area.y) + top;
        let (w, h) = (i32::from(self.box_size.0), i32::from(self.box_size.1));
        let inside = |place: &&GridCell| {
            let corner = self.corner(**place);
            (corner.0..corner.0 + w).contains(&x) && (corner.1..corner.1 + h).contains(&y)
        };
        self.places.iter().find(inside).map(|place| place.chip)
    }

    /// Column and row of a map larger than the terminal at its upper left corner.
    fn scrolled(&self, shown: Rect) -> (i32, i32) {
        let (x, y) = self.place(self.model.chip).map_or((0, 0), |p| self.corner(p));
        let (full_x, full_y) = self.places.iter().map(|p| self.corner(*p)).fold((0, 0), |m, c| {
            (m.0.max(c.0 + i32::from(self.box_size.0)), m.1.max(c.1 + i32::from(self.box_size.1)))
        });
        let scroll = |at: i32, size: u16, window: u16, full: i32| {
            let centred = at + i32::from(size) / 2 - i32::from(window) / 2;
            centred.min(full - i32::from(window)).max(0)
        };
        let left = scroll(x, self.box_size.0, shown.width, full_x);
        (left, scroll(y, self.box_size.1, shown.height, full_y))
    }

    pub(super) fn draw(&self, frame: &mut Frame, area: Rect) {
        let hidden = self.hidden();
        let shown = Rect { height: area.height.saturating_sub(u16::from(hidden > 0)), ..area };
        let (left, top) = self.scrolled(shown);
        let mut canvas = Canvas { left, top, buffer: frame.buffer_mut(), area: shown };
        for place in &self.places {
            if let Some(chip) = self.mesh.chips.iter().find(|c| c.chip.id == place.chip) {
                self.draw_chip(&mut canvas, *place, chip);
            }
        }
        self.draw_links(&mut canvas);
        if hidden > 0 {
            let text = format!(
                "+ {hidden} links between chips that are not neighbours here: see the list"
            );
            let y = area.y + area.height.saturating_sub(1);
            frame.buffer_mut().set_stringn(
                area.x,
                y,
                text,
                usize::from(area.width),
                self.model.theme.dim(),
            );
        }
    }

    fn draw_chip(&self, canvas: &mut Canvas, place: GridCell, chip: &ChipState) {
        let (x, y) = self.corner(place);
        let (w, h) = (usize::from(self.box_size.0), i32::from(self.box_size.1));
        let chosen = place.chip == self.model.chip;
        let focused = chosen && self.model.mesh_pane == MeshPane::Map;
        let lit = self.model.pulse.is_member(place.chip);
        let style = if lit { self.model.theme.bad() } else { self.model.theme.border(chosen) };
        let (corner, flat, wall) = if self.model.glyphs.ascii {
            (["+"; 4], "-", "|")
        } else {
            (["┌", "┐", "└", "┘"], "─", "│")
        };
        let line = flat.repeat(w.saturating_sub(2));
        canvas.text(x, y, &format!("{}{line}{}", corner[0], corner[1]), style);
        for row in 1..h - 1 {
            canvas.text(x, y + row, wall, style);
            canvas.text(x + w as i32 - 1, y + row, wall, style);
        }
        canvas.text(x, y + h - 1, &format!("{}{line}{}", corner[2], corner[3]), style);
        let title = if w >= 15 {
            format!(" chip {} ", chip.chip.id)
        } else {
            format!(" {} ", chip.chip.id)
        };
        let title_style = if focused { self.model.theme.selected() } else { style };
        canvas.text(x + 1, y, &title, title_style);
        let lines = chip_lines(self.model, chip, w >= 20);
        // A small box has no blank columns around its text.
        let longest = lines.iter().map(Span::width).max().unwrap_or_default();
        let pad = usize::from(w >= 10 && longest + 3 <= w);
        for (row, line) in (1..).zip(lines.iter().take(h as usize - 2)) {
            let text = self.cut(&line.content, w - 2 - pad);
            canvas.text(x + 1 + pad as i32, y + row, &text, line.style);
        }
    }

    /// Cuts a text that is too long so that no number is cut: a part of one is another number.
    fn cut(&self, text: &str, room: usize) -> String {
        if text.chars().count() <= room {
            return text.to_owned();
        }
        let mark = self.model.glyphs.cut();
        let kept: String = text.chars().take(room.saturating_sub(mark.chars().count())).collect();
        match text.split_once('/') {
            Some((first, _)) if first.chars().count() <= room => first.to_owned(),
            _ => kept + mark,
        }
    }

    /// Draws the links of each gutter. If it has no room for all, the last place says how many are
    /// not drawn.
    fn draw_links(&self, canvas: &mut Canvas) {
        let mut gutters: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for link in &self.mesh.links {
            let Some(edge) = self.neighbours(link) else { continue };
            let gutter = (edge.from.row, edge.from.column, edge.from.row == edge.to.row);
            gutters.entry(gutter).or_default().push((edge, link));
        }
        for ((.., beside), links) in gutters {
            let Some(corner) = links.first().map(|(edge, _)| self.corner(edge.from)) else {
                continue;
            };
            let (right, below) = (i32::from(self.box_size.0), i32::from(self.box_size.1));
            // A link beside takes a row next to the box, one below takes some columns under it.
            let (at, step, room) = if beside {
                ((corner.0 + right, corner.1 + 1), (0, 1), below - 1)
            } else {
                let columns = if self.names_channels() { 6 } else { 1 };
                ((corner.0 + 1, corner.1 + below), (columns, 0), (right - 2) / columns)
            };
            let place = |n: usize| (at.0 + step.0 * n as i32, at.1 + step.1 * n as i32);
            let room = room.max(1) as usize;
            let drawn = if links.len() > room { room - 1 } else { links.len() };
            for (n, (edge, link)) in links.iter().take(drawn).enumerate() {
                if beside {
                    self.draw_beside(canvas, place(n), edge, link);
                } else {
                    self.draw_below(canvas, place(n), edge, link);
                }
            }
            if drawn < links.len() {
                let (x, y) = place(drawn);
                let more = format!("+{}", links.len() - drawn);
                canvas.text(x, y, &more, self.model.theme.dim());
            }
        }
    }

    /// Whether a box is wide enough for the channels of the links below it.
    fn names_channels(&self) -> bool {
        self.box_size.0 >= 15
    }

    /// One row of the gutter between two boxes in a row.
    fn draw_beside(&self, canvas: &mut Canvas, at: (i32, i32), edge: &Edge, link: &LinkState) {
        let (mut x, y) = at;
        let width = i32::from(self.gutter.0);
        let end =
            |e: EthId| if width >= 10 { format!("e{}", e.channel) } else { e.channel.to_string() };
        let (left, right) = (end(edge.first), end(edge.second));
        let full = width >= 28;
        x = canvas.span(x, y, &Span::raw(left));
        let mut stop = at.0 + width - right.chars().count() as i32;
        canvas.text(stop, y, &right, Style::new());
        if full {
            let routes = [
                waypoint(self.model, self.mesh, edge.first),
                waypoint(self.model, self.mesh, edge.second),
            ];
            canvas.span(x + 1, y, &routes[0]);
            x += 6;
            stop -= 1 + routes[1].content.chars().count() as i32;
            canvas.span(stop, y, &routes[1]);
            stop = at.0 + width - right.chars().count() as i32 - 6;
        }
        let (to_right, to_left) = edge.traffic(link);
        let line = wire(self.model, link, (stop - x).max(1) as usize, to_left, to_right);
        for span in &line {
            x = canvas.span(x, y, span).max(x);
        }
    }

    /// Links to the box below share one row: upper channel, letter, lower channel.
    fn draw_below(&self, canvas: &mut Canvas, (x, y): (i32, i32), edge: &Edge, link: &LinkState) {
        let (letter, _, style) = standing(self.model, link);
        let text = if self.names_channels() {
            let (down, up) = edge.traffic(link);
            let glyph = match (down > 0, up > 0) {
                (true, _) => {
                    if self.model.glyphs.ascii {
                        "v"
                    } else {
                        "▼"
                    }
                }
                (false, true) => {
                    if self.model.glyphs.ascii {
                        "^"
                    } else {
                        "▲"
                    }
                }
                (false, false) => letter,
            };
            format!("{}{glyph}{} ", edge.first.channel, edge.second.channel)
        } else {
            letter.to_owned()
        };
        canvas.text(x, y, &text, style);
    }
}

/// A link between neighbours on the map.
struct Edge {
    from: GridCell,
    to: GridCell,
    first: EthId,
    second: EthId,
    /// The link's `a` is the second end.
    swapped: bool,
}

impl Edge {
    /// Bytes in flight from the first end to the second, and back. Unknown counts are not drawn.
    fn traffic(&self, link: &LinkState) -> (u64, u64) {
        let (ab, ba) = (link.a_to_b.unwrap_or(0), link.b_to_a.unwrap_or(0));
        if self.swapped { (ba, ab) } else { (ab, ba) }
    }
}

/// The link itself: its letter in the middle, traffic to the left before it, to the right after it.
fn wire(
    model: &Model,
    link: &LinkState,
    width: usize,
    left: u64,
    right: u64,
) -> Vec<Span<'static>> {
    let glyph = model.glyphs.link(link.condition);
    let (sign, _, style) = standing(model, link);
    let half = width.saturating_sub(1) / 2;
    let side = |bytes: u64, room: usize, arrow: &str, before: bool| {
        if bytes == 0 || room == 0 {
            return Span::styled(glyph.repeat(room), style);
        }
        let label = words::bytes(bytes);
        let label = if label.chars().count() + 2 <= room { label } else { String::new() };
        let fill = glyph.repeat(room - 1 - label.chars().count());
        let text =
            if before { format!("{arrow}{label}{fill}") } else { format!("{fill}{label}{arrow}") };
        Span::styled(text, model.theme.traffic())
    };
    let rest = width.saturating_sub(1) - half;
    let letter = match (width, left, right) {
        // Where there is room for one sign only, traffic takes precedence.
        (1, 0, 0) | (2.., ..) => sign,
        (_, 0, _) => model.glyphs.to_right(),
        _ => model.glyphs.to_left(),
    };
    vec![
        side(left, half, model.glyphs.to_left(), true),
        Span::styled(letter, style),
        side(right, rest, model.glyphs.to_right(), false),
    ]
}
