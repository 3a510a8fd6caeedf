//! The facts of a router.

use super::builtin::{Members, Names, pair};
use super::channels::{Edge, Receiver, Sender};
use super::enumeration::Enumerator;
use super::fact::{Channels, Code, Heartbeat};
use super::fact_table::facts;
use super::header::Header;
use super::location::{Formula, Location, Locations as _, Word};
use super::static_info::StaticInfo;
use super::status::StatusLayout;
use super::tables::TablesLayout;
use layouts::{ChipLayout, NocXy};
use machine::fabric::{Direction, FabricNode};
use symbols::Symbols;

facts! {
    /// The state of a router.
    struct RouterFacts, located by RouterLocations, in built-in images by at: Members<'_> {
        /// `Linear`, `Ring`, `Mesh` or `Torus`.
        topology: Enumerator = at.names.known("topology"),
        /// The router's fabric node.
        node: FabricNode = {
            let tables = at.names.constant("routing_info_addr");
            let of = |member| at.names.member(member, tables);
            let [mesh, device] = ["routing_l1_info_t.my_mesh_id", "routing_l1_info_t.my_device_id"];
            pair(Formula::Halves, of(device), of(mesh))
        },
        /// Whether packets are routed in two dimensions.
        two_dimensional: bool = {
            let two = at.names.is_topology(&["Mesh", "Torus"]);
            Some(Formula::Constant(two.into()).into())
        },
        /// The Ethernet channel for which its image was built.
        image_channel: u64 = None,
        /// The direction of its link.
        direction: Direction = at.named("eth_chan_directions", "args.my_direction"),
        /// Whether it is the router of its chip with which the host communicates.
        master: bool = at.at("args.is_local_master"),
        /// Whether packets that arrive over its link continue in virtual channel 1.
        dateline: bool = at.at("args.dateline"),
        /// The Ethernet channel of that router.
        master_channel: u64 = None,
        /// The Ethernet channels of its chip's routers.
        local_channels: Channels = None,
        /// `EDMStatus`.
        status: Enumerator = {
            at.names.named("EDMStatus", at.names.pointed("edm_status_ptr_addr", 0))
        },
        /// The word that the peer writes in the handshake: 0xAA once they have met.
        handshake: u64 = None,
        /// The peer's fabric node, as the peer gave it in the handshake.
        peer: FabricNode = None,
        /// `RouterState`.
        state: Enumerator = None,
        /// `RouterCommand`: what the host asks of it.
        command: Enumerator = None,
        /// The last stage of its bring-up (tt-metal.md 4.1).
        postcode: Code = at.names.named("fabric_postcode_t", at.names.pointed("postcode_addr", 0)),
        /// `TerminationSignal`: 0 run, 1 graceful, 2 immediate.
        termination: Code = {
            at.names.named("TerminationSignal", at.names.pointed("termination_signal_addr", 0))
        },
        /// Why it refused to run; 0: it did not refuse.
        refusal: Code = at.at("refusal"),
        /// The word with which the routers of a chip synchronize: at the master the number that
        /// have arrived; after that, at each router the number of routers.
        local_sync: u64 = at.names.pointed("edm_local_sync_ptr_addr", 0),
        /// Number of routers of its chip, from its arguments.
        local_routers: u64 = at.at("args.num_local_edms"),
        /// Cycles after which it drops a packet at the head of a channel; 0: never.
        packet_timeout_cycles: u64 = at.at("args.packet_timeout_cycles"),
        /// The link that it uses; 0: its own.
        link: Code = at.at("link"),
        /// Number of changes of link.
        epoch: u64 = at.at("epoch"),
        /// The tile of the router whose link it uses.
        fallback: NocXy = at.at("fallback_xy"),
        /// Passes of its loop. tt-metal's routers count modulo 2^16.
        passes: u64 = at.at("passes"),
        /// The heartbeat word in the results of base firmware, which routers write too.
        heartbeat: Heartbeat = None,
        /// Heartbeat of its senders: rounds in which they had nothing to send, or sent.
        tx_heartbeat: u64 = None,
        /// Heartbeat of its receivers: rounds in which they had nothing to forward, or forwarded.
        rx_heartbeat: u64 = None,
        /// Packets sent over its link, and packets that arrived over it and were forwarded.
        packets_moved: u64 = None,
        /// Packets sent over its link.
        packets_sent: u64 = None,
        /// Packets that arrived over its link and were forwarded.
        packets_received: u64 = None,
    }
}

facts! {
    /// Counts of packets that a router dropped, and of entries that it reported.
    struct RouterCounts, located by RouterCountLocations, in built-in images by at: Members<'_> {
        /// Packets whose time to live had expired.
        expired: u64 = at.at("expired"),
        /// Packets without progress for too long.
        timed_out: u64 = at.at("timed_out"),
        /// Packets without a table entry, without a router in their direction, or with an unknown
        /// command.
        routing_errors: u64 = at.at("routing_errors"),
        /// Negative acknowledges sent for dropped packets.
        nacks_sent: u64 = at.at("nacks_sent"),
        /// Packets of the control channel that were dropped for lack of a free slot.
        control_dropped: u64 = at.at("control_dropped"),
        /// Entries written to its status queue.
        status_entries: u64 = at.at("status_entries"),
        /// Entries lost because the status queue was full.
        status_entries_lost: u64 = at.at("status_entries_lost"),
    }
}

impl RouterCounts {
    /// Returns the number of dropped packets (expired, timed out, or unroutable); none if one of
    /// the counts is not known.
    pub fn dropped(&self) -> Option<u64> {
        let all = [&self.expired, &self.timed_out, &self.routing_errors];
        all.into_iter().map(|count| count.known().copied()).sum()
    }
}

/// Locations of the facts of a router and of its channels.
#[derive(Clone, Debug)]
pub struct RouterLayout {
    /// The locations of its facts.
    pub facts: RouterLocations,
    /// Those of its counts.
    pub counts: RouterCountLocations,
    /// Its sender channels.
    pub senders: Vec<Sender>,
    /// Its receiver channels.
    pub receivers: Vec<Receiver>,
    /// The routers downstream.
    pub downstream: Vec<Edge>,
    /// The header of its packets.
    pub header: Option<Header>,
    /// Its routing tables.
    pub tables: Option<TablesLayout>,
    /// Its status queue.
    pub status: Option<StatusLayout>,
    /// What the host writes of it for telemetry.
    pub static_info: Option<StaticInfo>,
}

impl RouterLayout {
    /// Finds the locations; `None` for an image that is not a router.
    pub(crate) fn find(layout: &ChipLayout, symbols: &Symbols) -> Option<Self> {
        const STATE: &str = "fabric_router_state";
        let names = Names(layout, symbols);
        if symbols.locate(STATE).is_err() {
            return names.is_tt_metal_router().then(|| names.tt_metal_router());
        }
        let state = names.within(STATE);
        Some(Self {
            facts: RouterLocations::builtin(&state),
            counts: RouterCountLocations::builtin(&state),
            senders: (0..16).map_while(|index| names.sender(STATE, index)).flatten().collect(),
            receivers: (0..8).map_while(|index| names.receiver(STATE, index)).flatten().collect(),
            downstream: names.downstream(&state),
            header: names.header(),
            tables: names.tables(),
            status: StatusLayout::find(names, &state),
            static_info: None,
        })
    }

    /// Returns every word that decoding needs and whose address is known.
    pub fn words(&self) -> impl Iterator<Item = Word> {
        let status = self.status.iter().flat_map(|status| [status.tile, status.address]);
        self.locations().flat_map(Location::words).chain(status)
    }

    /// Returns every location.
    pub fn locations(&self) -> impl Iterator<Item = &Location> {
        let senders = self.senders.iter().flat_map(|sender| sender.facts.known());
        let receivers = self.receivers.iter().flat_map(|receiver| receiver.facts.known());
        let downstream = self.downstream.iter().flat_map(|edge| edge.facts.known());
        let info = self.static_info.iter().flat_map(StaticInfo::all);
        let own = self.facts.known().chain(self.counts.known()).chain(info);
        own.chain(senders).chain(receivers).chain(downstream)
    }
}
