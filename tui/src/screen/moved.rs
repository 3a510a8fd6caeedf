//! What changed on screen since the snapshot before, on every screen alike: the cells that differ
//! from the last frame, unless the user changed what is shown.

use crate::theme::Theme;
use console::feed::MeshSnapshot;
use ratatui::buffer::{Buffer, Cell};
use ratatui::layout::Position;
use std::sync::Arc;

/// The last frame, and its changed cells.
#[derive(Default)]
pub(super) struct Moved {
    snapshot: Option<Arc<MeshSnapshot>>,
    frame: Buffer,
    changed: Vec<Position>,
    /// Whether the next frame can differ for another reason than its snapshot.
    pub(super) touched: bool,
}

impl Moved {
    /// Marks what changed, in the rows of a frame that show this snapshot: those before `end`.
    pub(super) fn mark(
        &mut self,
        snapshot: Option<&Arc<MeshSnapshot>>,
        (frame, end): (&mut Buffer, u16),
    ) {
        let same = self.snapshot.as_ref().map(Arc::as_ptr) == snapshot.map(Arc::as_ptr);
        if self.touched || self.frame.area != frame.area || self.snapshot.is_none() {
            self.changed.clear();
        } else if !same {
            self.changed = changed(&self.frame, frame, end);
        }
        (self.snapshot, self.touched) = (snapshot.cloned(), false);
        self.frame.clone_from(frame);
        for position in &self.changed {
            if let Some(cell) = frame.cell_mut(*position) {
                let style = Theme::moved(cell.style());
                cell.set_style(style);
            }
        }
    }
}

/// Rows by which a row can be elsewhere than in the frame before.
const MOST_ROWS: usize = 4;
/// What a row that is gone counts, in changed cells: fewer than a row that is there for another.
const GONE: usize = 4;

/// Returns the cells that show something else. Rows are compared with those of the frame before so
/// that the fewest cells differ: a row that is inserted leaves those below it as they were. The first
/// line has the time, which always changes, and the lines from `end` on are about the moment.
fn changed(before: &Buffer, now: &Buffer, end: u16) -> Vec<Position> {
    let (before, rows) = (rows(before, end), rows(now, end));
    let mut changed = Vec::new();
    for ((row, partner), y) in rows.iter().zip(partners(&before, &rows)).zip(now.area.y + 1..) {
        let was = partner.and_then(|partner| before.get(partner)).copied();
        for (differs, x) in differing(was, row).zip(now.area.x..) {
            changed.extend(differs.then_some(Position { x, y }));
        }
    }
    changed
}

/// Returns the rows after the first, up to `end`.
fn rows(buffer: &Buffer, end: u16) -> Vec<&[Cell]> {
    let count = end.saturating_sub(buffer.area.y + 1);
    let all = buffer.content.chunks(usize::from(buffer.area.width).max(1));
    all.skip(1).take(count.into()).collect()
}

/// Whether each cell of a row shows something else than before, where the row may not have been.
fn differing(was: Option<&[Cell]>, is: &[Cell]) -> impl Iterator<Item = bool> {
    let was = was.into_iter().flatten().map(Cell::symbol).chain(std::iter::repeat(""));
    let differs = |(is, was): (&Cell, &str)| was != is.symbol() && !is.symbol().trim().is_empty();
    is.iter().zip(was).map(differs)
}

fn count(was: Option<&[Cell]>, is: &[Cell]) -> usize {
    differing(was, is).filter(|differs| *differs).count()
}

/// Returns, for each row, the number of the row before that it is compared with.
fn partners(before: &[&[Cell]], rows: &[&[Cell]]) -> Vec<Option<usize>> {
    // The least number of changed cells from row `i` now and row `j` before on, and what comes first.
    let mut least = vec![vec![(usize::MAX, Step::Both); before.len() + 1]; rows.len() + 1];
    for i in (0..=rows.len()).rev() {
        let row = rows.get(i);
        let alone = row.map(|row| count(None, row));
        for j in (0..=before.len()).rev().filter(|j| i.abs_diff(*j) <= MOST_ROWS) {
            let after = |i: usize, j: usize| {
                least.get(i).and_then(|row| row.get(j)).map_or(usize::MAX, |it| it.0)
            };
            let both = row.zip(before.get(j)).map(|(is, was)| {
                (after(i + 1, j + 1).saturating_add(count(Some(was), is)), Step::Both)
            });
            let new = alone.map(|cells| (after(i + 1, j).saturating_add(cells), Step::New));
            let gone = before.get(j).map(|_| (after(i, j + 1).saturating_add(GONE), Step::Gone));
            let best = [both, new, gone].into_iter().flatten().min_by_key(|it| it.0);
            if let Some(place) = least.get_mut(i).and_then(|row| row.get_mut(j)) {
                *place = best.unwrap_or((0, Step::Both));
            }
        }
    }
    let (mut found, mut j) = (Vec::new(), 0);
    while found.len() < rows.len() {
        match least.get(found.len()).and_then(|row| row.get(j)).map(|it| it.1) {
            Some(Step::Gone) => j += 1,
            Some(Step::New) => found.push(None),
            Some(Step::Both) | None => {
                found.push((j < before.len()).then_some(j));
                j += 1;
            }
        }
    }
    found
}

/// How rows of two frames follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// A row of each is compared.
    Both,
    /// A row was not there before.
    New,
    /// A row is no longer there.
    Gone,
}

#[cfg(test)]
mod tests {
    use super::changed;
    use ratatui::buffer::Buffer;

    fn at(before: &[&str], now: &[&str], end: u16) -> Vec<(u16, u16)> {
        let buffer = |lines: &[&str]| Buffer::with_lines(lines.iter().copied().map(str::to_owned));
        let changed = changed(&buffer(before), &buffer(now), end);
        changed.iter().map(|at| (at.x, at.y)).collect()
    }

    #[test]
    fn cells_that_show_something_else_are_marked() {
        let before = ["t 17 ms", "sent 9", "idle"];
        let now = ["t 18 ms", "sent 12", "run"];
        assert_eq!(at(&before, &now, 3), [(5, 1), (6, 1), (0, 2), (1, 2), (2, 2)]);
        assert_eq!(at(&before, &now, 2), [(5, 1), (6, 1)]);
    }

    #[test]
    fn a_row_that_is_inserted_leaves_the_others_as_they_were() {
        let before = ["t 1", "0:e8  up  17", "0:e9  up  29", "1:e0  up  31", "", "q quit"];
        let now = ["t 2", "0:e8  up  18", "0:ea  dn", "0:e9  up  29", "1:e0  up  32", "q quit"];
        let new = [(0, 2), (1, 2), (2, 2), (3, 2), (6, 2), (7, 2)];
        let expected: Vec<(u16, u16)> = [(11, 1)].into_iter().chain(new).chain([(11, 4)]).collect();
        assert_eq!(at(&before, &now, 5), expected);
        let back = at(&now, &before, 5);
        assert_eq!(back, [(11, 1), (11, 3)]);
    }
}
