//! Moving the selection: rows, tiles, chips, bytes.

use crate::geometry::{self, GRID};
use crate::help;
use crate::keys::Action;
use crate::lists;
use crate::model::{CorePane, MeshPane, Model, RoutesPane, Screen};
use crate::place;
use crate::routes;
use console::fabric::Addressee;
use console::members::MemberRow;
use layouts::NocXy;
use std::collections::BTreeSet;

/// Moves the selection of the focused pane.
pub(super) fn go(model: &mut Model, action: Action) {
    match (model.screen, model.mesh_pane, model.core_pane) {
        (Screen::Mesh, MeshPane::Map, _) => map(model, action),
        (Screen::Chip, ..) => grid(model, action),
        (Screen::Core, _, CorePane::Words) => {
            if matches!(action, Action::Left | Action::Right) {
                fold(model, action == Action::Right);
            }
            model.word = row(model.word, model.words().len(), geometry::page(model.room()), action);
        }
        (Screen::Core, _, CorePane::Memory) => bytes(model, action),
        (Screen::Core, _, CorePane::Channels | CorePane::Code) => {}
        (Screen::Routes, ..) if model.routes_pane == RoutesPane::Path => {
            model.path_from = None;
            map(model, action);
        }
        (Screen::Routes, ..) => {
            let (page, lines) = (geometry::page(model.room()), routes::lines(model));
            model.routes_line = row(model.routes_line, lines, page, action);
        }
        (Screen::Why, ..) => cause(model, action),
        _ => select_row(model, action),
    }
}

/// Selects a row of the list.
fn select_row(model: &mut Model, action: Action) {
    let page = geometry::page(model.room());
    let Some(table) = model.table() else { return };
    table.select(row(table.at, table.count(), page, action));
}

/// Selects a cause, or scrolls what is shown about it.
fn cause(model: &mut Model, action: Action) {
    let page = geometry::page(model.room());
    let last = lists::causes::last_details(model);
    let at = model.cause_line.min(last);
    match action {
        Action::PageUp | Action::PageDown | Action::Top | Action::Bottom => {
            model.cause_line = row(at, last + 1, page, action);
        }
        _ => {
            select_row(model, action);
            model.cause_line = 0;
        }
    }
}

/// Folds or unfolds the selected row. Folding a row without members selects its parent.
fn fold(model: &mut Model, open: bool) {
    let rows = model.words();
    let Some(MemberRow::Member(node, is_open)) = rows.get(model.word).copied() else { return };
    if is_open == Some(!open) {
        let path = node.path.clone();
        if !model.turned.remove(&path) {
            model.turned.insert(path);
        }
    } else if !open {
        let above =
            |row: &MemberRow<'_>| matches!(row, MemberRow::Member(up, _) if up.depth < node.depth);
        let before = rows.get(..model.word).unwrap_or_default();
        if let Some(up) = before.iter().rposition(above) {
            model.word = up;
        }
    }
}

/// Chooses the next or previous node of the fabric as the path's end. Between the last and the
/// first node, the path is that of the oldest packet on the selected chip.
pub(super) fn turn_addressee(model: &mut Model, forward: bool) {
    let Some(mesh) = model.mesh() else { return };
    let nodes: BTreeSet<_> =
        mesh.fabric.routers.iter().filter_map(|r| r.facts.node.known()).collect();
    let nodes: Vec<_> = nodes.into_iter().copied().collect();
    let to = model.path_to.and_then(|to| to.node(mesh).ok());
    let at = to.and_then(|to| nodes.iter().position(|node| *node == to));
    let next = match (at, forward) {
        (None, true) => Some(0),
        (None, false) => nodes.len().checked_sub(1),
        (Some(at), true) => Some(at + 1),
        (Some(at), false) => at.checked_sub(1),
    };
    let next = next.and_then(|next| nodes.get(next).copied());
    model.path_to = next.map(Addressee::Node);
}

/// Scrolls help; returns false if the key means something else.
pub(super) fn help(model: &mut Model, action: Action) -> bool {
    let page = geometry::page(model.room());
    let lines = help::lines(&model.keys, (model.theme, model.glyphs), model.size.0).len();
    match (action, &mut model.help) {
        (Action::Back | Action::Enter, help) => *help = None,
        (
            Action::Help
            | Action::Show(_)
            | Action::Freeze
            | Action::Find
            | Action::Line
            | Action::Palette,
            _,
        )
        | (_, None) => return false,
        (action, Some(first)) => *first = row(*first, lines, page, action),
    }
    true
}

fn row(at: usize, count: usize, page: usize, action: Action) -> usize {
    let last = count.saturating_sub(1);
    match action {
        Action::Up => at.saturating_sub(1),
        Action::Down => (at + 1).min(last),
        Action::PageUp => at.saturating_sub(page),
        Action::PageDown => (at + page).min(last),
        Action::Top => 0,
        Action::Bottom => last,
        _ => at,
    }
}

fn step(action: Action) -> (i32, i32) {
    match action {
        Action::Up => (0, -1),
        Action::Down => (0, 1),
        Action::Left => (-1, 0),
        Action::Right => (1, 0),
        _ => (0, 0),
    }
}

fn map(model: &mut Model, action: Action) {
    let Some(mesh) = model.mesh() else { return };
    let places = place::places(mesh);
    let chip = match action {
        Action::Top => places.first().map(|p| p.chip),
        Action::Bottom => places.last().map(|p| p.chip),
        Action::Up | Action::Down | Action::Left | Action::Right => {
            let (dx, dy) = step(action);
            place::neighbour(&places, model.chip, dx, dy)
        }
        _ => None,
    };
    if let Some(chip) = chip {
        model.chip = chip;
        clamp(model);
    }
}

fn grid(model: &mut Model, action: Action) {
    let (dx, dy) = step(action);
    let NocXy { x, y } = model.tile;
    let y = match action {
        Action::Top | Action::PageUp => 0,
        Action::Bottom | Action::PageDown => GRID.1 - 1,
        _ => y.saturating_add_signed(dy as i8).min(GRID.1 - 1),
    };
    let x = x.saturating_add_signed(dx as i8).min(GRID.0 - 1);
    select_tile(model, NocXy { x, y });
}

/// Selects a tile, and in it the same kind of core as before if it has one.
pub(super) fn select_tile(model: &mut Model, xy: NocXy) {
    model.tile = xy;
    let Some(tile) = model.tile_state() else { return };
    if tile.cores.iter().any(|c| c.id.core == model.core) {
        return;
    }
    if let Some(core) = tile.cores.first().map(|c| c.id.core) {
        model.core = core;
        model.word = 0;
        point_at_words(model);
    }
}

/// Shows the memory around the first word of the selected core.
fn point_at_words(model: &mut Model) {
    let first = model.words().iter().map(MemberRow::addr).min();
    point_at(model, first.unwrap_or(0));
}

/// Selects another core of the tile.
pub(super) fn turn_core(model: &mut Model, by: isize) {
    let Some(tile) = model.tile_state() else { return };
    let Some(at) = tile.cores.iter().position(|c| c.id.core == model.core) else { return };
    let next = (at as isize + by).rem_euclid(tile.cores.len() as isize) as usize;
    if let Some(core) = tile.cores.get(next).map(|c| c.id.core) {
        model.core = core;
        clamp(model);
    }
}

/// Puts the memory cursor on an address of the tile and scrolls to it.
pub(super) fn point_at(model: &mut Model, addr: u64) {
    let end = model.memory_end().unwrap_or(u64::MAX);
    model.cursor = addr.min(end.saturating_sub(1));
    let shown = u64::from(geometry::memory_rows(model.room())) * 16;
    let line = model.cursor & !15;
    if line < model.top || line >= model.top + shown {
        model.top = line.saturating_sub(32).min(end.saturating_sub(shown));
    }
}

fn bytes(model: &mut Model, action: Action) {
    let page = u64::from(geometry::memory_rows(model.room())) * 16;
    let end = model.memory_end().unwrap_or(u64::MAX);
    let at = model.cursor;
    let to = match action {
        Action::Left => at.saturating_sub(1),
        Action::Right => at.saturating_add(1),
        Action::Up => at.checked_sub(16).unwrap_or(at),
        Action::Down => at.saturating_add(16),
        Action::PageUp => at.saturating_sub(page),
        Action::PageDown => at.saturating_add(page),
        Action::Top => 0,
        Action::Bottom => end - 1,
        _ => at,
    };
    point_at(model, to);
    // The window follows the cursor row by row.
    let line = model.cursor & !15;
    if action == Action::Down && model.top + page <= line + 32 {
        model.top = (line + 16).saturating_sub(page);
    } else if action == Action::Up {
        model.top = model.top.min(line);
    }
}

/// Clamps every selection to what the snapshot contains.
pub(super) fn clamp(model: &mut Model) {
    let known = model.mesh().is_some_and(|m| m.chips.iter().any(|c| c.chip.id == model.chip));
    if !known && let Some(first) = model.mesh().and_then(|m| m.chips.first()) {
        model.chip = first.chip.id;
    }
    model.word = model.word.min(model.words().len().saturating_sub(1));
    select_tile(model, model.tile);
}
