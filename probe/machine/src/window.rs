//! TLB windows: their ordering, and the windows that clients may use.

use layouts::{Bar, ChipLayout, NocXy, Ordering};
use serde::{Deserialize, Serialize};

/// How a window orders its traffic (wormhole.md 1.4). Windows whose entries meshscope writes use
/// one static virtual channel, so that writes through one of them never overtake each other.
/// Windows that a driver configures keep that order only if they are strict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum WindowOrdering {
    /// Default ordering: bulk memory.
    Memory,
    /// Strict ordering: registers, queue pointers, doorbells.
    Strict,
}

impl From<WindowOrdering> for Ordering {
    fn from(order: WindowOrdering) -> Self {
        match order {
            WindowOrdering::Memory => Self::Relaxed,
            WindowOrdering::Strict => Self::Strict,
        }
    }
}

/// Returns the BAR0 offset and the value of the entry that points `window` at a page of a tile, for
/// a machine whose clients write the entries; None past the last window.
pub fn entry(
    bar: &Bar,
    window: u16,
    tile: NocXy,
    page: u64,
    order: WindowOrdering,
) -> Option<(u64, u64)> {
    let spec = bar.window(window)?;
    Some((spec.entry, bar.unicast_entry(&spec, tile, page, order.into())))
}

/// Returns all windows of a device but the driver's.
pub fn all_but_the_drivers(layout: &ChipLayout) -> Vec<u16> {
    let bar = &layout.bar;
    (0..bar.window_count()).filter(|&window| window != bar.config.kernel_window).collect()
}
