//! The lists that `/` searches: what a row shows, and which rows pass.

pub(crate) mod causes;
mod gaps;
mod links;
mod parts;

pub(crate) use gaps::gaps;
pub(crate) use links::{
    APART_CYCLES, core_at, folded, link_cells, link_rows, links, standing, waypoint,
};
pub(crate) use parts::{part_cells, parts, worst_credits};

use console::words;
use ratatui::style::Style;
use ratatui::text::Line;

/// A sentence in as many lines as a width needs.
pub(crate) fn wrapped(text: &str, width: u16, style: Style) -> Vec<Line<'static>> {
    words::wrapped(text, width).into_iter().map(|row| Line::styled(row, style)).collect()
}
