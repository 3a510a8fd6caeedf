//! All-to-all: blocks go from rank to rank until they are where they belong.
//!
//! On a ring all ranks give the block for the rank one step on, then for two steps on, ...: each of those takes as many
//! packets as it gives, so that no rank is more than a slice ahead. On a line the way is a pipe: own blocks first.

use super::build::Build;
use super::link_shares::{LinkShare, Move, Sum};
use crate::error::CclError;
use crate::program::flags::{FROM_CHANNEL, TO_CHANNEL};
use crate::tensor::{INPUT, OUTPUT};

pub(super) fn workers(build: &mut Build<'_>, share: &LinkShare) -> Result<(), CclError> {
    let size = build.size();
    for (way, &forward) in share.directions.iter().enumerate() {
        if !build.is_line() && build.reach(share, forward) == 0 {
            continue;
        }
        let mut drafts = Vec::new();
        for rank in 0..size {
            drafts.push(Some(build.draft(rank, share, "exchanger")?));
        }
        build.join(share, forward, &mut drafts);
        for (rank, draft) in drafts.into_iter().enumerate() {
            let Some(mut draft) = draft else { continue };
            let own = Move {
                flags: 0,
                from: Some((INPUT, rank as u32)),
                to: Some((OUTPUT, rank as u32)),
            };
            draft.moves.extend((way == 0).then_some(own));
            draft.sliced = !build.is_line();
            if build.is_line() {
                line(size, rank, forward, &mut draft.moves);
            } else {
                ring(build, share, rank, forward, &mut draft.moves);
            }
            build.add(share, draft)?;
        }
    }
    Ok(())
}

/// Block b of a rank's output is that rank's block of rank b's input.
pub(super) fn result(rank: usize, block: u32) -> Sum {
    vec![vec![(block as usize, rank as u32)]]
}

const PASS_ON: Move = Move { flags: FROM_CHANNEL | TO_CHANNEL, from: None, to: None };

fn give(rank: usize) -> Move {
    Move { flags: TO_CHANNEL, from: Some((INPUT, rank as u32)), to: None }
}

fn keep(rank: usize) -> Move {
    Move { flags: FROM_CHANNEL, from: None, to: Some((OUTPUT, rank as u32)) }
}

fn ring(build: &Build<'_>, share: &LinkShare, rank: usize, forward: bool, moves: &mut Vec<Move>) {
    for steps in 1..=build.reach(share, forward) {
        moves.push(give(build.rank(rank, steps, forward)));
        moves.extend(vec![PASS_ON; steps - 1]);
        moves.push(keep(build.rank(rank, steps, !forward)));
    }
}

fn line(size: usize, rank: usize, forward: bool, moves: &mut Vec<Move>) {
    // Where a rank stands, seen in the direction of flow.
    let along = |rank: usize| if forward { rank } else { size - 1 - rank };
    let position = along(rank);
    // What comes over the link before this rank: the source and destination of each block, in order.
    let mut arriving: Vec<(usize, usize)> = Vec::new();
    for before in 0..position {
        arriving.retain(|&(_, to)| to > before);
        let own = (before + 1..size).rev().map(|to| (before, to));
        arriving = own.chain(arriving).collect();
    }
    moves.extend((position + 1..size).rev().map(|to| give(along(to))));
    let next =
        |&(from, to): &(usize, usize)| if to == position { keep(along(from)) } else { PASS_ON };
    moves.extend(arriving.iter().map(next));
}
