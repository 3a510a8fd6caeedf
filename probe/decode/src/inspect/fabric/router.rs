//! Routers.

use super::site::Site;
use crate::images::{DownstreamPlace, ReceiverPlace, RouterLayout, SenderPlace, Slots, Word};
use crate::state::{
    CoreState, DownstreamState, HeadState, Reading, ReceiverState, RouterState, SenderState,
};
use layouts::EthId;
use machine::fabric::{Direction, FabricNode};
use machine::snapshot::AccessError;

/// One router, being decoded.
pub(super) struct Router<'a> {
    pub(super) site: Site<'a>,
    pub(super) layout: &'a RouterLayout,
    pub(super) core: &'a CoreState,
}

impl Router<'_> {
    /// A look that was not asked for the fabric decodes none of it.
    pub(super) fn was_read(&self) -> bool {
        self.site.value(self.layout.status) != Reading::Unread(AccessError::NotAsked)
    }

    pub(super) fn state(&self, image: &str, channel: u8) -> RouterState {
        let layout = self.layout;
        let node = match (self.site.small(layout.mesh_id), self.site.small(layout.device_id)) {
            (Reading::Known(mesh), Reading::Known(device)) => {
                Reading::Known(FabricNode { mesh: mesh as u16, device: device as u16 })
            }
            (mesh, _) => mesh.without(),
        };
        let direction = match self.site.value(layout.direction) {
            Reading::Known(number) => {
                towards(number).map_or(Reading::Unknown(number), Reading::Known)
            }
            other => other.without(),
        };
        RouterState {
            at: EthId { chip: self.site.chip, channel },
            tile: self.site.tile,
            image: image.to_owned(),
            topology: layout.topology,
            node,
            direction,
            activity: self.core.activity.clone(),
            waypoint: self.core.waypoint.clone(),
            master: self.site.value(layout.master).map(|master| master != 0),
            dateline: self.site.value(layout.dateline).map(|dateline| dateline != 0),
            status: self.site.named(layout.status, &layout.statuses),
            postcode: self.site.small(layout.postcode),
            termination: self.site.small(layout.termination),
            refusal: self.site.small(layout.refusal),
            refusal_name: self.site.named(layout.refusal, &layout.refusals),
            local_sync: self.site.small(layout.local_sync),
            local_routers: self.site.small(layout.local_routers),
            link: self.site.small(layout.link),
            epoch: self.site.small(layout.epoch),
            fallback: self.site.tile_at(layout.fallback_xy),
            passes: self.site.value(layout.passes),
            counts: layout
                .counts
                .iter()
                .map(|(name, word)| (*name, self.site.value(Some(*word))))
                .collect(),
            senders: layout.senders.iter().map(|place| self.sender(place)).collect(),
            receivers: layout.receivers.iter().map(|place| self.receiver(place)).collect(),
            downstream: layout
                .downstream
                .iter()
                .filter_map(|place| self.downstream(place))
                .collect(),
        }
    }

    fn sender(&self, place: &SenderPlace) -> SenderState {
        let free = self.site.value(place.free_slots);
        let queued = free.map(|free| place.slots.count.wrapping_sub(free));
        let in_flight = self.site.difference(place.sent, place.completed);
        let some = |reading: &Reading<u64>| reading.known().is_some_and(|count| *count > 0);
        let connected = self.site.small(place.connection);
        let told = [place.worker_x, place.worker_y].map(|word| self.site.value(word));
        let last_client = self.site.other(&told[0], &told[1]);
        SenderState {
            index: place.index,
            virtual_channel: place.virtual_channel,
            slots: place.slots.count,
            completions: self.completions(place),
            remote_free_slots: self.site.value(place.remote_free_slots),
            sent: self.site.value(place.sent),
            completed: self.site.value(place.completed),
            dropped: self.site.value(place.dropped),
            last_client,
            client: last_client.filter(|_| connected.known().is_some_and(|open| *open != 0)),
            connection: connected,
            head: self.head(place.slots, place.slot, some(&queued) || some(&in_flight)),
            queued,
            in_flight,
        }
    }

    fn receiver(&self, place: &ReceiverPlace) -> ReceiverState {
        let rerouted = self.counts_in(place.arrived, place.fallback_arrived);
        let arrived =
            self.site.value(if rerouted { place.fallback_arrived } else { place.pkts_sent });
        let held = self.site.difference(place.received, place.completed);
        let some = |reading: &Reading<u64>| reading.known().is_some_and(|count| *count > 0);
        let pending = self.site.value(place.pending).known().map_or(0, |pending| *pending);
        let left = |direction: &Direction| pending >> direction.index() & 1 == 1;
        ReceiverState {
            index: place.index,
            virtual_channel: place.virtual_channel,
            slots: place.slots.count,
            received: self.site.value(place.received),
            completed: self.site.value(place.completed),
            dropped: self.site.value(place.dropped),
            waits_for: self.site.small(place.waits_for),
            pending: Direction::ALL.into_iter().filter(left).collect(),
            head: if rerouted {
                self.head_at(place.tail, some(&arrived) || some(&held))
            } else {
                self.head(place.slots, place.slot, some(&arrived) || some(&held))
            },
            arrived,
            held,
        }
    }

    fn downstream(&self, place: &DownstreamPlace) -> Option<DownstreamState> {
        let direction = match place.direction {
            Some(direction) => towards(direction.into())?,
            // Straight on: away from where its own link leads.
            None => towards(*self.site.value(self.layout.direction).known()?)?.opposite(),
        };
        let xy = if place.direction.is_some() { 0 } else { direction.index() };
        Some(DownstreamState {
            direction,
            virtual_channel: place.virtual_channel,
            tile: Some(self.site.tile_at(place.xy.get(xy).copied())?),
            credits: self.site.value(Some(place.credits)),
        })
    }

    /// Is it this stream that counts? The router keeps its address.
    fn counts_in(&self, counting: Option<Word>, stream: Option<Word>) -> bool {
        stream.is_some_and(|stream| self.site.value(counting).known() == Some(&stream.addr))
    }

    /// While the link is lost no stream tells of completions, and what it still brings does not count.
    fn completions(&self, place: &SenderPlace) -> Reading<u64> {
        let counts = place.completions.is_none()
            || self.site.value(place.completions).known().is_none()
            || self.counts_in(place.completions, place.pkts_completed);
        if counts { self.site.value(place.pkts_completed) } else { Reading::Known(0) }
    }

    /// Packets that came over another link lie in slots of their own.
    fn head_at(&self, tail: Option<Word>, holds: bool) -> Option<HeadState> {
        let address = *self.site.value(tail).known().filter(|_| holds)?;
        Some(self.site.head(self.layout.header.as_ref()?, address))
    }

    fn head(&self, slots: Slots, slot: Option<Word>, holds: bool) -> Option<HeadState> {
        let index = *self.site.value(slot).known().filter(|_| holds)?;
        Some(self.site.head(self.layout.header.as_ref()?, slots.slot(index)))
    }
}

/// `eth_chan_directions` by its number.
fn towards(number: u64) -> Option<Direction> {
    Direction::ALL.get(usize::try_from(number).ok()?).copied()
}
