//! Marks that a person sets in a recording: lines of JSON in a file beside it, which itself stays as
//! it was made.

use files::Kind;
use machine::history::Mark;
use std::io::Write as _;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

/// The file beside a recording.
fn beside(recording: &Path) -> PathBuf {
    let mut name = recording.as_os_str().to_owned();
    name.push(".marks");
    name.into()
}

/// Returns the marks kept beside a recording of this span of time, in device cycles, and why some are
/// not there. Anybody can have written the file: no link is followed, and no mark of it is a finding.
pub(crate) fn kept(recording: &Path, span: &RangeInclusive<u64>) -> (Vec<Mark>, Option<String>) {
    let file = beside(recording);
    match file.symlink_metadata() {
        Err(_) => return (Vec::new(), None),
        Ok(found) if found.is_symlink() => {
            let problem = format!("{}: a symbolic link, not a regular file", file.display());
            return (Vec::new(), Some(problem));
        }
        Ok(_) => {}
    }
    let text = match files::read_text(&file, Kind::MARKS) {
        Ok(text) => text,
        Err(why) => return (Vec::new(), Some(why.to_string())),
    };
    let (mut marks, mut problem) = (Vec::new(), None);
    for (line, text) in (1..).zip(text.lines()) {
        let why = match serde_json::from_str::<Mark>(text) {
            Ok(mark) if span.contains(&mark.target_cycles) => {
                marks.push(Mark { condition: None, ..mark });
                continue;
            }
            Ok(mark) => format!("{} cycles are outside the recording", mark.target_cycles),
            Err(why) => why.to_string(),
        };
        problem.get_or_insert(format!("{}:{line}: no mark: {why}", file.display()));
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
