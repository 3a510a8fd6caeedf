//! What `/` and `:` do with the line that was typed.

use super::motion;
use super::turn::{open_core, show};
use crate::help;
use crate::lists;
use crate::model::{CorePane, MeshPane, Model, Screen, WORD_FIELDS};
use crate::table::Filter;
use cli::line;
use console::locate::{self, NamedPlace};
use console::members::{self, MemberRow};
use console::words;
use decode::state::TileState;
use layouts::{ChipId, CoreId, CoreKind, NocXy};
use ratatui::text::Line;

/// `/`: filters links or words, finds a tile, goes to an address in the memory pane, ends a path.
pub(super) fn find(model: &mut Model, text: &str) {
    match model.screen {
        _ if model.help.is_some() => find_line(model, text),
        Screen::Chip => {
            text.clone_into(&mut model.find);
            find_tile(model, true);
        }
        Screen::Core if model.core_pane == CorePane::Memory => goto_in_tile(model, text),
        Screen::Routes if text.is_empty() => model.path_to = None,
        Screen::Routes => match text.parse() {
            Ok(to) => model.path_to = Some(to),
            Err(why) => model.notice = Some(why),
        },
        Screen::Core => {
            filter(model, text);
            let count = model.words().len();
            let found = || (!text.is_empty()).then(|| counted(count, "word", text));
            model.notice = Filter::parse(text, &WORD_FIELDS).err().or_else(found);
        }
        _ => {
            filter(model, text);
            let what = match (model.screen, model.mesh_pane) {
                (Screen::Mesh, MeshPane::Cores) => "core",
                (Screen::Mesh, _) => "link",
                (Screen::Fabric, _) => "part",
                (Screen::Why, _) => "cause",
                (Screen::Log, _) => "line",
                _ => "row",
            };
            let Some(table) = model.table() else { return };
            let found = || counted(table.rows().len(), what, text);
            model.notice = table.refuses(text).or_else(|| (!text.is_empty()).then(found));
        }
    }
}

/// Filters the rows of the screen, as far as the filter is typed.
pub(super) fn filter(model: &mut Model, text: &str) {
    match model.screen {
        Screen::Core if model.core_pane != CorePane::Memory => {
            text.clone_into(&mut model.word_filter);
            model.word = 0;
            model.core_pane = CorePane::Words;
        }
        Screen::Core | Screen::Chip => {}
        _ => {
            if let Some(table) = model.table() {
                table.filter_by(text);
            }
            lists::settle(model);
        }
    }
}

/// What the rows of the screen are filtered by.
pub(super) fn filtered_by(model: &mut Model) -> String {
    match model.screen {
        Screen::Core => model.word_filter.clone(),
        _ => model.table().map(|table| table.filter.clone()).unwrap_or_default(),
    }
}

/// Scrolls help to the next line that contains the text; after the last line comes the first.
fn find_line(model: &mut Model, text: &str) {
    if text.is_empty() {
        return;
    }
    let lines = help::lines(&model.keys, (model.theme, model.glyphs), model.size.0);
    let wanted = text.to_lowercase();
    let holds = |line: &Line<'_>| line.to_string().to_lowercase().contains(&wanted);
    let found: Vec<_> =
        (0..).zip(&lines).filter(|(_, line)| holds(line)).map(|(at, _)| at).collect();
    let Some(first) = &mut model.help else { return };
    if let Some(next) = found.iter().find(|at| *at > first).or(found.first()) {
        *first = *next;
    }
    model.notice = Some(counted(found.len(), "line", text));
}

/// A notice with the number of matches.
fn counted(count: usize, what: &str, text: &str) -> String {
    match count {
        1 => format!("1 {what} matches '{text}'"),
        _ => format!("{count} {what}s match '{text}'"),
    }
}

/// Selects the next or previous tile whose place, kind or waypoint contains the text.
pub(super) fn find_tile(model: &mut Model, forward: bool) {
    let wanted = model.find.to_lowercase();
    if wanted.is_empty() {
        return;
    }
    let Some(chip) = model.chip_state() else { return };
    let mut found: Vec<_> = chip.tiles.iter().filter(|t| holds(t, &wanted)).map(|t| t.xy).collect();
    found.sort_by_key(|xy| (xy.y, xy.x));
    let here = (model.tile.y, model.tile.x);
    let next = if forward {
        found.iter().find(|xy| (xy.y, xy.x) > here).or(found.first())
    } else {
        found.iter().rev().find(|xy| (xy.y, xy.x) < here).or(found.last())
    };
    model.notice = Some(counted(found.len(), "tile", &model.find));
    if let Some(&xy) = next {
        motion::select_tile(model, xy);
    }
}

fn holds(tile: &TileState, wanted: &str) -> bool {
    let channel = tile.eth.as_ref().map(|e| format!("e{}", e.channel));
    let waypoints = tile.cores.iter().filter_map(|c| c.waypoint.known());
    let place = tile.xy.to_string();
    place == *wanted
        || words::tile(tile.kind).contains(wanted)
        || channel.is_some_and(|c| c == *wanted)
        || waypoints.into_iter().any(|w| w.to_lowercase().contains(wanted))
}

/// Goes to an address of the tile, or to a word of the core by part of its name.
fn goto_in_tile(model: &mut Model, text: &str) {
    if let Ok(addr) = locate::number(text) {
        return goto_address(model, addr);
    }
    match word(model, text) {
        Some(addr) => motion::point_at(model, addr),
        None => {
            model.notice = Some(format!("'{text}' is neither an address nor a word of this core"));
        }
    }
}

/// The address of the core's first word whose name contains the text.
fn word(model: &Model, text: &str) -> Option<u64> {
    let wanted = text.to_lowercase();
    let all = model.core_state().map_or_else(Vec::new, |core| members::over(core, 0, u64::MAX));
    let named = |row: &&MemberRow<'_>| row.path().to_lowercase().contains(&wanted);
    all.iter().map(|(_, row)| row).find(named).map(MemberRow::addr)
}

fn goto_address(model: &mut Model, addr: u64) {
    let Some((tile, end)) = model.tile_state().zip(model.memory_end()) else { return };
    if addr >= end {
        let kind = words::tile(tile.kind);
        model.notice =
            Some(format!("{addr:#x} is outside the {kind} tile's memory, which ends at {end:#x}"));
        return;
    }
    motion::point_at(model, addr);
    model.core_pane = CorePane::Memory;
}

/// `:`: a chip, a tile, an Ethernet channel, an address or, on the core screen, a word of the core.
pub(super) fn goto(model: &mut Model, text: &str) {
    let name = text.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
    match locate::place(text) {
        Err(_) if name && model.screen == Screen::Core => match word(model, text) {
            Some(addr) => goto_address(model, addr),
            None => {
                model.notice = Some(format!("'{text}' is neither a place nor a word of this core"));
            }
        },
        Err(_) if name => model.notice = Some(line::unknown(text)),
        Err(why) => model.notice = Some(why),
        Ok(NamedPlace::Address(addr)) => goto_address_of_core(model, addr),
        Ok(NamedPlace::Chip(chip)) => {
            if select_chip(model, chip) {
                show(model, Screen::Chip);
            }
        }
        Ok(NamedPlace::Tile(chip, tile)) => {
            goto_tile(model, chip, tile);
        }
        Ok(NamedPlace::Core(CoreId { chip, tile, core })) => {
            if goto_tile(model, chip, tile) {
                goto_core(model, core);
            }
        }
        Ok(NamedPlace::Word(chip, tile, addr)) => {
            if goto_tile(model, chip, tile) {
                goto_address(model, addr);
            }
        }
    }
}

/// Opens the first core of a tile; false if there is none.
fn goto_tile(model: &mut Model, chip: ChipId, tile: NocXy) -> bool {
    if !select_chip(model, chip) {
        return false;
    }
    motion::select_tile(model, tile);
    open_core(model);
    model.screen == Screen::Core
}

/// Selects a core of the tile.
fn goto_core(model: &mut Model, core: CoreKind) {
    if model.tile_state().is_some_and(|tile| tile.cores.iter().any(|it| it.id.core == core)) {
        model.core = core;
        motion::clamp(model);
    } else {
        model.notice = Some(format!("tile {}:{} has no {}", model.chip, model.tile, core.name()));
    }
}

fn goto_address_of_core(model: &mut Model, addr: u64) {
    open_core(model);
    if model.screen == Screen::Core {
        goto_address(model, addr);
    }
}

fn select_chip(model: &mut Model, chip: ChipId) -> bool {
    let known = model.mesh().is_some_and(|m| m.chips.iter().any(|c| c.chip.id == chip));
    if known {
        model.chip = chip;
        motion::clamp(model);
    } else {
        model.notice = Some(format!("there is no chip {chip} in this mesh"));
    }
    known
}
