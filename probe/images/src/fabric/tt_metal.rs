//! Locations in the routers of tt-metal's fabric, from the debug information of their ELFs: its
//! constants, compile-time arguments and types (tt-metal.md 4, tt-metal.md 6).

mod allocations;
mod arguments;
mod channels;
mod mux;
mod mux_v2;

pub(super) use channels::{
    COUNTED_BY_STREAM, COUNTED_IN_L1, NO_ACKNOWLEDGES, connection_names, private_to_receivers,
    private_to_senders,
};

use super::builtin::{Names, pair};
use super::enumeration::Enumeration;
use super::fact::Heartbeat;
use super::location::{Formula, Located, Location, Word};
use super::router::{RouterCountLocations, RouterLayout, RouterLocations};
use super::static_info::StaticInfo;
use super::tables::TablesLayout;
use arguments::RuntimeArguments;
use machine::fabric::Direction;
use std::sync::Arc;

/// Reasons why a fact is unknown.
const PRIVATE: &str = "the router keeps it in registers and private memory of its core";
const UNCOUNTED: &str = "tt-metal's kernels do not count it";
pub(super) const NO_TELEMETRY: &str = "the router is built without this telemetry";
const NO_CONSTANT: &str = "the debug information of the ELF lacks it";
pub(super) const COUNTED_TOGETHER: &str =
    "the telemetry of a router on one ERISC counts both together";
pub(super) const COUNTED_APART: &str = "the telemetry of a router on two ERISCs counts both apart";
pub(super) const NO_HANDSHAKE: &str = "the router is built without a handshake";
pub(super) const NO_SYNC: &str =
    "the router is built without the synchronization of its chip's routers";

/// The value that the peer writes in the handshake (`MAGIC_HANDSHAKE_VALUE`).
const MET: u64 = 0xAA;

/// `EDMStatus`, for sources without it (tt-metal.md 4.1).
pub(super) const EDM_STATUS: [(u64, &str); 15] = [
    (0xA0B0_C0D0, "STARTED"),
    (0xA1B1_C1D1, "REMOTE_HANDSHAKE_COMPLETE"),
    (0xA2B2_C2D2, "LOCAL_HANDSHAKE_COMPLETE"),
    (0xA3B3_C3D3, "READY_FOR_TRAFFIC"),
    (0xA4B4_C4D4, "TERMINATED"),
    (0xB0C0_D0E0, "INITIALIZATION_STARTED"),
    (0xB1C1_D1E1, "TXQ_INITIALIZED"),
    (0xB2C2_D2E2, "STREAM_REG_INITIALIZED"),
    (0xB3C3_D3E3, "DOWNSTREAM_EDM_SETUP_STARTED"),
    (0xB4C4_D4E4, "EDM_VCS_SETUP_COMPLETE"),
    (0xB6C6_D6E6, "WORKER_INTERFACES_INITIALIZED"),
    (0xB7C7_D7E7, "ETHERNET_HANDSHAKE_COMPLETE"),
    (0xB8C8_D8E8, "VCS_OPENED"),
    (0xB9C9_D9E9, "ROUTING_TABLE_INITIALIZED"),
    (0xBACA_DAEA, "INITIALIZATION_COMPLETE"),
];

impl Names<'_> {
    /// Whether the image is a router of tt-metal's fabric.
    pub(super) fn is_tt_metal_router(self) -> bool {
        self.constant("edm_status_ptr_addr").is_some()
            && self.constant("NUM_SENDER_CHANNELS").is_some()
            && self.1.type_named("EDMStatus").is_some()
    }

    /// Finds the locations in a router of tt-metal's fabric.
    pub(super) fn tt_metal_router(self) -> RouterLayout {
        let arguments = RuntimeArguments::find(self);
        RouterLayout {
            facts: self.router_locations(),
            counts: uncounted(),
            senders: self.tt_metal_senders(arguments.as_ref()),
            receivers: self.tt_metal_receivers(),
            downstream: self.tt_metal_edges(arguments.as_ref()),
            header: self.tt_metal_header(),
            tables: self.tt_metal_tables(),
            status: None,
            static_info: StaticInfo::find(|member| {
                let path = format!("FabricTelemetry.static_info.{member}");
                self.member(&path, Some(self.telemetry_address()))
            }),
        }
    }

    fn router_locations(self) -> RouterLocations {
        let l1 = &self.0.eth.l1;
        let known = |name: &str| Located::or(self.known(name), NO_CONSTANT);
        let table = self.constant("routing_table_l1").unwrap_or(l1.fabric_routing.at);
        let table = |member: &str| {
            self.member(&format!("routing_l1_info_t.{member}"), Some(table)).map(Location::from)
        };
        let formula = |location: Option<Location>| location.map(|location| location.formula);
        let handshake = self
            .constant("handshake_addr")
            .filter(|_| self.constant("enable_ethernet_handshake") != Some(0));
        let met = |member: &str| self.member(&format!("handshake_info_t.{member}"), handshake);
        let heartbeat = Word { addr: l1.heartbeat_old.at, size: 4 };
        let values = &self.0.eth.values;
        let marks = Heartbeat::marks(values.heartbeat_base, values.heartbeat_router);
        let sync = self.constant("edm_local_sync_ptr_addr").filter(|at| *at != 0);
        let sync = sync.map(|addr| Word { addr, size: 4 });
        let one = self.has_one_erisc();
        RouterLocations {
            node: Located::or(
                pair(Formula::Halves, formula(table("my_device_id")), formula(table("my_mesh_id"))),
                NO_CONSTANT,
            ),
            two_dimensional: known("is_2d_fabric"),
            image_channel: known("MY_ETH_CHANNEL"),
            direction: Located::or(
                self.constant("my_direction").map(|direction| Location {
                    formula: Formula::Constant(direction),
                    names: Some(self.directions()),
                }),
                NO_CONSTANT,
            ),
            master: known("is_local_handshake_master"),
            master_channel: known("local_handshake_master_eth_chan"),
            local_channels: known("edm_channels_mask"),
            status: Located::or(
                self.named("EDMStatus", self.pointed("edm_status_ptr_addr", 0)),
                NO_CONSTANT,
            ),
            handshake: Located::or(met("local_value"), NO_HANDSHAKE),
            peer: Located::or(
                pair(Formula::Halves, met("neighbor_device_id"), met("neighbor_mesh_id"))
                    .and_then(|peer| once_met(&met("local_value")?, peer.formula)),
                NO_HANDSHAKE,
            ),
            state: Located::or(
                self.named("RouterState", table("state_manager.state")),
                NO_CONSTANT,
            ),
            command: Located::or(
                self.named("RouterCommand", table("state_manager.command")),
                NO_CONSTANT,
            ),
            postcode: Located::or(self.named("EDMStatus", self.postcode()), NO_CONSTANT),
            termination: Located::or(
                self.named("TerminationSignal", self.pointed("termination_signal_addr", 0)),
                NO_CONSTANT,
            ),
            local_sync: Located::or(sync, NO_SYNC),
            local_routers: known("num_local_edms"),
            passes: Located::At(Formula::Marked(heartbeat, values.heartbeat_router).into()),
            heartbeat: Located::At(Location { names: Some(Arc::new(marks)), ..heartbeat.into() }),
            tx_heartbeat: self.telemetry("HEARTBEAT_TX", "erisc[0].tx_heartbeat.full"),
            rx_heartbeat: self.telemetry("HEARTBEAT_RX", "erisc[0].rx_heartbeat.full"),
            packets_moved: if one {
                self.telemetry("BANDWIDTH", "tx_bandwidth.num_packets_sent")
            } else {
                Located::Nowhere(COUNTED_APART)
            },
            packets_sent: if one {
                Located::Nowhere(COUNTED_TOGETHER)
            } else {
                self.telemetry("BANDWIDTH", "tx_bandwidth.num_packets_sent")
            },
            packets_received: if one {
                Located::Nowhere(COUNTED_TOGETHER)
            } else {
                self.telemetry("BANDWIDTH", "rx_bandwidth.num_packets_sent")
            },
            ..RouterLocations::default()
        }
    }

    /// Returns the word of the postcode, a member of `FabricTelemetry`.
    fn postcode(self) -> Option<Formula> {
        let word = |addr| Formula::Word(Word { addr, size: 4 });
        let pointer = self.constant("fabric_postcode_ptr").map(word);
        pointer.or_else(|| self.member("FabricTelemetry.postcode", Some(self.telemetry_address())))
    }

    /// Returns the address of `FabricTelemetry`.
    fn telemetry_address(self) -> u64 {
        self.constant("fabric_telemetry").unwrap_or(self.0.eth.l1.fabric_telemetry.at)
    }

    /// Returns the names of `eth_chan_directions`, which compilers leave out.
    fn directions(self) -> Arc<Enumeration> {
        Enumeration::named(self.1, "eth_chan_directions").unwrap_or_else(Enumeration::directions)
    }

    /// Whether one ERISC serves senders and receivers: then both counts of `BandwidthTelemetry` are of
    /// all packets (`update_bw_counters`).
    fn has_one_erisc(self) -> bool {
        self.constant("NUM_ACTIVE_ERISCS").is_none_or(|eriscs| eriscs == 1)
    }

    /// Returns a member of the dynamic part of `FabricTelemetry`, if the router was built with
    /// these statistics.
    fn telemetry(self, statistics: &str, member: &str) -> Located {
        let enabled = self.constant(&format!("FABRIC_TELEMETRY_{statistics}"));
        let path = format!("FabricTelemetry.dynamic_info.{member}");
        match enabled {
            Some(0) => Located::Nowhere(NO_TELEMETRY),
            Some(_) => Located::or(self.member(&path, Some(self.telemetry_address())), NO_CONSTANT),
            None => Located::Nowhere(NO_CONSTANT),
        }
    }

    /// Returns the tables of tt-metal's `routing_l1_info_t`.
    fn tt_metal_tables(self) -> Option<TablesLayout> {
        const TYPE: &str = "routing_l1_info_t";
        let of = |member: &str| {
            let inner = if member.ends_with("_table") { ".packed_directions" } else { "" };
            let whole = self.field(&format!("{TYPE}.{member}"));
            self.field(&format!("{TYPE}.{member}{inner}")).or(whole)
        };
        let address = self.constant("routing_table_l1").unwrap_or(self.0.eth.l1.fabric_routing.at);
        let code = |direction: Direction| {
            let name = format!("COMPRESSED_{}", direction.name());
            self.constant(&name).unwrap_or(direction.index() as u64)
        };
        let here = self.constant("COMPRESSED_INVALID_DIRECTION").unwrap_or(NO_DIRECTION);
        let absent = self.constant("COMPRESSED_INVALID_ROUTING_TABLE_ENTRY").unwrap_or(NO_ENTRY);
        let bytes = self.1.type_named(TYPE)?.size()?;
        TablesLayout::tt_metal((address, bytes), of, code, (here, absent))
    }
}

/// Returns a formula that counts only after the handshake.
pub(super) fn once_met(handshake: &Formula, then: Formula) -> Option<Location> {
    let Formula::Word(word) = *handshake else { return None };
    pair(|of| Formula::If(word, MET, of), then, Formula::Nothing)
}

/// A bound above the number of channels of any router or mux.
const MOST_CHANNELS: u64 = 64;

/// `compressed_routing_values::COMPRESSED_INVALID_DIRECTION`: the entry of the chip itself.
pub(super) const NO_DIRECTION: u64 = 5;
/// `compressed_routing_values::COMPRESSED_INVALID_ROUTING_TABLE_ENTRY`: the entry of a chip or mesh that
/// does not exist.
pub(super) const NO_ENTRY: u64 = 6;

/// The counts of built-in routers.
pub(super) fn uncounted() -> RouterCountLocations {
    let no = || Located::Nowhere(UNCOUNTED);
    RouterCountLocations {
        expired: no(),
        timed_out: no(),
        routing_errors: no(),
        nacks_sent: no(),
        control_dropped: no(),
        status_entries: no(),
        status_entries_lost: no(),
    }
}
