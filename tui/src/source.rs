//! Files that the screens read: sources of the firmware, as its debug information names them, and
//! names to complete.

use std::path::Path;
use std::sync::Arc;

/// Returns the text of a source file, if the path exists here.
pub(crate) fn read(file: &str) -> Option<Arc<str>> {
    files::read_text(Path::new(file), files::Kind::SOURCE).ok().map(Arc::from)
}

/// Most names that are listed.
const MOST: usize = 500;

/// Returns the files whose paths begin with this, folders with a slash at the end; hidden ones only
/// if their names begin like hidden ones.
pub(crate) fn beginning_with(word: &str) -> Vec<String> {
    let (folder, begin) =
        word.rsplit_once('/').map_or(("", word), |(folder, _)| word.split_at(folder.len() + 1));
    let entries = std::fs::read_dir(if folder.is_empty() { "." } else { folder });
    let name = |entry: std::fs::DirEntry| {
        let name = entry.file_name().into_string().ok()?;
        let shown = name.starts_with(begin) && (begin.starts_with('.') || !name.starts_with('.'));
        let slash = if entry.path().is_dir() { "/" } else { "" };
        shown.then(|| format!("{folder}{name}{slash}"))
    };
    let names = entries.into_iter().flatten().flatten().filter_map(name);
    let mut names: Vec<_> = names.take(MOST).collect();
    names.sort();
    names
}
