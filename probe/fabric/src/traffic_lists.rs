//! A worker's lists in the layout of the traffic kernel.

use super::traffic::{Route, SendType, TrafficPacket, Worker, WorkerId};
use images::{Image, ImageMap};
use launch::records::records;
use launch::{ControlError, constant_of};
use layouts::NocXy;

/// Name of the kernel's image.
pub(crate) const KERNEL: &str = "fabric_traffic";

pub(super) const SOURCES: u32 = 0x1_D000;

/// The bytes of a worker's lists.
pub(super) struct Lists {
    pub(super) packets: Vec<u8>,
    pub(super) sources: Vec<u8>,
    pub(super) arrivals: Vec<u8>,
}

/// Returns the packets, sources and arrivals of a worker.
///
/// # Errors
/// When the last packet of a sender does not increment the counter, or the image lacks a member.
pub(super) fn lists(
    images: &ImageMap,
    kernel: &Image,
    id: WorkerId,
    worker: &Worker,
    source_bytes: u32,
) -> Result<Lists, ControlError> {
    let constant = |name| constant_of(images, KERNEL, name);
    let flags = [
        constant("FABRIC_TABLE_ROUTED")?,
        constant("FABRIC_CONTROL")?,
        constant("TRAFFIC_MULTICAST")?,
    ];
    let mut packets = Vec::new();
    for packet in &worker.packets {
        packets.push(members(
            packet,
            constant(packet.shipment.send.constant())?,
            flags,
            SOURCES + id.0 as u32 * source_bytes,
        ));
    }
    let packets = records(kernel, "fabric_traffic_packet_t", PACKET, packets.into_iter())?;
    let mut first = 0;
    let mut sources = Vec::new();
    for (source, arrivals) in (0..).zip(&worker.arrivals) {
        if arrivals.last().is_some_and(|last| !last.counts) {
            return Err(ControlError::Settings(format!(
                "the last packet from worker {source} to {} does not increment the counter",
                worker.place
            )));
        }
        sources.push([source, first, arrivals.len() as u32]);
        first += arrivals.len() as u32;
    }
    let sources = records(
        kernel,
        "fabric_traffic_source_t",
        ["source", "first_arrival", "arrivals"],
        sources.into_iter(),
    )?;
    let arrivals = worker.arrivals.iter().flatten();
    let arrivals = arrivals.map(|a| [a.address, a.bytes, a.counts.into(), a.number, a.first_word]);
    let members = ["address", "bytes", "counts", "number", "first_word"];
    let arrivals = records(kernel, "fabric_traffic_arrival_t", members, arrivals)?;
    Ok(Lists { packets, sources, arrivals })
}

/// The members of `fabric_traffic_packet_t`.
pub(super) const PACKET: [&str; 17] = [
    "connection",
    "send_type",
    "flags",
    "ttl",
    "dst_mesh_id",
    "dst_device_id",
    "payload_size_bytes",
    "dst_x",
    "dst_y",
    "address",
    "counter_address",
    "value",
    "number",
    "hops[0]",
    "hops[1]",
    "hops[2]",
    "hops[3]",
];

/// Returns the values of [`PACKET`] for a packet.
fn members(packet: &TrafficPacket, send_type: u32, flags: [u32; 3], counter: u32) -> [u32; 17] {
    let shipment = &packet.shipment;
    let [tables, control, multicast] = flags;
    let mut flags = if shipment.control { control } else { 0 };
    let hops = match shipment.route {
        Route::Hops(first, last) => [first, last, 0, 0],
        Route::Map => [0; 4],
        Route::Tables => {
            flags |= tables;
            [0; 4]
        }
        Route::Rectangle(hops) => {
            flags |= multicast;
            hops
        }
    };
    let hops = hops.map(u32::from);
    let value = if let SendType::Scatter(chunks) = shipment.send { chunks } else { 1 };
    let NocXy { x, y } = packet.place.tile;
    let (mesh, device) = (packet.to.mesh.into(), packet.to.device.into());
    let connection = shipment.connection as u32;
    let ttl = shipment.ttl.into();
    let (address, number) = (packet.address, packet.number);
    [
        connection,
        send_type,
        flags,
        ttl,
        mesh,
        device,
        shipment.bytes,
        x.into(),
        y.into(),
        address,
        counter,
        value,
        number,
        hops[0],
        hops[1],
        hops[2],
        hops[3],
    ]
}
