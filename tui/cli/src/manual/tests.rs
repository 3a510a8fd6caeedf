//! Tests that the manual is complete.

use super::*;
use crate::verbs::descriptions;

fn names(command: &Command, above: &str, found: &mut Vec<String>) {
    for verb in command.get_subcommands() {
        let name = format!("{above} {}", verb.get_name()).trim().to_owned();
        names(verb, &name, found);
        found.push(name);
    }
}

#[test]
fn every_verb_has_a_page() {
    let mut found = Vec::new();
    names(&command(&descriptions()), "", &mut found);
    let mut pages: Vec<_> = pages(&descriptions()).map(|(name, _)| name.to_owned()).collect();
    found.sort();
    pages.sort();
    assert_eq!(found, pages);
}

#[test]
fn no_topic_has_the_name_of_a_verb() {
    for (topic, page) in TOPICS {
        assert!(command(&descriptions()).find_subcommand(topic).is_none(), "{topic}");
        let title = page.lines().next().unwrap_or_default();
        assert!(title.ends_with('.') && title.len() < 66, "{topic}: {title}");
    }
}

#[test]
fn pages_fit_a_terminal() {
    for (name, page) in pages(&descriptions()).chain(TOPICS.iter().copied()) {
        // Examples and what they print may be longer.
        for line in page.lines().filter(|line| !line.starts_with("    ")) {
            assert!(line.chars().count() <= 80, "{name}: {line}");
        }
    }
}

#[test]
fn pages_that_are_named_exist() {
    for (name, page) in pages(&descriptions()).chain(TOPICS.iter().copied()) {
        for named in page.split("`meshscope help ").skip(1) {
            let named = named.split('`').next().unwrap_or_default();
            let known = |page: (&str, &str)| page.0 == named;
            let found = pages(&descriptions()).chain(TOPICS.iter().copied()).any(known);
            assert!(found || named.contains('<'), "{name}: there is no page {named}");
        }
    }
}

#[test]
fn the_page_of_the_fabric_lists_all_stages_of_a_router() {
    let page =
        pages(&descriptions()).find(|(name, _)| *name == "fabric").map_or("", |(_, page)| page);
    let words = page.split_whitespace().collect::<Vec<_>>().join(" ");
    for stage in decode::state::ROUTER {
        assert!(words.contains(stage.name), "{}", stage.name);
    }
}
