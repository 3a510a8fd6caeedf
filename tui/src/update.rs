//! The one place where the model changes: a message in, commands out; no clock, file or
//! environment.

mod complete;
mod copy;
mod motion;
mod mouse;
mod prompt;
mod search;
mod turn;

use crate::keys::Action;
use crate::lens::Lens;
use crate::lists;
use crate::message::{Command, Message};
use crate::model::{
    CorePane, FabricPane, List, MeshPane, Model, Prompt, PromptKind, RoutesPane, Screen, Shows,
    Table, Zoom,
};
use crate::routes;
use console::feed::MeshSnapshot;
use console::members::MemberRow;
use console::player::PlayOrder;
use console::run::Sheet;
use console::run::{MachineOrder, StepOrder};
use console::words;
use crossterm::event::{KeyEvent, KeyEventKind};
use decode::state::LinkState;
use diagnosis::Place;
use layouts::{EthId, NocAddr};
use machine::history::Watched;
use machine::snapshot::Span as Range;
use std::sync::Arc;
use turn::{open_core, show, turn_to};

/// Handles one message.
pub fn update(model: &mut Model, message: Message) -> Vec<Command> {
    let read_set = model.read_set();
    let mut commands = match message {
        Message::Key(event) => key(model, event),
        Message::Mouse(event) => mouse::event(model, event),
        Message::Paste(text) => prompt::paste(model, &text),
        Message::Resize(columns, rows) => {
            model.size = (columns, rows);
            vec![Command::Draw]
        }
        Message::Opening(stages) => {
            model.opening = stages;
            vec![Command::Draw]
        }
        Message::Snapshot(snapshot) => take_snapshot(model, snapshot),
        Message::Lost(why) => {
            model.lost = Some(why);
            vec![Command::Draw]
        }
        Message::Source(file, text) => {
            model.sources.insert(file, text);
            vec![Command::Draw]
        }
        Message::Files(word, names) => {
            complete::files(model, &word, names);
            vec![Command::Draw]
        }
        Message::Notice(text) => {
            model.notice = Some(text);
            vec![Command::Draw]
        }
        Message::Tick(now) => tick(model, now),
    };
    routes::settle(model);
    if let Some(file) = model.source_wanted().map(str::to_owned) {
        model.sources.insert(file.clone(), None);
        commands.push(Command::ReadSource(file));
    }
    if model.read_set() != read_set {
        commands.push(Command::Read(model.read_set()));
    }
    commands
}

/// While snapshots are younger, their ages are displayed when something else changes.
const YOUNG_MICROS: u64 = 1_000_000;

/// Redraws only if the displayed age changes.
fn tick(model: &mut Model, now: u64) -> Vec<Command> {
    let before = model.age_micros().map(words::age);
    model.now_micros = now;
    model.started_micros.get_or_insert(now);
    let after = model.age_micros();
    // Until the first snapshot, the elapsed time is displayed.
    let same = after.is_some_and(|age| age < YOUNG_MICROS || before == Some(words::age(age)));
    if same { Vec::new() } else { vec![Command::Draw] }
}

fn take_snapshot(model: &mut Model, snapshot: Arc<MeshSnapshot>) -> Vec<Command> {
    model.now_micros = model.now_micros.max(snapshot.taken_micros);
    let first = model.newest.is_none();
    if first {
        let notices = words::before(&snapshot.state.before, model.now_micros);
        model.notice = notices.last().cloned().or(model.notice.take());
    }
    let last = model.newest.as_ref().map_or(snapshot.number, |s| s.number + 1);
    model.dropped += snapshot.number.saturating_sub(last);
    if let Some((number, sentence)) = &snapshot.board.notice
        && *number > model.last_notice
    {
        model.last_notice = *number;
        let retry = snapshot.board.retries.then(|| model.keys.of(Action::Retry));
        let retry = retry.map(|keys| format!(" ({keys} tries again what is in quarantine)"));
        model.notice = Some(sentence.clone() + &retry.unwrap_or_default());
    }
    let runs = |snapshot: &Arc<MeshSnapshot>| snapshot.board.sheets.len();
    if model.newest.as_ref().map_or(0, runs) != runs(&snapshot) {
        model.notice = model.notice.take().filter(|notice| notice != prompt::BEGINS);
    }
    model.pulse.take(&snapshot);
    if model.lens == Lens::Noc && snapshot.reading.is_none() {
        model.pulse.noc.take(&snapshot.state.mesh(), &snapshot.memory);
    }
    let bundles = snapshot.board.bundles.iter().skip(model.bundles).cloned();
    let mut commands: Vec<_> = bundles.map(Command::Bundle).collect();
    model.bundles += commands.len();
    model.newest = Some(snapshot);
    if model.frozen {
        return commands;
    }
    let was_halted = model.held().is_some_and(|held| held.pause.is_some());
    show_newest(model);
    if first {
        select_first(model);
    }
    match model.held() {
        Some(held) if held.pause.is_some() && !was_halted => model.core_pane = CorePane::Code,
        None if model.core_pane == CorePane::Code => model.core_pane = CorePane::Words,
        _ => {}
    }
    motion::clamp(model);
    commands.push(Command::Draw);
    commands
}

fn show_newest(model: &mut Model) {
    let Some(newest) = model.newest.clone() else { return };
    let same = model.shown.as_ref().is_some_and(|shown| shown.number == newest.number);
    model.pulse.show(&newest.state, newest.verdict.as_deref());
    let shown = model.shown.replace(newest);
    // Of a snapshot that was shown while it was read, changes count from the one before it.
    if !same {
        model.before = shown;
    }
    lists::settle(model);
    model.count_busy();
    model.shade();
}

/// Selects the first chip, and there the first Ethernet tile with a link, or else a tile with cores.
fn select_first(model: &mut Model) {
    let Some(mesh) = model.mesh() else { return };
    let Some(chip) = mesh.chips.first() else { return };
    let id = chip.chip.id;
    let ends = mesh.links.iter().flat_map(|l| [l.link.a, l.link.b]);
    let linked = ends.filter(|e| e.chip == id).find_map(|e| mesh.eth(e)).map(|t| t.xy);
    let with_cores = || chip.tiles.iter().find(|tile| !tile.cores.is_empty()).map(|t| t.xy);
    let tile = linked.or_else(with_cores);
    model.chip = id;
    if let Some(tile) = tile {
        motion::select_tile(model, tile);
    }
}

fn key(model: &mut Model, event: KeyEvent) -> Vec<Command> {
    if event.kind == KeyEventKind::Release {
        return Vec::new();
    }
    let action = model.keys.lookup(&event, model.screen);
    match action {
        Some(Action::Interrupt) => return vec![Command::Interrupt],
        Some(Action::Suspend) => return vec![Command::Suspend],
        Some(Action::Redraw) => return vec![Command::Clear],
        _ => {}
    }
    if model.prompt.is_some() {
        let mut commands = prompt::key(model, event);
        commands.push(Command::Draw);
        return commands;
    }
    model.notice = None;
    let pending = std::mem::take(&mut model.pending_g);
    match action {
        Some(Action::HalfTop) if pending => act(model, Action::Top),
        Some(action) => return perform(model, action),
        None => model.notice = model.keys.refused(&event, model.screen),
    }
    vec![Command::Draw]
}

/// Carries out an action.
fn perform(model: &mut Model, action: Action) -> Vec<Command> {
    match action {
        Action::Interrupt => return vec![Command::Interrupt],
        Action::Suspend => return vec![Command::Suspend],
        Action::Redraw => return vec![Command::Clear],
        Action::Quit if model.help.is_some() => model.help = None,
        Action::Quit => return vec![Command::Quit],
        Action::Retry => return retry(model),
        Action::Pause => return vec![Command::Order(pause_order(model)), Command::Draw],
        Action::Step if model.timeline().is_some() => {
            return play(PlayOrder::Stage(model.selection(), false));
        }
        Action::PreviousStage => return play(PlayOrder::Stage(model.selection(), true)),
        Action::Step => return vec![Command::Order(MachineOrder::Step(StepOrder::all()))],
        Action::Freeze if model.timeline().is_some() => return play(PlayOrder::Toggle),
        Action::PreviousMoment => return play(PlayOrder::Step(-1)),
        Action::NextMoment => return play(PlayOrder::Step(1)),
        Action::PreviousChange => return play(PlayOrder::Change(model.selection(), true)),
        Action::NextChange => return play(PlayOrder::Change(model.selection(), false)),
        Action::WhoWrote => return who_wrote(model),
        Action::Bundle => {
            let seconds = model.now_micros / 1_000_000;
            prompt::type_line(model, format!("bundle bundle-{seconds}.tar.gz"));
        }
        Action::Clean => prompt::type_line(model, "clean".to_owned()),
        Action::Mark => return play(PlayOrder::Mark("here".to_owned())),
        Action::Copy => return copy::selected(model),
        Action::CopyCommand => return copy::command(model),
        Action::Mouse => return mouse::turn(model),
        Action::Faults | Action::Sort | Action::SortTurned => turn_table(model, action),
        Action::HalfTop => model.pending_g = true,
        action => act(model, action),
    }
    vec![Command::Draw]
}

/// The next snapshot shows it, with what has changed.
fn play(order: PlayOrder) -> Vec<Command> {
    vec![Command::Order(MachineOrder::Play(order))]
}

/// Searches the last write to the selected word.
fn who_wrote(model: &mut Model) -> Vec<Command> {
    let selected = model.selection();
    if let [Watched { chip, tile: Some(tile), range }] = &selected[..]
        && let Ok(len @ 1..) = u32::try_from(range.end - range.start)
    {
        let addr = NocAddr { chip: *chip, tile: *tile, offset: range.start };
        return play(PlayOrder::WhoWrote(Range { addr, len }));
    }
    model.notice = Some("select a word of the core, or a byte of its memory".to_owned());
    vec![Command::Draw]
}

/// Pauses what runs, or lets it run on.
fn pause_order(model: &mut Model) -> MachineOrder {
    let paused = model.is_paused();
    model.notice = Some(if paused { "resuming" } else { "pausing" }.to_owned());
    if paused { MachineOrder::Resume } else { MachineOrder::Pause }
}

/// Retries what is in quarantine in the newest snapshot, even while the display is frozen.
fn retry(model: &mut Model) -> Vec<Command> {
    let count = model.newest.as_ref().map_or(0, |snapshot| snapshot.quarantined.len());
    if count == 0 {
        model.notice = Some("nothing is in quarantine".to_owned());
        return vec![Command::Draw];
    }
    model.notice = Some(format!("retrying {count} in quarantine"));
    vec![Command::ClearQuarantine, Command::Draw]
}

fn act(model: &mut Model, action: Action) {
    if model.help.is_some() && motion::help(model, action) {
        return;
    }
    match action {
        Action::Help => model.help = if model.help.is_some() { None } else { Some(0) },
        Action::Freeze => freeze(model),
        Action::Back => back(model),
        Action::Find => {
            let filtered_by = model.help.is_none().then(|| search::filtered_by(model));
            model.prompt = Some(Prompt { filtered_by, ..Prompt::new(PromptKind::Find) });
        }
        Action::Palette => {
            model.prompt = Some(Prompt::new(PromptKind::Palette));
        }
        Action::Line => {
            model.prompt = Some(Prompt::new(PromptKind::Line));
        }
        Action::Show(screen) => show(model, screen),
        Action::Enter => enter(model),
        Action::NextPane => turn_pane(model, true),
        Action::PreviousPane => turn_pane(model, false),
        Action::NextCore => motion::turn_core(model, 1),
        Action::PreviousCore => motion::turn_core(model, -1),
        Action::Lens => {
            model.lens = model.lens.next();
            model.shade();
        }
        Action::ZoomIn => zoom(model, true),
        Action::ZoomOut => zoom(model, false),
        Action::FindNext | Action::FindPrevious => {
            let forward = action == Action::FindNext;
            if model.screen == Screen::Routes {
                motion::turn_addressee(model, forward);
            } else {
                search::find_tile(model, forward);
            }
        }
        Action::Quit | Action::HalfTop | Action::Retry | Action::Pause => {}
        _ => motion::go(model, action),
    }
}

/// Changes what rows are listed, or their order.
fn turn_table(model: &mut Model, action: Action) {
    if model.screen == Screen::Mesh && model.mesh_pane == MeshPane::Map {
        model.mesh_pane = MeshPane::Links;
    }
    let Some(table) = model.table() else { return };
    match action {
        Action::Faults => table.turn_faults(),
        Action::Sort => table.sort_next(),
        _ => table.sort_turned(),
    }
    lists::settle(model);
}

/// Takes the map closer to the selected chip, or away from it.
fn zoom(model: &mut Model, closer: bool) {
    match (model.screen, model.zoom, closer) {
        (Screen::Mesh, Zoom::Mesh, true) => model.zoom = Zoom::Chips,
        (Screen::Mesh, Zoom::Chips, true) => show(model, Screen::Chip),
        (Screen::Mesh, ..) => model.zoom = Zoom::Mesh,
        _ => {
            show(model, Screen::Mesh);
            model.zoom = Zoom::Chips;
        }
    }
    model.mesh_pane = MeshPane::Map;
}

fn freeze(model: &mut Model) {
    model.frozen = !model.frozen;
    if !model.frozen {
        show_newest(model);
        motion::clamp(model);
    }
}

fn back(model: &mut Model) {
    let filter = match model.screen {
        Screen::Core => Some(&mut model.word_filter),
        Screen::Chip => Some(&mut model.find),
        _ => None,
    };
    if let Some(filter) = filter
        && !filter.is_empty()
    {
        filter.clear();
    } else if model.table().is_some_and(Table::back) {
        lists::settle(model);
    } else if model.screen == Screen::Mesh && model.sheets().last().is_some_and(Sheet::is_over) {
        model.put_away += model.sheets().len();
    } else if let Some(screen) = model.trail.pop() {
        turn_to(model, screen);
    } else if model.screen != Screen::Mesh {
        model.screen = Screen::Mesh;
    } else {
        model.tour = &[];
    }
    motion::clamp(model);
}

fn enter(model: &mut Model) {
    match (model.screen, model.mesh_pane, model.core_pane) {
        (Screen::Mesh, MeshPane::Map, _) | (Screen::Routes, ..) => show(model, Screen::Chip),
        (Screen::Chip, ..) => open_core(model),
        (Screen::Core, _, CorePane::Words) => {
            if let Some(addr) = model.words().get(model.word).map(MemberRow::addr) {
                motion::point_at(model, addr);
                model.core_pane = CorePane::Memory;
            }
        }
        _ => open_row(model),
    }
}

/// Opens what the selected row is about, or lists the rows that are folded.
fn open_row(model: &mut Model) {
    if model.table().is_some_and(unfold) {
        return lists::settle(model);
    }
    match model.place() {
        // In the list of links the link is on screen already.
        Some(Place::Link(a, b)) if model.screen == Screen::Mesh => {
            let link = lists::link_selected(model).map(|it| it.link.a);
            open_end(model, link.unwrap_or(a.min(b)));
        }
        Some(place) => open_place(model, place),
        None => {}
    }
}

/// Lists the rows that are folded, if their line is selected.
fn unfold(table: &mut Table) -> bool {
    let folded = table.at_fold();
    if folded {
        table.shows = Shows::All;
    }
    folded
}

/// Opens the core at a link's end.
fn open_end(model: &mut Model, end: EthId) {
    let Some(xy) = model.mesh().and_then(|m| m.eth(end)).map(|t| t.xy) else { return };
    model.chip = end.chip;
    motion::select_tile(model, xy);
    open_core(model);
}

/// Opens a place: a core, the link in the list, or a chip.
fn open_place(model: &mut Model, place: Place) {
    match place {
        Place::Core(core) => {
            (model.chip, model.core) = (core.chip, core.core);
            motion::select_tile(model, core.tile);
            open_core(model);
        }
        Place::Router(at) | Place::End(at) => open_end(model, at),
        Place::Link(a, b) => {
            let is_it = |link: &LinkState| {
                (link.link.a, link.link.b) == (a, b) || (link.link.a, link.link.b) == (b, a)
            };
            let Some(at) = model.mesh().and_then(|mesh| mesh.links.iter().position(is_it)) else {
                return;
            };
            model.lists[List::Links].filter_by("");
            model.mesh_pane = MeshPane::Links;
            show(model, Screen::Mesh);
            if !model.lists[List::Links].select_item(at) {
                model.lists[List::Links].shows = Shows::All;
                lists::settle(model);
                model.lists[List::Links].select_item(at);
            }
        }
        Place::Chip(chip) => {
            model.chip = chip;
            motion::clamp(model);
            show(model, Screen::Chip);
        }
        Place::Mesh => show(model, Screen::Mesh),
        Place::Host => model.notice = Some("the host has no screen".to_owned()),
    }
}

/// The pane after one, or the one before it.
fn turned<T: Copy + PartialEq>(panes: &[T], pane: T, forward: bool) -> T {
    let at = panes.iter().position(|it| *it == pane).unwrap_or(0);
    let next = if forward { at + 1 } else { at + panes.len() - 1 } % panes.len().max(1);
    panes.get(next).copied().unwrap_or(pane)
}

fn turn_pane(model: &mut Model, forward: bool) {
    match model.screen {
        Screen::Mesh => {
            model.mesh_pane = turned(&MeshPane::ALL, model.mesh_pane, forward);
        }
        Screen::Core => {
            let held = model.held().is_some();
            model.core_pane = match (model.core_pane, forward) {
                (CorePane::Memory, true) | (CorePane::Words, false) if held => CorePane::Code,
                (CorePane::Words, true) | (CorePane::Memory, false) => CorePane::Channels,
                (CorePane::Channels, true) | (CorePane::Words | CorePane::Code, false) => {
                    CorePane::Memory
                }
                (CorePane::Memory | CorePane::Code, true) | (CorePane::Channels, false) => {
                    CorePane::Words
                }
            };
        }
        Screen::Fabric => {
            model.fabric_pane = turned(&FabricPane::ALL, model.fabric_pane, forward);
        }
        Screen::Routes => {
            model.routes_pane = turned(&RoutesPane::ALL, model.routes_pane, forward);
            model.routes_line = 0;
        }
        _ => {}
    }
}
