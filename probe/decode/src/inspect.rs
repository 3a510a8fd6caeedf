//! From bytes to state: pure, without clock, file or environment.

mod channels;
mod core;
mod eth;
mod fabric;
mod interest;
mod links;
mod plan;

pub use fabric::{fabric_heads, fabric_interest, fabric_ways};
pub use interest::Interest;
pub use plan::{cores, plan_texts};
pub use plan::{plan, plan_proofs, plan_tables};

use crate::images::ImageMap;
use crate::state::{ChipState, MeshState, TileState};
use layouts::{ChipId, ChipLayout, NocAddr, NocXy, TileKind};
use machine::snapshot::Snapshot;
use machine::target::{Chip, Mesh};
use machine::visit::Before;

/// What a look at the mesh means, with what the look itself tells of the images.
pub fn inspect(shot: &Snapshot, mesh: &Mesh, images: &ImageMap) -> MeshState {
    let mut images = images.clone();
    images.learn(mesh, shot);
    decode(shot, mesh, &images)
}

/// What a look means to images that have already learned from it.
pub fn decode(shot: &Snapshot, mesh: &Mesh, images: &ImageMap) -> MeshState {
    let view = View { shot, mesh, images };
    let mut chips: Vec<ChipState> = mesh.chips.iter().map(|chip| view.chip(chip)).collect();
    let links = links::join(&view, &mut chips);
    let ways: Vec<_> = chips
        .iter()
        .map(|chip| links::ways(&mesh.layout().eth.values, &chip.chip, &chips, &links))
        .collect();
    chips.iter_mut().zip(ways).for_each(|(chip, ways)| chip.ways = ways);
    // Where nothing was read the caller asks the target for its time.
    let cycles = shot.pieces.iter().map(|piece| piece.target_cycles).min().map_or(0, |at| at);
    MeshState {
        kind: mesh.kind,
        cycles,
        fabric: view.fabric(&chips, &links, cycles),
        chips,
        links,
        gaps: shot.gaps.clone(),
        problems: mesh.problems.clone(),
        transactions: shot.transactions,
        before: Before::default(),
    }
}

/// Everything that decoding may look at.
struct View<'a> {
    shot: &'a Snapshot,
    mesh: &'a Mesh,
    images: &'a ImageMap,
}

impl View<'_> {
    /// What is where on the chips.
    fn layout(&self) -> &'static ChipLayout {
        self.mesh.layout()
    }

    fn chip(&self, chip: &Chip) -> ChipState {
        let tiles = self.layout().grid().iter();
        let tiles = tiles.map(|tile| self.tile(chip, tile.xy, tile.kind, tile.channel));
        ChipState {
            chip: chip.clone(),
            ways: Vec::new(),
            cycles: self.shot.newest_cycles(chip.id),
            holders: Vec::new(),
            tiles: tiles.collect(),
        }
    }

    fn tile(&self, chip: &Chip, xy: NocXy, kind: TileKind, channel: Option<u8>) -> TileState {
        let harvested = kind == TileKind::Tensix && chip.harvested_rows.contains(&xy.y);
        let eth = channel.filter(|_| kind == TileKind::Eth);
        let cores = if harvested { &[] } else { kind.cores() };
        TileState {
            xy,
            kind,
            harvested,
            eth: eth.map(|channel| self.eth(chip.id, xy, channel)),
            cores: cores.iter().map(|&core| self.core(chip.id, xy, core)).collect(),
        }
    }

    fn at(chip: ChipId, tile: NocXy, offset: u64) -> NocAddr {
        NocAddr { chip, tile, offset }
    }
}
