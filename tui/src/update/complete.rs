//! Tab: what can follow in the line that is typed.

use crate::message::Command;
use crate::model::{Choices, CorePane, Model, Prompt, PromptKind, Screen, WORD_FIELDS};
use cli::line::{self, Further};
use tui_input::Input;

/// Adds what all candidates have in common; further Tabs cycle through several candidates.
pub(super) fn complete(model: &mut Model, forward: bool) -> Vec<Command> {
    let Some(prompt) = &mut model.prompt else { return Vec::new() };
    if let Some(choices) = &mut prompt.choices {
        let next = turned(choices, forward);
        prompt.input = Input::new(next);
        return Vec::new();
    }
    let text = prompt.input.value().to_owned();
    // Completion works at the end of the line only.
    if prompt.input.cursor() != text.chars().count() {
        return Vec::new();
    }
    if prompt.kind == PromptKind::Find {
        let start = text.rfind(char::is_whitespace).map_or(0, |at| at + 1);
        let fields = fields(model, text.get(start..).unwrap_or_default());
        offer(model, start, fields);
        return Vec::new();
    }
    let line::Follow { start, mut words, further } = line::candidates(&text);
    let word = text.get(start..).unwrap_or_default();
    match further {
        Further::Files => return vec![Command::ListFiles(word.to_owned())],
        Further::Places => words.extend(places(model, word)),
        Further::Nothing => {}
    }
    offer(model, start, words);
    Vec::new()
}

/// Offers files, if the line still ends with the word that they begin with.
pub(super) fn files(model: &mut Model, word: &str, names: Vec<String>) {
    let text = model.prompt.as_ref().map(|prompt| prompt.input.value());
    let start = text.and_then(|text| text.strip_suffix(word)).map(str::len);
    if let Some(start) = start {
        offer(model, start, names);
    }
}

/// The line with the next choice, or the one before.
fn turned(choices: &mut Choices, forward: bool) -> String {
    let count = choices.all.len();
    let at = match (choices.at, forward) {
        (None, true) => 0,
        (None, false) => count - 1,
        (Some(at), true) => (at + 1) % count,
        (Some(at), false) => (at + count - 1) % count,
    };
    choices.at = Some(at);
    let ending = choices.all.get(at).cloned().unwrap_or_default();
    format!("{}{ending}", choices.stem)
}

/// Puts the only candidate into the line, or what all have in common.
fn offer(model: &mut Model, start: usize, all: Vec<String>) {
    let Some(prompt) = &mut model.prompt else { return };
    let stem = prompt.input.value().get(..start).unwrap_or_default().to_owned();
    match &all[..] {
        [] => {}
        // Something follows these signs.
        [only] if only.ends_with([':', '=', '/']) => {
            prompt.input = Input::new(format!("{stem}{only}"));
        }
        [only] => prompt.input = Input::new(format!("{stem}{only} ")),
        _ => {
            let common = line::common(&all);
            let input = Input::new(format!("{stem}{common}"));
            let choices = Some(Choices { stem, all, at: None });
            *prompt = Prompt { input, choices, ..prompt.clone() };
        }
    }
}

/// The places that begin like this: chips, and tiles with cores of a chip that is named.
fn places(model: &Model, word: &str) -> Vec<String> {
    let chips = model.mesh().map_or(&[][..], |mesh| &mesh.chips);
    let all: Vec<String> = match word.split_once(':') {
        None => chips.iter().map(|chip| format!("{}:", chip.chip.id)).collect(),
        Some((number, _)) => {
            let chip = chips.iter().find(|chip| chip.chip.id.to_string() == number);
            let tiles = chip.map_or(&[][..], |chip| &chip.tiles).iter();
            let tiles = tiles.filter(|tile| !tile.cores.is_empty());
            // Links are looked for more often than workers.
            let (mut eth, workers): (Vec<_>, Vec<_>) = tiles.partition(|tile| tile.eth.is_some());
            eth.sort_by_key(|tile| tile.eth.as_ref().map(|eth| eth.channel));
            let eth = eth.into_iter().filter_map(|tile| tile.eth.as_ref());
            let eth = eth.map(|eth| format!("{number}:e{}", eth.channel));
            eth.chain(workers.into_iter().map(|tile| format!("{number}:{}", tile.xy))).collect()
        }
    };
    all.into_iter().filter(|place| place.starts_with(word)).collect()
}

/// The fields of the rows on screen that begin like this, or the values of the one that is named.
fn fields(model: &mut Model, word: &str) -> Vec<String> {
    let all: Vec<String> = match (model.screen, word.split_once('=')) {
        (Screen::Core, None) if model.core_pane != CorePane::Memory => {
            WORD_FIELDS.iter().map(|field| format!("{field}=")).collect()
        }
        (_, named) => {
            let Some(table) = model.table() else { return Vec::new() };
            match named {
                None => table.fields().iter().map(|field| format!("{field}=")).collect(),
                Some((field, _)) => {
                    let values = table.values(field).into_iter();
                    values.map(|value| format!("{field}={value}")).collect()
                }
            }
        }
    };
    all.into_iter().filter(|field| field.starts_with(word)).collect()
}
