//! The kernels that send through channels of routers and muxes.

use super::site::{Site, difference, named};
use crate::images::{ClientLayout, ClientPlace, Image, Word, stream};
use crate::state::{ClientState, CoreState, FabricPort, Reading};
use layouts::{CoreId, CoreKind, EthId, NocXy, TileKind};
use machine::snapshot::{AccessError, Span};

/// The connections of a kernel that has any.
pub(super) struct Clients<'a> {
    pub(super) site: Site<'a>,
    pub(super) image: &'a Image,
    pub(super) layout: &'a ClientLayout,
    pub(super) core: &'a CoreState,
}

impl Clients<'_> {
    /// The connections that the kernel was told to use, and where their words stand.
    pub(super) fn states(&self) -> (Vec<ClientState>, Vec<Span>) {
        let used = self.layout.places.iter().filter(|place| self.is_used(place));
        let (states, spans): (_, Vec<_>) =
            used.map(|place| (self.state(place), self.words(place))).unzip();
        (states, spans.into_iter().flatten().collect())
    }

    fn is_used(&self, place: &ClientPlace) -> bool {
        let slots = self.site.value(place.slots);
        slots.known().is_some_and(|slots| *slots != 0)
    }

    /// Its own words, and where its termination master counts.
    fn words(&self, place: &ClientPlace) -> Vec<Span> {
        let address = self.site.told(place.words_address).address();
        let len = self.layout.words_bytes as u32;
        let own = address.map(|address| Span { addr: self.site.at(address), len });
        let count = self.told(place).map(|(site, word)| Span { addr: site.at(word.addr), len: 4 });
        own.into_iter().chain(count).collect()
    }

    /// Where the termination master of its mux counts those that have told it that they have closed.
    fn told(&self, place: &ClientPlace) -> Option<(Site<'_>, Word)> {
        let told = |word| self.site.value(word).known().copied().filter(|told| *told != 0);
        let (xy, addr) = told(place.master_xy).zip(told(place.master_address))?;
        let [x, y] = [xy & 0xFFFF, xy >> 16].map(Reading::Known);
        Some((Site { tile: self.site.other(&x, &y)?, ..self.site }, Word { addr, size: 4 }))
    }

    fn state(&self, place: &ClientPlace) -> ClientState {
        let (site, layout) = (self.site, self.layout);
        let told = site.told(place.words_address);
        let xy = [place.x, place.y].map(|word| site.value(Some(word)));
        let to_tile = site.other(&xy[0], &xy[1]);
        let id = site.value(place.stream).known().copied();
        let read_counter = told.value(layout.read_counter);
        ClientState {
            at: self.core.id,
            image: self.image.name.clone(),
            name: place.name.clone(),
            activity: self.core.activity.clone(),
            waypoint: self.core.waypoint.clone(),
            stage: site.named(place.stage, &layout.stages),
            waits: site.value(place.waits).map(|waits| waits != 0),
            to_tile,
            to: to_tile.zip(id).and_then(|(tile, id)| port(&site, tile, id)),
            slots: site.value(place.slots),
            sent: site.value(place.write_counter),
            used: used(site.value(place.write_counter), read_counter),
            teardown: told.value(layout.teardown),
            termination: named(site.value(place.termination), &layout.terminations),
            mux_clients: site.value(place.mux_clients),
            told: self
                .told(place)
                .map_or(Reading::Absent, |(master, word)| master.value(Some(word))),
            ending: None,
        }
    }
}

/// Packets that were handed over and not taken. Those that were taken are read later: by then they may be more.
fn used(handed_over: Reading<u64>, taken: Reading<u64>) -> Reading<u64> {
    let overtaken = |used| i32::try_from(used).is_err();
    difference(handed_over, taken).map(|used| if overtaken(used) { 0 } else { used })
}

/// The channel of a tile whose free slots this stream counts.
fn port(site: &Site<'_>, tile: NocXy, id: u64) -> Option<FabricPort> {
    let found = site.view.layout().tile_at(tile)?;
    let core = |core: CoreKind| CoreId { chip: site.chip, tile, core };
    if found.kind == TileKind::Eth {
        let image = site.view.images.fabric_image(core(CoreKind::Erisc));
        if let Some(router) = image.and_then(|image| image.router.as_ref()) {
            let word = stream(site.view.layout(), TileKind::Eth, id)?;
            let sender = router.senders.iter().find(|place| place.free_slots == Some(word))?;
            let at = EthId { chip: site.chip, channel: found.channel? };
            return Some(FabricPort::Router(at, sender.index));
        }
    }
    found.kind.cores().iter().find_map(|&kind| {
        let mux = site.view.images.fabric_image(core(kind))?.mux.as_ref()?;
        let there = Site { tile, ..*site };
        let channel = id.checked_sub(*there.value(mux.first_stream).known()?)?;
        Some(FabricPort::Mux(core(kind), u8::try_from(channel).ok()?))
    })
}

/// Did this look ask for the words of the image?
pub(super) fn was_read(site: &Site<'_>, word: Word) -> bool {
    site.value(Some(word)) != Reading::Unread(AccessError::NotAsked)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_overtaken_between_two_reads_has_nothing_under_way() {
        for (handed_over, taken, under_way) in
            [(7, 5, 2), (7, 7, 0), (7, 8, 0), (1, 0xFFFF_FFFE, 3)]
        {
            let found = used(Reading::Known(handed_over), Reading::Known(taken));
            assert_eq!(found, Reading::Known(under_way), "{handed_over} {taken}");
        }
    }
}
