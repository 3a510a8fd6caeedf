//! Operations with a root: broadcast, scatter, gather and reduce, along one or two arms of ranks that begin at the root.

use super::build::Build;
use super::link_shares::{Draft, LinkShare, Move, Sum};
use crate::error::CclError;
use crate::program::flags::{FROM_CHANNEL, SIGNAL, TO_CHANNEL, WAIT};
use crate::tensor::{INPUT, OUTPUT};

/// Ranks in a row, the root first, and the direction in which data flow.
struct Arm {
    forward: bool,
    ranks: Vec<usize>,
}

/// The arms of a lane; `outward` if data flow away from the root.
fn arms(build: &Build<'_>, share: &LinkShare, outward: bool) -> Vec<Arm> {
    let root = build.request.root as usize;
    let arm = |&forward: &bool| {
        let up = forward == outward;
        let others = match (build.is_line(), up) {
            (false, _) => build.reach(share, forward),
            (true, true) => build.size() - 1 - root,
            (true, false) => root,
        };
        Arm { forward, ranks: (0..=others).map(|steps| build.rank(root, steps, up)).collect() }
    };
    share.directions.iter().map(arm).filter(|arm| arm.ranks.len() > 1).collect()
}

/// A worker for each rank of an arm, joined by channels.
fn chain(
    build: &mut Build<'_>,
    share: &LinkShare,
    arm: &Arm,
    outward: bool,
    role: &str,
) -> Result<Vec<Draft>, CclError> {
    let mut drafts = Vec::new();
    for &rank in &arm.ranks {
        drafts.push(build.draft(rank, share, role)?);
    }
    for (index, pair) in arm.ranks.windows(2).enumerate() {
        let (Some((near, far)), &[rank, next]) = (two(&mut drafts, index), pair) else { continue };
        if outward {
            build.connect(share, arm.forward, (near, rank), far);
        } else {
            build.connect(share, arm.forward, (far, next), near);
        }
    }
    Ok(drafts)
}

fn two(drafts: &mut [Draft], index: usize) -> Option<(&mut Draft, &mut Draft)> {
    let (before, after) = drafts.split_at_mut_checked(index + 1)?;
    Some((before.last_mut()?, after.first_mut()?))
}

fn add_all(build: &mut Build<'_>, share: &LinkShare, drafts: Vec<Draft>) -> Result<(), CclError> {
    drafts.into_iter().try_for_each(|draft| build.add(share, draft))
}

/// The root's block goes out; each rank keeps a copy and passes it on.
pub(super) fn broadcast(build: &mut Build<'_>, share: &LinkShare) -> Result<(), CclError> {
    for (number, arm) in arms(build, share, true).iter().enumerate() {
        let mut drafts = chain(build, share, arm, true, "broadcaster")?;
        let last = drafts.len() - 1;
        for (index, draft) in drafts.iter_mut().enumerate() {
            let onward = if index < last { TO_CHANNEL } else { 0 };
            let copy = (index > 0 || number == 0).then_some((OUTPUT, 0));
            draft.moves.push(if index == 0 {
                Move { flags: onward, from: Some((INPUT, 0)), to: copy }
            } else {
                Move { flags: FROM_CHANNEL | onward, from: None, to: copy }
            });
        }
        add_all(build, share, drafts)?;
    }
    Ok(())
}

/// The farthest rank's block goes first: each rank passes on all but the last that it gets.
pub(super) fn scatter(build: &mut Build<'_>, share: &LinkShare) -> Result<(), CclError> {
    for (number, arm) in arms(build, share, true).iter().enumerate() {
        let mut drafts = chain(build, share, arm, true, "scatterer")?;
        let others = drafts.len() - 1;
        for (index, draft) in drafts.iter_mut().enumerate() {
            let Some((root, arm)) = arm.ranks.split_first().filter(|_| index == 0) else {
                let on = Move { flags: FROM_CHANNEL | TO_CHANNEL, ..Move::default() };
                draft.moves = vec![on; others - index];
                draft.moves.push(Move { flags: FROM_CHANNEL, from: None, to: Some((OUTPUT, 0)) });
                continue;
            };
            let give = |&rank: &usize| Move {
                flags: TO_CHANNEL,
                from: Some((INPUT, rank as u32)),
                to: None,
            };
            draft.moves.extend(arm.iter().rev().map(give));
            let own = Move { flags: 0, from: Some((INPUT, *root as u32)), to: Some((OUTPUT, 0)) };
            draft.moves.extend((number == 0).then_some(own));
        }
        add_all(build, share, drafts)?;
    }
    Ok(())
}

/// Each rank gives its own block and passes on what comes from behind it.
pub(super) fn gather(build: &mut Build<'_>, share: &LinkShare) -> Result<(), CclError> {
    for (number, arm) in arms(build, share, false).iter().enumerate() {
        let mut drafts = chain(build, share, arm, false, "gatherer")?;
        let others = drafts.len() - 1;
        for (index, draft) in drafts.iter_mut().enumerate() {
            let Some((root, arm)) = arm.ranks.split_first().filter(|_| index == 0) else {
                draft.moves.push(Move { flags: TO_CHANNEL, from: Some((INPUT, 0)), to: None });
                let on = Move { flags: FROM_CHANNEL | TO_CHANNEL, ..Move::default() };
                draft.moves.extend(vec![on; others - index]);
                continue;
            };
            let own = Move { flags: 0, from: Some((INPUT, 0)), to: Some((OUTPUT, *root as u32)) };
            draft.moves.extend((number == 0).then_some(own));
            let take = |&rank: &usize| Move {
                flags: FROM_CHANNEL,
                from: None,
                to: Some((OUTPUT, rank as u32)),
            };
            draft.moves.extend(arm.iter().map(take));
        }
        add_all(build, share, drafts)?;
    }
    Ok(())
}

/// Sums grow on their way to the root; the second arm's is added to what the first has left in the output.
pub(super) fn reduce(build: &mut Build<'_>, share: &LinkShare) -> Result<(), CclError> {
    let arms = arms(build, share, false);
    let mut chains = Vec::new();
    for arm in &arms {
        chains.push(chain(build, share, arm, false, "reducer")?);
    }
    let second = chains.get(1).and_then(|drafts| drafts.first()).map(|draft| draft.place);
    for (number, mut drafts) in chains.into_iter().enumerate() {
        let last = drafts.len() - 1;
        for (index, draft) in drafts.iter_mut().enumerate() {
            let sum = Move { flags: FROM_CHANNEL, from: Some((INPUT, 0)), to: Some((OUTPUT, 0)) };
            draft.moves.push(match (index, number) {
                (0, 0) => {
                    draft.partner = second;
                    Move { flags: FROM_CHANNEL | second.map_or(0, |_| SIGNAL), ..sum }
                }
                (0, _) => Move { flags: FROM_CHANNEL | WAIT, from: Some((OUTPUT, 0)), ..sum },
                _ if index == last => Move { flags: TO_CHANNEL, to: None, ..sum },
                _ => Move { flags: FROM_CHANNEL | TO_CHANNEL, to: None, ..sum },
            });
        }
        add_all(build, share, drafts)?;
    }
    Ok(())
}

/// The first arm's sum ends with the root's own block.
pub(super) fn reduced(build: &Build<'_>, share: &LinkShare) -> Sum {
    let arms = arms(build, share, false).into_iter().enumerate();
    let order = |(number, arm): (usize, Arm)| {
        let own = usize::from(number > 0);
        arm.ranks.iter().skip(own).rev().map(|&rank| (rank, 0)).collect()
    };
    arms.map(order).collect()
}
