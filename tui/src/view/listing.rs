//! The screens that are one list: its table, and below it all about the selected row.

use super::pane::{self, titled};
use super::pointed::Hit;
use super::table::{self, Look};
use crate::keys::Action;
use crate::lists::{self, wrapped};
use crate::model::{List, Model};
use machine::words::counted;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::Line;
use ratatui::widgets::Paragraph;

const GAPS: Look = Look {
    nouns: ("row", "rows"),
    idle: "idle",
    head: &["kind", "place", "bytes", "why"],
    widths: &[10, 24, 6, 0],
    spared: &[&[], &[2], &[1, 2]],
};
const OPERATIONS: Look = Look {
    nouns: ("operation", "operations"),
    idle: "of one core each",
    head: &["id", "operation", "state", "chips", "cores", "still", "kernels"],
    widths: &[6, 24, 7, 9, 6, 6, 0],
    spared: &[&[], &[5], &[1, 5]],
};
const RESOURCES: Look = Look {
    nouns: ("group of cores", "groups of cores"),
    idle: "run no kernel",
    head: &["chip", "tiles", "use", "cores", "kernel", "where"],
    widths: &[4, 8, 16, 5, 24, 0],
    spared: &[&[], &[1]],
};
const QUEUES: Look = Look {
    nouns: ("queue", "queues"),
    idle: "idle, without errors",
    head: &["tile", "queue", "", "state", "depth", "in flight", "errors", "answered or sent"],
    widths: &[6, 22, 8, 13, 7, 9, 6, 16],
    spared: &[&[], &[7], &[2, 7]],
};
const SEMAPHORES: Look = Look {
    nouns: ("row", "rows"),
    idle: "for which nobody waits",
    head: &["tile", "what", "value, pages", "waiting"],
    widths: &[8, 18, 12, 0],
    spared: &[&[]],
};
const LOG: Look = Look {
    nouns: ("line", "lines"),
    idle: "idle",
    head: &["time", "kind", "text"],
    widths: &[14, 8, 0],
    spared: &[&[]],
};

/// Least rows of the list.
const LEAST: u16 = 4;

/// How a list is drawn, its title, and what is said if it has no row.
fn looks(model: &Model, list: List) -> (Look, String, String) {
    let table = &model.lists[list];
    let title = |what: &str| table::title(table, what);
    let chip = model.chip;
    let (look, title, none) = match list {
        List::Operations => (
            OPERATIONS,
            title("operations"),
            "no core that was read runs an operation with a host-assigned id",
        ),
        List::Resources => (RESOURCES, title("what runs where"), "nothing was read yet"),
        List::Queues => (
            QUEUES,
            title(&format!("queues of gateways, and of chip {chip}")),
            "no gateway, and no link of this chip",
        ),
        List::Semaphores => (
            SEMAPHORES,
            title("semaphores and circular buffers"),
            "no kernel that runs has a circular buffer, or is known to wait for a semaphore",
        ),
        List::Log => (LOG, title("log"), "nothing was done or reported yet"),
        _ => (GAPS, gaps_title(model), "every requested range was read"),
    };
    (look, title, if table.all() == 0 { none.to_owned() } else { "nothing matches".to_owned() })
}

/// Problems, gaps, and what is in quarantine.
fn gaps_title(model: &Model) -> String {
    let Some(mesh) = model.mesh() else { return String::new() };
    let quarantined = model.shown.as_deref().map_or(0, |snapshot| snapshot.quarantined.len());
    let problems = counted(mesh.problems.len() as u64, "problem", "problems");
    let counts = format!("{problems}, {}", counted(mesh.gaps.len() as u64, "gap", "gaps"));
    let table = &model.lists[List::Gaps];
    match quarantined {
        _ if !table.filter.is_empty() => table::title(table, "gaps and problems"),
        0 => format!(" {counts} "),
        count => {
            format!(
                " {count} in quarantine ({} tries again), {counts} ",
                model.keys.of(Action::Retry)
            )
        }
    }
}

/// The areas of the list, and of all about the selected row.
fn areas(model: &Model, list: List, area: Rect) -> ([Rect; 2], Vec<Line<'static>>) {
    let lines: Vec<_> = lists::detail(model, list)
        .into_iter()
        .flat_map(|line| {
            let style = line.spans.first().map(|span| span.style).unwrap_or_default();
            wrapped(&line.to_string(), area.width, style)
        })
        .collect();
    let wanted = u16::try_from(lines.len() + 1).unwrap_or(u16::MAX);
    let room = area.height.saturating_sub(LEAST).min(area.height / 2);
    let below = if lines.is_empty() { 0 } else { wanted.min(room) };
    let parts = [Constraint::Min(0), Constraint::Length(below)];
    (Layout::vertical(parts).areas(area), lines)
}

/// The row of the list at a row of the terminal.
pub(super) fn row_at(model: &Model, area: Rect, y: u16) -> Option<Hit> {
    let list = model.list()?;
    let ([above, _], _) = areas(model, list, area);
    let table = &model.lists[list];
    pane::row_at(above, 2, table.at, table.count(), y).map(|at| Hit::Row(list, at))
}

/// Draws the list of the screen, and all about its selected row.
pub(super) fn draw(model: &Model, frame: &mut Frame, area: Rect) {
    let Some(list) = model.list() else { return };
    let ([above, below], lines) = areas(model, list, area);
    let (look, title, none) = looks(model, list);
    let block = titled(model, &title, true);
    let inner = block.inner(above);
    frame.render_widget(block, above);
    table::draw(model, &model.lists[list], &look, (&none, true), (frame, inner));
    let name = model.lists[list].selected().and_then(|row| row.cells.first());
    let name = name.map_or_else(String::new, |cell| format!(" {} ", cell.text.content));
    let block = titled(model, &name, false);
    let inner = block.inner(below);
    if below.height > 0 {
        frame.render_widget(block, below);
        frame.render_widget(Paragraph::new(lines), inner);
    }
}
