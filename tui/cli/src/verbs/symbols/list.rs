//! `symbols list`: the names in a file.

use super::load;
use crate::args::Listing;
use crate::output::{json, say, text};
use crate::shape::Names;
use crate::target::Style;
use console::exit::{Failure, Outcome};
use std::path::Path;

/// `symbols list`.
pub(super) fn run(
    style: Style,
    kind: Listing,
    pattern: Option<&str>,
    elf: &Path,
) -> Result<Outcome, Failure> {
    let symbols = load(elf)?;
    let (kind, names) = match kind {
        Listing::Types => ("types", symbols.type_names()),
        Listing::Variables => ("variables", symbols.variable_names()),
        Listing::Enumerators => ("enumerators", symbols.enumerator_names()),
        Listing::Functions => ("functions", symbols.function_names()),
        Listing::Files => ("files", symbols.source_files()),
    };
    let wanted = |name: &&String| pattern.is_none_or(|pattern| fits(pattern, name));
    let names: Vec<&str> = names.iter().filter(wanted).map(String::as_str).collect();
    if names.is_empty() {
        let holding = pattern.map_or_else(String::new, |pattern| format!(" hold `{pattern}`"));
        let none = if pattern.is_some() { "no names of" } else { "there are no" };
        say(&format!("{}: {none} {kind}{holding}", symbols.name()));
    }
    if style.json {
        json(Names { kind, names })?;
    } else {
        let lines: Vec<&str> = names.iter().flat_map(|name| [*name, "\n"]).collect();
        text(&lines.concat())?;
    }
    Ok(Outcome::Healthy)
}

/// Whether the name contains the pattern: its parts between `*`, in order.
fn fits(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    parts.try_fold(name, |rest, part| Some(rest.split_once(part)?.1)).is_some()
}

#[cfg(test)]
mod tests {
    use super::fits;

    #[test]
    fn patterns_may_stand_anywhere() {
        let checks = [
            ("msg", "launch_msg_t", true),
            ("msg*", "launch_msg_t", true),
            ("t*msg", "launch_msg_t", false),
            ("step_impl<*", "run_step_impl<15>", true),
            ("run_*impl", "run_step_impl<15>", true),
            ("*_msg_*", "launch_msg_t", true),
            ("la*m*t", "launch_msg_t", true),
            ("ab*b", "ab", false),
            ("*", "", true),
        ];
        for (pattern, name, want) in checks {
            assert_eq!(fits(pattern, name), want, "{pattern} {name}");
        }
    }
}
