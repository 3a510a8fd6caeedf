//! `symbols list`: the names there are.

use super::load;
use crate::args::Listing;
use crate::exit::{Failure, Outcome};
use crate::output::{json, text};
use crate::shape::Names;
use crate::verbs::Style;
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
    if style.json {
        json(&Names { kind, names })?;
    } else {
        let lines: Vec<&str> = names.iter().flat_map(|name| [*name, "\n"]).collect();
        text(&lines.concat())?;
    }
    Ok(Outcome::Healthy)
}

/// Whether the name holds the pattern: its parts between `*`, one after another. Without a `*` it may stand anywhere.
fn fits(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(last) = parts.next_back() else { return name.contains(pattern) };
    let Some(rest) = name.strip_prefix(first).and_then(|rest| rest.strip_suffix(last)) else {
        return false;
    };
    let found = parts.try_fold(rest, |rest, part| rest.split_once(part).map(|(_, after)| after));
    found.is_some()
}

#[cfg(test)]
mod tests {
    use super::fits;

    #[test]
    fn patterns_fit_as_in_a_shell() {
        let checks = [
            ("msg", "launch_msg_t", true),
            ("msg*", "launch_msg_t", false),
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
