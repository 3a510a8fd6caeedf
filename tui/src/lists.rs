//! The lists that `/` searches: what a row shows, and which rows pass.

pub(crate) mod causes;
mod cores;
mod gaps;
mod links;
mod log;
mod operations;
mod parts;
mod queues;
mod resources;
mod semaphores;

pub(crate) use links::{APART_CYCLES, core_at, link_selected, standing, waypoint};
pub(crate) use parts::{oldest_packet, part_selected};

use crate::model::{List, Model, Screen};
use crate::table::Row;
use console::words;
use ratatui::style::Style;
use ratatui::text::Line;

/// The rows of a list.
fn rows(model: &Model, list: List) -> Vec<Row> {
    match list {
        List::Links => links::link_rows(model),
        List::Cores => cores::core_rows(model),
        List::Parts => parts::part_rows(model),
        List::Causes => causes::cause_rows(model),
        List::Gaps => gaps::gap_rows(model),
        List::Operations => operations::operation_rows(model),
        List::Resources => resources::resource_rows(model),
        List::Queues => queues::queue_rows(model),
        List::Semaphores => semaphores::semaphore_rows(model),
        List::Log => log::log_rows(model),
    }
}

/// All about the selected row of a list that has the screen to itself.
pub(crate) fn detail(model: &Model, list: List) -> Vec<Line<'static>> {
    let Some(row) = model.lists[list].selected() else { return Vec::new() };
    match list {
        List::Operations => operations::operation_detail(model, row.key.parse().unwrap_or(0)),
        List::Resources => resources::resource_detail(model, row),
        // The last column may be cut.
        List::Gaps | List::Semaphores | List::Log => {
            row.cells.last().map(|cell| Line::from(cell.text.clone())).into_iter().collect()
        }
        _ => Vec::new(),
    }
}

/// Settles the tables: their rows are those of the mesh on screen.
pub(crate) fn settle(model: &mut Model) {
    let lists = match model.screen {
        Screen::Mesh => vec![List::Causes, List::Links, List::Cores],
        _ => model.list().into_iter().collect(),
    };
    for list in lists {
        let rows = rows(model, list);
        model.lists[list].settle(rows);
    }
}

/// A sentence in as many lines as a width needs.
pub(crate) fn wrapped(text: &str, width: u16, style: Style) -> Vec<Line<'static>> {
    words::wrapped(text, width).into_iter().map(|row| Line::styled(row, style)).collect()
}
