//! What changed on screen since the snapshot before, on every screen alike: the cells that differ
//! from the last frame, unless the user changed what is shown.

use crate::feed::MeshSnapshot;
use crate::theme::Theme;
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
    /// Marks what changed, in a frame that shows this snapshot.
    pub(super) fn mark(
        &mut self,
        snapshot: Option<&Arc<MeshSnapshot>>,
        theme: Theme,
        frame: &mut Buffer,
    ) {
        let same = self.snapshot.as_ref().map(Arc::as_ptr) == snapshot.map(Arc::as_ptr);
        if self.touched || self.frame.area != frame.area || self.snapshot.is_none() {
            self.changed.clear();
        } else if !same {
            self.changed = changed(&self.frame, frame);
        }
        (self.snapshot, self.touched) = (snapshot.cloned(), false);
        self.frame.clone_from(frame);
        for position in &self.changed {
            if let Some(cell) = frame.cell_mut(*position) {
                let style = theme.moved(cell.style());
                cell.set_style(style);
            }
        }
    }
}

/// Returns the cells that show something else. The first line has the time, which always changes.
fn changed(before: &Buffer, now: &Buffer) -> Vec<Position> {
    let area = now.area;
    let all = area.positions().filter(|position| position.y > area.y);
    let differs = |at: &Position| {
        let [was, is] = [before, now].map(|buffer| buffer.cell(*at).map_or("", Cell::symbol));
        was != is && !is.trim().is_empty()
    };
    all.filter(differs).collect()
}

#[cfg(test)]
mod tests {
    use super::changed;
    use ratatui::buffer::Buffer;

    #[test]
    fn cells_that_show_something_else_are_marked() {
        let before = Buffer::with_lines(["t 17 ms", "sent 9", "idle"]);
        let now = Buffer::with_lines(["t 18 ms", "sent 12", "run"]);
        let at: Vec<(u16, u16)> = changed(&before, &now).iter().map(|at| (at.x, at.y)).collect();
        assert_eq!(at, [(5, 1), (6, 1), (0, 2), (1, 2), (2, 2)]);
    }
}
