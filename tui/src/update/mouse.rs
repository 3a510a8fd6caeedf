//! The mouse: a click selects, a click on what is selected opens it, the wheel moves.

use super::{act, motion};
use crate::keys::Action;
use crate::message::Command;
use crate::model::{CorePane, List, MeshPane, Model, Screen};
use crate::view::{Hit, hit};
use crossterm::event::{MouseButton, MouseEvent, MouseEventKind};

/// Rows that a notch of the wheel moves by.
const NOTCH: usize = 3;

/// Gives the mouse to the terminal, or takes it.
pub(super) fn turn(model: &mut Model) -> Vec<Command> {
    model.mouse_let_go = !model.mouse_let_go;
    let keys = model.keys.of(Action::Mouse);
    model.notice = Some(if model.mouse_let_go {
        format!("the mouse selects text; {keys} takes it back")
    } else {
        format!("the mouse selects rows; {keys} lets it go")
    });
    vec![Command::Mouse(!model.mouse_let_go), Command::Draw]
}

/// A click or a notch of the wheel. While a line is typed, the mouse does nothing.
pub(super) fn event(model: &mut Model, event: MouseEvent) -> Vec<Command> {
    if model.prompt.is_some() {
        return Vec::new();
    }
    match event.kind {
        MouseEventKind::Down(MouseButton::Left) => click(model, (event.column, event.row)),
        MouseEventKind::ScrollUp => (0..NOTCH).for_each(|_| act(model, Action::Up)),
        MouseEventKind::ScrollDown => (0..NOTCH).for_each(|_| act(model, Action::Down)),
        _ => return Vec::new(),
    }
    vec![Command::Draw]
}

fn click(model: &mut Model, at: (u16, u16)) {
    model.notice = None;
    let Some(hit) = hit(model, at) else { return };
    if let Hit::Screen(screen) = hit {
        model.help = None;
        return act(model, Action::Show(screen));
    }
    if model.help.is_some() {
        return;
    }
    let again = is_selected(model, hit);
    match hit {
        Hit::Chip(chip) => {
            (model.mesh_pane, model.chip) = (MeshPane::Map, chip);
            model.path_from = None;
        }
        Hit::Row(list, at) => {
            match list {
                List::Links => model.mesh_pane = MeshPane::Links,
                List::Cores => model.mesh_pane = MeshPane::Cores,
                List::Causes => model.cause_line = 0,
                _ => {}
            }
            model.lists[list].select(at);
        }
        Hit::Tile(tile) => motion::select_tile(model, tile),
        Hit::Word(at) => (model.core_pane, model.word) = (CorePane::Words, at),
        Hit::Screen(_) => {}
    }
    motion::clamp(model);
    if again {
        act(model, Action::Enter);
    }
}

fn is_selected(model: &Model, hit: Hit) -> bool {
    let map = model.screen == Screen::Routes
        || model.screen == Screen::Mesh && model.mesh_pane == MeshPane::Map;
    match hit {
        Hit::Chip(chip) => map && model.chip == chip,
        Hit::Row(list, at) => model.list() == Some(list) && model.lists[list].at == at && !map,
        Hit::Tile(tile) => model.tile == tile,
        Hit::Word(at) => model.core_pane == CorePane::Words && model.word == at,
        Hit::Screen(_) => false,
    }
}
