//! The typed line: editing, history, completion, and the effect of Enter.

use super::complete::complete;
use super::search;
use super::turn::{open_core, show};
use crate::history;
use crate::message::Command;
use crate::model::{MeshPane, Model, Prompt, PromptKind, RoutesPane, Screen};
use crate::palette::{self, Does};
use cli::line::{self, Typed};
use console::run::MachineOrder;
use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};
use layouts::CoreId;
use tui_input::Input;
use tui_input::backend::crossterm::EventHandler;

/// Notice of a run until the probe thread reports on it.
pub(super) const BEGINS: &str = "run: surveys the tiles";
/// Characters of a line.
const LONGEST: usize = 4096;

/// Types a command, which Enter carries out.
pub(super) fn type_line(model: &mut Model, text: String) {
    model.prompt = Some(Prompt { input: Input::new(text), ..Prompt::new(PromptKind::Line) });
}

pub(super) fn paste(model: &mut Model, text: &str) -> Vec<Command> {
    let Some(prompt) = &mut model.prompt else { return Vec::new() };
    prompt.choices = None;
    // A line is typed here: lines that are pasted stay words of their own.
    let words: Vec<_> = text.split(char::is_control).filter(|words| !words.is_empty()).collect();
    let (before, after): (Vec<_>, Vec<_>) =
        (0..).zip(prompt.input.value().chars()).partition(|(at, _)| *at < prompt.input.cursor());
    let line = |part: Vec<(usize, char)>| part.into_iter().map(|(_, c)| c).collect::<String>();
    let before = line(before) + &words.join(" ");
    let cursor = before.chars().count();
    let all = (before + &line(after)).chars().take(LONGEST).collect();
    prompt.input = Input::new(all).with_cursor(cursor);
    filter(model);
    vec![Command::Draw]
}

/// A key while a line is being typed.
pub(super) fn key(model: &mut Model, event: KeyEvent) -> Vec<Command> {
    let Some(prompt) = &mut model.prompt else { return Vec::new() };
    let is_line = prompt.kind == PromptKind::Line;
    let is_palette = prompt.kind == PromptKind::Palette;
    let is_letter = !event.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT);
    match event.code {
        KeyCode::Esc if prompt.choices.is_some() => prompt.choices = None,
        KeyCode::Esc => {
            let before = prompt.filtered_by.take();
            model.prompt = None;
            if let Some(before) = before {
                search::filter(model, &before);
            }
        }
        KeyCode::Backspace if prompt.input.value().is_empty() => model.prompt = None,
        KeyCode::Enter => return enter(model),
        KeyCode::Up if is_palette => prompt.picked = prompt.picked.saturating_sub(1),
        KeyCode::Down | KeyCode::Tab if is_palette => prompt.picked += 1,
        KeyCode::Up if is_line => recall(prompt, &model.history, true),
        KeyCode::Down if is_line => recall(prompt, &model.history, false),
        KeyCode::Tab => return complete(model, true),
        KeyCode::BackTab => return complete(model, false),
        KeyCode::Char(_) if is_letter && prompt.input.value().len() >= LONGEST => {}
        _ => {
            prompt.choices = None;
            prompt.picked = 0;
            prompt.input.handle_event(&Event::Key(event));
            filter(model);
        }
    }
    clamp_picked(model);
    Vec::new()
}

/// Filters by what is typed so far.
fn filter(model: &mut Model) {
    let Some(prompt) = model.prompt.as_ref().filter(|it| it.kind == PromptKind::Find) else {
        return;
    };
    let text = prompt.input.value().trim().to_owned();
    if model.help.is_none() {
        search::filter(model, &text);
    }
}

fn enter(model: &mut Model) -> Vec<Command> {
    let Some(prompt) = model.prompt.take() else { return Vec::new() };
    let text = prompt.input.value().trim().to_owned();
    match prompt.kind {
        PromptKind::Find => search::find(model, &text),
        PromptKind::Palette => {
            let entries = palette::entries(&model.keys, model.screen, &text);
            let Some(entry) = entries.into_iter().nth(prompt.picked) else { return Vec::new() };
            return pick(model, entry.does);
        }
        PromptKind::Line => {
            let mut commands = Vec::new();
            if !text.is_empty() {
                history::remember(&mut model.history, &text);
                commands.push(Command::Remember(text.clone()));
            }
            match line::parse(&text) {
                None => search::goto(model, &text),
                Some(Err(why)) => model.notice = Some(why),
                Some(Ok(typed)) => match carry_out(model, typed) {
                    Ok(more) => commands.extend(more),
                    Err(why) => model.notice = Some(why),
                },
            }
            return commands;
        }
    }
    Vec::new()
}

/// Does what an entry of the palette says.
fn pick(model: &mut Model, does: Does) -> Vec<Command> {
    match does {
        Does::Action(action) => super::perform(model, action),
        Does::Line(text) => {
            let waits = text.ends_with(' ');
            type_line(model, text);
            if waits { Vec::new() } else { enter(model) }
        }
    }
}

/// Keeps the chosen entry of the palette among those that are listed.
fn clamp_picked(model: &mut Model) {
    let Some(prompt) = &mut model.prompt else { return };
    if prompt.kind == PromptKind::Palette {
        let count = palette::entries(&model.keys, model.screen, prompt.input.value().trim()).len();
        prompt.picked = prompt.picked.min(count.saturating_sub(1));
    }
}

/// Carries out a typed command; returns what the model cannot do itself.
fn carry_out(model: &mut Model, typed: Typed) -> Result<Vec<Command>, String> {
    match typed {
        Typed::Orders(orders) => {
            if orders.iter().any(|order| matches!(order, MachineOrder::Run(_))) {
                model.screen = Screen::Mesh;
                model.help = None;
                model.notice = Some(BEGINS.to_owned());
            }
            if orders.iter().any(|order| matches!(order, MachineOrder::Schedule(_))) {
                show(model, Screen::Routes);
                (model.help, model.routes_pane, model.routes_line) =
                    (None, RoutesPane::Schedule, 0);
            }
            return Ok(orders.into_iter().map(Command::Order).collect());
        }
        Typed::Core(command) => {
            return Ok(vec![Command::Order(MachineOrder::Core(core_on_screen(model)?, command))]);
        }
        Typed::Path { from, to } => {
            show(model, Screen::Routes);
            model.help = None;
            model.routes_pane = RoutesPane::Path;
            model.path_from = Some(from);
            model.path_to = Some(to);
        }
        Typed::Show(Screen::Core) => open_core(model),
        Typed::Show(screen) => {
            show(model, screen);
            model.help = None;
        }
        Typed::Goto(place) => search::goto(model, &place),
        Typed::Links => {
            show(model, Screen::Mesh);
            (model.help, model.mesh_pane) = (None, MeshPane::Links);
        }
        Typed::Svg(file) => {
            model.help = None;
            return Ok(vec![Command::Draw, Command::Svg(file)]);
        }
        Typed::Results => turn_results(model),
        Typed::Help => model.help = Some(0),
        Typed::Quit => return Ok(vec![Command::Quit]),
    }
    Ok(Vec::new())
}

/// The core that a command is for: the one that the user sees.
fn core_on_screen(model: &mut Model) -> Result<CoreId, String> {
    model.help = None;
    match model.screen {
        Screen::Core if model.core_state().is_some() => Ok(model.core_id()),
        _ => Err("no core is on screen: Enter on its tile shows it".to_owned()),
    }
}

/// Shows all results of the session, or hides those that are shown.
fn turn_results(model: &mut Model) {
    let all = model.shown.as_ref().map_or(0, |snapshot| snapshot.board.sheets.len());
    model.put_away = if model.put_away == 0 { all } else { 0 };
    if all == 0 {
        model.notice = Some("no run yet: :run all-gather --check".to_owned());
    }
    model.screen = Screen::Mesh;
}

/// Recalls the previous or next line of the history.
fn recall(prompt: &mut Prompt, history: &[String], back: bool) {
    prompt.choices = None;
    let at = prompt.recalled.as_ref().map_or(history.len(), |(at, _)| *at);
    let next = if back { at.checked_sub(1) } else { Some(at + 1) };
    let Some(next) = next.filter(|next| *next <= history.len() && *next != at) else { return };
    let draft = match prompt.recalled.take() {
        Some((_, draft)) => draft,
        None => prompt.input.value().to_owned(),
    };
    let text = history.get(next).cloned().unwrap_or_else(|| draft.clone());
    prompt.input = Input::new(text);
    prompt.recalled = (next < history.len()).then_some((next, draft));
}
