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
pub use plan::{plan, plan_launches, plan_proofs, plan_tables};
pub use read_set::ReadSet;

use crate::state::{ChipState, LedgerState, LinkState, MeshState, TileState};
use images::ImageMap;
use layouts::{ChipId, ChipLayout, NocAddr, NocXy, TileKind};
use machine::clients::Holder;
use machine::clients::MetalProcess;
use machine::clients::ServedHistory;
use machine::snapshot::Snapshot;
use machine::target::{Chip, Mesh, Quarantined};
use std::path::PathBuf;
use std::sync::Arc;

/// Decodes a snapshot after the images have learned from it.
pub fn inspect(snapshot: &Snapshot, mesh: &Mesh, images: &ImageMap) -> MeshState {
    let mut images = images.clone();
    images.learn(mesh, snapshot);
    decode(snapshot, mesh, &images, &TargetFacts::default())
}

/// What is known of a target beside the bytes of a snapshot.
#[derive(Clone, Copy, Debug, Default)]
pub struct TargetFacts<'a> {
    /// The time at which the snapshot began, in device cycles: if nothing was read, or if older bytes
    /// are in it.
    pub began_cycles: Option<u64>,
    /// What is in quarantine.
    pub lost: &'a [Quarantined],
    /// The credits of links in the snapshot before. If they are given, credits that do not add up have
    /// moved unless they stand as they did.
    pub ledgers: Option<&'a [LedgerState]>,
    /// Other processes that have a chip's device open.
    pub holders: &'a [(ChipId, Holder)],
    /// The processes that run tt-metal on it.
    pub processes: &'a [MetalProcess],
    /// The usual places where ELFs and logs were looked for.
    pub usual_places: &'a [PathBuf],
    /// Further problems, one sentence each.
    pub problems: &'a [String],
    /// How many of these are damage of the file that is read.
    pub damage: usize,
    /// Bus transactions of the snapshot, and of what was read to plan it.
    pub transactions: u64,
    /// Earlier clients of the mesh.
    pub before: Option<&'a ServedHistory>,
}

/// Decodes a snapshot from which the images have already learned.
pub fn decode(
    snapshot: &Snapshot,
    mesh: &Mesh,
    images: &ImageMap,
    facts: &TargetFacts<'_>,
) -> MeshState {
    let view = Inspection { snapshot, mesh, images, facts };
    let links = view.links();
    let chips: Vec<_> = mesh.chips.iter().map(|chip| view.chip(chip, &links)).collect();
    let first = snapshot.pieces.iter().map(|piece| piece.target_cycles).min();
    let cycles = first.max(facts.began_cycles).unwrap_or(0);
    let fabric = view.fabric(&chips, &links, cycles);
    let manifests = images.manifest_findings();
    MeshState {
        kind: mesh.kind,
        cycles,
        problems: [&mesh.problems[..], &manifests, &fabric.findings, facts.problems].concat(),
        damage: facts.damage,
        fabric,
        chips,
        links,
        gaps: snapshot.gaps.clone(),
        transactions: snapshot.transactions.max(facts.transactions),
        processes: facts.processes.to_vec(),
        usual_places: facts.usual_places.to_vec(),
        operations: Arc::default(),
        objects: Arc::default(),
        before: facts.before.map_or_else(Default::default, Clone::clone),
    }
}

/// The inputs of decoding.
struct Inspection<'a> {
    snapshot: &'a Snapshot,
    mesh: &'a Mesh,
    images: &'a ImageMap,
    facts: &'a TargetFacts<'a>,
}

impl Inspection<'_> {
    /// Returns the layout of the mesh's chips.
    fn layout(&self) -> &'static ChipLayout {
        self.mesh.layout()
    }

    fn chip(&self, chip: &Chip, links: &[LinkState]) -> ChipState {
        let tiles = self.layout().grid().iter();
        let tiles = tiles.map(|tile| self.tile(chip, tile.xy, tile.kind, tile.channel));
        let holders = self.facts.holders.iter().filter(|(of, _)| *of == chip.id);
        ChipState {
            chip: chip.clone(),
            gateways: self.gateways(chip, links),
            cycles: self.snapshot.newest_cycles(chip.id),
            holders: holders.map(|(_, holder)| holder.clone()).collect(),
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
