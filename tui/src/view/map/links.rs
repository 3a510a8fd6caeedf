//! The links in the gutters of the map: how fast either end sends, and whether they are held or down.

use super::canvas::Canvas;
use super::{Edge, Map};
use crate::lists::{standing, waypoint};
use crate::model::Model;
use console::words;
use decode::state::{LinkCondition, LinkState};
use layouts::EthId;
use ratatui::style::Style;
use ratatui::text::Span;
use std::collections::BTreeMap;

/// Columns of a link below a chip: with the channels of both ends, with a blank after the rates, the
/// rates of both ends, one sign.
const BELOW: [i32; 4] = [7, 3, 2, 1];
/// From this many columns of a gutter on, channels are written as `e8`, and waypoints are shown.
const NAMED: i32 = 14;
const WITH_WAYPOINTS: i32 = 28;
/// With fewer columns channels are not named.
const NUMBERED: i32 = 6;
/// Fewer columns do not show both rates of a link.
const LEAST_WIRE: i32 = 3;
/// From this many columns of a wire on it tells the bytes in flight.
const WITH_BYTES: usize = 12;

impl Map<'_> {
    /// Draws the links of each gutter. If it has no room for all, the last place says how many are
    /// not drawn.
    pub(super) fn draw_links(&self, canvas: &mut Canvas) {
        let mut gutters: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for link in &self.mesh.links {
            let Some(edge) = self.neighbours(link) else { continue };
            let gutter = (edge.from.row, edge.from.column, edge.from.row == edge.to.row);
            gutters.entry(gutter).or_default().push((edge, link));
        }
        for ((.., beside), links) in gutters {
            if beside {
                self.draw_all_beside(canvas, &links);
            } else {
                self.draw_all_below(canvas, &links);
            }
        }
    }

    /// Draws links to the next chip of a row: beside the tiles, in one column or in several.
    fn draw_all_beside(&self, canvas: &mut Canvas, links: &[(Edge, &LinkState)]) {
        let Some((first, _)) = links.first() else { return };
        let (x, y) = self.corner(first.from);
        let (wide, high) = self.chip_size();
        let rows = self.rows_beside(links.len());
        let (mut count, mut width) = self.lanes(links.len(), rows);
        if width < 1 {
            (count, width) = (1, i32::from(self.gutter.0));
        }
        let room = usize::from(rows) * count as usize;
        let at = |n: usize| {
            let (row, lane) = (n % usize::from(rows), n / usize::from(rows));
            (
                x + i32::from(wide) + lane as i32 * (width + 1),
                y + i32::from(high - rows) + row as i32,
            )
        };
        let drawn = if links.len() > room { room - 1 } else { links.len() };
        for (n, (edge, link)) in links.iter().take(drawn).enumerate() {
            self.draw_beside(canvas, (at(n), width), edge, link);
        }
        self.draw_more(canvas, at(drawn), links.len() - drawn);
    }

    /// Columns of links beside each other in a gutter, and the width of each, over so many rows.
    fn lanes(&self, links: usize, rows: u16) -> (i32, i32) {
        let lanes = links.div_ceil(usize::from(rows.max(1))).max(1) as i32;
        (lanes, (i32::from(self.gutter.0) - (lanes - 1)) / lanes)
    }

    /// Rows of so many links beside a chip: that of the title is used where that makes them wider, and
    /// they are narrow else.
    pub(super) fn rows_beside(&self, links: usize) -> u16 {
        let (rows, high) = (self.scale.rows, self.chip_size().1);
        let width = self.lanes(links, rows).1;
        if width < LEAST_WIRE && self.lanes(links, high).1 > width { high } else { rows }
    }

    fn draw_more(&self, canvas: &mut Canvas, at: (i32, i32), more: usize) {
        if more > 0 {
            canvas.text(at, &format!("+{more}"), self.model.theme.dim());
        }
    }

    /// One row of the gutter between two chips in a row.
    fn draw_beside(
        &self,
        canvas: &mut Canvas,
        (at, width): ((i32, i32), i32),
        edge: &Edge,
        link: &LinkState,
    ) {
        let (mut x, y) = at;
        let name = |end: EthId| match width {
            NAMED.. => format!(" e{}", end.channel),
            NUMBERED.. => format!("{}", end.channel),
            _ => String::new(),
        };
        let right = if width >= NAMED { name(edge.second) + " " } else { name(edge.second) };
        let right = right.trim_start().to_owned();
        x = canvas.span(x, y, &Span::raw(name(edge.first)));
        let mut stop = at.0 + width - right.chars().count() as i32;
        canvas.text((stop, y), &right, Style::new());
        if width >= NAMED {
            (x, stop) = (x + 1, stop - 1);
        }
        if width >= WITH_WAYPOINTS {
            let [first, second] =
                [edge.first, edge.second].map(|end| waypoint(self.model, self.mesh, end));
            canvas.span(x, y, &first);
            canvas.span(stop - second.content.chars().count() as i32, y, &second);
            (x, stop) = (x + 5, stop - 5);
        }
        for span in wire(self.model, edge, link, (stop - x).max(1) as usize) {
            x = canvas.span(x, y, &span);
        }
    }

    /// Draws links to the chip below, which share a row, as wide as all of them can be.
    fn draw_all_below(&self, canvas: &mut Canvas, links: &[(Edge, &LinkState)]) {
        let Some((first, _)) = links.first() else { return };
        let (x, y) = self.corner(first.from);
        let (wide, high) = self.chip_size();
        let (room, count) = (i32::from(wide), links.len() as i32);
        // The last one needs no blank after it.
        let fits = |columns: &i32| count * columns <= room + i32::from(*columns > 2);
        let columns = BELOW.into_iter().find(fits).unwrap_or(1);
        let drawn = if count > room { (room - 3).max(0) as usize } else { links.len() };
        let at = |n: usize| (x + n as i32 * columns, y + i32::from(high));
        for (n, (edge, link)) in links.iter().take(drawn).enumerate() {
            self.draw_below(canvas, at(n), edge, link, columns);
        }
        self.draw_more(canvas, at(drawn), links.len() - drawn);
    }

    fn draw_below(
        &self,
        canvas: &mut Canvas,
        (x, y): (i32, i32),
        edge: &Edge,
        link: &LinkState,
        columns: i32,
    ) {
        let (letter, _, style) = standing(self.model, link);
        let upright = if self.model.glyphs.ascii { "|" } else { "║" };
        let is_sound = link.condition == LinkCondition::Up && !self.model.pulse.holds(link);
        let bars = rates(self.model, edge, link);
        let signs: Vec<Span<'static>> = match (is_sound, bars) {
            (true, [None, None]) if columns > 1 => {
                vec![Span::styled(upright, style), Span::styled(upright, style)]
            }
            (true, [None, None]) => vec![Span::styled(upright, style)],
            (true, [down, up]) if columns > 1 => {
                let bar = |bar: Option<&'static str>| match bar {
                    Some(bar) => Span::styled(bar, self.model.theme.traffic()),
                    None => Span::styled(upright, style),
                };
                vec![bar(down), bar(up)]
            }
            (true, bars) => {
                let bar = bars.into_iter().flatten().max().unwrap_or(upright);
                vec![Span::styled(bar, self.model.theme.traffic())]
            }
            (false, _) if columns > 1 => {
                let glyph = if link.condition == LinkCondition::Up {
                    upright
                } else {
                    self.model.glyphs.link(link.condition)
                };
                vec![Span::styled(glyph, style), Span::styled(letter, style)]
            }
            (false, _) => vec![Span::styled(letter, style)],
        };
        let signs = match path(self.model, edge, link, ["▼", "▲"], ["v", "^"]) {
            Some(sign) => vec![sign; signs.len()],
            None => signs,
        };
        let name = |end: EthId| Span::raw(end.channel.to_string());
        let named = columns == BELOW[0];
        let mut x = if named { canvas.span(x, y, &name(edge.first)) } else { x };
        for sign in &signs {
            x = canvas.span(x, y, sign);
        }
        if named {
            canvas.span(x, y, &name(edge.second));
        }
    }
}

/// The sign of a path over a link: from its first end to the second, or back.
fn path(
    model: &Model,
    edge: &Edge,
    link: &LinkState,
    unicode: [&'static str; 2],
    ascii: [&'static str; 2],
) -> Option<Span<'static>> {
    let [there, back] = edge.turned(model.goes(link)?);
    let [first, second] = if model.glyphs.ascii { ascii } else { unicode };
    let sign = match (there, back) {
        (true, true) => "+",
        (true, false) => first,
        _ => second,
    };
    Some(Span::styled(sign, model.theme.title()))
}

/// How fast the first end of a link sends, and the second, against the fastest end of the mesh; none
/// where nothing was seen to be sent.
fn rates(model: &Model, edge: &Edge, link: &LinkState) -> [Option<&'static str>; 2] {
    let rates = model.pulse.link(link).map_or([None, None], |pulse| pulse.rate);
    let fastest = model.pulse.fastest();
    let bar = |rate: u64| model.glyphs.eighth(rate, fastest);
    edge.turned(rates).map(|rate| rate.filter(|rate| *rate > 0).map(bar))
}

/// The link itself: at either end how fast it sends, between them the bytes in flight, and a letter if
/// it is held, down or unread.
fn wire(model: &Model, edge: &Edge, link: &LinkState, width: usize) -> Vec<Span<'static>> {
    if let Some(sign) = path(model, edge, link, ["▶", "◀"], [">", "<"]) {
        return vec![sign; width];
    }
    let glyph = model.glyphs.link(link.condition);
    let (letter, _, style) = standing(model, link);
    let is_sound = link.condition == LinkCondition::Up && !model.pulse.holds(link);
    let bars = if is_sound { rates(model, edge, link) } else { [None, None] };
    if width < 3 {
        let bar = bars.into_iter().flatten().max();
        let sign = if is_sound { glyph } else { letter };
        let traffic = model.theme.traffic();
        let first = bar.map_or(Span::styled(sign, style), |bar| Span::styled(bar, traffic));
        return vec![first];
    }
    let inner = width - 2;
    let end = |bar: Option<&'static str>| match bar {
        Some(bar) => Span::styled(bar, model.theme.traffic()),
        None => Span::styled(glyph, style),
    };
    let half = inner / 2;
    let [right, left] = if width < WITH_BYTES { [0, 0] } else { edge.in_flight(link) };
    let side = |bytes: u64, room: usize, arrow: &str, before: bool| {
        if bytes == 0 {
            return Span::styled(glyph.repeat(room), style);
        }
        let label = words::bytes(bytes);
        let label = if label.chars().count() + 2 <= room { label } else { String::new() };
        let fill = glyph.repeat(room.saturating_sub(1 + label.chars().count()));
        let text =
            if before { format!("{arrow}{label}{fill}") } else { format!("{fill}{label}{arrow}") };
        Span::styled(text, model.theme.traffic())
    };
    let middle = if is_sound { glyph } else { letter };
    vec![
        end(bars[0]),
        side(left, half, model.glyphs.to_left(), true),
        Span::styled(middle, style),
        side(right, inner - half - 1, model.glyphs.to_right(), false),
        end(bars[1]),
    ]
}
