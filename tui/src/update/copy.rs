//! `y` and `Y`: what is selected, or the command line that prints it, goes to the clipboard.

use crate::message::Command;
use crate::model::{CorePane, FabricPane, MeshPane, Model, RoutesPane, Screen, Table};
use console::members;
use console::reading::long;
use console::verdict;
use decode::state::MeshState;

/// Characters of a notice about the text that was copied.
const SHOWN: usize = 60;

/// Copies the text of what is selected.
pub(super) fn selected(model: &mut Model) -> Vec<Command> {
    give(model, text(model), "nothing is selected that has a text")
}

/// Copies the command line that prints what is on screen.
pub(super) fn command(model: &mut Model) -> Vec<Command> {
    let line = model.mesh().map(|mesh| command_line(model, mesh));
    give(model, line, "no snapshot is on screen yet")
}

fn give(model: &mut Model, text: Option<String>, none: &str) -> Vec<Command> {
    let Some(text) = text.filter(|text| !text.is_empty()) else {
        model.notice = Some(none.to_owned());
        return vec![Command::Draw];
    };
    let mut begins: String = text.chars().take(SHOWN).collect();
    if begins.len() < text.len() {
        begins.push_str(model.glyphs.cut());
    }
    model.notice = Some(format!("copied: {begins}"));
    vec![Command::Copy(text), Command::Draw]
}

/// The text of the selected row.
fn text(model: &Model) -> Option<String> {
    model.mesh()?;
    let cells = |table: &Table| {
        let cells = table.selected()?.cells.iter().map(|cell| cell.text.content.trim());
        Some(cells.collect::<Vec<_>>().join("  "))
    };
    match (model.screen, model.mesh_pane) {
        (Screen::Mesh, MeshPane::Map) => Some(model.chip.to_string()),
        (Screen::Chip, _) => Some(format!("{}:{}", model.chip, model.tile)),
        (Screen::Core, _) if model.core_pane == CorePane::Words => {
            let words = model.words();
            let row = words.get(model.word)?;
            let memory = &model.shown.as_deref()?.memory;
            let value = members::text(model.core_id(), memory, row);
            Some(format!("{} = {}", row.path(), long(model.glyphs, &value, Clone::clone)))
        }
        (Screen::Core, _) if model.core_pane == CorePane::Memory => {
            Some(format!("{}:{}:{:#x}", model.chip, model.tile, model.cursor))
        }
        (Screen::Core, _) => Some(model.core_id().to_string()),
        (Screen::Why, _) => verdict::paragraph(&model.target, model.verdict()?),
        _ => cells(&model.lists[model.list()?]),
    }
}

/// The verb that prints what is on screen, with its target.
fn command_line(model: &Model, mesh: &MeshState) -> String {
    let tile = format!("{}:{}", model.chip, model.tile);
    let verb = match (model.screen, model.mesh_pane) {
        (Screen::Mesh, MeshPane::Map) | (Screen::Gaps, _) => "mesh".to_owned(),
        (Screen::Operations, _) => "operations".to_owned(),
        (Screen::Semaphores, _) => "buffers".to_owned(),
        (Screen::Queues, _) => format!("queues {}", model.chip),
        (Screen::Mesh, MeshPane::Links) => "links".to_owned(),
        (Screen::Resources, _) | (Screen::Mesh, MeshPane::Cores) => "cores".to_owned(),
        (Screen::Core, _) if model.core_pane == CorePane::Memory => {
            format!("read {tile}:{:#x} 64", model.cursor)
        }
        (Screen::Chip | Screen::Core, _) => format!("cores {tile}"),
        (Screen::Fabric, _) if model.fabric_pane == FabricPane::Waits => "fabric waits".to_owned(),
        (Screen::Fabric, _) => "fabric status".to_owned(),
        (Screen::Routes, _) => match (model.routes_pane, &model.route.found) {
            (RoutesPane::Schedule, _) => {
                let scheduled = model.schedules().last();
                let title = scheduled.map_or("all-gather", |it| it.title.as_str());
                let mut words = title.split_whitespace();
                let op = words.next().unwrap_or_default();
                let on = words.next().zip(words.next());
                let on = on.map(|(kind, chips)| format!(" --topology {kind} --chips {chips}"));
                format!("run {op}{} --schedule", on.unwrap_or_default())
            }
            (RoutesPane::Path, Ok((to, _))) => {
                let from = model.path_from.and_then(|from| from.node(mesh).ok());
                let from = from.map_or(model.chip.to_string(), |from| from.to_string());
                format!("fabric path {from} {to}")
            }
            _ => "fabric tables".to_owned(),
        },
        (Screen::Why | Screen::Log, _) => "why".to_owned(),
    };
    format!("meshscope --target {} {verb}", quoted(&model.target))
}

/// A word of a shell's line.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:,=+@%#".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn a_target_is_one_word_of_a_shell() {
        assert_eq!(quoted("emulator:n300,run=idle"), "emulator:n300,run=idle");
        assert_eq!(quoted("it's a file.mcap"), r"'it'\''s a file.mcap'");
        assert_eq!(quoted(""), "''");
    }
}
