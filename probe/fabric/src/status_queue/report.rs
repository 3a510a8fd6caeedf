//! The entries of status queues.

use super::{ENTRY, HEADER, MAGIC, StatusQueue};
use crate::words::RouterImage;
use images::fabric::Enumeration;
use images::{ImageMap, Member};
use launch::records::bytes_read;
use launch::{ControlError, Operation};
use layouts::{ChipId, ChipLayout, EthId, NocXy};
use machine::fabric::FabricNode;
use machine::notes::StatusMessage;
use machine::place::Place;
use machine::snapshot::{AccessError, Plan, Snapshot, Span};
use machine::target::Target;
use machine::words::counted;
use schemars::JsonSchema;
use serde::Serialize;
use std::sync::Arc;

/// An entry of a status queue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct StatusEntry {
    /// Its number, counted from 0 in each bring-up.
    #[serde(skip)]
    pub number: u32,
    /// Its name, such as EVENT_LINK_DOWN.
    pub event: String,
    /// The target's own time, in cycles of a nanosecond; null if the wall clock could not be read.
    pub cycles: Option<u64>,
    /// Time by the wall clock of the router's chip; those of two chips do not compare.
    pub wall_clock_cycles: u64,
    /// The router's mesh.
    #[serde(rename = "mesh")]
    pub mesh_id: u32,
    /// The router's device in this mesh.
    #[serde(rename = "device")]
    pub device_id: u32,
    /// The router's direction, as tt-metal's `eth_chan_directions` counts.
    pub direction: u32,
    /// Four words that depend on the event.
    pub detail: [u32; 4],
    /// The event in words.
    pub text: String,
    /// The router's Ethernet channel.
    #[serde(skip)]
    pub eth_channel: u32,
}

/// The undrained contents of a queue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct StatusReport {
    /// The queue.
    #[serde(skip)]
    pub queue: StatusQueue,
    /// Capacity of the queue, in entries.
    #[serde(rename = "capacity")]
    pub room: u32,
    /// Number of entries that the router has written.
    pub write_count: u32,
    /// Number of entries that were freed.
    pub read_count: u32,
    /// Number of entries that were lost because the queue was full.
    pub lost: u32,
    /// The entries in the queue, oldest first.
    #[serde(skip)]
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
        let kernel = RouterImage::of(images, queue.topology)?;
        layouts.push(QueueLayout::of(&kernel, images.layout())?);
    }
    let both = || queues.iter().zip(&layouts);
    let heads = both()
        .flat_map(|(queue, layout)| [layout.head(queue), layout.lost(queue), layout.clock(queue)]);
    let snapshot = target.read(&Plan { spans: heads.collect() });
    let (mut reports, mut clocks) = (Vec::new(), Vec::new());
    for (queue, layout) in both() {
        reports.push(layout.report(queue, &snapshot)?);
        clocks.push(layout.time_of(queue, &snapshot));
    }
    let all = || both().zip(&reports);
    let spans = all().flat_map(|((queue, layout), report)| {
        report.waiting().map(|number| layout.entry(queue, report, number))
    });
    let snapshot = target.read(&Plan { spans: spans.collect() });
    let mut entries = Vec::new();
    for (((queue, layout), report), clock) in all().zip(&clocks) {
        let entry = |number| {
            let span = layout.entry(queue, report, number);
            layout.decoded((queue, span), &snapshot, *clock)
        };
        entries.push(report.waiting().map(entry).collect::<Result<Vec<_>, _>>()?);
    }
    for (report, entries) in reports.iter_mut().zip(entries) {
        report.entries = entries;
    }
    Ok(reports)
}

/// Returns the details of an event of a chip in words.
fn words_of(layout: &ChipLayout, chip: ChipId, event: &str, [a, b, c, d]: [u32; 4]) -> String {
    let node = |word: u32| FabricNode { mesh: (word >> 16) as u16, device: word as u16 };
    match event {
        "EVENT_LINK_DOWN" => format!("link status {a}"),
        "EVENT_LINK_UP" => format!("link in use again; change of link {a}"),
        "EVENT_RATE" => format!("{}, {b} B in {c} cycles", counted(a.into(), "packet", "packets")),
        "EVENT_REROUTED" => {
            let tile = NocXy { x: a as u8, y: (a >> 16) as u8 };
            format!("over the router of {}", Place { chip, tile }.name(layout))
        }
        "EVENT_NO_ROUTE_LEFT" => "no other link goes there".to_owned(),
        _ => format!("packet {c} from {} to {}, ttl {d}", node(a), node(b)),
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
            wall_clock_cycles: entry.wall_clock_cycles,
            event: entry.event.clone(),
            detail: entry.detail,
            text: entry.text.clone(),
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
    layout: &'static ChipLayout,
}

impl QueueLayout {
    fn of(kernel: &RouterImage, layout: &'static ChipLayout) -> Result<Self, ControlError> {
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
            layout,
        })
    }

    fn head(&self, queue: &StatusQueue) -> Span {
        Span { addr: queue.place.at(queue.address), len: self.header_bytes as u32 }
    }

    /// Returns the span of the router's count of lost entries.
    fn lost(&self, queue: &StatusQueue) -> Span {
        Span { addr: queue.router_place.at(self.lost), len: 4 }
    }

    /// Returns the span of the wall clock of the router's tile.
    fn clock(&self, queue: &StatusQueue) -> Span {
        let at = self.layout.blocks.eth_debug + self.layout.debug.wall_clock_low.at;
        Span { addr: queue.router_place.at(at), len: 8 }
    }

    /// Returns the target's time, and the wall clock of the router's chip at that time.
    fn time_of(&self, queue: &StatusQueue, snapshot: &Snapshot) -> Option<(u64, u64)> {
        let span = self.clock(queue);
        snapshot.read_at(span.addr).zip(bytes_read(snapshot, span).ok().map(Member::value))
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
        let bytes = bytes_read(snapshot, head)?;
        let [magic, room, write_count, read_count] = self.header.map(|it| value(bytes, it) as u32);
        if magic != MAGIC {
            let why = format!("{} holds no status queue", head.addr);
            let reason = AccessError::Unreachable(why);
            return Err(ControlError::Access { addr: head.addr, reason });
        }
        let lost = value(bytes_read(snapshot, self.lost(queue))?, (0, 4)) as u32;
        let entries = Vec::new();
        Ok(StatusReport { queue: *queue, room, write_count, read_count, lost, entries })
    }

    /// Decodes an entry, whose time the target's own at a wall clock gives.
    fn decoded(
        &self,
        (queue, span): (&StatusQueue, Span),
        snapshot: &Snapshot,
        time: Option<(u64, u64)>,
    ) -> Result<StatusEntry, ControlError> {
        let bytes = bytes_read(snapshot, span)?;
        let [event, number, wall_clock_cycles, mesh_id, device_id, eth_channel, direction] =
            self.entry.map(|it| value(bytes, it));
        let (event, detail) = (
            self.events.of_value(event).to_string(),
            self.detail.map(|it| value(bytes, it) as u32),
        );
        let ago = |clock: u64| clock.saturating_sub(wall_clock_cycles);
        Ok(StatusEntry {
            text: words_of(self.layout, queue.router.chip, &event, detail),
            event,
            number: number as u32,
            wall_clock_cycles,
            cycles: time.map(|(now, clock)| now.saturating_sub(ago(clock))),
            mesh_id: mesh_id as u32,
            device_id: device_id as u32,
            eth_channel: eth_channel as u32,
            direction: direction as u32,
            detail,
        })
    }
}

/// Reads a little-endian value of up to eight bytes, which [`QueueLayout::of`] has checked to be in
/// range.
fn value(bytes: &[u8], (at, size): (u64, u64)) -> u64 {
    bytes.get(at as usize..(at + size.min(8)) as usize).map_or(0, Member::value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use layouts::ChipKind;

    #[test]
    fn a_reroute_names_the_router_by_its_channel() {
        let words =
            words_of(ChipKind::Wormhole.layout(), ChipId(0), "EVENT_REROUTED", [4, 0, 0, 0]);
        assert_eq!(words, "over the router of 0:e7");
    }
}
