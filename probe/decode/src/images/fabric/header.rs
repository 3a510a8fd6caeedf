//! Headers of packets.

use super::names::Names;
use symbols::Field;

/// Members of a packet header that a person wants to see.
#[derive(Clone, Debug)]
pub struct HeaderFields {
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

const SEND_TYPES: [&str; 5] = [
    "NOC_UNICAST_WRITE",
    "NOC_UNICAST_INLINE_WRITE",
    "NOC_UNICAST_ATOMIC_INC",
    "NOC_FUSED_UNICAST_ATOMIC_INC",
    "NOC_UNICAST_SCATTER_WRITE",
];

impl Names<'_> {
    /// The header of this image's topology.
    pub(super) fn header(&self) -> Option<HeaderFields> {
        let topology = self.constant("topology");
        let two = ["Mesh", "Torus"].iter().any(|name| self.constant(name) == topology);
        self.header_of(two)
    }

    /// The header of one or of two dimensions.
    pub(super) fn header_of(&self, two_dimensional: bool) -> Option<HeaderFields> {
        let name =
            if two_dimensional { "HybridMeshPacketHeader" } else { "LowLatencyPacketHeader" };
        let of = |member: &str| self.field(&format!("{name}.{member}"));
        Some(HeaderFields {
            bytes: self.1.type_named(name)?.size()?,
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
