//! The facts in a packet's header (tt-metal.md 4.7).

use super::builtin::{Names, pair};
use super::enumeration::{Enumeration, Enumerator};
use super::fact::NocTarget;
use super::fact_table::facts;
use super::location::{Formula, Location, Memory, Word};
use crate::Reading;
use machine::fabric::FabricNode;
use std::sync::Arc;
use symbols::Field;

facts! {
    /// The header of a packet.
    struct PacketFacts, located by PacketLocations, in built-in images by at: HeaderNames<'_> {
        /// `NocSendType`.
        send_type: Enumerator = at.names.named("NocSendType", at.at("noc_send_type")),
        /// Bytes of payload after the header.
        payload_bytes: u64 = at.at("payload_size_bytes").map(Location::from),
        /// Hops left before the packet expires.
        ttl: u64 = at.at("tail.ttl").map(Location::from),
        /// The sender's fabric node.
        source: FabricNode = {
            pair(Formula::Halves, at.at("tail.src_device_id"), at.at("tail.src_mesh_id"))
        },
        /// The destination's fabric node, if the header has it (2D).
        destination: FabricNode = {
            pair(Formula::Halves, at.at("dst_start_chip_id"), at.at("dst_start_mesh_id"))
        },
        /// The sender channel of the router that sent it last.
        source_channel: u64 = at.at("src_ch_id").map(Location::from),
        /// The packet's number, counted by the sender.
        number: u64 = at.at("tail.number").map(Location::from),
        /// Tile and address at the destination.
        to: NocTarget = at.at("command_fields.unicast_write.noc_address").map(Location::from),
    }
}

/// The header layout of an image.
#[derive(Clone, Debug)]
pub struct Header {
    /// Its size.
    pub bytes: u64,
    /// The locations of a packet's facts.
    pub facts: PacketLocations,
    /// The rest of the route.
    pub route: Option<Route>,
}

/// The location of the rest of a packet's route.
#[derive(Clone, Debug)]
pub enum Route {
    /// Two bits per hop, the next hop lowest (1D), and their names.
    Hops(Field, Option<Arc<Enumeration>>),
    /// A byte for each row and column (2D).
    Map(Field),
}

/// `RoutingFieldsConstants::LowLatency` of tt-metal, which has no enumeration.
pub(super) const HOPS: [(u64, &str); 4] =
    [(0, "NOOP"), (1, "WRITE_ONLY"), (2, "FORWARD_ONLY"), (3, "WRITE_AND_FORWARD")];

/// The bytes of a header: a word's address is its offset.
pub struct HeaderBytes<'a>(pub &'a [u8]);

impl Memory for HeaderBytes<'_> {
    fn word(&self, word: Word) -> Reading<u64> {
        let start = word.addr as usize;
        let bytes = self.0.get(start..start + word.size as usize);
        bytes.map_or(Reading::Absent, |bytes| {
            Reading::Known(bytes.iter().rev().fold(0, |value, &b| value << 8 | u64::from(b)))
        })
    }
}

/// Resolves the members of a header.
struct HeaderNames<'a> {
    names: Names<'a>,
    ty: &'a str,
}

impl HeaderNames<'_> {
    fn at(&self, member: &str) -> Option<Formula> {
        self.names.member(&format!("{}.{member}", self.ty), Some(0))
    }
}

impl Names<'_> {
    /// Returns the header of this image's topology.
    pub(super) fn header(self) -> Option<Header> {
        self.header_of(self.is_topology(&["Mesh", "Torus"]))
    }

    /// Returns the header for one or two dimensions.
    pub(super) fn header_of(self, two_dimensional: bool) -> Option<Header> {
        let ty = if two_dimensional { "HybridMeshPacketHeader" } else { "LowLatencyPacketHeader" };
        self.header_named(ty, two_dimensional)
    }

    /// Returns the header of this type.
    pub(super) fn header_named(self, ty: &str, two_dimensional: bool) -> Option<Header> {
        let route = if two_dimensional {
            self.field(&format!("{ty}.route_buffer")).map(Route::Map)
        } else {
            let hops = Enumeration::named(self.1, "low_latency_hop_t");
            let hops = hops.unwrap_or_else(|| Arc::new(Enumeration::new(&HOPS)));
            self.field(&format!("{ty}.routing_fields")).map(|field| Route::Hops(field, Some(hops)))
        };
        Some(Header {
            bytes: self.1.type_named(ty)?.size()?,
            facts: PacketLocations::builtin(&HeaderNames { names: self, ty }),
            route,
        })
    }
}
