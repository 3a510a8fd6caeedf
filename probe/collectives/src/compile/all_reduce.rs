//! All-reduce: on a ring a reduce-scatter and then an all-gather in one list; on a line the sum goes up to the last rank and
//! the result comes back down.

use super::build::Build;
use super::link_shares::{Draft, LinkShare, Move, Sum};
use crate::error::CclError;
use crate::program::flags::{FROM_CHANNEL, TO_CHANNEL};
use crate::tensor::{INPUT, OUTPUT};

pub(super) fn workers(build: &mut Build<'_>, share: &LinkShare) -> Result<(), CclError> {
    if build.is_line() { line(build, share) } else { ring(build, share) }
}

/// Sums are of all ranks in the order in which a block's sum passes them.
pub(super) fn result(build: &Build<'_>, share: &LinkShare, block: u32) -> Sum {
    let size = build.size();
    if build.is_line() {
        return vec![(0..size).map(|rank| (rank, block)).collect()];
    }
    let forward = share.directions.first().copied().unwrap_or(true);
    let rank = |steps| (build.rank(block as usize, steps, forward), block);
    vec![(1..=size).map(rank).collect()]
}

fn ring(build: &mut Build<'_>, share: &LinkShare) -> Result<(), CclError> {
    let size = build.size();
    for &forward in &share.directions {
        let mut drafts = Vec::new();
        for rank in 0..size {
            drafts.push(Some(build.draft(rank, share, "all-reducer")?));
        }
        build.join(share, forward, &mut drafts);
        for (rank, draft) in drafts.into_iter().enumerate() {
            let Some(mut draft) = draft else { continue };
            draft.sliced = true;
            draft.moves = ring_moves(build, rank, forward);
            build.add(share, draft)?;
        }
    }
    Ok(())
}

fn ring_moves(build: &Build<'_>, rank: usize, forward: bool) -> Vec<Move> {
    let size = build.size();
    let behind = |steps| build.rank(rank, steps, !forward) as u32;
    let partial = |steps| {
        let flags = if steps == 1 { TO_CHANNEL } else { FROM_CHANNEL | TO_CHANNEL };
        let to = (steps == size).then(|| (OUTPUT, behind(steps)));
        Move { flags, from: Some((INPUT, behind(steps))), to }
    };
    let whole = |steps| {
        let flags = if steps + 1 == size { FROM_CHANNEL } else { FROM_CHANNEL | TO_CHANNEL };
        Move { flags, from: None, to: Some((OUTPUT, behind(steps))) }
    };
    (1..=size).map(partial).chain((1..size).map(whole)).collect()
}

fn line(build: &mut Build<'_>, share: &LinkShare) -> Result<(), CclError> {
    let last = build.size() - 1;
    let mut up = Vec::new();
    for rank in 0..last {
        up.push(Some(build.draft(rank, share, "adder on the way up")?));
    }
    up.push(Some(build.draft(last, share, "adder at the top")?));
    build.join(share, true, &mut up);
    // The top is both the end of the way up and the beginning of the way down.
    let top = up.pop().flatten();
    let mut down: Vec<Option<Draft>> = Vec::new();
    for rank in 0..last {
        down.push(Some(build.draft(rank, share, "copier on the way down")?));
    }
    down.push(top);
    build.join(share, false, &mut down);
    for (rank, draft) in up.into_iter().enumerate() {
        let Some(mut draft) = draft else { continue };
        let flags = if rank == 0 { TO_CHANNEL } else { FROM_CHANNEL | TO_CHANNEL };
        draft.moves.push(Move { flags, from: Some((INPUT, 0)), to: None });
        build.add(share, draft)?;
    }
    for (rank, draft) in down.into_iter().enumerate() {
        let Some(mut draft) = draft else { continue };
        let flags = if rank == 0 { FROM_CHANNEL } else { FROM_CHANNEL | TO_CHANNEL };
        let from = (rank == last).then_some((INPUT, 0));
        draft.moves.push(Move { flags, from, to: Some((OUTPUT, 0)) });
        build.add(share, draft)?;
    }
    Ok(())
}
