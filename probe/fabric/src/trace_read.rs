//! Reads a trace from a mesh: the lists of packets in the L1 of traffic kernels, whether these run
//! or have ended.

use super::FabricPlan;
use super::packet::MOST_CHUNKS;
use super::trace::{Trace, TraceFlag, TraceHead, TracePacket};
use super::traffic::SendType;
use super::traffic_lists::{KERNEL, PACKET};
use super::traffic_outcome::StateSpan;
use images::{Image, ImageMap, Member};
use launch::records::{bytes_read, field, size};
use launch::{ControlError, constant_of, holding, image};
use layouts::{CoreId, NocXy};
use machine::fabric::FabricNode;
use machine::place::Place;
use machine::snapshot::{Plan, Snapshot, Span};
use machine::target::{Mesh, Target};
use machine::words::counted;
use std::collections::BTreeMap;

/// The packets that were found, and what is not known of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceFound {
    /// The packets.
    pub trace: Trace,
    /// How many of them their senders have handed to a router so far.
    pub sent: u64,
    /// What the lists do not say, and what a trace cannot hold, one sentence each.
    pub unknown: Vec<String>,
}

/// Returns the packets that traffic kernels on the chips of a fabric send or have sent. Writes
/// nothing.
///
/// # Errors
/// When a tile cannot be read, its words are no list, or the image lacks a member.
pub fn read_trace(
    target: &mut dyn Target,
    images: &ImageMap,
    plan: &FabricPlan,
) -> Result<TraceFound, ControlError> {
    let chips = plan.nodes().filter_map(|node| plan.chip(node));
    let tiles = chips.flat_map(|chip| target.mesh().compute_tiles(chip)).collect();
    let kernel = image(images, KERNEL)?;
    let lists = ListReader::of(images, &kernel, plan)?;
    let head = TraceHead::of(plan);
    let mut found =
        TraceFound { trace: Trace { head, packets: Vec::new() }, sent: 0, unknown: Vec::new() };
    for place in holding(target, images, KERNEL, tiles)? {
        lists.read(target, place, &mut found)?;
    }
    found.trace.packets.sort_by_key(|packet| (packet.from, packet.number));
    Ok(found)
}

/// Returns where the lists of the traffic kernels are that run by a snapshot with the kernels' words,
/// for a recording to keep them.
pub fn packet_lists(mesh: &Mesh, images: &ImageMap, snapshot: &Snapshot) -> Vec<Span> {
    let Ok(kernel) = image(images, KERNEL) else { return Vec::new() };
    let runs = |place: &Place| {
        let core = CoreId { chip: place.chip, tile: place.tile, core: kernel.core };
        images.on(core).iter().any(|(image, _)| image.name == KERNEL)
    };
    let list = |place| {
        let state = StateSpan::of(&kernel, place, LIST_WORDS)?;
        list_of(&state, snapshot, place, mesh.layout().tensix.l1_bytes)
    };
    let tiles = mesh.chips.iter().flat_map(|chip| mesh.compute_tiles(chip.id));
    tiles.filter(runs).filter_map(|place| list(place).ok()).collect()
}

/// The members from the first to the last that tell of a list.
const LIST_WORDS: [&str; 2] = ["args", "packets_sent"];

/// Returns where the list of a kernel is.
fn list_of(
    state: &StateSpan<'_>,
    snapshot: &Snapshot,
    place: Place,
    l1_bytes: u64,
) -> Result<Span, ControlError> {
    let args = |member: &str| state.value(snapshot, &format!("args.{member}"));
    let (at, packets) = (args("packets_address")?, args("packets")?);
    let len = packets.checked_mul(size(state.kernel, "fabric_traffic_packet_t")?);
    let len = len.filter(|len| at.checked_add(*len).is_some_and(|end| end <= l1_bytes));
    let len = len.ok_or_else(|| no_list(place))?;
    Ok(Span { addr: place.at(at), len: len as u32 })
}

fn no_list(place: Place) -> ControlError {
    let why = format!("{place}: the words of its traffic kernel are no list of packets");
    ControlError::Settings(why)
}

/// Reads the list of a kernel by the names of its members.
struct ListReader<'a> {
    kernel: &'a Image,
    plan: &'a FabricPlan,
    packet_bytes: u32,
    tables: u32,
    control: u32,
    multicast: u32,
    sends: Vec<(u32, SendType)>,
    most_connections: u64,
    /// Offset and size of each member of a packet.
    members: BTreeMap<&'static str, (usize, usize)>,
}

impl<'a> ListReader<'a> {
    fn of(
        images: &ImageMap,
        kernel: &'a Image,
        plan: &'a FabricPlan,
    ) -> Result<Self, ControlError> {
        let constant = |name| constant_of(images, KERNEL, name);
        let sends = [
            SendType::Write,
            SendType::Inline,
            SendType::Atomic,
            SendType::Fused,
            SendType::Scatter(0),
        ];
        let sends = sends.into_iter().map(|send| Ok((constant(send.constant())?, send)));
        let place = |member| {
            let found = field(kernel, &format!("fabric_traffic_packet_t.{member}"))?;
            Ok((member, (found.offset as usize, found.size as usize)))
        };
        Ok(Self {
            kernel,
            plan,
            packet_bytes: size(kernel, "fabric_traffic_packet_t")? as u32,
            tables: constant("FABRIC_TABLE_ROUTED")?,
            control: constant("FABRIC_CONTROL")?,
            multicast: constant("TRAFFIC_MULTICAST")?,
            sends: sends.collect::<Result<_, ControlError>>()?,
            most_connections: constant("TRAFFIC_MAX_CONNECTIONS")?.into(),
            members: PACKET.into_iter().map(place).collect::<Result<_, ControlError>>()?,
        })
    }

    /// Adds the packets of a kernel.
    fn read(
        &self,
        target: &mut dyn Target,
        place: Place,
        found: &mut TraceFound,
    ) -> Result<(), ControlError> {
        let state = StateSpan::of(self.kernel, place, LIST_WORDS)?;
        let snapshot = target.read(&Plan { spans: vec![state.span] });
        let value = |member: &str| state.value(&snapshot, member);
        let args = |member: &str| value(&format!("args.{member}"));
        let from = FabricNode { mesh: args("mesh_id")? as u16, device: args("device_id")? as u16 };
        let list = list_of(&state, &snapshot, place, self.plan.layout().tensix.l1_bytes)?;
        self.plan.chip(from).ok_or_else(|| no_list(place))?;
        let planes = self.planes(&state, &snapshot, place)?;
        let (sent, interval) = (value("packets_sent")?, args("interval_cycles")?);
        let snapshot = target.read(&Plan { spans: vec![list] });
        let (mut odd, mut muxed) = (0, 0);
        for entry in bytes_read(&snapshot, list)?.chunks_exact(self.packet_bytes as usize) {
            match self.packet(entry, from, &planes)? {
                Some((packet, plane)) => {
                    muxed += u64::from(plane.is_none());
                    found.trace.packets.push(packet);
                }
                None => odd += 1,
            }
        }
        found.sent += sent.min(args("packets")?);
        let mut say = |count: u64, what: &str| {
            if count > 0 {
                found.unknown.push(format!("{from}: {what}"));
            }
        };
        let words = |count| counted(count, "packet", "packets");
        say(odd, &format!("{} to several chips or to no node left out", words(odd)));
        say(
            muxed,
            &format!("the plane of {} behind a mux is not known, 0 is written", words(muxed)),
        );
        say(interval, &format!("its pause of {interval} ns between packets is not in the trace"));
        Ok(())
    }

    /// Returns the plane of the router of each connection; none of one to a mux.
    fn planes(
        &self,
        state: &StateSpan<'_>,
        snapshot: &Snapshot,
        place: Place,
    ) -> Result<Vec<Option<u32>>, ControlError> {
        let args = |member: &str| state.value(snapshot, &format!("args.{member}"));
        let connections = args("connections")?.min(self.most_connections);
        let plane = |index| {
            let client = |member: &str| args(&format!("connection[{index}].client.{member}"));
            let tile = NocXy { x: client("edm_noc_x")? as u8, y: client("edm_noc_y")? as u8 };
            let at = Place { chip: place.chip, tile };
            let router = self.plan.routers.iter().find(|router| router.place == at);
            Ok(router.map(|router| router.plane))
        };
        (0..connections).map(plane).collect()
    }

    /// Returns a packet and its plane; none if it goes to several chips or to no node.
    fn packet(
        &self,
        entry: &[u8],
        from: FabricNode,
        planes: &[Option<u32>],
    ) -> Result<Option<(TracePacket, Option<u32>)>, ControlError> {
        let value = |member: &str| {
            let place = self.members.get(member);
            let bytes = place.and_then(|&(at, size)| entry.get(at..at + size));
            let missing = || ControlError::NoMember(KERNEL.to_owned(), member.to_owned());
            Ok::<_, ControlError>(Member::value(bytes.ok_or_else(missing)?) as u32)
        };
        let to = FabricNode {
            mesh: value("dst_mesh_id")? as u16,
            device: value("dst_device_id")? as u16,
        };
        let flags = value("flags")?;
        let several = flags & self.multicast != 0 || value("hops[0]")? != value("hops[1]")?;
        let send_type = value("send_type")?;
        let send = self.sends.iter().find(|(code, _)| *code == send_type).map(|(_, send)| *send);
        let send = match (send, value("value")?) {
            (Some(SendType::Scatter(_)), chunks) if chunks > MOST_CHUNKS => None,
            (Some(SendType::Scatter(_)), chunks) => Some(SendType::Scatter(chunks)),
            (send, _) => send,
        };
        let Some(send) = send.filter(|_| !several && self.plan.chip(to).is_some()) else {
            return Ok(None);
        };
        let is = |flag: u32, name| (flags & flag != 0).then_some(name);
        let named = [is(self.tables, TraceFlag::Tables), is(self.control, TraceFlag::Control)];
        let plane = planes.get(value("connection")? as usize).copied().flatten();
        let packet = TracePacket {
            from: Some(from),
            to: Some(to),
            number: value("number")?,
            send,
            bytes: if send.has_payload() { value("payload_size_bytes")? } else { 0 },
            ttl: value("ttl")? as u8,
            plane: plane.map_or(0, |plane| plane),
            flags: named.into_iter().flatten().collect(),
            seen: None,
            line: 0,
        };
        Ok(Some((packet, plane)))
    }
}
