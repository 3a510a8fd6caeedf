//! Decodes routers.

use super::bounds::most_in_flight;
use super::site::{Site, Slots};
use super::status::StatusQueue;
use crate::state::{
    Activity, CoreState, DownstreamState, HeadState, ReceiverState, RouterState, SenderState,
};
use images::Reading;
use images::fabric::{
    Edge, Locations as _, Reader, Receiver, RouterCounts, RouterFacts, RouterLayout, Sender,
};
use layouts::EthId;
use machine::snapshot::AccessError;
use std::collections::BTreeMap;

/// A router, being decoded: what it says without its peer.
pub(super) struct Router<'a> {
    pub(super) site: Site<'a>,
    pub(super) at: EthId,
    pub(super) image: &'a str,
    pub(super) layout: &'a RouterLayout,
    core: &'a CoreState,
    pub(super) facts: RouterFacts,
    counts: RouterCounts,
    receivers: Vec<ReceiverState>,
}

impl<'a> Router<'a> {
    /// Decodes it, if the plan had its words.
    pub(super) fn read(
        site: Site<'a>,
        at: EthId,
        core: &'a CoreState,
        (image, layout): (&'a str, &'a RouterLayout),
    ) -> Option<Self> {
        let status: Reading<u64> = Reader(&site).fact(layout.facts.status.location());
        if status == Reading::Unread(AccessError::NotRequested) {
            return None;
        }
        let (facts, counts) = (layout.facts.read(&site), layout.counts.read(&site));
        let router = Self { site, at, image, layout, core, facts, counts, receivers: Vec::new() };
        let receivers = layout.receivers.iter().map(|receiver| router.receiver(receiver)).collect();
        Some(Self { receivers, ..router })
    }

    /// Whether it routes packets, as far as is known: one that has ended leaves its words in L1.
    pub(super) fn routes(&self) -> bool {
        self.core.activity.known().is_none_or(|activity| *activity == Activity::Running)
    }

    /// Returns its status queue, if it has written to it.
    pub(super) fn status(&self) -> Option<StatusQueue<'a>> {
        StatusQueue::of(self.site, self.layout.status.as_ref()?, &self.counts)
    }

    /// Returns its sender channels, by those that it says of them and by its peer.
    pub(super) fn senders(&self, peer: Option<&Self>) -> Vec<SenderState> {
        let peer = peer.map_or(&[][..], |peer| &peer.receivers);
        self.layout.senders.iter().map(|sender| self.sender(sender, peer)).collect()
    }

    /// Returns its state, by the planes of all routers and its sender channels.
    pub(super) fn state(
        self,
        planes: &BTreeMap<EthId, usize>,
        senders: Vec<SenderState>,
    ) -> RouterState {
        let downstream = self.layout.downstream.iter();
        RouterState {
            at: self.at,
            tile: self.site.tile,
            plane: planes.get(&self.at).copied(),
            image: self.image.to_owned(),
            activity: self.core.activity.clone(),
            waypoint: self.core.waypoint.clone(),
            senders,
            downstream: downstream.filter_map(|edge| self.downstream(edge)).collect(),
            status_entries: self.status().map_or_else(Vec::new, |queue| queue.entries()),
            receivers: self.receivers,
            counts: self.counts,
            facts: self.facts,
        }
    }

    fn sender(&self, sender: &Sender, peer: &[ReceiverState]) -> SenderState {
        let facts = sender.facts.read(&self.site);
        SenderState {
            index: sender.index,
            virtual_channel: sender.virtual_channel,
            slots: sender.slots,
            in_flight_at_most: most_in_flight(sender, &facts, peer),
            head: self.head(&facts.oldest, [&facts.queued, &facts.in_flight]),
            candidates: self.candidates(
                [&facts.slots_address, &facts.slot_bytes, &facts.oldest],
                sender.slots,
                &facts.queued,
            ),
            facts,
        }
    }

    fn receiver(&self, receiver: &Receiver) -> ReceiverState {
        let facts = receiver.facts.read(&self.site);
        ReceiverState {
            index: receiver.index,
            virtual_channel: receiver.virtual_channel,
            slots: receiver.slots,
            head: self.head(&facts.oldest, [&facts.arrived, &facts.held]),
            candidates: self.candidates(
                [&facts.slots_address, &facts.slot_bytes, &facts.oldest],
                receiver.slots,
                &facts.arrived,
            ),
            facts,
        }
    }

    /// Returns the edge to a router that exists.
    fn downstream(&self, edge: &Edge) -> Option<DownstreamState> {
        let straight = self.facts.direction.known().map(|mine| mine.opposite());
        let there = !edge.straight || straight == Some(edge.direction);
        let facts = edge.facts.read(&self.site);
        (there && facts.tile.known().is_some()).then_some(DownstreamState {
            direction: edge.direction,
            virtual_channel: edge.virtual_channel,
            facts,
        })
    }

    /// Returns the headers of all slots of a channel that holds packets, if its oldest packet is
    /// not known.
    fn candidates(
        &self,
        [first, bytes, oldest]: [&Reading<u64>; 3],
        slots: u64,
        holds: &Reading<u64>,
    ) -> Vec<HeadState> {
        let holds = holds.known().is_some_and(|count| *count > 0);
        let place = first.known().zip(bytes.known()).zip(self.layout.header.as_ref());
        match place {
            Some(((&first, &bytes), header)) if holds && oldest.known().is_none() => {
                self.site.heads(&Slots { header, first, bytes, count: slots })
            }
            _ => Vec::new(),
        }
    }

    /// Returns the oldest packet of a channel if one of the counts is not 0.
    fn head(&self, oldest: &Reading<u64>, holds: [&Reading<u64>; 2]) -> Option<HeadState> {
        holds.into_iter().find(|count| count.known().is_some_and(|count| *count > 0))?;
        Some(self.site.head(self.layout.header.as_ref()?, *oldest.known()?))
    }
}
