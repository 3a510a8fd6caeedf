//! The locations of a router's facts, from a manifest: no ELF is needed.

use super::{
    ChannelStatus, Credit, DownstreamEdge, FabricManifest, L1Region, LocalChip, ManifestRouter,
    ReceiverChannel, RingBuffer, SenderChannel, StreamRef,
};
use crate::fabric::builtin::{pair, stream};
use crate::fabric::channels::{
    Edge, EdgeLocations, Receiver, ReceiverLocations, Sender, SenderLocations,
};
use crate::fabric::enumeration::Enumeration;
use crate::fabric::fact::Heartbeat;
use crate::fabric::location::{Formula, Located, Location, Word};
use crate::fabric::router::{RouterLayout, RouterLocations};
use crate::fabric::tt_metal::{
    COUNTED_BY_STREAM, COUNTED_IN_L1, COUNTED_TOGETHER, NO_ACKNOWLEDGES, NO_HANDSHAKE, NO_SYNC,
    NO_TELEMETRY, connection_names, once_met, private_to_receivers, private_to_senders, uncounted,
};
use layouts::{ChipLayout, TileKind};
use machine::fabric::Direction;
use std::sync::Arc;

const NOT_IN_MANIFEST: &str = "the manifest lacks it; the router's ELF has it";

/// `DynamicStatistics`: what a router's telemetry counts.
const BANDWIDTH: u64 = 2;
const HEARTBEAT_TX: u64 = 4;
const HEARTBEAT_RX: u64 = 8;

/// A router of a manifest, being located.
struct Described<'a> {
    manifest: &'a FabricManifest,
    chip: &'a LocalChip,
    router: &'a ManifestRouter,
    layout: &'static ChipLayout,
}

impl FabricManifest {
    /// Returns the locations of a router's facts.
    pub(crate) fn layout(&self, chip: &LocalChip, router: &ManifestRouter) -> RouterLayout {
        let layout = self.run.chips.layout();
        let described = Described { manifest: self, chip, router, layout };
        RouterLayout {
            facts: described.facts(),
            counts: uncounted(),
            senders: router.senders.iter().map(|sender| described.sender(sender)).collect(),
            receivers: router.receivers.iter().map(|it| described.receiver(it)).collect(),
            downstream: router.downstream.iter().filter_map(|it| described.edge(it)).collect(),
            header: None,
            tables: None,
        }
    }

    /// Returns the names of an enum, as tt-metal's sources spell them.
    fn names(&self, name: &str) -> Option<Arc<Enumeration>> {
        let values = self.enums.get(name)?.iter();
        let values: Vec<_> = values.map(|(name, value)| (*value, name.to_uppercase())).collect();
        let all: Vec<_> = values.iter().map(|(value, name)| ((*value).into(), &**name)).collect();
        Some(Arc::new(Enumeration::new(&all)))
    }
}

fn word(address: u32, bytes: u32) -> Formula {
    Formula::Word(Word { addr: address.into(), size: bytes.min(8) })
}

fn constant(value: impl Into<u64>) -> Located {
    Located::At(Formula::Constant(value.into()).into())
}

fn known(formula: Option<Formula>) -> Located {
    Located::or(formula, NOT_IN_MANIFEST)
}

impl Described<'_> {
    /// Returns a member of a struct in a region.
    fn member(&self, region: Option<&L1Region>, path: &str) -> Option<Formula> {
        let (offset, ty) = self.manifest.member(path)?;
        Some(word(region?.address.checked_add(offset)?, ty.element_bytes()))
    }

    /// Returns the word of a field of the router.
    fn field(&self, key: &str) -> Option<Formula> {
        self.router.fields.l1(key).map(|region| word(region.address, region.ty.bytes))
    }

    fn named(&self, formula: Option<Formula>, names: &str) -> Located {
        let names = self.manifest.names(names);
        Located::or(formula.map(|formula| Location { formula, names }), NOT_IN_MANIFEST)
    }

    fn facts(&self) -> RouterLocations {
        let manifest = self.manifest;
        let areas = &manifest.areas;
        let table = |member: &str| {
            self.member(Some(&areas.routing_table), &format!("routing_l1_info_t.{member}"))
        };
        let handshake = self.router.fields.l1("handshake");
        let met = |member: &str| self.member(handshake, &format!("handshake_info_t.{member}"));
        let halves = |low, high| pair(Formula::Halves, low, high);
        let peer = halves(met("neighbor_device_id"), met("neighbor_mesh_id"));
        let (beat, sync) = (&areas.heartbeat, self.chip.local_sync.as_ref());
        let beats = Word { addr: beat.word.address.into(), size: 4 };
        let values = &self.layout.eth.values;
        let marks = Heartbeat::marks(values.heartbeat_base, (beat.magic >> 16) as u16);
        let master = sync.map(|sync| sync.master);
        let master_channel = master.and_then(|master| manifest.router(master));
        let direction = self.router.fields.value("my_direction");
        RouterLocations {
            node: Located::or(halves(table("my_device_id"), table("my_mesh_id")), NOT_IN_MANIFEST),
            two_dimensional: constant(manifest.context.is_2d),
            image_channel: constant(self.router.eth_channel),
            direction: self.named(direction.map(Formula::Constant), "eth_chan_directions"),
            master: Located::or(
                master.map(|master| Formula::Constant((master == self.router.path).into())),
                NO_SYNC,
            ),
            master_channel: known(
                master_channel.map(|router| Formula::Constant(router.eth_channel.into())),
            ),
            local_channels: known(sync.map(|sync| Formula::Constant(sync.channels_mask.into()))),
            local_routers: known(sync.map(|sync| Formula::Constant(sync.routers.into()))),
            status: self.named(self.field("edm_status"), "EDMStatus"),
            handshake: Located::or(met("local_value"), NO_HANDSHAKE),
            peer: Located::or(
                peer.and_then(|peer| once_met(&met("local_value")?, peer.formula)),
                NO_HANDSHAKE,
            ),
            state: self.named(table("state_manager.state"), "RouterState"),
            command: self.named(table("state_manager.command"), "RouterCommand"),
            postcode: self.named(
                self.member(Some(&areas.telemetry), "FabricTelemetry.postcode"),
                "EDMStatus",
            ),
            termination: self.named(self.field("termination_signal"), "TerminationSignal"),
            local_sync: Located::or(self.field("local_sync"), NO_SYNC),
            passes: Located::At(Formula::Marked(beats, (beat.magic >> 16) as u16).into()),
            heartbeat: Located::At(Location { names: Some(Arc::new(marks)), ..beats.into() }),
            tx_heartbeat: self.telemetry(HEARTBEAT_TX, "erisc.tx_heartbeat.full"),
            rx_heartbeat: self.telemetry(HEARTBEAT_RX, "erisc.rx_heartbeat.full"),
            packets_moved: self.telemetry(BANDWIDTH, "tx_bandwidth.num_packets_sent"),
            packets_sent: Located::Nowhere(COUNTED_TOGETHER),
            packets_received: Located::Nowhere(COUNTED_TOGETHER),
            ..RouterLocations::default()
        }
    }

    /// Returns a member of the dynamic part of `FabricTelemetry`, if the router's first core counts
    /// it.
    fn telemetry(&self, statistics: u64, member: &str) -> Located {
        let core = self.router.eriscs.get(&0);
        let mask = core.and_then(|core| core.fields.value("telemetry_stats_mask"));
        let path = format!("FabricTelemetry.dynamic_info.{member}");
        match mask {
            None => Located::Nowhere(NOT_IN_MANIFEST),
            Some(mask) if mask & statistics == 0 => Located::Nowhere(NO_TELEMETRY),
            Some(_) => known(self.member(Some(&self.manifest.areas.telemetry), &path)),
        }
    }

    /// Returns the credits of a stream.
    fn credits(&self, stream_ref: Option<StreamRef>) -> Option<Word> {
        stream(self.layout, TileKind::Eth, stream_ref?.id.into())
    }

    fn sender(&self, channel: &SenderChannel) -> Sender {
        let free = self.credits(channel.fields.stream("free_slots"));
        let slots = channel.ring_buffer.map_or(0, |ring| ring.slots);
        let info = |member: &str| {
            let region = channel.fields.l1("conn_info");
            self.member(region, &format!("EDMChannelWorkerLocationInfo.{member}"))
        };
        let of_client = |address: &str| match (info("worker_xy")?, info(address)?) {
            (Formula::Word(xy), Formula::Word(address)) => Some(Formula::Elsewhere(xy, address)),
            _ => None,
        };
        let stream_of = |credit: Option<Credit>| match credit {
            Some(Credit::Stream(stream)) => self.credits(stream).map(Formula::Word),
            _ => None,
        };
        let all = Formula::Constant(slots.into());
        let queued = pair(Formula::Difference, all, free.map(Formula::Word));
        let connection = channel.fields.l1("connection").map(|at| Location {
            formula: word(at.address, at.ty.bytes),
            names: Some(connection_names()),
        });
        let cursor = channel.fields.l1("buffer_index_sem");
        let (address, bytes) = places(channel.ring_buffer);
        Sender {
            index: channel.index,
            virtual_channel: channel.virtual_channel,
            slots: slots.into(),
            facts: SenderLocations {
                serviced: constant(channel.status == ChannelStatus::Active),
                slots_address: address,
                slot_bytes: bytes,
                free_slots: Located::or(free, NOT_IN_MANIFEST),
                queued: Located::or(queued, NOT_IN_MANIFEST),
                completions: match channel.completed {
                    Credit::Counter(_) => Located::Nowhere(COUNTED_IN_L1),
                    credit @ Credit::Stream(_) => known(stream_of(Some(credit))),
                },
                completed: match channel.completed {
                    Credit::Counter(address) => known(Some(word(address, 4))),
                    Credit::Stream(_) => Located::Nowhere(COUNTED_BY_STREAM),
                },
                acknowledges: match channel.acked {
                    None => Located::Nowhere(NO_ACKNOWLEDGES),
                    Some(Credit::Counter(_)) => Located::Nowhere(COUNTED_IN_L1),
                    credit => known(stream_of(credit)),
                },
                connection: Located::or(connection, NOT_IN_MANIFEST),
                last_client: Located::or(
                    pair(Formula::Tile, info("worker_xy.x"), info("worker_xy.y")),
                    NOT_IN_MANIFEST,
                ),
                client_credits: known(of_client("worker_semaphore_address")),
                client_teardown: known(of_client("worker_teardown_semaphore_address")),
                read_counter: known(info("edm_read_counter")),
                write_counter: known(
                    self.member(cursor, "SenderChannelProducerCursor.write_counter"),
                ),
                ..private_to_senders()
            },
        }
    }

    fn receiver(&self, channel: &ReceiverChannel) -> Receiver {
        let arrived = self.credits(channel.fields.stream("pkts_sent"));
        let (address, bytes) = places(channel.ring_buffer);
        Receiver {
            index: channel.index,
            virtual_channel: channel.virtual_channel,
            slots: channel.ring_buffer.map_or(0, |ring| ring.slots.into()),
            facts: ReceiverLocations {
                serviced: constant(channel.status == ChannelStatus::Active),
                slots_address: address,
                slot_bytes: bytes,
                arrived: Located::or(arrived, NOT_IN_MANIFEST),
                ..private_to_receivers()
            },
        }
    }

    /// Returns an edge; none if it leads to a router of an unknown direction.
    fn edge(&self, edge: &DownstreamEdge) -> Option<Edge> {
        let to = edge.to.router;
        let direction: Direction = to.direction?;
        let tile = self.manifest.router(to).and_then(|router| {
            let [x, y] = router.virtual_core.map(|axis| Formula::Constant(axis.into()));
            pair(Formula::Tile, x, y)
        });
        let credits = self.credits(edge.fields.stream("free_slots"));
        Some(Edge {
            direction,
            virtual_channel: edge.virtual_channel,
            straight: false,
            facts: EdgeLocations {
                tile: Located::or(tile, NOT_IN_MANIFEST),
                credits: Located::or(credits, NOT_IN_MANIFEST),
            },
        })
    }
}

/// Returns address and bytes of a channel's slots.
fn places(ring: Option<RingBuffer>) -> (Located, Located) {
    let of = |number: fn(RingBuffer) -> u32| {
        ring.map_or_else(Located::default, |ring| constant(number(ring)))
    };
    (of(|ring| ring.address), of(|ring| ring.slot_bytes))
}
