//! What is drawn at a place of the terminal: where the mouse was clicked.

use super::pane::row_at;
use super::pointed::Hit;
use super::{chip, fabric, listing, mesh, routes, tab_width, tabs};
use crate::geometry;
use crate::lists;
use crate::model::{CorePane, List, Model, Screen};
use ratatui::layout::Rect;

/// What is at a column and row.
pub(crate) fn hit(model: &Model, (x, y): (u16, u16)) -> Option<Hit> {
    let [_, tabs, ..] = geometry::chrome(Rect::new(0, 0, model.size.0, model.size.1));
    if geometry::too_small(model.size) {
        return None;
    }
    if y == tabs.y {
        return tab(model, x);
    }
    let body = body(model);
    if !body.contains((x, y).into()) || model.shown.is_none() {
        return None;
    }
    match model.screen {
        Screen::Mesh => mesh::hit(model, body, (x, y)),
        Screen::Chip => chip::tile_at(model, body, (x, y)).map(Hit::Tile),
        Screen::Core => {
            let words = geometry::core_areas(body, model.size, model.core_pane).words?;
            let shown = words.contains((x, y).into()) && model.core_pane != CorePane::Code;
            let at = row_at(words, 1, model.word, model.words().len(), y);
            at.filter(|_| shown).map(Hit::Word)
        }
        Screen::Fabric => fabric::part_at(model, body, y).map(|at| Hit::Row(List::Parts, at)),
        Screen::Routes => routes::chip_at(model, body, (x, y)).map(Hit::Chip),
        Screen::Why => {
            let [_, list, _] = lists::causes::areas(model, model.verdict()?, body);
            let causes = &model.lists[List::Causes];
            row_at(list, 1, causes.at, causes.count(), y).map(|at| Hit::Row(List::Causes, at))
        }
        _ => listing::row_at(model, body, y),
    }
}

/// The area of the screen, below the line about what stands still.
fn body(model: &Model) -> Rect {
    let (columns, rows) = model.room();
    let [_, _, body, _] = geometry::chrome(Rect::new(0, 0, columns, rows));
    Rect { y: body.y + u16::from(model.alarm(columns).is_some()), ..body }
}

fn tab(model: &Model, x: u16) -> Option<Hit> {
    let mut right = 0;
    let tabs = tabs(model).into_iter();
    let mut places = tabs.map(|(screen, text)| {
        right += tab_width(&text);
        (screen, right)
    });
    places.find(|(_, right)| usize::from(x) < *right).map(|(screen, _)| Hit::Screen(screen))
}
