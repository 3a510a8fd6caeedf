//! Which screen is shown.

use crate::lists;
use crate::model::{Model, Screen};
use console::words;

/// Shows a screen and remembers the one before it.
pub(super) fn show(model: &mut Model, screen: Screen) {
    if model.screen == screen {
        return;
    }
    if let Some(part) = lists::part_selected(model).filter(|_| model.screen == Screen::Fabric) {
        let (chip, _) = part.tile();
        // The routes screen begins where the fabric screen was.
        model.chip = if screen == Screen::Routes { chip } else { model.chip };
    }
    // The trail is short: each screen is in it at most once.
    model.trail.retain(|s| *s != screen);
    model.trail.push(model.screen);
    turn_to(model, screen);
    model.help = None;
}

/// Shows a screen; the one before it is forgotten.
pub(super) fn turn_to(model: &mut Model, screen: Screen) {
    model.screen = screen;
    if let [step, rest @ ..] = model.tour
        && step.screen == screen
    {
        model.tour = rest;
    }
    lists::settle(model);
    if matches!(screen, Screen::Fabric | Screen::Routes) {
        // One snapshot may be in flight.
        model.fabric_unasked = model.newest.as_ref().map_or(0, |snapshot| snapshot.number + 1);
    }
}

/// Opens the first core of the selected tile.
pub(super) fn open_core(model: &mut Model) {
    let Some(tile) = model.tile_state() else { return };
    if tile.cores.is_empty() {
        let what = if tile.harvested { "is fused off" } else { "has no core to show" };
        let kind = words::tile(tile.kind);
        model.notice = Some(format!("tile {} ({kind}) {what}", tile.xy));
        return;
    }
    show(model, Screen::Core);
}
