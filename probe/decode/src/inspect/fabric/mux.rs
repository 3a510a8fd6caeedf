//! Decodes muxes.

use super::site::{Site, Slots};
use crate::state::{Activity, CoreState, MuxChannelState, MuxState};
use images::fabric::{
    Location, Locations as _, MuxChannelFacts, MuxChannelLocations, MuxFacts, MuxLayout,
};
use images::{Image, Reading};
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
        let read = channel.read(&self.site);
        // After a kernel firmware sets the streams back.
        let ended = self.core.activity == Reading::Known(Activity::Done);
        let queued = if ended { Reading::Absent } else { read.queued };
        let facts = MuxChannelFacts { queued, ..read };
        let holds = facts.queued.known().is_some_and(|queued| *queued > 0);
        let (mut head, mut candidates) = (None, Vec::new());
        if let Some(slots) = self.slots(index, &facts).filter(|_| holds) {
            match facts.forwarded.known().and_then(|forwarded| forwarded.checked_rem(slots.count)) {
                Some(next) => {
                    head = slots.addr(next).map(|addr| self.site.head(slots.header, addr));
                }
                None => candidates = self.site.heads(&slots),
            }
        }
        MuxChannelState { index: index as u8, head, candidates, facts }
    }

    /// Returns the slots of a channel. The count of forwarded packets determines the next one.
    fn slots(&self, index: usize, channel: &MuxChannelFacts) -> Option<Slots<'a>> {
        let (count, bytes) = (*channel.slots.known()?, *channel.slot_bytes.known()?);
        let size = self.facts.header_bytes.known()?;
        let header = self.layout.headers.iter().find(|found| found.bytes == *size)?;
        let first = if let Some(first) = channel.slots_address.known() {
            *first
        } else {
            // In order of channel.
            let before = (index as u64).checked_mul(count)?.checked_mul(bytes)?;
            self.facts.channels_address.known()?.checked_add(before)?
        };
        Some(Slots { header, first, bytes, count })
    }

    /// Returns the channels that its arguments use.
    fn channels(&self) -> &'a [MuxChannelLocations] {
        let count = self.facts.channel_count.known().map_or(0, |count| *count as usize);
        self.layout.channels.get(..count).unwrap_or(&self.layout.channels)
    }
}
