//! Who waits for whom, a line each.

use decode::state::{WaitLine, Waits};

/// A line of the tree of waits, indented.
pub(crate) fn wait(waits: &Waits, line: &WaitLine) -> String {
    let indent = "  ".repeat(line.depth);
    let who = line.who;
    match (line.reason, line.on) {
        (Some(reason), Some(on)) => format!("{indent}{who} waits for {reason}: {on}"),
        (Some(reason), None) => {
            let again = if line.again { " (see above)" } else { "" };
            format!("{indent}{who} waits for {reason}{again}")
        }
        (None, _) => match waits.notes.get(&who) {
            Some(note) => format!("{indent}{who}: {note}"),
            None => format!("{indent}{who}"),
        },
    }
}
