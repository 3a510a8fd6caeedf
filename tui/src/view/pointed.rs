//! What a person points at with the mouse.

use crate::model::{List, Screen};
use layouts::{ChipId, NocXy};

/// What a person points at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hit {
    /// The tab of a screen.
    Screen(Screen),
    /// A chip of the map.
    Chip(ChipId),
    /// A row of a list.
    Row(List, usize),
    /// A tile of the selected chip.
    Tile(NocXy),
    /// A row of the words of the selected core.
    Word(usize),
}
