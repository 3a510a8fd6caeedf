//! A tile of a chip of the mesh.

use layouts::{ChipId, EthId, NoChannel, NocAddr, NocXy, wormhole};
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
    /// The tile of a link's end.
    ///
    /// # Errors
    /// A channel that the chip does not have.
    pub fn eth(end: EthId) -> Result<Self, NoChannel> {
        Ok(Self { chip: end.chip, tile: wormhole().eth_tile(end.channel)? })
    }

    /// An address in the tile.
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
