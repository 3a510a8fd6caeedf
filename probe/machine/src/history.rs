//! The past of a target: the moments of a recording, which can be visited in any order.

use crate::notes::Note;
use crate::snapshot::{Piece, Snapshot};
use layouts::{ChipId, NocAddr, NocXy};
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::path::PathBuf;

/// The moments of a target that has a past, in recorded order, from 0.
pub trait History {
    /// Returns the target time of each moment, in device cycles. Time runs backwards where a chip's
    /// clock began again.
    fn moments(&self) -> &[u64];
    /// Returns the index of the moment from which reads are answered.
    fn position(&self) -> usize;
    /// Returns the whole snapshot of that moment, as recorded; none if it is damaged.
    fn moment(&self) -> Option<&Snapshot>;
    /// Goes to a moment; an index past the end means the last one.
    fn seek(&mut self, index: usize);
    /// Returns, for each chip that a moment read, the number of bytes that differ from the moment
    /// before.
    fn changed_bytes(&self, index: usize) -> &[(u16, u32)];
    /// Whether a moment read only a part of the mesh; it shows the rest as the moment before.
    fn is_partial(&self, _index: usize) -> bool {
        false
    }
    /// Returns the target time at which the reading of the current moment began, in device cycles:
    /// what is older was read in an earlier one.
    fn began_cycles(&self) -> Option<u64> {
        let before = self.position().checked_sub(1).and_then(|it| self.moments().get(it));
        let times = self.moment()?.pieces.iter().map(|piece| piece.target_cycles);
        times.filter(|time| before.is_none_or(|before| time > before)).min()
    }
    /// Returns the marks.
    fn marks(&self) -> &[Mark];
    /// Adds a mark, and keeps it in a file beside the recording, which stays as it was made. Returns
    /// that file.
    ///
    /// # Errors
    /// Why it is not kept, in a few words; it is among the marks all the same.
    fn mark(&mut self, mark: Mark) -> Result<PathBuf, String>;
    /// Returns what was done and reported, each with the index of the first moment after it, or of the
    /// last moment, in the order of these. It may take as long as reading the file.
    fn notes(&self) -> Vec<(usize, Note)> {
        Vec::new()
    }
}

/// A moment that somebody marked, or at which a verdict found something. Recordings keep it in this
/// form: new fields need a default.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    /// The target's own time, in device cycles.
    pub target_cycles: u64,
    /// Host time, in microseconds since the Unix epoch.
    pub host_micros: u64,
    /// What is marked.
    pub text: String,
    /// The condition that a live verdict named; none of a mark that a person set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub condition: Option<String>,
    /// The version of the meshscope that set it.
    #[serde(default)]
    pub made_by: String,
}

impl Mark {
    /// Returns a mark that this version sets.
    pub fn new(target_cycles: u64, host_micros: u64, text: impl Into<String>) -> Self {
        let made_by = env!("CARGO_PKG_VERSION").into();
        Self { target_cycles, host_micros, text: text.into(), condition: None, made_by }
    }
}

/// What is looked at for changes: a tile, and a range of its addresses or all of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Watched {
    /// The chip.
    pub chip: ChipId,
    /// The tile; none: all of them.
    pub tile: Option<NocXy>,
    /// The addresses in the tile.
    pub range: Range<u64>,
}

impl Watched {
    /// A whole tile.
    pub fn tile(chip: ChipId, tile: NocXy) -> Self {
        Self { chip, tile: Some(tile), range: 0..u64::MAX }
    }

    /// Returns the watched part of a piece: its first address and its bytes.
    fn part<'a>(&self, piece: &'a Piece) -> Option<(NocAddr, &'a [u8])> {
        let at = piece.addr;
        if at.chip != self.chip || self.tile.is_some_and(|tile| tile != at.tile) {
            return None;
        }
        let from = self.range.start.max(at.offset);
        let to = self.range.end.min(at.offset + piece.bytes.len() as u64);
        let bytes = piece.bytes.get((from.checked_sub(at.offset)?) as usize..)?;
        let bytes = bytes.get(..to.checked_sub(from)? as usize)?;
        Some((NocAddr { offset: from, ..at }, bytes))
    }
}

/// Whether two snapshots differ in what is watched, where both read it.
fn differ(before: &Snapshot, after: &Snapshot, watched: &[Watched]) -> bool {
    let mut parts =
        after.pieces.iter().flat_map(|piece| watched.iter().filter_map(|it| it.part(piece)));
    parts.any(|(at, bytes)| before.bytes(at, bytes.len() as u32).is_ok_and(|old| old != bytes))
}

/// Goes to the first of these moments at which what is watched differs from the moment before it.
/// Returns false, and stays, if there is none.
pub fn seek_change(
    history: &mut dyn History,
    watched: &[Watched],
    moments: impl Iterator<Item = usize>,
) -> bool {
    let stays = history.position();
    for moment in moments.filter(|moment| *moment > 0) {
        if may_differ(history, moment, watched) && differs(history, moment, watched) {
            return true;
        }
    }
    history.seek(stays);
    false
}

/// Goes from the current moment to the next change of what is watched, or back to the previous one. The
/// current moment is where the last change was found. Returns false, and stays, if there is none.
pub fn seek_next_change(history: &mut dyn History, watched: &[Watched], back: bool) -> bool {
    let (at, moments) = (history.position(), history.moments().len());
    if back {
        seek_change(history, watched, (1..at).rev())
    } else {
        seek_change(history, watched, at + 1..moments)
    }
}

/// Whether a moment, at which the history stands afterwards, differs from the one before.
fn differs(history: &mut dyn History, moment: usize, watched: &[Watched]) -> bool {
    history.seek(moment - 1);
    let Some(before) = history.moment().cloned() else { return false };
    history.seek(moment);
    history.moment().is_some_and(|after| differ(&before, after, watched))
}

/// Whether the number of changed bytes leaves it open; formats without it do not say.
fn may_differ(history: &dyn History, moment: usize, watched: &[Watched]) -> bool {
    let changed = history.changed_bytes(moment);
    let of = |it: &Watched| changed.iter().find(|(chip, _)| ChipId(*chip) == it.chip);
    changed.is_empty() || watched.iter().any(|it| of(it).is_some_and(|(_, bytes)| *bytes > 0))
}
