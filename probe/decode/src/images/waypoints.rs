//! The section `.meshscope.waypoints` of built-in images: the source line that sets each waypoint.

use crate::images::kinds::SourceLine;
use symbols::Symbols;

/// Bytes of one record: code, line, offset of the file's path, address.
const RECORD: usize = 16;

/// Code that sets a waypoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaypointPlace {
    /// The letters, without padding.
    pub code: String,
    /// Address of the storing code, as linked.
    pub address: u32,
    /// File and line, and the functions around them, innermost first.
    pub lines: Vec<SourceLine>,
}

/// Reads the section; empty for an image without it.
pub(super) fn read(symbols: &Symbols) -> Vec<WaypointPlace> {
    let files = symbols.section(".meshscope.files").map_or(&[][..], |section| section.bytes);
    let Some(section) = symbols.section(".meshscope.waypoints") else { return Vec::new() };
    section.bytes.chunks_exact(RECORD).filter_map(|record| place(symbols, record, files)).collect()
}

fn place(symbols: &Symbols, record: &[u8], files: &[u8]) -> Option<WaypointPlace> {
    let word = |at: usize| Some(u32::from_le_bytes(*record.get(at..)?.first_chunk()?));
    let (line, file, address) = (word(4)?, word(8)? as usize, word(12)?);
    let path = files.get(file..).and_then(|rest| rest.split(|&byte| byte == 0).next());
    let path = path.map(|path| plain(&String::from_utf8_lossy(path)));
    let frames = symbols.frames_at(address.into());
    let mut lines: Vec<SourceLine> = frames
        .iter()
        .map(|frame| SourceLine {
            function: frame.function.as_deref().map(str::to_owned),
            file: frame.file.as_deref().map(plain),
            line: frame.line,
        })
        .collect();
    // Frames inside the line with WAYPOINT belong to the macro.
    let here = |at: &SourceLine| at.line == Some(line) && at.file == path;
    match lines.iter().rposition(here) {
        Some(innermost) => drop(lines.drain(..innermost)),
        None => lines.insert(0, SourceLine { function: None, file: path, line: Some(line) }),
    }
    Some(WaypointPlace { code: code(record), address, lines })
}

/// Strips the `./` with which paths of debug information, but not the macro's, can begin.
fn plain(path: &str) -> String {
    path.trim_start_matches("./").to_owned()
}

/// Returns the characters of a waypoint word up to the first zero byte; unprintable ones become
/// `?`.
pub fn code(word: &[u8]) -> String {
    let letters = word.iter().take(4).take_while(|&&byte| byte != 0);
    letters.map(|&b| if b.is_ascii_graphic() { char::from(b) } else { '?' }).collect()
}
