//! The palette: every action of the screen and every command, found by letters of their names in
//! their order.

use crate::keys::{Action, Keys};
use crate::panes::Screen;
use cli::line;

/// What an entry of the palette does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Does {
    /// What a key does.
    Action(Action),
    /// What a typed command does; if it takes words, it is typed so far.
    Line(String),
}

/// An entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// The key, or the command.
    pub(crate) name: String,
    /// What it does, in words.
    pub(crate) about: String,
    pub(crate) does: Does,
}

/// The entries on a screen that hold these letters in their order, the best first.
pub(crate) fn entries(keys: &Keys, screen: Screen, letters: &str) -> Vec<Entry> {
    let actions = keys.actions(screen).map(|(action, name, about)| Entry {
        name,
        about: about.to_owned(),
        does: Does::Action(action),
    });
    let commands =
        line::explained().into_iter().filter(|(name, _)| !name.trim_start().starts_with('-'));
    let commands = commands.map(|(name, about)| {
        // A command that takes words is typed, and waits for them.
        let text = name.split_once(' ').map_or(name.clone(), |(first, _)| format!("{first} "));
        Entry { name: format!(":{name}"), about, does: Does::Line(text) }
    });
    let mut found: Vec<(u32, Entry)> = actions
        .chain(commands)
        .filter_map(|entry| {
            let text = format!("{} {}", entry.name, entry.about);
            Some((score(&text, letters)?, entry))
        })
        .collect();
    found.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
    found.into_iter().map(|(_, entry)| entry).collect()
}

/// What a text that holds all letters in sequence counts more.
const WHOLE: u32 = 1000;

/// How well a text holds letters in their order: those that follow each other and those that begin a
/// word count more, and the earlier ones. None if it does not hold them.
fn score(text: &str, letters: &str) -> Option<u32> {
    let (text, wanted) = (text.to_lowercase(), letters.to_lowercase());
    if let Some(at) = text.find(wanted.trim()) {
        return Some(WHOLE - (at.min(99) as u32));
    }
    let text: Vec<char> = text.chars().collect();
    let begins =
        |at: usize| at == 0 || text.get(at - 1).is_none_or(|before| !before.is_alphanumeric());
    let (mut score, mut from) = (0, 0);
    for letter in wanted.chars().filter(|letter| !letter.is_whitespace()) {
        // The next one of a run, else the next one that begins a word, else the next one.
        let all = || (from..text.len()).filter(|at| text.get(*at) == Some(&letter));
        let next = all().next()?;
        let follows = from > 0 && next == from;
        let at = if follows { next } else { all().find(|at| begins(*at)).unwrap_or(next) };
        score += 1 + 8 * u32::from(follows) + 4 * u32::from(begins(at)) + u32::from(at < 12);
        from = at + 1;
    }
    Some(score)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_found_in_their_order() {
        let best = |letters: &str| {
            entries(&Keys::default(), Screen::Mesh, letters)
                .first()
                .map(|entry| entry.name.clone())
                .unwrap_or_default()
        };
        assert_eq!(best("something wrong"), "!");
        assert_eq!(best("colour"), "c");
        assert_eq!(best(":svg"), ":svg FILE");
        assert!(entries(&Keys::default(), Screen::Mesh, "zqzqzq").is_empty());
        assert_eq!(score("abc", "ca"), None);
        assert!(score("sort rows", "sort") > score("set of rooted trees", "sort"));
    }

    #[test]
    fn every_action_and_command_is_in_it() {
        let all = entries(&Keys::default(), Screen::Mesh, "");
        assert!(all.len() > 50, "{}", all.len());
        assert!(all.iter().all(|entry| !entry.about.is_empty()));
    }
}
