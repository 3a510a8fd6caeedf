//! Muxes.

use super::site::{Site, Told, named};
use crate::images::{Image, MuxChannelPlace, MuxLayout, stream};
use crate::state::{CoreState, HeadState, MuxChannelState, MuxState, Reading};
use layouts::TileKind;
use machine::snapshot::Span;

/// A mux, being decoded.
pub(super) struct Mux<'a> {
    site: Site<'a>,
    image: &'a Image,
    layout: &'a MuxLayout,
    core: &'a CoreState,
    kind: TileKind,
    words: Told<'a>,
}

impl<'a> Mux<'a> {
    pub(super) fn new(
        site: Site<'a>,
        image: &'a Image,
        layout: &'a MuxLayout,
        core: &'a CoreState,
        kind: TileKind,
    ) -> Self {
        Self { site, image, layout, core, kind, words: site.told(layout.words_address) }
    }

    /// The words that others write, and the counters of free slots.
    pub(super) fn spans(&self) -> Vec<Span> {
        let Some(address) = self.words.address() else { return Vec::new() };
        let words = Span { addr: self.site.at(address), len: self.layout.words_bytes as u32 };
        let streams = (0..self.channels()).filter_map(|index| {
            let word = stream(self.site.view.layout(), self.kind, self.stream_of(index)?)?;
            Some(Span { addr: self.site.at(word.addr), len: word.size })
        });
        [words].into_iter().chain(streams).collect()
    }

    pub(super) fn state(&self) -> MuxState {
        let layout = self.layout;
        let holder = match self.site.value(layout.holder) {
            Reading::Known(channel) if channel >= self.channels() as u64 => Reading::Absent,
            other => other,
        };
        MuxState {
            at: self.core.id,
            image: self.image.name.clone(),
            policy: layout.policy,
            activity: self.core.activity.clone(),
            waypoint: self.core.waypoint.clone(),
            status: named(self.words.value(layout.status), &layout.statuses),
            termination: self.words.value(layout.termination).map(|signal| signal as u32),
            passes: self.site.value(layout.passes),
            holder,
            drain_iters: self.site.value(layout.drain_iters),
            abandoned: self.site.value(layout.abandoned),
            channels: layout
                .channels
                .iter()
                .take(self.channels())
                .enumerate()
                .map(|(index, place)| self.channel(index, place))
                .collect(),
        }
    }

    fn channel(&self, index: usize, place: &MuxChannelPlace) -> MuxChannelState {
        let slots = self.site.value(self.layout.slots);
        let counter =
            self.stream_of(index).and_then(|id| stream(self.site.view.layout(), self.kind, id));
        let queued = match (slots.known(), self.site.value(counter)) {
            (Some(slots), Reading::Known(free)) => Reading::Known(slots.wrapping_sub(free)),
            (_, other) => other.without(),
        };
        let connection = self.words.value(place.connection).map(|word| word as u32);
        let told = [place.worker_x, place.worker_y].map(|field| self.words.value(field));
        MuxChannelState {
            index: index as u8,
            head: queued.known().filter(|n| **n > 0).and_then(|_| self.head(index, place)),
            slots,
            queued,
            connection,
            connected: self.site.value(place.connected).map(|connected| connected != 0),
            client: self.site.other(&told[0], &told[1]),
            forwarded: self.site.value(place.forwarded),
            polls: self.site.value(place.polls),
            skips: self.site.value(place.skips),
            longest_wait_cycles: self.site.value(place.longest_wait),
            closes: self.site.value(place.closes),
        }
    }

    /// Channel after channel, slot after slot; what was forwarded says which slot comes next.
    fn head(&self, index: usize, place: &MuxChannelPlace) -> Option<HeadState> {
        let known = |word| self.site.value(word).known().copied();
        let (slots, bytes) = (known(self.layout.slots)?, known(self.layout.slot_bytes)?);
        let header = known(self.layout.header_bytes)?;
        let fields = self.layout.headers.iter().find(|fields| fields.bytes == header)?;
        let next = known(place.forwarded)?.checked_rem(slots)?;
        let slot = (index as u64).checked_mul(slots)?.checked_add(next)?;
        let addr = known(self.layout.channels_address)?.checked_add(slot.checked_mul(bytes)?)?;
        Some(self.site.head(fields, addr))
    }

    fn channels(&self) -> usize {
        let count = self.site.value(self.layout.channel_count).known().copied();
        count.map_or(0, |count| count as usize).min(self.layout.channels.len())
    }

    fn stream_of(&self, index: usize) -> Option<u64> {
        Some(self.site.value(self.layout.first_stream).known()? + index as u64)
    }
}
