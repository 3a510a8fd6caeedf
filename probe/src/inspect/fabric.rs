//! Routers by the names of their images, and the credits of both ends of a link joined.

mod head;
mod ledger;

use super::View;
use crate::fabric::{Direction, FabricNode};
use crate::images::{DownstreamPlace, ReceiverPlace, RouterLayout, SenderPlace, Slots, Spot, Word};
use crate::snapshot::{AccessError, Span};
use crate::state::{
    DownstreamState, FabricState, HeadState, Reading, ReceiverState, RouterState, SenderState,
};
use layouts::{ChipId, CoreId, CoreKind, EthId, NocAddr, NocXy, TileKind, wormhole};

impl View<'_> {
    /// All of the fabric that this look read.
    pub(super) fn fabric(&self) -> FabricState {
        let mut routers = Vec::new();
        for chip in &self.mesh.chips {
            for tile in wormhole().grid() {
                let Some(channel) = tile.channel.filter(|_| tile.kind == TileKind::Eth) else {
                    continue;
                };
                let core = CoreId { chip: chip.id, tile: tile.xy, core: CoreKind::Erisc };
                let on = self.images.on(core);
                let found = on.iter().find_map(|(image, _)| Some((image, image.router.as_ref()?)));
                if let Some((image, layout)) = found {
                    let router = Router { view: self, layout, chip: chip.id, tile: tile.xy };
                    routers.extend(router.was_read().then(|| router.state(&image.name, channel)));
                }
            }
        }
        routers.sort_by_key(|router| router.at);
        let ledgers = ledger::join(self.mesh, &routers);
        FabricState { routers, ledgers }
    }
}

/// What to read of a router; the headers in its slots are not in it.
pub(super) fn spans(layout: &RouterLayout, chip: ChipId, tile: NocXy) -> Vec<Span> {
    let span =
        |word: Word| Span { addr: NocAddr { chip, tile, offset: word.addr }, len: word.size };
    layout.words().into_iter().map(span).collect()
}

/// The headers of the oldest packets of all channels that hold one: the next look reads them if it is asked to.
pub fn fabric_heads(state: &FabricState) -> Vec<Span> {
    let mut spans = Vec::new();
    for router in &state.routers {
        let senders = router.senders.iter().filter_map(|channel| channel.head.as_ref());
        let receivers = router.receivers.iter().filter_map(|channel| channel.head.as_ref());
        spans.extend(senders.chain(receivers).map(|head| Span {
            addr: NocAddr { chip: router.at.chip, tile: router.tile, offset: head.addr },
            len: head.bytes,
        }));
    }
    spans
}

/// One router, being decoded.
struct Router<'a> {
    view: &'a View<'a>,
    layout: &'a RouterLayout,
    chip: ChipId,
    tile: NocXy,
}

impl Router<'_> {
    /// A look that was not asked for the fabric decodes none of it.
    fn was_read(&self) -> bool {
        self.value(self.layout.status) != Reading::Unread(AccessError::NotAsked)
    }

    fn state(&self, image: &str, channel: u8) -> RouterState {
        let layout = self.layout;
        let named = |word| match self.small(word) {
            Reading::Known(0) => Reading::Absent,
            Reading::Known(value) => {
                let found = layout.statuses.iter().find(|(known, _)| *known == u64::from(value));
                found.map_or(Reading::Unknown(value.into()), |(_, name)| Reading::Known(*name))
            }
            other => other.without(),
        };
        let node = match (self.small(layout.mesh_id), self.small(layout.device_id)) {
            (Reading::Known(mesh), Reading::Known(device)) => {
                Reading::Known(FabricNode { mesh: mesh as u16, device: device as u16 })
            }
            (mesh, _) => mesh.without(),
        };
        let direction = match self.value(layout.direction) {
            Reading::Known(number) => {
                towards(number).map_or(Reading::Unknown(number), Reading::Known)
            }
            other => other.without(),
        };
        RouterState {
            at: EthId { chip: self.chip, channel },
            tile: self.tile,
            image: image.to_owned(),
            topology: layout.topology,
            node,
            direction,
            status: named(layout.status),
            postcode: self.small(layout.postcode),
            termination: self.small(layout.termination),
            refusal: self.small(layout.refusal),
            link: self.small(layout.link),
            epoch: self.small(layout.epoch),
            fallback: self.tile_at(layout.fallback_xy),
            passes: self.value(layout.passes),
            counts: layout
                .counts
                .iter()
                .map(|(name, word)| (*name, self.value(Some(*word))))
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
        let free = self.value(place.free_slots);
        let queued = free.map(|free| place.slots.count.wrapping_sub(free));
        let in_flight = self.difference(place.sent, place.completed);
        let some = |reading: &Reading<u64>| reading.known().is_some_and(|count| *count > 0);
        let connected = self.small(place.connection);
        let x = self.value(place.worker_x).known().copied();
        let y = self.value(place.worker_y).known().copied();
        let client = x.zip(y).map(|(x, y)| NocXy { x: x as u8, y: y as u8 });
        SenderState {
            index: place.index,
            virtual_channel: place.virtual_channel,
            slots: place.slots.count,
            completions: self.value(place.pkts_completed),
            remote_free_slots: self.value(place.remote_free_slots),
            sent: self.value(place.sent),
            dropped: self.value(place.dropped),
            client: client.filter(|_| connected.known().is_some_and(|open| *open != 0)),
            connection: connected,
            head: self.head(place.slots, place.slot, some(&queued) || some(&in_flight)),
            queued,
            in_flight,
        }
    }

    fn receiver(&self, place: &ReceiverPlace) -> ReceiverState {
        let arrived = self.value(place.pkts_sent);
        let held = self.difference(place.received, place.completed);
        let some = |reading: &Reading<u64>| reading.known().is_some_and(|count| *count > 0);
        let pending = self.value(place.pending).known().copied().unwrap_or_default();
        let left = |direction: &Direction| pending >> direction.index() & 1 == 1;
        ReceiverState {
            index: place.index,
            virtual_channel: place.virtual_channel,
            slots: place.slots.count,
            received: self.value(place.received),
            dropped: self.value(place.dropped),
            waits_for: self.small(place.waits_for),
            pending: Direction::ALL.into_iter().filter(left).collect(),
            head: self.head(place.slots, place.slot, some(&arrived) || some(&held)),
            arrived,
            held,
        }
    }

    fn downstream(&self, place: &DownstreamPlace) -> Option<DownstreamState> {
        Some(DownstreamState {
            direction: towards(place.direction.into())?,
            virtual_channel: place.virtual_channel,
            tile: Some(self.tile_at(place.xy)?),
            credits: self.value(Some(place.credits)),
        })
    }

    fn head(&self, slots: Slots, slot: Option<Word>, holds: bool) -> Option<HeadState> {
        let index = *self.value(slot).known().filter(|_| holds)?;
        let fields = self.layout.header.as_ref()?;
        let addr = slots.slot(index);
        let bytes = fields.bytes as u32;
        let at = NocAddr { chip: self.chip, tile: self.tile, offset: addr };
        let packet = match self.view.shot.bytes(at, bytes) {
            Ok(header) => head::decode(fields, header),
            Err(reason) => Reading::Unread(reason),
        };
        Some(HeadState { addr, bytes, packet })
    }

    /// `x | y << 16`; none where it is 0.
    fn tile_at(&self, word: Option<Word>) -> Option<NocXy> {
        let xy = *self.value(word).known().filter(|xy| **xy != 0)?;
        Some(NocXy { x: xy as u8, y: (xy >> 16) as u8 })
    }

    /// The difference of two 32-bit counters.
    fn difference(&self, more: Option<Word>, less: Option<Word>) -> Reading<u64> {
        match (self.value(more), self.value(less)) {
            (Reading::Known(more), Reading::Known(less)) => {
                Reading::Known((more as u32).wrapping_sub(less as u32).into())
            }
            (Reading::Known(_), other) | (other, _) => other,
        }
    }

    fn small(&self, word: Option<Word>) -> Reading<u32> {
        self.value(word).map(|value| value as u32)
    }

    fn value(&self, word: Option<Word>) -> Reading<u64> {
        let Some(word) = word else { return Reading::Absent };
        let at = NocAddr { chip: self.chip, tile: self.tile, offset: word.addr };
        match self.view.shot.bytes(at, word.size) {
            Ok(bytes) => Reading::Known(Spot::value(bytes)),
            Err(reason) => Reading::Unread(reason),
        }
    }
}

/// `eth_chan_directions` by its number.
fn towards(number: u64) -> Option<Direction> {
    Direction::ALL.get(usize::try_from(number).ok()?).copied()
}
