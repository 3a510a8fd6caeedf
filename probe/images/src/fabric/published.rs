//! Locations of what a tt-metal router publishes at fixed addresses: for a router of which neither
//! an ELF nor a manifest is there. Offsets are those of 0.81.1 (tt-metal.md 4.2, tt-metal.md 4.8).

use super::builtin::pair;
use super::enumeration::Enumeration;
use super::fact::Heartbeat;
use super::location::{Formula, Located, Location, Word};
use super::router::{RouterLayout, RouterLocations};
use super::static_info::StaticInfo;
use super::tables::{TablesLayout, bytes_at};
use super::tt_metal::{EDM_STATUS, NO_DIRECTION, NO_ENTRY, uncounted};
use layouts::ChipLayout;
use std::sync::Arc;

const NOT_PUBLISHED: &str =
    "the router's ELF gives it (--elfs), or the fabric manifest (--manifest)";

/// `RouterState` and `RouterCommand`.
const STATES: [(u64, &str); 5] =
    [(0, "INITIALIZING"), (1, "RUNNING"), (2, "PAUSED"), (3, "DRAINING"), (4, "RETRAINING")];
const COMMANDS: [(u64, &str); 4] = [(0, "RUN"), (1, "PAUSE"), (3, "DRAIN"), (4, "RETRAIN")];

/// Members of `StaticInfo`: offset and bytes.
const STATIC_INFO: [(&str, u64, u32); 6] = [
    ("version", 0, 4),
    ("mesh_id", 4, 2),
    ("neighbor_mesh_id", 6, 2),
    ("device_id", 8, 1),
    ("neighbor_device_id", 9, 1),
    ("direction", 10, 1),
];
/// Offsets in `FabricTelemetry`.
const PACKETS_SENT: u64 = 40;
const TX_HEARTBEAT: u64 = 88;
const RX_HEARTBEAT: u64 = 96;
const POSTCODE: u64 = 128;
/// Offsets in `routing_l1_info_t`.
const COMMAND: u64 = 16;
const MESH: u64 = 32;
const DEVICE: u64 = 34;
/// Members of `routing_l1_info_t`: offset and bytes.
const ROUTING_INFO: [(&str, u64, u64); 9] = [
    ("my_mesh_id", MESH, 2),
    ("my_device_id", DEVICE, 2),
    ("intra_mesh_direction_table", 36, 96),
    ("inter_mesh_direction_table", 132, 384),
    ("exit_node_table", 1676, 1024),
    ("my_mesh_coord_y", 2700, 1),
    ("my_mesh_coord_x", 2701, 1),
    ("mesh_y_size", 2702, 1),
    ("mesh_x_size", 2703, 1),
];

impl RouterLayout {
    /// Returns the locations on a chip.
    pub(crate) fn published(chip: &ChipLayout) -> Self {
        let tables = chip.eth.l1.fabric_routing.at;
        let info = StaticInfo::find(|member| {
            let (_, offset, size) = STATIC_INFO.iter().find(|(name, ..)| *name == member)?;
            Some(word(chip.eth.l1.fabric_telemetry.at + offset, *size).formula)
        });
        Self {
            facts: facts(chip, info.as_ref()),
            counts: uncounted(),
            senders: Vec::new(),
            receivers: Vec::new(),
            downstream: Vec::new(),
            header: None,
            tables: TablesLayout::tt_metal(
                (tables, chip.eth.l1.fabric_routing.bytes),
                |member| {
                    let (_, offset, size) =
                        ROUTING_INFO.iter().find(|(name, ..)| *name == member)?;
                    Some(bytes_at(*offset, *size))
                },
                |route| route.index() as u64,
                (NO_DIRECTION, NO_ENTRY),
            ),
            status: None,
            static_info: info,
        }
    }
}

fn word(addr: u64, size: u32) -> Location {
    Word { addr, size }.into()
}

fn named(addr: u64, names: &[(u64, &str)]) -> Located {
    let names = Some(Arc::new(Enumeration::new(names)));
    Located::At(Location { names, ..word(addr, 4) })
}

fn facts(chip: &ChipLayout, info: Option<&StaticInfo>) -> RouterLocations {
    let l1 = &chip.eth.l1;
    let (tables, telemetry) = (l1.fabric_routing.at, l1.fabric_telemetry.at);
    let count = |offset: u64| Located::At(word(telemetry + offset, 8));
    let unknown = || Located::Nowhere(NOT_PUBLISHED);
    let of_info = |of: fn(&StaticInfo) -> &Location| {
        Located::or(info.map(|info| of(info).clone()), NOT_PUBLISHED)
    };
    let (beats, values) = (Word { addr: l1.heartbeat_old.at, size: 4 }, &chip.eth.values);
    let marks = Heartbeat::marks(values.heartbeat_base, values.heartbeat_router);
    let [device, mesh] = [DEVICE, MESH].map(|offset| word(tables + offset, 2).formula);
    RouterLocations {
        node: pair(Formula::Halves, device, mesh).into(),
        peer: of_info(|info| &info.peer),
        direction: of_info(|info| &info.direction),
        state: named(tables, &STATES),
        command: named(tables + COMMAND, &COMMANDS),
        postcode: named(telemetry + POSTCODE, &EDM_STATUS),
        passes: Located::At(Formula::Marked(beats, values.heartbeat_router).into()),
        heartbeat: Located::At(Location { names: Some(Arc::new(marks)), ..beats.into() }),
        tx_heartbeat: count(TX_HEARTBEAT),
        rx_heartbeat: count(RX_HEARTBEAT),
        packets_moved: count(PACKETS_SENT),
        two_dimensional: unknown(),
        image_channel: unknown(),
        master: unknown(),
        master_channel: unknown(),
        local_channels: unknown(),
        status: unknown(),
        handshake: unknown(),
        termination: unknown(),
        local_sync: unknown(),
        local_routers: unknown(),
        packets_sent: unknown(),
        packets_received: unknown(),
        ..RouterLocations::default()
    }
}
