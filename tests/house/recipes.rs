//! The recipes name files and code that exist: each path of a table's first column, and each name of
//! its second column in one of these files.

use std::fs;
use std::path::{Path, PathBuf};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

/// Returns what stands between backticks.
fn quoted(cell: &str) -> impl Iterator<Item = &str> {
    cell.split('`').skip(1).step_by(2)
}

/// Returns the file of a path; of one with a part to be chosen, such as `<name>`, the files of the
/// folder that is named before it.
fn files(path: &str) -> Result<Vec<PathBuf>, String> {
    let chosen = path.find(['<', '*']).map(|at| path[..at].rsplit_once('/').unwrap().0);
    let place = root().join(chosen.unwrap_or(path));
    let missing = |e| format!("{}: {e}", place.display());
    if place.is_file() {
        return Ok(vec![place]);
    }
    let entries = fs::read_dir(&place).map_err(missing)?;
    Ok(entries.map(|entry| entry.unwrap().path()).filter(|path| path.is_file()).collect())
}

/// Whether a quotation is a name in the code: letters, digits, `_` and `::`, and perhaps arguments.
fn name(quotation: &str) -> Option<&str> {
    let path = quotation.trim_end_matches('!').split('(').next().unwrap();
    let is_name = path.chars().all(|c| c.is_alphanumeric() || "_:".contains(c)) && path.len() > 1;
    is_name.then(|| path.rsplit("::").next().unwrap())
}

/// Returns the faults of a recipe.
fn faults(recipe: &str) -> Vec<String> {
    let mut faults = Vec::new();
    let mut checked = 0;
    for line in recipe.lines().filter(|line| line.starts_with("| `")) {
        let [_, paths, change, _] = line.split('|').collect::<Vec<_>>()[..] else {
            faults.push(format!("a row has two columns: {line}"));
            continue;
        };
        let mut text = String::new();
        for path in quoted(paths) {
            match files(path) {
                Ok(files) => text.extend(files.iter().filter_map(|f| fs::read_to_string(f).ok())),
                Err(fault) => faults.push(fault),
            }
            checked += 1;
        }
        let absent = quoted(change).filter_map(name).filter(|name| !text.contains(name));
        faults.extend(absent.map(|name| format!("{} has no {name}", paths.trim())));
    }
    if checked < 3 {
        faults.push(format!("only {checked} paths"));
    }
    faults
}

#[test]
fn recipes_name_files_and_code_that_exist() {
    let mut all = Vec::new();
    for entry in fs::read_dir(root().join("tests/recipes")).unwrap() {
        let path = entry.unwrap().path();
        let found = faults(&fs::read_to_string(&path).unwrap());
        all.extend(found.into_iter().map(|fault| format!("{}: {fault}", path.display())));
    }
    assert_eq!(all, Vec::<String>::new());
}

#[test]
fn a_file_and_a_name_that_are_gone_are_told() {
    let row =
        "| `tests/house/gone.rs` | It is gone. |\n| `tests/house/arrows.rs` | `GONE_WITH`. |\n";
    let faults = faults(row);
    assert_eq!(faults.len(), 3, "{faults:?}");
    assert!(faults[0].contains("gone.rs") && faults[1].contains("GONE_WITH"), "{faults:?}");
}
