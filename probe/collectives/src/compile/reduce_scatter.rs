//! Reduce-scatter: the sum of each block grows from rank to rank on its way to the rank that keeps it (CCL guide). Where data
//! go both ways, the sum of the first way lies in the output and is signalled before that of the second is added.

use super::build::Build;
use super::link_shares::{Draft, LinkShare, Move, Sum};
use crate::error::CclError;
use crate::program::flags::{FROM_CHANNEL, SIGNAL, TO_CHANNEL, WAIT};
use crate::tensor::{INPUT, OUTPUT};

/// Ranks whose data reach a rank in a direction, and ranks that its data reach.
fn behind_and_ahead(
    build: &Build<'_>,
    share: &LinkShare,
    rank: usize,
    forward: bool,
) -> (usize, usize) {
    let (below, above) = (rank, build.size() - 1 - rank);
    match (build.is_line(), forward) {
        (false, _) => (build.reach(share, forward), build.reach(share, forward)),
        (true, true) => (below, above),
        (true, false) => (above, below),
    }
}

pub(super) fn workers(build: &mut Build<'_>, share: &LinkShare) -> Result<(), CclError> {
    let mut all: Vec<Vec<Option<Draft>>> = Vec::new();
    for &forward in &share.directions {
        let mut drafts = Vec::new();
        for rank in 0..build.size() {
            let (behind, ahead) = behind_and_ahead(build, share, rank, forward);
            let there = behind + ahead > 0;
            let draft = there.then(|| build.draft(rank, share, "reducer and scatterer"));
            drafts.push(draft.transpose()?);
        }
        build.join(share, forward, &mut drafts);
        all.push(drafts);
    }
    // Who adds to an output after whom.
    let mut first: Vec<Option<usize>> = vec![None; build.size()];
    for (way, (&forward, drafts)) in share.directions.iter().zip(&all).enumerate() {
        for (rank, _) in drafts.iter().enumerate().filter(|(_, draft)| draft.is_some()) {
            let (behind, _) = behind_and_ahead(build, share, rank, forward);
            if let Some(first) = first.get_mut(rank).filter(|first| first.is_none() && behind > 0) {
                *first = Some(way);
            }
        }
    }
    let places: Vec<Vec<_>> = all
        .iter()
        .map(|way| way.iter().map(|draft| draft.as_ref().map(|d| d.place)).collect())
        .collect();
    for (way, (&forward, drafts)) in share.directions.iter().zip(all).enumerate() {
        for (rank, draft) in drafts.into_iter().enumerate() {
            let Some(mut draft) = draft else { continue };
            let (behind, ahead) = behind_and_ahead(build, share, rank, forward);
            draft.sliced = !build.is_line();
            draft.moves = partial_sums(build, rank, forward, (behind, ahead));
            let is_first = first.get(rank).copied().flatten() == Some(way);
            let later = share
                .directions
                .get(way + 1)
                .is_some_and(|&other| behind_and_ahead(build, share, rank, other).0 > 0);
            let mut last =
                Move { flags: FROM_CHANNEL, from: Some((OUTPUT, 0)), to: Some((OUTPUT, 0)) };
            if is_first {
                last.from = Some((INPUT, rank as u32));
                last.flags |= if later { SIGNAL } else { 0 };
                let partner = || places.get(way + 1)?.get(rank).copied().flatten();
                draft.partner = later.then(partner).flatten();
            } else {
                last.flags |= WAIT;
            }
            draft.moves.extend((behind > 0).then_some(last));
            build.add(share, draft)?;
        }
    }
    Ok(())
}

/// Sums for the ranks ahead, the farthest first; the farthest rank of a ring is out of reach of those behind.
fn partial_sums(
    build: &Build<'_>,
    rank: usize,
    forward: bool,
    (behind, ahead): (usize, usize),
) -> Vec<Move> {
    let sum = |steps| {
        let starts = behind == 0 || !build.is_line() && steps == ahead;
        let from = Some((INPUT, build.rank(rank, steps, forward) as u32));
        Move { flags: if starts { TO_CHANNEL } else { FROM_CHANNEL | TO_CHANNEL }, from, to: None }
    };
    (1..=ahead).rev().map(sum).collect()
}

/// The first way's sum ends with the rank's own block, or that of the only way.
pub(super) fn result(build: &Build<'_>, share: &LinkShare, rank: usize) -> Sum {
    let mut sum = Sum::new();
    for &forward in &share.directions {
        let (behind, _) = behind_and_ahead(build, share, rank, forward);
        let arm = (1..=behind).rev().map(|steps| (build.rank(rank, steps, !forward), rank as u32));
        let mut arm: Vec<_> = arm.collect();
        if !arm.is_empty() {
            arm.extend(sum.is_empty().then_some((rank, rank as u32)));
            sum.push(arm);
        }
    }
    sum
}
