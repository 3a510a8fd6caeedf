//! A screen of the live view drawn once, without a terminal: by the same update and view.

mod svg;

use svg::svg;

use crate::message::{Command, Message};
use crate::model::Model;
use crate::theme::Theme;
use crate::{update, view};
use cli::{Drawn, Looks, Picture};
use console::feed::MeshSnapshot;
use console::machine::Machine;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use diagnosis::Diagnosis;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::{Buffer, Cell};
use std::sync::Arc;

/// Snapshots after the last key: each may show words that the next one reads.
const SNAPSHOTS: usize = 4;

/// Draws the screen of a target, with a verdict on it.
pub(crate) fn draw(
    picture: &Picture,
    machine: &mut Machine,
    words: &str,
    verdict: &Arc<Diagnosis>,
) -> Drawn {
    let Looks { color, glyphs } = picture.looks;
    let mut model = Model::new(words, Theme::new(color), glyphs, picture.size);
    show(&mut model, machine, verdict);
    for key in keys(picture) {
        update(&mut model, Message::Key(KeyEvent::new(key, KeyModifiers::NONE)));
        show(&mut model, machine, verdict);
    }
    (0..SNAPSHOTS).for_each(|_| show(&mut model, machine, verdict));
    of(&model, &picture.title)
}

/// Draws what the model shows.
pub(crate) fn of(model: &Model, title: &str) -> Drawn {
    let (columns, rows) = model.size;
    let mut terminal = match Terminal::new(TestBackend::new(columns, rows)) {
        Ok(terminal) => terminal,
        Err(never) => match never {},
    };
    match terminal.draw(|frame| view(model, frame)) {
        Ok(_) => {
            let buffer = terminal.backend().buffer();
            Drawn { text: text(buffer), svg: svg(buffer, title) }
        }
        Err(never) => match never {},
    }
}

/// The keys that open the screen.
fn keys(picture: &Picture) -> Vec<KeyCode> {
    let place = picture.place.iter().flat_map(|place| [":", place.as_str(), "\r"]);
    let code = |key: char| if key == '\r' { KeyCode::Enter } else { KeyCode::Char(key) };
    let shows = std::iter::once(picture.screen.key());
    place.flat_map(str::chars).chain(shows).map(code).collect()
}

/// Takes a snapshot of what the model shows.
fn show(model: &mut Model, machine: &mut Machine, verdict: &Arc<Diagnosis>) {
    let snapshot = machine.take(&model.read_set());
    let (target, verdict) = (model.target.clone(), Some(Arc::clone(verdict)));
    let snapshot = MeshSnapshot { target, verdict, ..snapshot };
    // The age of a picture is that of its snapshot.
    let taken = snapshot.taken_micros;
    let mut commands = update(model, Message::Snapshot(Arc::new(snapshot)));
    commands.extend(update(model, Message::Tick(taken)));
    for command in commands {
        if let Command::ReadSource(file) = command {
            let text = crate::source::read(&file);
            update(model, Message::Source(file, text));
        }
    }
}

/// Returns the characters of a picture, without its styles.
fn text(buffer: &Buffer) -> String {
    let rows = buffer.content.chunks(usize::from(buffer.area.width).max(1));
    let line = |row: &[Cell]| row.iter().map(Cell::symbol).collect::<String>();
    rows.map(|row| line(row).trim_end().to_owned() + "\n").collect()
}
