//! Keys in, frames out, and the golden files that they are compared with.

use console::glyph::Glyphs;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use std::path::PathBuf;
use tui::message::{Command, Message};
use tui::model::Model;
use tui::theme::Theme;
use tui::{update, view};

pub(crate) fn model(size: (u16, u16)) -> Model {
    Model::new("emulator:n300", Theme::new(true), Glyphs { ascii: false }, size)
}

/// Types keys as in helix's tests: characters are themselves, names are in `<>`.
pub(crate) fn press(model: &mut Model, keys: &str) -> Vec<Command> {
    let mut commands = Vec::new();
    let mut rest = keys;
    while let Some(c) = rest.chars().next() {
        let (event, used) = match rest.strip_prefix('<').and_then(|r| r.split_once('>')) {
            Some((name, _)) => (named(name), name.len() + 2),
            None => (KeyEvent::new(KeyCode::Char(c), KeyModifiers::NONE), c.len_utf8()),
        };
        commands.extend(update(model, Message::Key(event)));
        rest = &rest[used..];
    }
    commands
}

fn named(name: &str) -> KeyEvent {
    if let Some(letter) = name.strip_prefix("c-") {
        let letter = KeyCode::Char(letter.chars().next().unwrap());
        return KeyEvent::new(letter, KeyModifiers::CONTROL);
    }
    let code = match name {
        "enter" => KeyCode::Enter,
        "esc" => KeyCode::Esc,
        "tab" => KeyCode::Tab,
        "s-tab" => KeyCode::BackTab,
        "up" => KeyCode::Up,
        "down" => KeyCode::Down,
        "left" => KeyCode::Left,
        "right" => KeyCode::Right,
        "pgdn" => KeyCode::PageDown,
        "pgup" => KeyCode::PageUp,
        "end" => KeyCode::End,
        other => panic!("no key is named {other}"),
    };
    KeyEvent::new(code, KeyModifiers::NONE)
}

pub(crate) fn picture(model: &Model) -> String {
    let mut terminal = Terminal::new(TestBackend::new(model.size.0, model.size.1)).unwrap();
    terminal.draw(|frame| view(model, frame)).unwrap();
    let buffer = terminal.backend().buffer().clone();
    let rows = buffer.content.chunks(usize::from(model.size.0));
    let text = rows.map(|r| r.iter().map(ratatui::buffer::Cell::symbol).collect::<String>());
    text.map(|line| line.trim_end().to_owned() + "\n").collect()
}

pub(crate) fn golden(name: &str, model: &Model) {
    let picture = picture(model);
    let path =
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(format!("{name}.txt"));
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, &picture).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        picture == kept,
        "{name} differs from {}; BLESS=1 keeps it:\n{picture}",
        path.display()
    );
}

pub(crate) const SIZES: [(u16, u16); 2] = [(80, 24), (160, 48)];
