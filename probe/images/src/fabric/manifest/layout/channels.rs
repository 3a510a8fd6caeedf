//! Channels of a router that a manifest describes, and its routers downstream.

use super::{Described, NO_STREAM, NOT_DESCRIBED, constant, word_of};
use crate::fabric::builtin::pair;
use crate::fabric::channels::{
    Edge, EdgeLocations, Receiver, ReceiverLocations, Sender, SenderLocations,
};
use crate::fabric::location::{Formula, Located, Location, Word};
use crate::fabric::manifest::{Credit, DownstreamEdge, ReceiverChannel, RingBuffer, SenderChannel};
use crate::fabric::tt_metal::{
    COUNTED_BY_STREAM, COUNTED_IN_L1, NO_ACKNOWLEDGES, connection_names, private_to_receivers,
    private_to_senders,
};

const MUX_TILE: &str = "the edge ends at a mux, whose tile the manifest does not give";

fn slots_of(ring: Option<RingBuffer>) -> u64 {
    ring.map_or(0, |ring| ring.slots.into())
}

/// Address of the first slot, and bytes of a slot.
fn places(ring: Option<RingBuffer>) -> [Located; 2] {
    [ring.map(|ring| ring.address), ring.map(|ring| ring.slot_bytes)]
        .map(|value| value.map(constant).into())
}

impl Described<'_> {
    pub(super) fn senders(self) -> Vec<Sender> {
        let sender = |channel: &SenderChannel| Sender {
            index: channel.index,
            virtual_channel: channel.virtual_channel,
            slots: slots_of(channel.ring_buffer),
            facts: self.sender(channel),
        };
        self.router.senders.iter().map(sender).collect()
    }

    fn sender(self, channel: &SenderChannel) -> SenderLocations {
        let or = |found: Option<Location>| Located::or(found, NOT_DESCRIBED);
        let [slots_address, slot_bytes] = places(channel.ring_buffer);
        let free = self.stream(channel.fields.stream("free_slots"));
        let ring = channel.ring_buffer.map(|ring| Formula::Constant(ring.slots.into()));
        let queued = pair(Formula::Difference, ring, free.map(Formula::Word));
        let (completions, completed) = match &channel.completed {
            Credit::Counter(at) => {
                (Located::Nowhere(COUNTED_IN_L1), Located::or(Some(counter(*at)), NO_STREAM))
            }
            Credit::Stream(stream) => {
                (Located::or(self.stream(*stream), NO_STREAM), Located::Nowhere(COUNTED_BY_STREAM))
            }
        };
        let acknowledges = match &channel.acked {
            None => Located::Nowhere(NO_ACKNOWLEDGES),
            Some(Credit::Counter(_)) => Located::Nowhere(COUNTED_IN_L1),
            Some(Credit::Stream(stream)) => Located::or(self.stream(*stream), NO_STREAM),
        };
        let info = |member: &str| self.inside(channel.fields.l1("conn_info")?, member);
        let of_client = |address: &str| match (info("worker_xy.x")?, info(address)?) {
            (Formula::Word(x), Formula::Word(address)) => {
                Some(Formula::Elsewhere(Word { size: 4, ..x }, address).into())
            }
            _ => None,
        };
        let cursor = channel.fields.l1("buffer_index_sem");
        let written = cursor.and_then(|cursor| self.inside(cursor, "write_counter"));
        let connection = channel.fields.l1("connection");
        let connection =
            connection.map(|at| Location { names: Some(connection_names()), ..word_of(at) });
        SenderLocations {
            serviced: Located::At(constant(!channel.serviced_by.is_empty())),
            slots_address,
            slot_bytes,
            free_slots: Located::or(free, NO_STREAM),
            queued: Located::or(queued, NO_STREAM),
            completions,
            completed,
            acknowledges,
            connection: or(connection),
            last_client: or(pair(Formula::Tile, info("worker_xy.x"), info("worker_xy.y"))),
            client_credits: or(of_client("worker_semaphore_address")),
            client_teardown: or(of_client("worker_teardown_semaphore_address")),
            read_counter: or(info("edm_read_counter").map(Location::from)),
            write_counter: or(written.map(Location::from)),
            ..private_to_senders()
        }
    }

    pub(super) fn receivers(self) -> Vec<Receiver> {
        let receiver = |channel: &ReceiverChannel| Receiver {
            index: channel.index,
            virtual_channel: channel.virtual_channel,
            slots: slots_of(channel.ring_buffer),
            facts: self.receiver(channel),
        };
        self.router.receivers.iter().map(receiver).collect()
    }

    fn receiver(self, channel: &ReceiverChannel) -> ReceiverLocations {
        let [slots_address, slot_bytes] = places(channel.ring_buffer);
        let arrived = self.stream(channel.fields.stream("pkts_sent"));
        ReceiverLocations {
            serviced: Located::At(constant(!channel.serviced_by.is_empty())),
            slots_address,
            slot_bytes,
            arrived: Located::or(arrived, NO_STREAM),
            ..private_to_receivers()
        }
    }

    /// Returns the edges to routers of the grid.
    pub(super) fn edges(self) -> Vec<Edge> {
        self.router.downstream.iter().filter_map(|edge| self.edge(edge)).collect()
    }

    fn edge(self, edge: &DownstreamEdge) -> Option<Edge> {
        let router = self.manifest.router(edge.to.router);
        let tile = router.and_then(|router| {
            let [x, y] = router.virtual_core.map(|axis| Formula::Constant(axis.into()));
            pair(Formula::Tile, x, y)
        });
        let tile = if edge.through_tensix_mux {
            Located::Nowhere(MUX_TILE)
        } else {
            Located::or(tile, NOT_DESCRIBED)
        };
        let credits = self.stream(edge.fields.stream("free_slots"));
        Some(Edge {
            direction: edge.to.router.direction?,
            virtual_channel: edge.virtual_channel,
            straight: false,
            facts: EdgeLocations { tile, credits: Located::or(credits, NO_STREAM) },
        })
    }
}

fn counter(at: u32) -> Word {
    Word { addr: at.into(), size: 4 }
}
