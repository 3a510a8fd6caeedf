//! Decodes links, always from both ends.

use super::Inspection;
use super::channels::{FlowWords, meaning};
use crate::state::{ChannelState, ChipState, EthState, LinkCondition, LinkState};
use images::{ChannelRole, GoSignal, Reading};
use layouts::{CoreId, CoreKind, EthId, EthValues};
use machine::target::{Chip, Link};

/// Returns the state of each link, and sets the meaning of both ends' channels.
pub(super) fn join(view: &Inspection<'_>, chips: &mut [ChipState]) -> Vec<LinkState> {
    let links = view.mesh.links.iter().map(|&link| {
        let (a, b) = (channels(chips, link.a), channels(chips, link.b));
        mark(chips, link.a, &b);
        mark(chips, link.b, &a);
        LinkState {
            link,
            condition: condition(&view.layout().eth.values, eth(chips, link.a), eth(chips, link.b)),
            a_to_b: in_flight(&roles(view, chips, link.a), &a, &b),
            b_to_a: in_flight(&roles(view, chips, link.b), &b, &a),
            apart_cycles: apart(view, link),
        }
    });
    links.collect()
}

/// Returns the usable gateways of a far chip. A gateway without a link forwards to one with a link;
/// if all links are down, no gateway is usable.
pub(super) fn gateways(
    values: &EthValues,
    chip: &Chip,
    chips: &[ChipState],
    links: &[LinkState],
) -> Vec<EthId> {
    let of = |end: &EthId| links.iter().find(|s| s.link.a == *end || s.link.b == *end);
    let down = |end: &EthId| match of(end).map(|state| state.condition) {
        None | Some(LinkCondition::Up) => false,
        Some(LinkCondition::Down | LinkCondition::Disagree) => true,
        // The far end can be unread because the link is down.
        Some(LinkCondition::Unread) => {
            let near = eth(chips, *end);
            let trained = near.and_then(|near| near.train_status.known().copied());
            trained.is_some_and(|train| train != values.train_up || !is_up(values, near))
        }
    };
    let gateways = || chip.gateway.iter().flatten();
    let mut linked = gateways().filter(|end| of(end).is_some()).peekable();
    if linked.peek().is_some() && linked.all(down) {
        return Vec::new();
    }
    gateways().filter(|end| !down(end)).copied().collect()
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
    channels_mut(chips, end).map_or_else(Vec::new, |channels| channels.clone())
}

fn mark(chips: &mut [ChipState], end: EthId, peer: &[ChannelState]) {
    for channel in channels_mut(chips, end).into_iter().flatten() {
        let other = peer.iter().find(|other| other.index == channel.index).map(FlowWords::from);
        channel.meaning = meaning(FlowWords::from(&*channel), other);
    }
}

fn condition(values: &EthValues, a: Option<&EthState>, b: Option<&EthState>) -> LinkCondition {
    let word = |eth: Option<&EthState>| eth.and_then(|eth| eth.train_status.known().copied());
    let (Some(a_train), Some(b_train)) = (word(a), word(b)) else { return LinkCondition::Unread };
    let up = values.train_up;
    match (a_train == up && is_up(values, a), b_train == up && is_up(values, b)) {
        (true, true) => LinkCondition::Up,
        (false, false) => LinkCondition::Down,
        _ if a_train == 0 || b_train == 0 => LinkCondition::Down,
        _ => LinkCondition::Disagree,
    }
}

/// Whether the link status is up. A zero word counts as up: a simulator that never fills it leaves
/// the whole results block at zero.
fn is_up(values: &EthValues, eth: Option<&EthState>) -> bool {
    let Some(eth) = eth else { return false };
    match eth.link_status {
        Reading::Known(0) | Reading::Unread(_) | Reading::Absent | Reading::Unknown(_) => true,
        Reading::Known(status) => status == values.link_up,
    }
}

/// Returns the time between the reads of the ends' counters: chips are read one after the other.
fn apart(view: &Inspection<'_>, link: Link) -> Option<u64> {
    let read_at = |end: EthId| {
        let tile = view.layout().eth_channel(end.channel)?;
        view.snapshot.read_at(Inspection::at(end.chip, tile, view.layout().eth.l1.packets_sent.at))
    };
    Some(read_at(link.a)?.abs_diff(read_at(link.b)?))
}

/// Returns the roles of an end's channels, from the table of its running kernel.
fn roles(view: &Inspection<'_>, chips: &[ChipState], end: EthId) -> Vec<ChannelRole> {
    let tile = view.layout().eth_channel(end.channel);
    let chip = chips.iter().find(|chip| chip.chip.id == end.chip);
    let (Some(xy), Some(chip)) = (tile, chip) else { return Vec::new() };
    let tile = chip.tiles.iter().find(|tile| tile.xy == xy);
    let core = tile.and_then(|tile| tile.cores.first());
    if core.is_none_or(|core| core.go != Reading::Known(GoSignal::Go)) {
        return Vec::new();
    }
    let core = CoreId { chip: end.chip, tile: xy, core: CoreKind::Erisc };
    view.images.channel_places(core).iter().map(|(role, _)| *role).collect()
}

/// Returns the bytes in flight from the near end: those in its sending channels that the far end
/// has not freed. Without a kernel's table, the end with the acknowledge, or with the only count,
/// is the sender.
fn in_flight(roles: &[ChannelRole], near: &[ChannelState], far: &[ChannelState]) -> Option<u64> {
    if near.is_empty() {
        return None;
    }
    let sends = |channel: &&ChannelState| {
        let role = roles.get(usize::from(channel.index));
        match role.map_or(ChannelRole::Unused, |role| *role) {
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
