//! The entries of status queues.

use super::{ENTRY, HEADER, MAGIC, StatusQueue};
use crate::words::RouterImage;
use images::fabric::Enumeration;
use images::{ImageMap, Member};
use launch::{ControlError, Operation};
use layouts::{ChipId, EthId};
use machine::fabric::FabricNode;
use machine::notes::StatusMessage;
use machine::snapshot::{AccessError, Plan, Snapshot, Span};
use machine::target::Target;
use machine::words::counted;
use std::sync::Arc;

/// An entry of a queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatusEntry {
    /// Name of the event.
    pub event: String,
    /// Number of the entry, counted by the router from 0.
    pub number: u32,
    /// Wall clock of the router's chip, in cycles.
    pub cycles: u64,
    /// The router's mesh.
    pub mesh_id: u32,
    /// The router's device.
    pub device_id: u32,
    /// The router's Ethernet channel.
    pub eth_channel: u32,
    /// The router's direction, as `eth_chan_directions` counts.
    pub direction: u32,
    /// Details of the event.
    pub detail: [u32; 4],
}

/// The undrained contents of a queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatusReport {
    /// The queue.
    pub queue: StatusQueue,
    /// Number of entry slots.
    pub room: u32,
    /// Entries that the router has written, modulo 2^32.
    pub write_count: u32,
    /// Entries that were drained, modulo 2^32.
    pub read_count: u32,
    /// Entries that the router lost, because the queue was full or too many events came at once.
    pub lost: u32,
    /// Undrained entries, the oldest first.
    pub entries: Vec<StatusEntry>,
}

/// Reads the undrained entries of queues in two reads: first the counts, then the entries. Nothing
/// is written.
///
/// # Errors
/// When a queue cannot be read, or is not a status queue.
pub fn read_status(
    target: &mut dyn Target,
    images: &ImageMap,
    queues: &[StatusQueue],
) -> Result<Vec<StatusReport>, ControlError> {
    let mut layouts = Vec::new();
    for queue in queues {
        layouts.push(QueueLayout::of(&RouterImage::of(images, queue.topology)?)?);
    }
    let both = || queues.iter().zip(&layouts);
    let heads = both().flat_map(|(queue, layout)| [layout.head(queue), layout.lost(queue)]);
    let snapshot = target.read(&Plan { spans: heads.collect() });
    let mut reports = Vec::new();
    for (queue, layout) in both() {
        reports.push(layout.report(queue, &snapshot)?);
    }
    let all = || both().zip(&reports);
    let spans = all().flat_map(|((queue, layout), report)| {
        report.waiting().map(|number| layout.entry(queue, report, number))
    });
    let snapshot = target.read(&Plan { spans: spans.collect() });
    let mut entries = Vec::new();
    for ((queue, layout), report) in all() {
        let entry = |number| layout.decoded(layout.entry(queue, report, number), &snapshot);
        entries.push(report.waiting().map(entry).collect::<Result<Vec<_>, _>>()?);
    }
    for (report, entries) in reports.iter_mut().zip(entries) {
        report.entries = entries;
    }
    Ok(reports)
}

impl StatusEntry {
    /// Returns the details of the event in words.
    pub fn text(&self) -> String {
        let [a, b, c, d] = self.detail;
        let node = |word: u32| FabricNode { mesh: (word >> 16) as u16, device: word as u16 };
        match self.event.as_str() {
            "EVENT_LINK_DOWN" => format!("link status {a}"),
            "EVENT_LINK_UP" => format!("link in use again; change of link {a}"),
            "EVENT_RATE" => {
                format!("{}, {b} B in {c} cycles", counted(a.into(), "packet", "packets"))
            }
            "EVENT_REROUTED" => format!("over the router at {}-{}", a & 0xFFFF, a >> 16),
            "EVENT_NO_ROUTE_LEFT" => "no other link goes there".to_owned(),
            _ => format!("packet {c} from {} to {}, ttl {d}", node(a), node(b)),
        }
    }
}

impl StatusReport {
    /// Returns the undrained entries as messages, which were read at this time, in microseconds since
    /// the Unix epoch.
    pub fn messages(&self, host_micros: u64) -> impl Iterator<Item = StatusMessage> {
        let StatusQueue { router: EthId { chip: ChipId(chip), channel }, run_id, .. } = self.queue;
        self.entries.iter().map(move |entry| StatusMessage {
            host_micros,
            chip,
            channel,
            run_id,
            number: entry.number,
            wall_clock_cycles: entry.cycles,
            event: entry.event.clone(),
            detail: entry.detail,
            text: entry.text(),
        })
    }

    /// Returns the numbers of the undrained entries.
    fn waiting(&self) -> impl Iterator<Item = u32> + use<> {
        let from = self.read_count;
        let waiting = self.write_count.wrapping_sub(from).min(self.room);
        (0..waiting).map(move |number| from.wrapping_add(number))
    }

    /// Returns the operation that drains the entries that were read, with the only word that the
    /// control plane writes.
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

/// Offsets and sizes of the members of a queue and its entries.
struct QueueLayout {
    header_bytes: u64,
    entry_bytes: u64,
    /// `magic`, `entries`, `write_count`, `read_count`.
    header: [(u64, u64); 4],
    /// `event`, `number`, `cycles`, `mesh_id`, `device_id`, `eth_channel`, `direction`.
    entry: [(u64, u64); 7],
    detail: [(u64, u64); 4],
    lost: u64,
    /// `fabric_event_t`.
    events: Arc<Enumeration>,
}

impl QueueLayout {
    fn of(kernel: &RouterImage) -> Result<Self, ControlError> {
        let member = |ty: &str, name: &str| {
            let (at, size) = kernel.field(&format!("{ty}.{name}"))?;
            let inside = at + size <= kernel.size(ty)?;
            inside.then_some((at, size)).ok_or_else(|| kernel.missing(name))
        };
        let head = |name| member(HEADER, name);
        let entry = |name: &str| member(ENTRY, name);
        Ok(Self {
            header_bytes: kernel.size(HEADER)?,
            entry_bytes: kernel.size(ENTRY)?,
            header: [head("magic")?, head("entries")?, head("write_count")?, head("read_count")?],
            entry: [
                entry("event")?,
                entry("number")?,
                entry("cycles")?,
                entry("mesh_id")?,
                entry("device_id")?,
                entry("eth_channel")?,
                entry("direction")?,
            ],
            detail: [
                entry("detail[0]")?,
                entry("detail[1]")?,
                entry("detail[2]")?,
                entry("detail[3]")?,
            ],
            lost: kernel.state("status_entries_lost")?,
            events: kernel.enumeration("fabric_event_t")?,
        })
    }

    fn head(&self, queue: &StatusQueue) -> Span {
        Span { addr: queue.place.at(queue.address), len: self.header_bytes as u32 }
    }

    /// Returns the span of the router's count of lost entries.
    fn lost(&self, queue: &StatusQueue) -> Span {
        Span { addr: queue.router_place.at(self.lost), len: 4 }
    }

    fn entry(&self, queue: &StatusQueue, report: &StatusReport, number: u32) -> Span {
        let slot = u64::from(number % report.room.max(1));
        let at = queue.address + self.header_bytes + slot * self.entry_bytes;
        Span { addr: queue.place.at(at), len: self.entry_bytes as u32 }
    }

    /// Reads the counts.
    fn report(
        &self,
        queue: &StatusQueue,
        snapshot: &Snapshot,
    ) -> Result<StatusReport, ControlError> {
        let head = self.head(queue);
        let bytes = read(snapshot, head)?;
        let [magic, room, write_count, read_count] = self.header.map(|it| value(bytes, it) as u32);
        if magic != MAGIC {
            let why = format!("{} holds no status queue", head.addr);
            let reason = AccessError::Unreachable(why);
            return Err(ControlError::Access { addr: head.addr, reason });
        }
        let lost = value(read(snapshot, self.lost(queue))?, (0, 4)) as u32;
        let entries = Vec::new();
        Ok(StatusReport { queue: *queue, room, write_count, read_count, lost, entries })
    }

    fn decoded(&self, span: Span, snapshot: &Snapshot) -> Result<StatusEntry, ControlError> {
        let bytes = read(snapshot, span)?;
        let [event, number, cycles, mesh_id, device_id, eth_channel, direction] =
            self.entry.map(|it| value(bytes, it));
        Ok(StatusEntry {
            event: self.events.of_value(event).to_string(),
            number: number as u32,
            cycles,
            mesh_id: mesh_id as u32,
            device_id: device_id as u32,
            eth_channel: eth_channel as u32,
            direction: direction as u32,
            detail: self.detail.map(|it| value(bytes, it) as u32),
        })
    }
}

fn read(snapshot: &Snapshot, span: Span) -> Result<&[u8], ControlError> {
    let unread = |reason| ControlError::Access { addr: span.addr, reason };
    snapshot.bytes(span.addr, span.len).map_err(unread)
}

/// Reads a little-endian value of up to eight bytes, which [`QueueLayout::of`] has checked to be in
/// range.
fn value(bytes: &[u8], (at, size): (u64, u64)) -> u64 {
    bytes.get(at as usize..(at + size.min(8)) as usize).map_or(0, Member::value)
}
