//! Waits in words, a line each.

use diagnosis::{WaitGraph, WaitLine};

/// A line of the tree of waits, indented.
pub fn wait(waits: &WaitGraph, line: &WaitLine) -> String {
    let indent = "  ".repeat(line.depth);
    let waiter = line.who;
    match (line.reason, line.on) {
        (Some(reason), Some(on)) => format!("{indent}{waiter} waits for {reason}: {on}"),
        (Some(reason), None) => {
            let more = match waits.notes.get(&waiter) {
                _ if line.again => " (see above)".to_owned(),
                Some(note) => format!(": {note}"),
                None => String::new(),
            };
            format!("{indent}{waiter} waits for {reason}{more}")
        }
        (None, _) => match waits.notes.get(&waiter) {
            Some(note) => format!("{indent}{waiter}: {note}"),
            None => format!("{indent}{waiter}"),
        },
    }
}
