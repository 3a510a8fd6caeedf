//! Code by source line: one line table per unit, read into sorted rows on first use. addr2line
//! keeps one row per address, so it does not know all lines of the code.

use std::sync::Arc;

use gimli::{AttributeValue, DebugLineOffset, LineProgramHeader, Unit, constants as dw};

use crate::bounds;
use crate::die::DieView;
use crate::image::ElfHeaders;
use crate::problem::Problem;
use crate::sections::Slice;
use crate::units::DieId;

/// The most rows of one table.
const MAX_ROWS: usize = 1 << 22;

/// One row: code from this address to the next row comes from this line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LineRow {
    pub(crate) address: u32,
    pub(crate) file: u32,
    /// 0 if the compiler recorded no line.
    pub(crate) line: u32,
    /// Whether the row ends a sequence of rows: no code follows.
    pub(crate) end: bool,
}

/// A run of code that comes from one line.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct LineCode {
    /// The first address.
    pub begin: u64,
    /// The address after the last byte; `begin` if the line shares all its instructions with other
    /// lines.
    pub end: u64,
    /// The file as the compiler recorded it.
    pub file: Arc<str>,
}

/// A unit's rows and file names.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    rows: Vec<LineRow>,
    files: Vec<Option<Arc<str>>>,
    /// DWARF 5 numbers files from 0, older versions from 1.
    first_file: u64,
}

impl Lines {
    /// Adds the runs of rows for a line of a file whose path ends in `file`.
    pub(crate) fn code(&self, file: &str, line: u32, found: &mut Vec<LineCode>) {
        let mut run: Option<LineCode> = None;
        for row in &self.rows {
            let path = self.path(row).filter(|path| row.line == line && ends_in(path, file));
            match (&mut run, path) {
                (None, Some(path)) => {
                    let (begin, file) = (u64::from(row.address), Arc::clone(path));
                    run = Some(LineCode { begin, end: begin, file });
                }
                (Some(_), None) => {
                    found.extend(run.take().map(|run| LineCode { end: row.address.into(), ..run }));
                }
                _ => {}
            }
        }
    }

    /// Returns the line numbers of a file whose path ends in `file`, in table order.
    pub(crate) fn numbers(&self, file: &str) -> Vec<u32> {
        let matches = |row: &&LineRow| self.path(row).is_some_and(|path| ends_in(path, file));
        let rows = self.rows.iter().filter(|row| row.line > 0).filter(matches);
        rows.map(|row| row.line).collect()
    }

    /// Returns the files of the rows.
    pub(crate) fn files_with_code(&self) -> Vec<String> {
        let mut numbers: Vec<u32> =
            self.rows.iter().filter(|row| !row.end).map(|row| row.file).collect();
        numbers.sort_unstable();
        numbers.dedup();
        let files = numbers.into_iter().filter_map(|number| self.file(number.into()));
        files.map(ToString::to_string).collect()
    }

    pub(crate) fn file(&self, number: u64) -> Option<&Arc<str>> {
        let at = usize::try_from(number.checked_sub(self.first_file)?).ok()?;
        self.files.get(at)?.as_ref()
    }

    fn path(&self, row: &LineRow) -> Option<&Arc<str>> {
        self.file(row.file.into()).filter(|_| !row.end)
    }
}

/// Whether a path ends in whole components: `noc.h` and `inc/noc.h` match `/project/inc/noc.h`,
/// `oc.h` does not.
fn ends_in(path: &str, end: &str) -> bool {
    path.strip_suffix(end)
        .is_some_and(|rest| rest.is_empty() || rest.ends_with('/') || end.starts_with('/'))
}

/// Reads a unit's line table. A damaged table yields the rows before the damage, and a problem.
pub(crate) fn read(
    view: &DieView<'_>,
    image: &ElfHeaders,
    index: usize,
    problems: &mut Vec<Problem>,
) -> Lines {
    let offset = view.units.get(index).and_then(|info| info.lines);
    let (Some(offset), Some(unit)) = (offset, view.unit(index)) else { return Lines::default() };
    let mut lines = Lines::default();
    if let Err(error) = fill(view, image, &unit, index, offset, &mut lines) {
        problems.push(Problem::Lines { offset: offset.0 as u64, reason: error.to_string() });
    }
    lines.rows.shrink_to_fit();
    lines
}

fn fill<'a>(
    view: &DieView<'a>,
    image: &ElfHeaders,
    unit: &Unit<Slice<'a>>,
    index: usize,
    offset: DebugLineOffset<usize>,
    lines: &mut Lines,
) -> gimli::Result<()> {
    let (directory, name) = root_strings(view, unit, index);
    let program = view.dwarf.debug_line.program(offset, 4, directory, name)?;
    let header = program.header();
    if bounds::is_unreadable(header) {
        return Err(gimli::Error::BadSignedLeb128);
    }
    lines.first_file = u64::from(header.version() < 5);
    let count = header.file_names().len() as u64;
    let numbers = lines.first_file..lines.first_file.saturating_add(count);
    lines.files = numbers.map(|number| path(view, unit, header, directory, number)).collect();
    let mut rows = program.rows();
    // The start of the current sequence.
    let mut first = 0;
    let result = loop {
        let row = match rows.next_row() {
            Ok(Some((_, row))) => *row,
            Ok(None) => break Ok(()),
            Err(error) => break Err(error),
        };
        // Grow by a quarter, not by doubling: large tables are most of the heap.
        if lines.rows.len() == lines.rows.capacity() {
            lines.rows.reserve_exact(lines.rows.len() / 4 + 64);
        }
        lines.rows.push(LineRow {
            address: u32::try_from(row.address()).unwrap_or(u32::MAX),
            file: u32::try_from(row.file_index()).unwrap_or(u32::MAX),
            line: row.line().and_then(|line| u32::try_from(line.get()).ok()).unwrap_or(0),
            end: row.end_sequence(),
        });
        if row.end_sequence() {
            // Drop the sequence if the linker dropped its code.
            if lines.rows.get(first).is_none_or(|row| !image.is_code(row.address)) {
                lines.rows.truncate(first);
            }
            first = lines.rows.len();
        }
        if lines.rows.len() > MAX_ROWS {
            break Ok(());
        }
    };
    lines.rows.truncate(first);
    // The end of one sequence sorts before the row that starts the next one at the same address.
    // Most tables are in order, and sorting takes memory.
    let order = |row: &LineRow| (row.address, !row.end);
    if !lines.rows.is_sorted_by_key(order) {
        lines.rows.sort_by_key(order);
    }
    result
}

fn root_strings<'a>(
    view: &DieView<'a>,
    unit: &Unit<Slice<'a>>,
    index: usize,
) -> (Option<Slice<'a>>, Option<Slice<'a>>) {
    let Some(info) = view.units.get(index) else { return (None, None) };
    let root = DieId(info.start.saturating_add(unit.header.root_offset().0 as u32));
    let Some(root) = view.die(root) else { return (None, None) };
    let string = |name| view.dwarf_of(index).attr_string(unit, root.attr(name)?).ok();
    (string(dw::DW_AT_comp_dir), string(dw::DW_AT_name))
}

/// Joins compilation directory, include directory and file name while the path is relative. The
/// rest stays as recorded, so that other tools name the same file.
fn path<'a>(
    view: &DieView<'a>,
    unit: &Unit<Slice<'a>>,
    header: &LineProgramHeader<Slice<'a>>,
    compiled_in: Option<Slice<'a>>,
    number: u64,
) -> Option<Arc<str>> {
    let text = |value: AttributeValue<Slice<'a>>| {
        Some(view.dwarf.attr_string(unit, value).ok()?.to_string_lossy())
    };
    let file = header.file(number)?;
    let mut path = text(file.path_name())?.into_owned();
    let directory = file.directory(header).and_then(text);
    let outer = compiled_in.map(|directory| directory.to_string_lossy());
    for directory in [directory, outer].into_iter().flatten() {
        if !path.starts_with('/') && !directory.is_empty() {
            path = format!("{}/{path}", directory.trim_end_matches('/'));
        }
    }
    Some(path.into())
}

#[cfg(test)]
mod tests {
    use super::ends_in;

    #[test]
    fn paths_are_matched_by_whole_parts() {
        assert!(ends_in("/project/inc/noc.h", "inc/noc.h"));
        assert!(!ends_in("/project/inc/noc.h", "oc.h"));
    }
}
