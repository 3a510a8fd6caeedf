//! Links: both ends always together.

use super::View;
use super::channels::{Words, meaning};
use crate::images::ChannelRole;
use crate::state::{ChannelState, ChipState, EthState, LinkCondition, LinkState, Reading};
use crate::target::Link;
use layouts::{CoreId, CoreKind, EthId, wormhole};

/// The state of each link; the channels of both ends get the meaning that both together have.
pub(super) fn join(view: &View<'_>, chips: &mut [ChipState]) -> Vec<LinkState> {
    let links = view.mesh.links.iter().map(|&link| {
        let (a, b) = (channels(chips, link.a), channels(chips, link.b));
        mark(chips, link.a, &b);
        mark(chips, link.b, &a);
        LinkState {
            link,
            condition: condition(eth(chips, link.a), eth(chips, link.b)),
            a_to_b: under_way(view, link.a, &a, &b),
            b_to_a: under_way(view, link.b, &b, &a),
            apart_cycles: apart(view, link),
        }
    });
    links.collect()
}

fn eth(chips: &[ChipState], end: EthId) -> Option<&EthState> {
    let chip = chips.iter().find(|chip| chip.chip.id == end.chip)?;
    chip.tiles.iter().filter_map(|tile| tile.eth.as_ref()).find(|eth| eth.channel == end.channel)
}

fn channels_mut(chips: &mut [ChipState], end: EthId) -> Option<&mut Vec<ChannelState>> {
    let chip = chips.iter_mut().find(|chip| chip.chip.id == end.chip)?;
    let of_end = |eth: &EthState| eth.channel == end.channel;
    let tile = chip.tiles.iter_mut().find(|tile| tile.eth.as_ref().is_some_and(of_end))?;
    tile.cores.first_mut().map(|core| &mut core.channels)
}

fn channels(chips: &mut [ChipState], end: EthId) -> Vec<ChannelState> {
    channels_mut(chips, end).cloned().unwrap_or_default()
}

fn mark(chips: &mut [ChipState], end: EthId, peer: &[ChannelState]) {
    for channel in channels_mut(chips, end).into_iter().flatten() {
        let other = peer.iter().find(|other| other.index == channel.index).map(Words::from);
        channel.meaning = meaning(Words::from(&*channel), other);
    }
}

fn condition(a: Option<&EthState>, b: Option<&EthState>) -> LinkCondition {
    let word = |eth: Option<&EthState>| eth.and_then(|eth| eth.train_status.known().copied());
    let (Some(a_train), Some(b_train)) = (word(a), word(b)) else { return LinkCondition::Unread };
    let up = wormhole().eth.values.train_up;
    match (a_train == up && is_up(a), b_train == up && is_up(b)) {
        (true, true) => LinkCondition::Up,
        (false, false) if a_train == 0 || b_train == 0 => LinkCondition::Training,
        (false, false) => LinkCondition::Down,
        _ if a_train == 0 || b_train == 0 => LinkCondition::Training,
        _ => LinkCondition::Disagree,
    }
}

/// The status word is believed only where it has shown itself alive: a simulator that never fills
/// it leaves the whole results block's counters at zero too.
fn is_up(eth: Option<&EthState>) -> bool {
    let Some(eth) = eth else { return false };
    match eth.link_status {
        Reading::Known(0) | Reading::Unread(_) | Reading::Absent | Reading::Unknown(_) => true,
        Reading::Known(status) => status == wormhole().eth.values.link_up,
    }
}

/// Time between the reads of the ends' counters: chips are read one after the other.
fn apart(view: &View<'_>, link: Link) -> Option<u64> {
    let read_at = |end: EthId| {
        let tile = wormhole().eth_channel(end.channel)?;
        view.shot.read_at(View::at(end.chip, tile, wormhole().eth.l1.packets_sent.at))
    };
    Some(read_at(link.a)?.abs_diff(read_at(link.b)?))
}

/// Bytes on their way from `from`: what its own sending channels hold that the far end has not
/// freed. Without a kernel's table the end with the acknowledge, or alone with a count, sends.
fn under_way(
    view: &View<'_>,
    from: EthId,
    near: &[ChannelState],
    far: &[ChannelState],
) -> Option<u64> {
    if near.is_empty() {
        return None;
    }
    let tile = wormhole().eth_channel(from.channel)?;
    let core = CoreId { chip: from.chip, tile, core: CoreKind::Erisc };
    let places = view.images.channel_places(core);
    let sends = |channel: &&ChannelState| {
        let role = places.get(usize::from(channel.index)).map(|(role, _)| *role);
        match role.unwrap_or_default() {
            ChannelRole::Sender => true,
            ChannelRole::Receiver | ChannelRole::Handshake => false,
            ChannelRole::Unused => {
                let other = far.iter().find(|other| other.index == channel.index);
                channel.receiver_ack != 0 || other.is_some_and(|other| other.bytes_sent == 0)
            }
        }
    };
    Some(near.iter().filter(sends).map(|channel| u64::from(channel.bytes_sent)).sum())
}
