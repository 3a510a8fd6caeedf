//! The location of tensor pages on a chip: interleaved over the DRAM channels, or sharded over
//! compute tiles.

use super::error::CclError;
use super::program::{Bank, Tensor};
use super::request::TensorLayout;
use layouts::{ChipId, NocXy};
use machine::place::Place;
use machine::target::Mesh;

/// Start of the tensors in a DRAM channel, after the memory that tt-metal reserves there.
const DRAM_BASE: u32 = 16 << 20;
/// The port of each DRAM channel: over NoC 1 the first ports of channels 0 and 2 hung the NoC
/// (wormhole.md 1.7).
const DRAM_PORT: usize = 1;
/// Start of the shards in the L1 of a compute tile, after firmware, kernels and the workers' data.
const L1_BASE: u32 = 0x8_0000;
/// Number of tiles with shards; all tiles are used only if the shards do not fit.
const SHARD_TILES: usize = 8;

/// Index of the input in each worker's tensors.
pub const INPUT: u8 = 0;
/// Index of the output in each worker's tensors.
pub const OUTPUT: u8 = 1;

/// The tensors of every chip, at the same addresses on each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placement {
    layout: TensorLayout,
    /// Input and output, by [`INPUT`] and [`OUTPUT`].
    pub tensors: [Tensor; 2],
}

impl Placement {
    /// Places an input and an output of these numbers of pages on each of these chips.
    ///
    /// # Errors
    /// If they do not fit.
    pub fn new(
        mesh: &Mesh,
        chips: &[ChipId],
        layout: TensorLayout,
        page_bytes: u32,
        pages: [u64; 2],
    ) -> Result<Self, CclError> {
        match layout {
            TensorLayout::Interleaved => {
                let room = mesh.layout().tiles.dram.channel_bytes - u64::from(DRAM_BASE);
                let banks = mesh.layout().tiles.dram.channels.len();
                Self::over(layout, page_bytes, pages, banks, room, "DRAM channels")
            }
            TensorLayout::Sharded => {
                let room = mesh.layout().tensix.l1_bytes - u64::from(L1_BASE);
                let tiles = chips.iter().map(|&chip| mesh.compute_tiles(chip).count()).min();
                let tiles = tiles.map_or(1, |tiles| tiles.max(1));
                let over =
                    |banks| Self::over(layout, page_bytes, pages, banks, room, "compute tiles");
                over(tiles.min(SHARD_TILES)).or_else(|_| over(tiles))
            }
        }
    }

    fn over(
        layout: TensorLayout,
        page_bytes: u32,
        pages: [u64; 2],
        banks: usize,
        room: u64,
        what: &'static str,
    ) -> Result<Self, CclError> {
        let in_bank = |pages: u64| pages.div_ceil(banks as u64);
        let bytes = |pages| in_bank(pages) * u64::from(page_bytes);
        let [input, output] = pages;
        let all = bytes(input) + bytes(output);
        if all > room {
            return Err(CclError::TooLarge { bytes: all, room, banks: what });
        }
        let tensor = |pages, offset| Tensor {
            first_bank: 0,
            banks: banks as u32,
            pages_per_shard: match layout {
                TensorLayout::Interleaved => 1,
                TensorLayout::Sharded => in_bank(pages).max(1) as u32,
            },
            page_bytes,
            offset,
        };
        Ok(Self { layout, tensors: [tensor(input, 0), tensor(output, bytes(input) as u32)] })
    }

    /// Returns the banks of a chip.
    pub fn banks(&self, mesh: &Mesh, chip: ChipId) -> Vec<Bank> {
        let bank = |tile, address| Bank { place: Place { chip, tile }, address };
        match self.layout {
            TensorLayout::Interleaved => {
                let channels = mesh.layout().tiles.dram.channels.iter();
                let ports = channels.filter_map(|ports| ports.get(DRAM_PORT));
                ports.map(|&(x, y)| bank(NocXy { x, y }, DRAM_BASE)).collect()
            }
            TensorLayout::Sharded => {
                let [input, _] = self.tensors;
                let tiles = mesh.compute_tiles(chip).take(input.banks as usize);
                tiles.map(|place| Bank { place, address: L1_BASE }).collect()
            }
        }
    }
}

/// Where a page of a tensor lies: its bank and the offset there.
pub fn locate(tensor: &Tensor, page: u32) -> (u32, u64) {
    let (shard, within) = (page / tensor.pages_per_shard, page % tensor.pages_per_shard);
    let (bank, round) = (shard % tensor.banks, shard / tensor.banks);
    let before = u64::from(round) * u64::from(tensor.pages_per_shard) + u64::from(within);
    (tensor.first_bank + bank, u64::from(tensor.offset) + before * u64::from(tensor.page_bytes))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]
    use super::*;
    use crate::tests::mesh;

    #[test]
    fn pages_are_interleaved_over_six_channels_and_safe_ports() {
        let mesh = mesh("n300");
        let placement =
            Placement::new(&mesh, &[ChipId(0)], TensorLayout::Interleaved, 2048, [13, 26]).unwrap();
        let banks = placement.banks(&mesh, ChipId(0));
        let tiles: Vec<String> = banks.iter().map(|bank| bank.place.tile.to_string()).collect();
        assert_eq!(tiles, ["0-1", "0-6", "5-1", "5-9", "5-4", "5-6"]);
        let [input, output] = placement.tensors;
        assert_eq!(locate(&input, 13), (1, 2 * 2048));
        assert_eq!(locate(&output, 0), (0, 3 * 2048), "after the three pages of a channel's input");
    }

    #[test]
    fn shards_are_on_tiles_that_are_not_fused_off() {
        let mesh = mesh("n300");
        let placement =
            Placement::new(&mesh, &[ChipId(0)], TensorLayout::Sharded, 1024, [20, 40]).unwrap();
        let chip = &mesh.chips[0];
        assert!((0..12).any(|row| chip.is_fused_off(row) == Some(true)));
        let banks = placement.banks(&mesh, ChipId(0));
        assert_eq!(banks.len(), 8);
        assert!(banks.iter().all(|bank| chip.is_fused_off(bank.place.tile.y) == Some(false)));
        let [input, _] = placement.tensors;
        assert_eq!(locate(&input, 4), (1, 1024), "three pages per shard");
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let mesh = mesh("n300");
        let refused = |layout, pages| {
            Placement::new(&mesh, &[ChipId(0)], layout, 4096, [1, pages]).unwrap_err().to_string()
        };
        assert_eq!(
            refused(TensorLayout::Sharded, 1 << 16),
            "the tensors need 4198400 bytes in each of the compute tiles, which have 974848"
        );
        assert!(refused(TensorLayout::Interleaved, 1 << 23).contains("DRAM channels"));
    }
}
