//! All-gather: two workers for each direction of a link. The sender puts its own block into the output and the channel, then
//! forwards what the receiver has written to the output and signalled (CCL guide, all-gather).

use super::build::Build;
use super::link_shares::{LinkShare, Move, Sum};
use crate::error::CclError;
use crate::program::flags::{FROM_CHANNEL, SIGNAL, TO_CHANNEL, WAIT};
use crate::tensor::{INPUT, OUTPUT};

pub(super) fn workers(build: &mut Build<'_>, share: &LinkShare) -> Result<(), CclError> {
    let mut copied = vec![false; build.size()];
    for &forward in &share.directions {
        one_direction(build, share, forward, &mut copied)?;
    }
    Ok(())
}

/// An output has each rank's block.
pub(super) fn result(block: u32) -> Sum {
    vec![vec![(block as usize, 0)]]
}

/// How many blocks a rank gets from behind.
fn gets(build: &Build<'_>, share: &LinkShare, rank: usize, forward: bool) -> usize {
    match (build.is_line(), forward) {
        (false, _) => build.reach(share, forward),
        (true, true) => rank,
        (true, false) => build.size() - 1 - rank,
    }
}

fn one_direction(
    build: &mut Build<'_>,
    share: &LinkShare,
    forward: bool,
    copied: &mut [bool],
) -> Result<(), CclError> {
    let size = build.size();
    let word = if forward { "forward" } else { "backward" };
    let end = if forward { size - 1 } else { 0 };
    let (mut senders, mut receivers) = (Vec::new(), Vec::new());
    for rank in 0..size {
        let sends =
            if build.is_line() { rank != end } else { gets(build, share, rank, forward) > 0 };
        let receives = gets(build, share, rank, forward) > 0;
        let draft = |build: &mut Build<'_>, role: &str, there: bool| {
            there.then(|| build.draft(rank, share, &format!("{word} {role}"))).transpose()
        };
        senders.push(draft(build, "sender", sends)?);
        receivers.push(draft(build, "receiver", receives)?);
    }
    for rank in 0..size {
        let next = build.rank(rank, 1, forward);
        let ends = (senders.get_mut(rank), receivers.get_mut(next));
        if let (Some(Some(sender)), Some(Some(receiver))) = ends {
            build.connect(share, forward, (sender, rank), receiver);
        }
    }
    for (rank, (sender, receiver)) in senders.into_iter().zip(receivers).enumerate() {
        let next = build.rank(rank, 1, forward);
        // The next rank gets one's own block and what one gets, but for what has gone far enough.
        let forwards = sender.as_ref().map_or(0, |_| gets(build, share, next, forward) - 1);
        let block = |behind| build.rank(rank, behind, !forward) as u32;
        let partner = sender.as_ref().map(|sender| sender.place);
        if let Some(mut sender) = sender {
            let mut own = Move { flags: TO_CHANNEL, from: Some((INPUT, 0)), to: None };
            if let Some(copied) = copied.get_mut(rank).filter(|copied| !**copied) {
                *copied = true;
                own.to = Some((OUTPUT, rank as u32));
            }
            sender.moves.push(own);
            let forward = |behind| Move {
                flags: WAIT | TO_CHANNEL,
                from: Some((OUTPUT, block(behind))),
                to: None,
            };
            sender.moves.extend((1..=forwards).map(forward));
            build.add(share, sender)?;
        }
        if let Some(mut receiver) = receiver {
            let gets = gets(build, share, rank, forward);
            let block = |behind| build.rank(rank, behind, !forward) as u32;
            let get = |behind| Move {
                flags: if behind <= forwards { FROM_CHANNEL | SIGNAL } else { FROM_CHANNEL },
                from: None,
                to: Some((OUTPUT, block(behind))),
            };
            receiver.moves.extend((1..=gets).map(get));
            receiver.partner = partner;
            build.add(share, receiver)?;
        }
    }
    Ok(())
}
