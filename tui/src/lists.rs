//! The lists that `/` searches: what a row shows, and which rows pass.

pub(crate) mod causes;
mod cores;
mod gaps;
mod links;
mod parts;

pub(crate) use cores::core_selected;
pub(crate) use gaps::gaps;
pub(crate) use links::{APART_CYCLES, core_at, link_selected, standing, waypoint};
pub(crate) use parts::part_selected;

use crate::model::{Model, Screen};
use console::words;
use ratatui::style::Style;
use ratatui::text::Line;

/// Settles the tables: their rows are those of the mesh on screen.
pub(crate) fn settle(model: &mut Model) {
    match model.screen {
        Screen::Mesh => {
            let (links, cores) = (links::link_rows(model), cores::core_rows(model));
            model.links.settle(links);
            model.cores.settle(cores);
        }
        Screen::Fabric => {
            let parts = parts::part_rows(model);
            model.parts.settle(parts);
        }
        Screen::Chip | Screen::Core | Screen::Gaps | Screen::Why => {}
    }
}

/// A sentence in as many lines as a width needs.
pub(crate) fn wrapped(text: &str, width: u16, style: Style) -> Vec<Line<'static>> {
    words::wrapped(text, width).into_iter().map(|row| Line::styled(row, style)).collect()
}
