//! The chip at which the data of a program arrive last.

use super::op::Op;
use super::program::{Program, WorkerPlan};
use layouts::{ChipId, EthId};
use machine::place::Place;
use machine::target::Mesh;
use std::collections::BTreeMap;

/// Returns the chip at which data arrive last: the leaf farthest from the root, or the root to
/// which they flow. `None` if every chip receives data.
pub(super) fn ends_at(mesh: &Mesh, program: &Program) -> Option<ChipId> {
    if !program.op.has_root() && program.op != Op::SendReceive {
        return None;
    }
    let ends = mesh.links.iter().flat_map(|link| [(link.a, link.b), (link.b, link.a)]);
    let far: BTreeMap<EthId, EthId> = ends.collect();
    // Workers pass data from EDM to EDM; `hops` counts the links before a link end.
    let mut hops: BTreeMap<EthId, usize> = BTreeMap::new();
    let behind = |hops: &BTreeMap<EthId, usize>, worker: &WorkerPlan| {
        let inbound = worker.inbound.and_then(|channel| end_of(mesh, channel.edm));
        inbound.and_then(|end| hops.get(&end)).map_or(0, |hops| *hops)
    };
    // No route is longer than the number of ranks.
    for _ in &program.ranks {
        for worker in &program.workers {
            let out = worker.outbound.and_then(|channel| end_of(mesh, channel.edm));
            if let Some(arrives) = out.and_then(|end| far.get(&end)) {
                let steps = behind(&hops, worker) + 1;
                let most = hops.entry(*arrives).or_default();
                *most = (*most).max(steps);
            }
        }
    }
    let leaves = program.workers.iter().filter(|w| w.inbound.is_some() && w.outbound.is_none());
    let last = leaves.max_by_key(|worker| behind(&hops, worker))?;
    Some(last.place.chip)
}

/// The end of a link at an Ethernet tile.
fn end_of(mesh: &Mesh, place: Place) -> Option<EthId> {
    let channel = mesh.layout().tile_at(place.tile)?.channel?;
    Some(EthId { chip: place.chip, channel })
}
