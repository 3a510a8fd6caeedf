//! The map of the mesh: every tile of every chip at its coordinates; links are in the gutters between
//! chips, and those to chips elsewhere are arrows with the chip's number.

mod arrows;
mod canvas;
mod chip;
mod legend;
mod links;
mod scale;
mod tiles;

use self::canvas::Canvas;
use self::scale::Scale;
use crate::model::{MeshPane, Model, Zoom};
use crate::place::{GridCell, places};
use decode::state::{ChipState, LinkState, MeshState};
use layouts::{ChipId, EthId};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use std::collections::BTreeMap;

/// Rows of a screen that the map leaves to the list below it.
pub(super) const LEAST_LIST: u16 = 5;

/// The map, with its scale chosen.
pub(super) struct Map<'a> {
    model: &'a Model,
    mesh: &'a MeshState,
    places: Vec<GridCell>,
    /// The place of each chip, by its id.
    by_chip: BTreeMap<ChipId, GridCell>,
    /// Columns and rows of chips.
    grid: (u16, u16),
    scale: Scale,
    /// Rows of facts between the title of a chip and its tiles.
    facts: u16,
    /// Columns between chips, and rows.
    gutter: (u16, u16),
    /// Rows of the legend.
    legend: u16,
}

impl<'a> Map<'a> {
    /// Chooses the largest scale at which the whole map fits, or the smallest, which scrolls.
    pub(super) fn new(model: &'a Model, mesh: &'a MeshState, area: Rect) -> Self {
        let places = places(mesh);
        let of = |at: fn(&GridCell) -> usize| {
            places.iter().map(at).max().map_or(1, |last| last as u16 + 1)
        };
        let grid = (of(|it| it.column), of(|it| it.row));
        let room = (area.width, area.height.saturating_sub(LEAST_LIST + 1));
        let scale = match model.zoom {
            Zoom::Mesh => Scale::of_mesh(grid, room),
            Zoom::Chips => Scale::of_chip(room),
        };
        let gutter = (scale.gutter(grid, room.0), u16::from(grid.1 > 1));
        let rows = |facts: u16| grid.1 * (1 + facts + scale.rows) + (grid.1 - 1) * gutter.1;
        let facts = (0..=scale.facts).rev().find(|facts| rows(*facts) <= room.1).unwrap_or(0);
        let legend = if rows(facts) < room.1 { 2 } else { 1 };
        let by_chip = places.iter().map(|place| (place.chip, *place)).collect();
        Self { model, mesh, places, by_chip, grid, scale, facts, gutter, legend }
    }

    /// Rows of the whole map with its legend.
    pub(super) fn height(&self) -> u16 {
        self.full().1 + self.legend
    }

    /// Columns and rows of a chip: its title, its facts, its tiles.
    fn chip_size(&self) -> (u16, u16) {
        (self.scale.columns, 1 + self.facts + self.scale.rows)
    }

    /// Columns and rows of all chips.
    fn full(&self) -> (u16, u16) {
        let (wide, high) = self.chip_size();
        let all = |count: u16, size: u16, gap: u16| {
            count.saturating_mul(size).saturating_add((count - 1).saturating_mul(gap))
        };
        (all(self.grid.0, wide, self.gutter.0), all(self.grid.1, high, self.gutter.1))
    }

    fn corner(&self, place: GridCell) -> (i32, i32) {
        let (wide, high) = self.chip_size();
        let x = place.column as i32 * i32::from(wide + self.gutter.0);
        let y = place.row as i32 * i32::from(high + self.gutter.1);
        (x, y)
    }

    fn place(&self, chip: ChipId) -> Option<GridCell> {
        self.by_chip.get(&chip).copied()
    }

    /// The ends of a link between adjacent chips, the left or upper end first.
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

    /// The chip at a place of the terminal.
    pub(super) fn chip_at(&self, area: Rect, (x, y): (u16, u16)) -> Option<ChipId> {
        let [area, _] = self.areas(area);
        let (left, top) = self.scrolled(area);
        let x = i32::from(x) - i32::from(area.x) + left;
        let y = i32::from(y) - i32::from(area.y) + top;
        let (w, h) = self.chip_size();
        let inside = |place: &&GridCell| {
            let corner = self.corner(**place);
            (corner.0..corner.0 + i32::from(w)).contains(&x)
                && (corner.1..corner.1 + i32::from(h)).contains(&y)
        };
        self.places.iter().find(inside).map(|place| place.chip)
    }

    /// The area of the chips, and that of the legend.
    fn areas(&self, area: Rect) -> [Rect; 2] {
        Layout::vertical([Constraint::Min(0), Constraint::Length(self.legend)]).areas(area)
    }

    /// Column and row of a map larger than the terminal at its upper left corner.
    fn scrolled(&self, shown: Rect) -> (i32, i32) {
        let (x, y) = self.place(self.model.chip).map_or((0, 0), |p| self.corner(p));
        let (wide, high) = self.chip_size();
        let full = self.full();
        let scroll = |at: i32, size: u16, window: u16, full: u16| {
            let centred = at + i32::from(size) / 2 - i32::from(window) / 2;
            // Of a chip larger than the window the beginning is shown.
            let begins = centred.min(at);
            begins.min(i32::from(full) - i32::from(window)).max(0)
        };
        (scroll(x, wide, shown.width, full.0), scroll(y, high, shown.height, full.1))
    }

    /// Draws the map and its legend.
    pub(super) fn draw(&self, frame: &mut Frame, area: Rect) {
        let [shown, below] = self.areas(area);
        let (left, top) = self.scrolled(shown);
        let far = self.far_links();
        let beside = self.links_beside();
        let mut canvas = Canvas::new(frame.buffer_mut(), shown, (left, top));
        let mut hidden = 0;
        for place in &self.places {
            if let Some(chip) = self.mesh.chips.iter().find(|c| c.chip.id == place.chip) {
                let arrows = far.get(&place.chip).map_or(&[][..], Vec::as_slice);
                let links = beside.get(&place.chip).copied().unwrap_or(0);
                hidden += self.draw_chip(&mut canvas, (*place, chip), arrows, links);
            }
        }
        self.draw_links(&mut canvas);
        let full = self.full();
        let scrolls = full.0 > shown.width || full.1 > shown.height;
        legend::draw(self, hidden, scrolls, frame, below);
    }

    /// Draws a chip with so many links to the next one; returns how many arrows had no room.
    fn draw_chip(
        &self,
        canvas: &mut Canvas,
        (place, chip): (GridCell, &ChipState),
        arrows: &[arrows::Arrow],
        links: usize,
    ) -> usize {
        let (x, y) = self.corner(place);
        let chosen = place.chip == self.model.chip;
        let focused = chosen && self.model.mesh_pane == MeshPane::Map;
        let room = self.title_room(place, links, canvas.width());
        let beside = self.scale.columns + self.gutter.0;
        let (title, hidden) = chip::title(self.model, chip, arrows, (room, beside), focused);
        let mut at = x;
        for span in title {
            at = canvas.span(at, y, &span);
        }
        let facts = chip::facts(self.model, chip, self.scale.columns, self.facts);
        for (row, line) in (1..).zip(facts) {
            let mut at = x;
            for span in line {
                at = canvas.span(at, y + row, &span);
            }
        }
        let top = y + 1 + i32::from(self.facts);
        tiles::draw(self.model, chip, self.scale, (x, top), canvas);
        hidden
    }

    /// Columns of a chip's title: those of the gutter too, if the links there leave its row free.
    fn title_room(&self, place: GridCell, links: usize, width: u16) -> u16 {
        if place.column as u16 + 1 >= self.grid.0 {
            return self.scale.columns + width.saturating_sub(self.full().0);
        }
        let free = self.gutter.0 > 3 && self.rows_beside(links) == self.scale.rows;
        self.scale.columns + if free { self.gutter.0 - 1 } else { 0 }
    }

    /// The number of links from each chip to the next one of its row.
    fn links_beside(&self) -> BTreeMap<ChipId, usize> {
        let mut counts = BTreeMap::new();
        let edges = self.mesh.links.iter().filter_map(|link| self.neighbours(link));
        for edge in edges.filter(|edge| edge.from.row == edge.to.row) {
            *counts.entry(edge.from.chip).or_insert(0) += 1;
        }
        counts
    }

    /// The links of each chip to chips that are not beside it, as arrows.
    fn far_links(&self) -> BTreeMap<ChipId, Vec<arrows::Arrow>> {
        let far = self.mesh.links.iter().filter(|link| self.neighbours(link).is_none());
        arrows::of_links(self.model, far, |chip| self.place(chip))
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
    /// Something of both ends, that of the first one first.
    fn turned<T: Copy>(&self, [a, b]: [T; 2]) -> [T; 2] {
        if self.swapped { [b, a] } else { [a, b] }
    }

    /// Bytes in flight from the first end to the second, and back. Unknown counts are not drawn.
    fn in_flight(&self, link: &LinkState) -> [u64; 2] {
        self.turned([link.a_to_b.unwrap_or(0), link.b_to_a.unwrap_or(0)])
    }
}
