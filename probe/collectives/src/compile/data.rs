//! Fills that put inputs in place and clear outputs, and checks of what came out.

use super::build::Build;
use super::link_shares::LinkShare;
use super::{all_gather, all_reduce, all_to_all, reduce_scatter, rooted, send_receive};
use crate::error::CclError;
use crate::expected;
use crate::op::Op;
use crate::program::{Expected, OutputRange, WorkerCommand, WorkerPlan, flags};
use crate::tensor::{INPUT, OUTPUT};
use std::collections::HashMap;

/// One worker for each piece of a lane and rank: what is left of an earlier run must not pass for a result.
pub(super) fn fills(build: &Build<'_>, shares: &[LinkShare]) -> Result<Vec<WorkerPlan>, CclError> {
    let [inputs, outputs] = build.shape.blocks;
    // Past the elements of every stream there are only zeros.
    let beyond = build.shape.block.elements.next_multiple_of(2) as u32;
    let mut fills = Vec::new();
    for (index, share, rank) in everywhere(build, shares) {
        let mut commands = Vec::new();
        let mut fill = |tensor, block, rank, first_element| {
            let destination_page = build.page(block, share.part);
            let (flags, destination) = (flags::FILL, tensor);
            let command = WorkerCommand {
                flags,
                destination,
                destination_page,
                rank,
                first_element,
                ..WorkerCommand::default()
            };
            commands.push(command);
        };
        for block in (0..inputs).filter(|_| build.shape.has_input(rank)) {
            let first = build.shape.first_element(block, share.part.first_page);
            fill(INPUT, block, build.shape.stream(rank, block), first as u32);
        }
        for block in (0..outputs).filter(|_| build.shape.has_output(rank)) {
            fill(OUTPUT, block, 0, beyond);
        }
        if !commands.is_empty() {
            let place = build.tile(rank, index)?;
            fills.push(build.plan(place, format!("fill {index}"), share.part, commands));
        }
    }
    Ok(fills)
}

/// One worker for each piece of a lane and rank that has an output.
pub(super) fn checks(
    build: &Build<'_>,
    shares: &[LinkShare],
) -> Result<(Vec<WorkerPlan>, Vec<Expected>), CclError> {
    let [_, outputs] = build.shape.blocks;
    let (mut checks, mut all) = (Vec::new(), Vec::new());
    // Many chips must have the same.
    let mut known: HashMap<(Vec<Vec<u32>>, u64, usize), u32> = HashMap::new();
    for (index, share, rank) in everywhere(build, shares) {
        if !build.shape.has_output(rank) {
            continue;
        }
        let place = build.tile(rank, index)?;
        let digest = |block| {
            let source_page = build.page(block, share.part);
            WorkerCommand {
                flags: flags::DIGEST,
                source: OUTPUT,
                source_page,
                ..WorkerCommand::default()
            }
        };
        let commands = (0..outputs).map(digest).collect();
        let plan = build.plan(place, format!("check {index}"), share.part, commands);
        for block in 0..outputs {
            let stretch = stretch(build, share, rank, block, place.chip);
            let key = (stretch.arms.clone(), stretch.first_element, index);
            let (data_type, seed) = (build.request.data_type, build.request.seed);
            let digest = *known.entry(key).or_insert_with(|| {
                expected::digest(expected::words(data_type, seed, &plan, &stretch))
            });
            let (worker, command) = (checks.len(), block as usize);
            all.push(Expected { worker, command, digest, stretch });
        }
        checks.push(plan);
    }
    Ok((checks, all))
}

fn everywhere<'a>(
    build: &Build<'_>,
    shares: &'a [LinkShare],
) -> impl Iterator<Item = (usize, &'a LinkShare, usize)> + use<'a> {
    let ranks = build.size();
    (0..ranks).flat_map(move |rank| {
        shares.iter().enumerate().map(move |(index, share)| (index, share, rank))
    })
}

fn stretch(
    build: &Build<'_>,
    share: &LinkShare,
    rank: usize,
    block: u32,
    chip: layouts::ChipId,
) -> OutputRange {
    let root = build.request.root as usize;
    let sum = match build.request.op {
        Op::AllGather | Op::Gather => all_gather::result(block),
        Op::ReduceScatter => reduce_scatter::result(build, share, rank),
        Op::AllReduce => all_reduce::result(build, share, block),
        Op::Broadcast => vec![vec![(root, 0)]],
        Op::Reduce => rooted::reduced(build, share),
        Op::Scatter => vec![vec![(root, rank as u32)]],
        Op::AllToAll => all_to_all::result(rank, block),
        Op::SendReceive => send_receive::result(),
    };
    let stream = |&(rank, block): &(usize, u32)| build.shape.stream(rank, block);
    OutputRange {
        chip,
        tensor: usize::from(OUTPUT),
        first_page: build.page(block, share.part),
        first_element: build.shape.first_element(block, share.part.first_page),
        arms: sum.iter().map(|arm| arm.iter().map(stream).collect()).collect(),
    }
}
