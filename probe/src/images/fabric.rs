//! Where fabric routers and muxes keep what they do, resolved by the names of their images (tt-metal.md 4 and 5).

use layouts::{Space, TileKind, wormhole};
use symbols::{Field, Symbols};

/// A word of a tile: L1 or a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Word {
    pub(crate) addr: u64,
    pub(crate) size: u32,
}

/// Streams at or above this are not used (`k_unused_stream_id`).
const UNUSED_STREAM: u64 = 32;

/// The slots of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slots {
    pub(crate) at: u64,
    pub(crate) bytes: u64,
    pub(crate) count: u64,
}

impl Slots {
    /// Where a slot begins; indices wrap.
    pub(crate) fn slot(self, index: u64) -> u64 {
        self.at + self.bytes * (index % self.count.max(1))
    }
}

/// A sender channel of a router.
#[derive(Clone, Debug)]
pub(crate) struct SenderPlace {
    pub(crate) index: u8,
    pub(crate) virtual_channel: u8,
    pub(crate) slots: Slots,
    pub(crate) free_slots: Option<Word>,
    pub(crate) pkts_completed: Option<Word>,
    pub(crate) remote_free_slots: Option<Word>,
    pub(crate) sent: Option<Word>,
    pub(crate) completed: Option<Word>,
    pub(crate) dropped: Option<Word>,
    pub(crate) slot: Option<Word>,
    pub(crate) last_progress: Option<Word>,
    pub(crate) connection: Option<Word>,
    pub(crate) worker_x: Option<Word>,
    pub(crate) worker_y: Option<Word>,
    pub(crate) read_counter: Option<Word>,
    pub(crate) write_counter: Option<Word>,
}

/// A receiver channel of a router.
#[derive(Clone, Debug)]
pub(crate) struct ReceiverPlace {
    pub(crate) index: u8,
    pub(crate) virtual_channel: u8,
    pub(crate) slots: Slots,
    pub(crate) pkts_sent: Option<Word>,
    pub(crate) received: Option<Word>,
    pub(crate) completed: Option<Word>,
    pub(crate) dropped: Option<Word>,
    pub(crate) slot: Option<Word>,
    pub(crate) waits_for: Option<Word>,
    pub(crate) pending: Option<Word>,
    pub(crate) last_progress: Option<Word>,
}

/// Credits for one downstream router.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DownstreamPlace {
    pub(crate) direction: u8,
    pub(crate) virtual_channel: u8,
    pub(crate) credits: Word,
    pub(crate) xy: Option<Word>,
}

/// Members of a packet header that a person wants to see.
#[derive(Clone, Debug)]
pub(crate) struct HeaderFields {
    pub(crate) bytes: u64,
    pub(crate) two_dimensional: bool,
    pub(crate) payload: Option<Field>,
    pub(crate) send_type: Option<Field>,
    pub(crate) routing: Option<Field>,
    pub(crate) route_buffer: Option<Field>,
    pub(crate) dst_device: Option<Field>,
    pub(crate) dst_mesh: Option<Field>,
    pub(crate) noc_address: Option<Field>,
    pub(crate) ttl: Option<Field>,
    pub(crate) src_device: Option<Field>,
    pub(crate) src_mesh: Option<Field>,
    pub(crate) number: Option<Field>,
    pub(crate) send_types: Vec<(u64, &'static str)>,
}

/// A router's words.
#[derive(Clone, Debug)]
pub(crate) struct RouterLayout {
    pub(crate) topology: Option<&'static str>,
    pub(crate) statuses: Vec<(u64, &'static str)>,
    pub(crate) status: Option<Word>,
    pub(crate) postcode: Option<Word>,
    pub(crate) termination: Option<Word>,
    pub(crate) refusal: Option<Word>,
    pub(crate) link: Option<Word>,
    pub(crate) epoch: Option<Word>,
    pub(crate) fallback_xy: Option<Word>,
    pub(crate) direction: Option<Word>,
    pub(crate) mesh_id: Option<Word>,
    pub(crate) device_id: Option<Word>,
    pub(crate) passes: Option<Word>,
    pub(crate) counts: Vec<(&'static str, Word)>,
    pub(crate) senders: Vec<SenderPlace>,
    pub(crate) receivers: Vec<ReceiverPlace>,
    pub(crate) downstream: Vec<DownstreamPlace>,
    pub(crate) header: Option<HeaderFields>,
}

/// `EDMStatus` (tt-metal.md 4.1); REFUSED is this house's.
const STATUSES: [&str; 6] = [
    "STARTED",
    "REMOTE_HANDSHAKE_COMPLETE",
    "LOCAL_HANDSHAKE_COMPLETE",
    "READY_FOR_TRAFFIC",
    "TERMINATED",
    "REFUSED",
];
const SEND_TYPES: [&str; 5] = [
    "NOC_UNICAST_WRITE",
    "NOC_UNICAST_INLINE_WRITE",
    "NOC_UNICAST_ATOMIC_INC",
    "NOC_FUSED_UNICAST_ATOMIC_INC",
    "NOC_UNICAST_SCATTER_WRITE",
];
const TOPOLOGIES: [&str; 5] = ["NeighborExchange", "Linear", "Ring", "Mesh", "Torus"];
const COUNTS: [&str; 7] = [
    "expired",
    "timed_out",
    "routing_errors",
    "nacks_sent",
    "control_dropped",
    "status_entries",
    "status_entries_lost",
];

/// Asks an image by name; what it does not know is `None`.
struct Names<'a>(&'a Symbols);

impl Names<'_> {
    fn constant(&self, name: &str) -> Option<u64> {
        self.0.constant(name)?.as_u64()
    }

    fn named(&self, names: &[&'static str]) -> Vec<(u64, &'static str)> {
        names.iter().filter_map(|name| Some((self.constant(name)?, *name))).collect()
    }

    /// A scalar member of a global.
    fn at(&self, path: &str) -> Option<Word> {
        let place = self.0.locate(path).ok()?;
        Some(Word { addr: place.address(), size: place.field.size.min(8) as u32 })
    }

    /// A word at an address that a constant names.
    fn pointed(&self, name: &str, offset: u64) -> Option<Word> {
        Some(Word { addr: self.constant(name)?.checked_add(offset)?, size: 4 })
    }

    /// A scalar member of a type, at an address.
    fn member(&self, of: &str, address: Option<u64>) -> Option<Word> {
        let field = self.0.field(of).ok()?;
        Some(Word { addr: address?.checked_add(field.offset)?, size: field.size.min(8) as u32 })
    }

    fn field(&self, of: &str) -> Option<Field> {
        self.0.field(of).ok()
    }

    /// What the file holds at a member of a constant table.
    fn file(&self, path: &str) -> Option<u64> {
        let place = self.0.locate(path).ok()?;
        let mut bytes = [0; 8];
        let size = place.field.size.min(8) as usize;
        self.0.initial(place.address(), bytes.get_mut(..size)?).ok()?;
        Some(u64::from_le_bytes(bytes))
    }

    fn slots(&self, table: &str) -> Option<Slots> {
        let of = |member: &str| self.file(&format!("{table}.{member}"));
        let slots =
            Slots { at: of("buffers_address")?, bytes: of("buffer_bytes")?, count: of("slots")? };
        (slots.count > 0).then_some(slots)
    }
}

/// The credit counter of a stream of an Ethernet tile.
fn stream(id: u64) -> Option<Word> {
    let block = wormhole().block(Space::Tile(TileKind::Eth), "stream")?;
    let group = &wormhole().stream;
    let addr = block + id * group.bytes + group.space_available.at;
    (id < UNUSED_STREAM).then_some(Word { addr, size: 4 })
}

impl RouterLayout {
    /// The words of a router; `None` for an image that is none.
    pub(super) fn find(symbols: &Symbols) -> Option<Self> {
        const STATE: &str = "fabric_router_state";
        let names = Names(symbols);
        symbols.locate(STATE).ok()?;
        let state = |member: &str| names.at(&format!("{STATE}.{member}"));
        let routing = names.constant("routing_info_addr");
        let topology = names.constant("topology");
        let named = TOPOLOGIES.iter().find(|name| names.constant(name) == topology);
        Some(Self {
            topology: named.copied().filter(|_| topology.is_some()),
            statuses: names.named(&STATUSES),
            status: names.pointed("edm_status_ptr_addr", 0),
            postcode: names.pointed("postcode_addr", 0),
            termination: names.pointed("termination_signal_addr", 0),
            refusal: state("refusal"),
            link: state("link"),
            epoch: state("epoch"),
            fallback_xy: state("fallback_xy"),
            direction: state("args.my_direction"),
            mesh_id: names.member("routing_l1_info_t.my_mesh_id", routing),
            device_id: names.member("routing_l1_info_t.my_device_id", routing),
            passes: state("passes"),
            counts: COUNTS.iter().filter_map(|name| Some((*name, state(name)?))).collect(),
            senders: (0..16).map_while(|index| names.sender(STATE, index)).flatten().collect(),
            receivers: (0..8).map_while(|index| names.receiver(STATE, index)).flatten().collect(),
            downstream: names.downstream(STATE),
            header: names.header(),
        })
    }
}

/// A channel that the image may have and does not use: its table entry has no slots.
type Entry<T> = Option<T>;

impl Names<'_> {
    /// `None` past the end of the table.
    fn sender(&self, state: &str, index: u8) -> Option<Entry<SenderPlace>> {
        let table = format!("fabric_channel_places.senders[{index}]");
        self.0.locate(&table).ok()?;
        let Some(slots) = self.slots(&table) else { return Some(None) };
        let of = |member: &str| self.file(&format!("{table}.{member}"));
        let own = |member: &str| self.at(&format!("{state}.senders[{index}].{member}"));
        let info = self.constant("local_sender_channel_0_connection_info_addr");
        let size = self.0.type_named("EDMChannelWorkerLocationInfo").and_then(|ty| ty.size());
        let info = info.zip(size).map(|(first, size)| first + u64::from(index) * size);
        let member =
            |name: &str| self.member(&format!("EDMChannelWorkerLocationInfo.{name}"), info);
        // The two words of a channel stand 16 bytes apart from those of the next (tt-metal.md 4.2).
        let sixteen = u64::from(index) * 16;
        Some(Some(SenderPlace {
            index,
            virtual_channel: of("virtual_channel")? as u8,
            slots,
            free_slots: of("free_slots_stream_id").and_then(stream),
            pkts_completed: of("completed_stream_id").and_then(stream),
            remote_free_slots: own("remote_free_slots"),
            sent: own("packets_sent"),
            completed: own("packets_completed"),
            dropped: own("packets_dropped"),
            slot: own("slot"),
            last_progress: own("last_progress"),
            connection: self.pointed("local_sender_channel_0_connection_semaphore_addr", sixteen),
            worker_x: member("worker_x"),
            worker_y: member("worker_y"),
            read_counter: member("edm_read_counter"),
            write_counter: self
                .pointed("local_sender_channel_0_connection_buffer_index_addr", sixteen),
        }))
    }

    /// `None` past the end of the table.
    fn receiver(&self, state: &str, index: u8) -> Option<Entry<ReceiverPlace>> {
        let table = format!("fabric_channel_places.receivers[{index}]");
        self.0.locate(&table).ok()?;
        let Some(slots) = self.slots(&table) else { return Some(None) };
        let of = |member: &str| self.file(&format!("{table}.{member}"));
        let own = |member: &str| self.at(&format!("{state}.receivers[{index}].{member}"));
        Some(Some(ReceiverPlace {
            index,
            virtual_channel: of("virtual_channel")? as u8,
            slots,
            pkts_sent: of("pkts_sent_stream_id").and_then(stream),
            received: own("packets_received"),
            completed: own("packets_completed"),
            dropped: own("packets_dropped"),
            slot: own("slot"),
            waits_for: own("waits_for"),
            pending: own("pending"),
            last_progress: own("last_progress"),
        }))
    }

    /// Credits by direction: one stream each in virtual channel 0 and the control channel.
    fn downstream(&self, state: &str) -> Vec<DownstreamPlace> {
        const EDGES: [(u8, &str); 2] = [
            (0, "vc_0_free_slots_from_downstream_edge_1_stream_id"),
            (2, "control_free_slots_from_downstream_edge_1_stream_id"),
        ];
        let edges = EDGES.into_iter().filter_map(|(vc, name)| Some((vc, self.constant(name)?)));
        let each = edges.flat_map(|(virtual_channel, first)| {
            (0..4u8).filter_map(move |direction| {
                Some((direction, virtual_channel, stream(first + u64::from(direction))?))
            })
        });
        let xy = |direction| self.at(&format!("{state}.args.downstream_xy[{direction}]"));
        each.map(|(direction, virtual_channel, credits)| DownstreamPlace {
            direction,
            virtual_channel,
            credits,
            xy: xy(direction),
        })
        .collect()
    }

    fn header(&self) -> Option<HeaderFields> {
        const TWO: &str = "HybridMeshPacketHeader";
        const ONE: &str = "LowLatencyPacketHeader";
        let topology = self.constant("topology");
        let two_dimensional = ["Mesh", "Torus"].iter().any(|name| self.constant(name) == topology);
        let name = if two_dimensional { TWO } else { ONE };
        let of = |member: &str| self.field(&format!("{name}.{member}"));
        Some(HeaderFields {
            bytes: self.0.type_named(name)?.size()?,
            two_dimensional,
            payload: of("payload_size_bytes"),
            send_type: of("noc_send_type"),
            routing: of("routing_fields"),
            route_buffer: of("route_buffer"),
            dst_device: of("dst_start_chip_id"),
            dst_mesh: of("dst_start_mesh_id"),
            noc_address: of("command_fields.unicast_write.noc_address"),
            ttl: of("tail.ttl"),
            src_device: of("tail.src_device_id"),
            src_mesh: of("tail.src_mesh_id"),
            number: of("tail.number"),
            send_types: self.named(&SEND_TYPES),
        })
    }
}

impl RouterLayout {
    /// Every word that decoding may want.
    pub(crate) fn words(&self) -> Vec<Word> {
        let own = [
            self.status,
            self.postcode,
            self.termination,
            self.refusal,
            self.link,
            self.epoch,
            self.fallback_xy,
            self.direction,
            self.mesh_id,
            self.device_id,
            self.passes,
        ];
        let senders = self.senders.iter().flat_map(|s| {
            [
                s.free_slots,
                s.pkts_completed,
                s.remote_free_slots,
                s.sent,
                s.completed,
                s.dropped,
                s.slot,
                s.last_progress,
                s.connection,
                s.worker_x,
                s.worker_y,
                s.read_counter,
                s.write_counter,
            ]
        });
        let receivers = self.receivers.iter().flat_map(|r| {
            [
                r.pkts_sent,
                r.received,
                r.completed,
                r.dropped,
                r.slot,
                r.waits_for,
                r.pending,
                r.last_progress,
            ]
        });
        let downstream = self.downstream.iter().flat_map(|d| [Some(d.credits), d.xy]);
        let counts = self.counts.iter().map(|(_, word)| Some(*word));
        own.into_iter()
            .chain(senders)
            .chain(receivers)
            .chain(downstream)
            .chain(counts)
            .flatten()
            .collect()
    }
}
