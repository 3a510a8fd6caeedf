//! Decodes a snapshot into the state of the mesh; pure, without clock, file or environment.

mod channels;
mod core;
mod eth;
mod fabric;
mod links;
mod plan;
mod read_set;

pub use fabric::{fabric_heads, fabric_read_set, fabric_routes, stage_words};
pub use plan::{cores, plan_texts};
pub use plan::{plan, plan_proofs, plan_tables};
pub use read_set::ReadSet;

use crate::state::{ChipState, LinkState, MeshState, TileState};
use images::ImageMap;
use layouts::{ChipId, ChipLayout, NocAddr, NocXy, TileKind};
use machine::clients::ServedHistory;
use machine::snapshot::Snapshot;
use machine::target::{Chip, Mesh};

/// Decodes a snapshot after the images have learned from it.
pub fn inspect(snapshot: &Snapshot, mesh: &Mesh, images: &ImageMap) -> MeshState {
    let mut images = images.clone();
    images.learn(mesh, snapshot);
    decode(snapshot, mesh, &images)
}

/// Decodes a snapshot from which the images have already learned.
pub fn decode(snapshot: &Snapshot, mesh: &Mesh, images: &ImageMap) -> MeshState {
    let view = Inspection { snapshot, mesh, images };
    let links = view.links();
    let chips: Vec<_> = mesh.chips.iter().map(|chip| view.chip(chip, &links)).collect();
    // If nothing was read, the caller asks the target for its time.
    let cycles = snapshot.pieces.iter().map(|piece| piece.target_cycles).min().map_or(0, |at| at);
    let fabric = view.fabric(&chips, &links, cycles);
    let manifests = images.manifest_findings();
    MeshState {
        kind: mesh.kind,
        cycles,
        problems: mesh.problems.iter().chain(&manifests).chain(&fabric.findings).cloned().collect(),
        fabric,
        chips,
        links,
        gaps: snapshot.gaps.clone(),
        transactions: snapshot.transactions,
        before: ServedHistory::default(),
    }
}

/// The inputs of decoding.
struct Inspection<'a> {
    snapshot: &'a Snapshot,
    mesh: &'a Mesh,
    images: &'a ImageMap,
}

impl Inspection<'_> {
    /// Returns the layout of the mesh's chips.
    fn layout(&self) -> &'static ChipLayout {
        self.mesh.layout()
    }

    fn chip(&self, chip: &Chip, links: &[LinkState]) -> ChipState {
        let tiles = self.layout().grid().iter();
        let tiles = tiles.map(|tile| self.tile(chip, tile.xy, tile.kind, tile.channel));
        ChipState {
            chip: chip.clone(),
            gateways: self.gateways(chip, links),
            cycles: self.snapshot.newest_cycles(chip.id),
            holders: Vec::new(),
            tiles: tiles.collect(),
        }
    }

    fn tile(&self, chip: &Chip, xy: NocXy, kind: TileKind, channel: Option<u8>) -> TileState {
        let harvested = kind == TileKind::Tensix && chip.is_fused_off(xy.y) == Some(true);
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
