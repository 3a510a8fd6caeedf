//! Tiles of the mesh.

use layouts::{ChipId, NocAddr, NocXy};
use std::fmt;

/// A tile of a chip.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The chip.
    pub chip: ChipId,
    /// The tile, NOC 0 coordinates.
    pub tile: NocXy,
}

impl Place {
    /// Returns an address in the tile.
    pub fn at(self, offset: u64) -> NocAddr {
        NocAddr { chip: self.chip, tile: self.tile, offset }
    }
}

impl From<NocAddr> for Place {
    fn from(addr: NocAddr) -> Self {
        Self { chip: addr.chip, tile: addr.tile }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.chip, self.tile)
    }
}
