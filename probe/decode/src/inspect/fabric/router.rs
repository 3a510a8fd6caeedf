//! Decodes routers.

use super::site::{Site, Slots};
use crate::state::{
    CoreState, DownstreamState, HeadState, ReceiverState, RouterState, SenderState,
};
use images::Reading;
use images::fabric::{Edge, Locations as _, Reader, Receiver, RouterFacts, RouterLayout, Sender};
use layouts::EthId;
use machine::snapshot::AccessError;

/// A router, being decoded.
pub(super) struct Router<'a> {
    pub(super) site: Site<'a>,
    pub(super) layout: &'a RouterLayout,
    pub(super) core: &'a CoreState,
}

impl Router<'_> {
    /// Whether the plan had the words of the router.
    pub(super) fn was_read(&self) -> bool {
        let status: Reading<u64> = Reader(&self.site).fact(self.layout.facts.status.location());
        status != Reading::Unread(AccessError::NotRequested)
    }

    pub(super) fn state(&self, image: &str, channel: u8) -> RouterState {
        let layout = self.layout;
        let facts = layout.facts.read(&self.site);
        let downstream = layout.downstream.iter();
        RouterState {
            at: EthId { chip: self.site.chip, channel },
            tile: self.site.tile,
            plane: None,
            image: image.to_owned(),
            activity: self.core.activity.clone(),
            waypoint: self.core.waypoint.clone(),
            counts: layout.counts.read(&self.site),
            senders: layout.senders.iter().map(|sender| self.sender(sender)).collect(),
            receivers: layout.receivers.iter().map(|receiver| self.receiver(receiver)).collect(),
            downstream: downstream.filter_map(|edge| self.downstream(&facts, edge)).collect(),
            facts,
        }
    }

    fn sender(&self, sender: &Sender) -> SenderState {
        let facts = sender.facts.read(&self.site);
        SenderState {
            index: sender.index,
            virtual_channel: sender.virtual_channel,
            slots: sender.slots,
            in_flight_at_most: None,
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
    fn downstream(&self, router: &RouterFacts, edge: &Edge) -> Option<DownstreamState> {
        let straight = router.direction.known().map(|mine| mine.opposite());
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
