//! Decodes muxes.

use super::site::Site;
use crate::fabric::{Location, Locations as _, MuxChannelLocations, MuxLayout};
use crate::images::Image;
use crate::state::{
    CoreState, HeadState, MuxChannelFacts, MuxChannelState, MuxFacts, MuxState, Reading,
};
use machine::snapshot::Span;

/// A mux, being decoded.
pub(super) struct Mux<'a> {
    site: Site<'a>,
    image: &'a Image,
    layout: &'a MuxLayout,
    core: &'a CoreState,
    facts: MuxFacts,
}

impl<'a> Mux<'a> {
    pub(super) fn new(
        site: Site<'a>,
        image: &'a Image,
        layout: &'a MuxLayout,
        core: &'a CoreState,
    ) -> Self {
        Self { site, image, layout, core, facts: layout.facts.read(&site) }
    }

    /// Returns the spans of the words that clients and host write, and of the counters of free
    /// slots.
    pub(super) fn spans(&self) -> Vec<Span> {
        let channels = self.channels().iter().flat_map(MuxChannelLocations::known);
        let all: Vec<&Location> = self.layout.facts.known().chain(channels).collect();
        self.site.leads(all.into_iter())
    }

    pub(super) fn state(&self) -> MuxState {
        let channels = self.channels();
        let holder = match self.facts.holder {
            Reading::Known(channel) if channel >= channels.len() as u64 => Reading::Absent,
            ref other => other.clone(),
        };
        let channels = channels.iter().enumerate();
        MuxState {
            at: self.core.id,
            image: self.image.name.clone(),
            activity: self.core.activity.clone(),
            waypoint: self.core.waypoint.clone(),
            facts: MuxFacts { holder, ..self.facts.clone() },
            channels: channels.map(|(index, channel)| self.channel(index, channel)).collect(),
        }
    }

    fn channel(&self, index: usize, channel: &MuxChannelLocations) -> MuxChannelState {
        let facts = channel.read(&self.site);
        let holds = facts.queued.known().is_some_and(|queued| *queued > 0);
        let head = if holds { self.head(index, &facts) } else { None };
        MuxChannelState { index: index as u8, head, facts }
    }

    /// Returns the oldest packet. Slots are in order of channel; the count of forwarded packets
    /// determines the next slot.
    fn head(&self, index: usize, channel: &MuxChannelFacts) -> Option<HeadState> {
        let slots = *channel.slots.known()?;
        let (bytes, header) = (*self.facts.slot_bytes.known()?, self.facts.header_bytes.known()?);
        let header = self.layout.headers.iter().find(|found| found.bytes == *header)?;
        let next = channel.forwarded.known()?.checked_rem(slots)?;
        let slot = (index as u64).checked_mul(slots)?.checked_add(next)?;
        let addr = self.facts.channels_address.known()?.checked_add(slot.checked_mul(bytes)?)?;
        Some(self.site.head(header, addr))
    }

    /// Returns the channels that its arguments use.
    fn channels(&self) -> &'a [MuxChannelLocations] {
        let count = self.facts.channel_count.known().map_or(0, |count| *count as usize);
        self.layout.channels.get(..count).unwrap_or(&self.layout.channels)
    }
}
