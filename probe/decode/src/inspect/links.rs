//! Decodes links, always from both ends.

use super::{Inspection, channels};
use crate::state::{EthState, LinkCondition, LinkState};
use images::{ChannelRole, ChannelSync, Reading};
use layouts::{CoreId, CoreKind, EthId, EthValues};
use machine::target::{Chip, Link};

/// One end of a link.
struct End {
    eth: Option<EthState>,
    words: Vec<(u8, ChannelSync)>,
    /// The roles of its channels, from the table of its running kernel.
    roles: Vec<ChannelRole>,
}

impl Inspection<'_> {
    /// Returns the state of each link.
    pub(super) fn links(&self) -> Vec<LinkState> {
        let links = self.mesh.links.iter().map(|&link| {
            let [a, b] = [link.a, link.b].map(|end| self.end(end));
            let values = &self.layout().eth.values;
            LinkState {
                link,
                condition: condition(values, a.eth.as_ref(), b.eth.as_ref()),
                a_to_b: in_flight(&a, &b),
                b_to_a: in_flight(&b, &a),
                apart_cycles: self.apart(link),
            }
        });
        links.collect()
    }

    /// Returns the usable gateways of a far chip. A gateway without a link forwards to one with a
    /// link; if all links are down, no gateway is usable.
    pub(super) fn gateways(&self, chip: &Chip, links: &[LinkState]) -> Vec<EthId> {
        let of = |end: &EthId| links.iter().find(|s| s.link.a == *end || s.link.b == *end);
        let down = |end: &EthId| of(end).is_some_and(|state| state.condition.is_dead());
        let gateways = || chip.gateway.iter().flatten();
        let mut linked = gateways().filter(|end| of(end).is_some()).peekable();
        if linked.peek().is_some() && linked.all(down) {
            return Vec::new();
        }
        // What is in quarantine is not used, whatever the state of its link.
        let lost = |end: &EthId| {
            let tile = self.layout().eth_channel(end.channel);
            let mut lost = self.facts.lost.iter();
            lost.any(|it| it.towards == Some(chip.id) && it.tile.is_some() && it.tile == tile)
        };
        gateways().filter(|end| !down(end) && !lost(end)).copied().collect()
    }

    /// Returns the ERISC of a link's end, if the mesh has its chip.
    pub(super) fn erisc(&self, end: EthId) -> Option<CoreId> {
        let tile = self.layout().eth_channel(end.channel)?;
        self.mesh.chip(end.chip)?;
        Some(CoreId { chip: end.chip, tile, core: CoreKind::Erisc })
    }

    fn eth_at(&self, end: EthId) -> Option<EthState> {
        self.erisc(end).map(|core| self.eth(core.chip, core.tile, end.channel))
    }

    fn end(&self, end: EthId) -> End {
        let core = self.erisc(end).filter(|core| self.has_go(*core));
        let roles = core.map_or(&[][..], |core| self.images.channel_places(core));
        End {
            eth: self.eth_at(end),
            words: self.words_at(end),
            roles: roles.iter().map(|(role, _)| *role).collect(),
        }
    }

    /// Returns the time between the reads of the ends' counters: chips are read one after the other.
    fn apart(&self, link: Link) -> Option<u64> {
        let read_at = |end: EthId| {
            let tile = self.layout().eth_channel(end.channel)?;
            self.snapshot.read_at(Self::at(end.chip, tile, self.layout().eth.l1.packets_sent.at))
        };
        Some(read_at(link.a)?.abs_diff(read_at(link.b)?))
    }
}

fn condition(values: &EthValues, a: Option<&EthState>, b: Option<&EthState>) -> LinkCondition {
    let train = |eth: Option<&EthState>| eth.and_then(|eth| eth.train_status.known().copied());
    let trains = [train(a), train(b)];
    let up = |eth, train: Option<u32>| train.map(|it| it == values.train_up && is_up(values, eth));
    match (up(a, trains[0]), up(b, trains[1])) {
        (Some(true), Some(true)) => LinkCondition::Up,
        // The far end can be unread because the link is down.
        (Some(false), None | Some(false)) | (None, Some(false)) => LinkCondition::Down,
        (None, _) | (_, None) => LinkCondition::Unread,
        _ if trains.contains(&Some(0)) => LinkCondition::Down,
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

/// Returns the bytes in flight from the near end: those in its sending channels that the far end
/// has not freed. Without a kernel's table, the end with the acknowledge, or with the only count,
/// is the sender.
fn in_flight(near: &End, far: &End) -> Option<u64> {
    if near.words.is_empty() {
        return None;
    }
    let sends = |(index, words): &&(u8, ChannelSync)| {
        let role = near.roles.get(usize::from(*index));
        match role.map_or(ChannelRole::Unused, |role| *role) {
            ChannelRole::Sender => true,
            ChannelRole::Receiver | ChannelRole::Handshake => false,
            ChannelRole::Unused => {
                let other = channels::of(&far.words, *index);
                words.receiver_ack != 0 || other.is_some_and(|other| other.bytes_sent == 0)
            }
        }
    };
    Some(near.words.iter().filter(sends).map(|(_, words)| u64::from(words.bytes_sent)).sum())
}
