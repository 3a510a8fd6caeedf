//! Marks that a person sets in a recording: lines of JSON in a file beside it, which itself stays as
//! it was made.

use files::Kind;
use machine::history::Mark;
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// The file beside a recording.
fn beside(recording: &Path) -> PathBuf {
    let mut name = recording.as_os_str().to_owned();
    name.push(".marks");
    name.into()
}

/// Returns the marks kept beside a recording, and why some are not there.
pub(crate) fn kept(recording: &Path) -> (Vec<Mark>, Option<String>) {
    let file = beside(recording);
    if !file.exists() {
        return (Vec::new(), None);
    }
    let text = match files::read_text(&file, Kind::MARKS) {
        Ok(text) => text,
        Err(why) => return (Vec::new(), Some(why.to_string())),
    };
    let (mut marks, mut problem) = (Vec::new(), None);
    for (line, text) in (1..).zip(text.lines()) {
        match serde_json::from_str(text) {
            Ok(mark) => marks.push(mark),
            Err(why) => {
                problem.get_or_insert(format!("{}:{line}: no mark: {why}", file.display()));
            }
        }
    }
    (marks, problem)
}

/// Keeps a mark; returns the file.
pub(crate) fn keep(recording: &Path, mark: &Mark) -> Result<PathBuf, String> {
    let file = beside(recording);
    let mut line = serde_json::to_string(mark).map_err(|why| why.to_string())?;
    line.push('\n');
    let mut opened = files::open_to_append(&file, Kind::MARKS).map_err(|why| why.to_string())?;
    let written = opened.write_all(line.as_bytes());
    written.map_err(|why| format!("{}: {why}", file.display()))?;
    Ok(file)
}
