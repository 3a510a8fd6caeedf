//! Fabric node status queues: one for each router, in the DRAM of its chip. Routers write; reading moves none of their words.

use super::words::RouterImage;
use super::{FabricPlan, FabricTopology, Router};
use crate::control::{ControlError, Operation, Place};
use crate::images::{ImageMap, Spot};
use crate::snapshot::{AccessError, Plan, Span};
use crate::target::Target;
use layouts::{EthId, NocXy, wormhole};

/// Start of the queues in DRAM channel 0, below the tensors of collectives.
const BASE: u64 = 8 << 20;
/// The port of the channel: on NoC 1 the first one broke the NoC (wormhole.md 1.7).
const PORT: usize = 1;
/// Queues begin at multiples of this.
const ALIGN: u64 = 4096;
/// First word of a queue.
const MAGIC: u32 = u32::from_le_bytes(*b"FSQ ");

/// A router's queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatusQueue {
    /// Whose it is.
    pub router: EthId,
    /// Its DRAM tile.
    pub place: Place,
    /// Its header there.
    pub address: u64,
    /// Entries that it has room for.
    pub entries: u32,
    topology: FabricTopology,
}

/// An entry of a queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatusEntry {
    /// What happened, by its enumerator.
    pub event: String,
    /// Counted by the router, from 0.
    pub number: u32,
    /// Wall clock of the router's chip, in cycles.
    pub cycles: u64,
    /// The router's mesh and device.
    pub mesh_id: u32,
    /// See `mesh_id`.
    pub device_id: u32,
    /// The router's Ethernet channel.
    pub eth_channel: u32,
    /// The router's direction, as `eth_chan_directions` counts.
    pub direction: u32,
    /// What belongs to the event.
    pub detail: [u32; 4],
}

/// What a queue held.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatusReport {
    /// The queue.
    pub queue: StatusQueue,
    /// Entries that the router has written, modulo 2^32.
    pub write_count: u32,
    /// Those of them that were drained, modulo 2^32.
    pub read_count: u32,
    /// The others, the oldest first.
    pub entries: Vec<StatusEntry>,
}

const EVENTS: [&str; 9] = [
    "EVENT_LINK_DOWN",
    "EVENT_LINK_UP",
    "EVENT_RATE",
    "EVENT_EXPIRED",
    "EVENT_TIMED_OUT",
    "EVENT_ROUTING_ERROR",
    "EVENT_REROUTED",
    "EVENT_NO_ROUTE_LEFT",
    "EVENT_DROPPED",
];
const HEADER: &str = "fabric_status_queue_t";
const ENTRY: &str = "fabric_status_entry_t";

impl StatusQueue {
    /// That of a router, if it has one.
    ///
    /// # Errors
    /// `NoImage` or `NoMember`, or `Settings` for more entries than fit.
    pub fn of(
        images: &ImageMap,
        plan: &FabricPlan,
        router: &Router,
        entries: u32,
    ) -> Result<Option<Self>, ControlError> {
        if entries == 0 {
            return Ok(None);
        }
        let kernel = RouterImage::of(images, plan.topology)?;
        let bytes = kernel.size(HEADER)? + u64::from(entries) * kernel.size(ENTRY)?;
        let stride = bytes.next_multiple_of(ALIGN);
        let address = BASE + stride * u64::from(router.eth.channel);
        let dram = &wormhole().tiles.dram;
        let tile = dram.channels.first().and_then(|ports| ports.get(PORT));
        let tile = tile.filter(|_| address + bytes <= 2 * BASE);
        let Some(&(x, y)) = tile else {
            let why = format!("{entries} entries for each status queue do not fit into DRAM");
            return Err(ControlError::Settings(why));
        };
        let place = Place { chip: router.eth.chip, tile: NocXy { x, y } };
        let (router, topology) = (router.eth, plan.topology);
        Ok(Some(Self { router, place, address, entries, topology }))
    }

    /// Makes it an empty queue, before its router is launched.
    ///
    /// # Errors
    /// `NoImage` or `NoMember`.
    pub(super) fn fresh(&self, images: &ImageMap) -> Result<Operation, ControlError> {
        let kernel = RouterImage::of(images, self.topology)?;
        let mut header = vec![0; kernel.size(HEADER)? as usize];
        for (member, value) in [("magic", MAGIC), ("entries", self.entries)] {
            let at = kernel.field(&format!("{HEADER}.{member}"))?.0 as usize;
            if let Some(place) = header.get_mut(at..at + 4) {
                place.copy_from_slice(&value.to_le_bytes());
            }
        }
        let mut operation = Operation::new(format!("make the status queue of {}", self.router));
        operation.write(self.place.at(self.address), header);
        Ok(operation)
    }

    /// Reads what was not drained; nothing is written.
    ///
    /// # Errors
    /// When the queue cannot be read, or is none.
    pub fn read(
        &self,
        target: &mut dyn Target,
        images: &ImageMap,
    ) -> Result<StatusReport, ControlError> {
        let kernel = RouterImage::of(images, self.topology)?;
        let header = kernel.size(HEADER)?;
        let entry = kernel.size(ENTRY)?;
        let bytes = header + u64::from(self.entries) * entry;
        let span = Span { addr: self.place.at(self.address), len: bytes as u32 };
        let shot = target.read(&Plan { spans: vec![span] });
        let unread = |reason| ControlError::Access { addr: span.addr, reason };
        let bytes = shot.bytes(span.addr, span.len).map_err(unread)?;
        let word = |member: &str| {
            let (at, size) = kernel.field(&format!("{HEADER}.{member}"))?;
            Ok::<_, ControlError>(value(bytes, at, size) as u32)
        };
        if (word("magic")?, word("entries")?) != (MAGIC, self.entries) {
            let why = format!("{} holds no status queue", span.addr);
            return Err(unread(AccessError::Unreachable(why)));
        }
        let (write_count, read_count) = (word("write_count")?, word("read_count")?);
        let waiting = write_count.wrapping_sub(read_count).min(self.entries);
        let mut report =
            StatusReport { queue: *self, write_count, read_count, entries: Vec::new() };
        for number in (0..waiting).map(|number| read_count.wrapping_add(number)) {
            let slot = u64::from(number % self.entries);
            let at = (header + slot * entry) as usize;
            let bytes = bytes.get(at..at + entry as usize).unwrap_or_default();
            report.entries.push(decoded(&kernel, bytes)?);
        }
        Ok(report)
    }
}

impl StatusReport {
    /// Lets the router write over the entries that were read: the one word that the control plane writes.
    ///
    /// # Errors
    /// `NoImage` or `NoMember`.
    pub fn drain(&self, images: &ImageMap) -> Result<Operation, ControlError> {
        let kernel = RouterImage::of(images, self.queue.topology)?;
        let (at, _) = kernel.field(&format!("{HEADER}.read_count"))?;
        let mut operation =
            Operation::new(format!("drain the status queue of {}", self.queue.router));
        let read = self.read_count.wrapping_add(self.entries.len() as u32);
        operation.write_word(self.queue.place.at(self.queue.address + at), read);
        Ok(operation)
    }
}

fn decoded(kernel: &RouterImage, bytes: &[u8]) -> Result<StatusEntry, ControlError> {
    let member = |name: &str| {
        let (at, size) = kernel.field(&format!("{ENTRY}.{name}"))?;
        Ok::<_, ControlError>(value(bytes, at, size))
    };
    let mut detail = [0; 4];
    for (index, word) in detail.iter_mut().enumerate() {
        *word = member(&format!("detail[{index}]"))? as u32;
    }
    Ok(StatusEntry {
        event: kernel.spelled(member("event")? as u32, &EVENTS),
        number: member("number")? as u32,
        cycles: member("cycles")?,
        mesh_id: member("mesh_id")? as u32,
        device_id: member("device_id")? as u32,
        eth_channel: member("eth_channel")? as u32,
        direction: member("direction")? as u32,
        detail,
    })
}

/// A little-endian value of up to eight bytes.
fn value(bytes: &[u8], at: u64, size: u64) -> u64 {
    let bytes = bytes.get(at as usize..(at + size.min(8)) as usize).unwrap_or_default();
    Spot::value(bytes)
}
