//! Sends a trace again: workers on the nodes that it names, with its packets.

use super::random::{PacketLoad, RandomTraffic};
use super::trace::{TraceFlag, TracePacket};
use super::traffic::{PacketSpec, SendType};
use super::{connection, header_bytes};
use images::ImageMap;
use launch::{ControlError, constant_of};
use layouts::EthId;
use machine::fabric::FabricNode;
use machine::words::counted;
use std::collections::BTreeMap;

/// What is known while packets are added.
struct Resending<'a> {
    images: &'a ImageMap,
    load: PacketLoad,
    header_bytes: u32,
    most_connections: usize,
    /// The connection numbers of each sender, by router.
    connections: BTreeMap<usize, BTreeMap<EthId, usize>>,
}

impl RandomTraffic {
    /// Returns the packets of a trace. The last packet of each pair must increment the receiver's
    /// counter: where it does not, one that only does that is added.
    ///
    /// # Errors
    /// The first packet that this fabric cannot send, by its line, or an image that is missing.
    pub fn replay(
        &self,
        images: &ImageMap,
        packets: &[TracePacket],
    ) -> Result<PacketLoad, ControlError> {
        let mut resending = Resending {
            images,
            load: self.bare(),
            header_bytes: header_bytes(images, &self.plan)?,
            most_connections: constant_of(images, "fabric_traffic", "TRAFFIC_MAX_CONNECTIONS")?
                as usize,
            connections: BTreeMap::new(),
        };
        let mut last = BTreeMap::new();
        for packet in packets {
            self.resend(&mut resending, packet)?;
            last.insert((packet.from, packet.to), packet);
        }
        for packet in last.into_values().filter(|packet| !packet.send.counts()) {
            let send = SendType::Atomic;
            self.resend(&mut resending, &TracePacket { send, bytes: 0, ..packet.clone() })?;
        }
        Ok(resending.load)
    }

    fn resend(
        &self,
        resending: &mut Resending<'_>,
        packet: &TracePacket,
    ) -> Result<(), ControlError> {
        let refuse = |why: String| ControlError::Settings(format!("line {}: {why}", packet.line));
        let node = |node: Option<FabricNode>, what: &str| {
            let unknown = || refuse(format!("{what} of the packet is not known"));
            let node = node.ok_or_else(unknown)?;
            self.index(node).map_err(refuse).map(|index| (node, index))
        };
        let (from, sender) = node(packet.from, "the sender")?;
        let (to, receiver) = node(packet.to, "the destination")?;
        let direction = self.direction(sender, receiver);
        let direction =
            direction.ok_or_else(|| refuse(format!("no route leads from {from} to {to}")))?;
        let router = self.plan.router(from, direction, packet.plane).ok_or_else(|| {
            refuse(format!("{from} has no router to the {direction} in plane {}", packet.plane))
        })?;
        let channel = connection(resending.images, &self.plan, router)?;
        let room = channel.buffer_bytes.saturating_sub(resending.header_bytes) & !15;
        check_payload(packet.send, packet.bytes, room).map_err(refuse)?;
        let id = resending.load.ids.get(sender).copied();
        let ids = id.zip(resending.load.ids.get(receiver).copied());
        let (id, to) = ids.ok_or_else(|| refuse(format!("{from} or {to} has no worker")))?;
        let own = resending.connections.entry(sender).or_default();
        let connection = match own.get(&router.eth) {
            Some(connection) => *connection,
            None if own.len() == resending.most_connections => {
                return Err(refuse(format!(
                    "{from} sends over more than {} routers",
                    resending.most_connections
                )));
            }
            None => {
                let connection = resending.load.traffic.connect(id, channel, None)?;
                own.insert(router.eth, connection);
                connection
            }
        };
        let by_tables = packet.flags.contains(&TraceFlag::Tables);
        let route = self.routing(sender, receiver, by_tables);
        let spec = PacketSpec {
            connection,
            send: packet.send,
            bytes: packet.bytes,
            ttl: packet.ttl,
            route: route.ok_or_else(|| refuse("it has no route".to_owned()))?,
            control: packet.flags.contains(&TraceFlag::Control),
            arrives: true,
        };
        let sent = resending.load.traffic.send(id, &[to], spec);
        sent.map_err(|error| refuse(error.to_string()))?;
        resending.load.packets += 1;
        Ok(())
    }

    /// Returns the number of a node among all nodes.
    fn index(&self, node: FabricNode) -> Result<usize, String> {
        let index = self.plan.nodes().position(|other| other == node);
        index.ok_or_else(|| {
            let meshes = self.plan.meshes.len() as u64;
            let there = self.plan.mesh_of(node).map_or_else(
                || format!("this fabric has {}", counted(meshes, "mesh", "meshes")),
                |mesh| {
                    let nodes = counted(mesh.chips.len() as u64, "node", "nodes");
                    format!("mesh {} of this fabric has {nodes}", node.mesh)
                },
            );
            format!("{node} does not exist: {there}")
        })
    }
}

/// Checks the payload of a packet against the room in a slot.
fn check_payload(send: SendType, bytes: u32, room: u32) -> Result<(), String> {
    let least = match send {
        SendType::Scatter(chunks) => 16 * chunks,
        _ => 0,
    };
    match bytes {
        1.. if !send.has_payload() => {
            Err(format!("{send} has no payload, and it has {bytes} bytes"))
        }
        _ if !bytes.is_multiple_of(16) => Err(format!("{bytes} bytes are not a multiple of 16")),
        _ if bytes > room => Err(format!("a slot has room for {room} bytes, not for {bytes}")),
        _ if bytes < least => Err(format!("{send} needs {least} bytes, and it has {bytes}")),
        _ => Ok(()),
    }
}
