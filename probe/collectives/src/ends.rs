//! The chip that is launched last: from its start on all data move over its links, or from it.

use super::op::Op;
use super::program::{Program, WorkerPlan};
use launch::topology::TopologyKind;
use layouts::ChipId;
use machine::target::Mesh;

/// Returns the root; without one an end of a line, if possible one with PCIe. What is launched
/// before moves nothing over the links of this chip, which carry all that it sends or receives.
/// `None` if any chip is as good.
pub(super) fn launched_last(mesh: &Mesh, program: &Program) -> Option<ChipId> {
    let root = |receives: bool| {
        let mut workers = program.workers.iter();
        let ends = |worker: &&WorkerPlan| {
            (worker.inbound.is_some(), worker.outbound.is_some()) == (receives, !receives)
        };
        workers.find(ends).map(|worker| worker.place.chip)
    };
    match program.op {
        Op::Broadcast | Op::Scatter => root(false),
        Op::Reduce | Op::Gather => root(true),
        _ if program.topology == TopologyKind::Line => {
            let ends = [program.ranks.first(), program.ranks.last()].into_iter().flatten();
            ends.copied().max_by_key(|end| mesh.chip(*end).is_some_and(|chip| chip.pcie))
        }
        _ => None,
    }
}
