//! UMD's `soc_descriptor.yaml`: the tiles of a chip.

use crate::address::TileKind;
use crate::chip::ChipLayout;
use crate::tiles::Tile;

impl ChipLayout {
    /// Returns the descriptor of a chip. Harvested rows are omitted: UMD does not query a simulator
    /// for harvesting.
    pub fn soc_descriptor(&self, harvested_rows: &[u8]) -> String {
        let mut tiles = self.tiles.all();
        tiles.retain(|tile| tile.kind != TileKind::Tensix || !harvested_rows.contains(&tile.xy.y));
        tiles.sort_by_key(|tile| {
            let number = if tile.kind == TileKind::Eth { tile.channel } else { tile.port };
            (number, tile.xy.y, tile.xy.x)
        });
        let list = |wanted: &dyn Fn(&&Tile) -> bool| {
            let names: Vec<_> =
                tiles.iter().filter(wanted).map(|tile| tile.xy.to_string()).collect();
            format!("[{}]", names.join(", "))
        };
        let of = |kind: TileKind| list(&move |tile| tile.kind == kind);
        let dram = (0..self.tiles.dram.channels.len()).map(|number| {
            list(&|tile| tile.kind == TileKind::Dram && tile.channel == Some(number as u8))
        });
        let mirror =
            |size: u8| (0..size).rev().map(|n| n.to_string()).collect::<Vec<_>>().join(", ");
        let (columns, rows) = (self.tiles.columns, self.tiles.rows);
        format!(
            "arch_name: WORMHOLE_B0\n\
             grid: {{x_size: {columns}, y_size: {rows}}}\n\
             arc: {}\n\
             pcie: {}\n\
             dram: [{}]\n\
             eth: {}\n\
             functional_workers: {}\n\
             router_only: {}\n\
             noc0_x_to_noc1_x: [{}]\n\
             noc0_y_to_noc1_y: [{}]\n\
             worker_l1_size: {}\n\
             eth_l1_size: {}\n\
             dram_bank_size: {}\n",
            of(TileKind::Arc),
            of(TileKind::Pcie),
            dram.collect::<Vec<_>>().join(", "),
            of(TileKind::Eth),
            of(TileKind::Tensix),
            of(TileKind::Router),
            mirror(columns),
            mirror(rows),
            self.tensix.l1_bytes,
            self.eth.l1_bytes,
            self.tiles.dram.channel_bytes,
        )
    }
}
