//! Tiles of the mesh.

use layouts::{ChipId, ChipLayout, EthId, NoChannel, NocAddr, NocXy, TileKind};
use schemars::JsonSchema;
use serde::Serialize;
use std::fmt;

/// A tile of a chip.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
pub struct Place {
    /// The chip's id.
    pub chip: ChipId,
    /// NOC 0 coordinates of the tile: x, y.
    pub tile: NocXy,
}

impl Place {
    /// The tile of a link's end.
    ///
    /// # Errors
    /// A channel that the chip does not have.
    pub fn of(layout: &ChipLayout, end: EthId) -> Result<Self, NoChannel> {
        Ok(Self { chip: end.chip, tile: layout.eth_tile(end.channel)? })
    }

    /// An address in the tile.
    pub fn at(self, offset: u64) -> NocAddr {
        NocAddr { chip: self.chip, tile: self.tile, offset }
    }

    /// `0:e8` for an Ethernet tile, else the tile's coordinates.
    pub fn name(self, layout: &ChipLayout) -> String {
        match layout.tile_at(self.tile).and_then(|tile| tile.channel) {
            Some(channel) if layout.kind_at(self.tile) == TileKind::Eth => {
                EthId { chip: self.chip, channel }.to_string()
            }
            _ => self.to_string(),
        }
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
