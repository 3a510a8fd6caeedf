//! Locations in a router that a fabric manifest describes: the facts of the debug information of its
//! ELF, without the ELF (tt-metal.md 8.5).

mod channels;
mod header;
mod telemetry;
#[cfg(test)]
mod tests;

use super::{
    FabricManifest, L1Region, LocalChip, ManifestRouter, Schema, StreamRef, StreamRegister,
};
use crate::fabric::builtin::{pair, stream};
use crate::fabric::enumeration::Enumeration;
use crate::fabric::fact::Heartbeat;
use crate::fabric::location::{Formula, Located, Location, Word};
use crate::fabric::router::{RouterLayout, RouterLocations};
use crate::fabric::tables::{TablesLayout, bytes_at};
use crate::fabric::tt_metal::{
    COUNTED_APART, COUNTED_TOGETHER, NO_DIRECTION, NO_ENTRY, NO_HANDSHAKE, NO_SYNC, NO_TELEMETRY,
    once_met, uncounted,
};
use layouts::{ChipLayout, TileKind};
use std::sync::Arc;

/// Reasons why a fact is unknown.
const NOT_DESCRIBED: &str = "the manifest does not describe it; the router's ELF does";
const NO_STREAM: &str = "the manifest gives no credit stream below 32 for it";

/// `FabricTelemetryStatistic`: the bits of `telemetry_stats_mask`.
const BANDWIDTH: u64 = 2;
const HEARTBEAT_TX: u64 = 4;
const HEARTBEAT_RX: u64 = 8;

/// The mask of a mark in the high half of the heartbeat.
const HIGH_HALF: u32 = 0xFFFF_0000;

/// tt-metal's `Topology`: its names in a manifest, and the names of the topologies here.
const TOPOLOGIES: [(&str, &str); 5] = [
    ("neighbor_exchange", "NeighborExchange"),
    ("linear", "Linear"),
    ("ring", "Ring"),
    ("mesh", "Mesh"),
    ("torus", "Torus"),
];

/// Resolves the names of a router in its manifest; `None` for an unknown name.
#[derive(Clone, Copy)]
struct Described<'a> {
    layout: &'static ChipLayout,
    manifest: &'a FabricManifest,
    chip: &'a LocalChip,
    router: &'a ManifestRouter,
}

impl FabricManifest {
    /// Returns the locations of a router of one of its chips.
    pub(crate) fn layout(&self, chip: &LocalChip, router: &ManifestRouter) -> RouterLayout {
        let of = Described { layout: self.run.chips.layout(), manifest: self, chip, router };
        RouterLayout {
            facts: of.facts(),
            counts: uncounted(),
            senders: of.senders(),
            receivers: of.receivers(),
            downstream: of.edges(),
            header: of.header(),
            tables: of.tables(),
            status: None,
            static_info: of.static_info(),
        }
    }
}

fn constant(value: impl Into<u64>) -> Location {
    Formula::Constant(value.into()).into()
}

impl Described<'_> {
    fn facts(self) -> RouterLocations {
        let or = |found: Option<Location>| Located::or(found, NOT_DESCRIBED);
        let sync = self.chip.local_sync;
        let master = sync.and_then(|sync| self.manifest.router(sync.master));
        let field = |key: &str| self.router.fields.l1(key);
        let met = |member: &str| self.inside(field("handshake").filter(|_| self.meets())?, member);
        let word = Word { addr: self.manifest.areas.heartbeat.word.address.into(), size: 4 };
        RouterLocations {
            topology: or(self.topology()),
            node: or(self.node()),
            two_dimensional: Located::At(constant(self.manifest.context.is_2d)),
            image_channel: Located::At(constant(self.router.eth_channel)),
            direction: or(self.direction()),
            master: or(self.erisc("local_handshake_master").map(constant)),
            master_channel: or(master.map(|master| constant(master.eth_channel))),
            local_channels: or(sync.map(|sync| constant(sync.channels_mask))),
            status: or(field("edm_status").map(|at| self.named("EDMStatus", at))),
            handshake: Located::or(met("local_value"), NO_HANDSHAKE),
            peer: Located::or(
                pair(Formula::Halves, met("neighbor_device_id"), met("neighbor_mesh_id"))
                    .and_then(|peer| once_met(&met("local_value")?, peer.formula)),
                NO_HANDSHAKE,
            ),
            state: or(self.of_state_manager("RouterState", "state")),
            command: or(self.of_state_manager("RouterCommand", "command")),
            postcode: or(self.postcode()),
            termination: or(
                field("termination_signal").map(|at| self.named("TerminationSignal", at))
            ),
            local_sync: Located::or(field("local_sync").map(word_of), NO_SYNC),
            local_routers: or(sync.map(|sync| constant(sync.routers))),
            passes: or(self.mark().map(|mark| Formula::Marked(word, mark).into())),
            heartbeat: or(self.mark().map(|mark| {
                let marks = Heartbeat::marks(self.layout.eth.values.heartbeat_base, mark);
                Location { names: Some(Arc::new(marks)), ..word.into() }
            })),
            tx_heartbeat: self.telemetry(HEARTBEAT_TX, "erisc.tx_heartbeat.full"),
            rx_heartbeat: self.telemetry(HEARTBEAT_RX, "erisc.rx_heartbeat.full"),
            ..self.packets()
        }
    }

    /// The counts of packets: one ERISC counts senders and receivers together.
    fn packets(self) -> RouterLocations {
        let sent = self.telemetry(BANDWIDTH, "tx_bandwidth.num_packets_sent");
        if self.router.shape.active_eriscs == 1 {
            return RouterLocations {
                packets_moved: sent,
                packets_sent: Located::Nowhere(COUNTED_TOGETHER),
                packets_received: Located::Nowhere(COUNTED_TOGETHER),
                ..RouterLocations::default()
            };
        }
        RouterLocations {
            packets_moved: Located::Nowhere(COUNTED_APART),
            packets_sent: sent,
            packets_received: self.telemetry(BANDWIDTH, "rx_bandwidth.num_packets_sent"),
            ..RouterLocations::default()
        }
    }

    fn topology(self) -> Option<Location> {
        let name = &self.manifest.context.topology;
        let code = TOPOLOGIES.iter().position(|(of, _)| of == name)?;
        let names: Vec<_> = (0..).zip(TOPOLOGIES.map(|(_, name)| name)).collect();
        Some(Location { names: Some(Arc::new(Enumeration::new(&names))), ..constant(code as u64) })
    }

    fn node(self) -> Option<Location> {
        let [device, mesh] = ["my_device_id", "my_mesh_id"].map(|member| self.in_tables(member));
        pair(Formula::Halves, device, mesh)
    }

    fn direction(self) -> Option<Location> {
        let own = self.router.fields.value("my_direction");
        let own = own.or_else(|| Some(self.router.path.direction?.index() as u64));
        let names = self.names("eth_chan_directions").unwrap_or_else(Enumeration::directions);
        Some(Location { names: Some(names), ..constant(own?) })
    }

    fn of_state_manager(self, names: &str, member: &str) -> Option<Location> {
        let formula = self.in_tables(&format!("state_manager.{member}"))?;
        Some(Location { formula, names: self.names(names) })
    }

    /// Whether the router meets its peer when it starts.
    fn meets(self) -> bool {
        self.erisc("handshake_enabled") != Some(0)
    }

    /// The mark in the high half of the heartbeat.
    fn mark(self) -> Option<u16> {
        let heartbeat = &self.manifest.areas.heartbeat;
        (heartbeat.magic_mask == HIGH_HALF).then_some((heartbeat.magic >> 16) as u16)
    }

    /// Returns a value of the first ERISC.
    fn erisc(self, key: &str) -> Option<u64> {
        self.router.eriscs.get(&0)?.fields.value(key)
    }

    fn in_tables(self, member: &str) -> Option<Formula> {
        self.inside(&self.manifest.areas.routing_table, member)
    }

    /// Returns a scalar member of the struct that a region is.
    fn inside(self, region: &L1Region, member: &str) -> Option<Formula> {
        let Schema::Struct(name) = &region.ty.schema else { return None };
        let (offset, ty) = self.manifest.member(&format!("{name}.{member}"))?;
        let addr = u64::from(region.address) + u64::from(offset);
        Some(Formula::Word(Word { addr, size: ty.element_bytes().min(8) }))
    }

    /// Returns a word with the names of an enumeration.
    fn named(self, names: &str, region: &L1Region) -> Location {
        Location { names: self.names(names), ..word_of(region) }
    }

    /// Returns the names of an enumeration as the sources spell them.
    fn names(self, name: &str) -> Option<Arc<Enumeration>> {
        let values = self.manifest.enums.get(name)?.iter();
        let mut all: Vec<_> =
            values.map(|(name, value)| (u64::from(*value), name.to_uppercase())).collect();
        all.sort_unstable();
        let all: Vec<_> = all.iter().map(|(value, name)| (*value, name.as_str())).collect();
        Some(Arc::new(Enumeration::new(&all)))
    }

    /// Returns the register of a stream's credits.
    fn stream(self, stream: Option<StreamRef>) -> Option<Word> {
        let credits = stream.filter(|of| of.register == StreamRegister::SpaceAvailable)?;
        self::stream(self.layout, TileKind::Eth, credits.id.into())
    }

    fn tables(self) -> Option<TablesLayout> {
        let region = &self.manifest.areas.routing_table;
        let Schema::Struct(name) = &region.ty.schema else { return None };
        let of = |member: &str| {
            let (offset, ty) = self.manifest.member(&format!("{name}.{member}"))?;
            Some(bytes_at(offset.into(), ty.bytes.into()))
        };
        let place = (region.address.into(), region.ty.bytes.into());
        TablesLayout::tt_metal(place, of, |route| route.index() as u64, (NO_DIRECTION, NO_ENTRY))
    }
}

/// Returns the first word of a region.
fn word_of(region: &L1Region) -> Location {
    Word { addr: region.address.into(), size: region.ty.element_bytes().min(4) }.into()
}
