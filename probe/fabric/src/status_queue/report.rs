//! The entries of status queues.

use super::{HEADER, StatusQueue};
use crate::words::RouterImage;
use images::fabric::{StatusHead, StatusLayout, StatusWords};
use images::{ImageMap, Member};
use launch::records::bytes_read;
use launch::{ControlError, Operation};
use layouts::{ChipId, ChipLayout, EthId};
use machine::notes::StatusMessage;
use machine::snapshot::{AccessError, Plan, Snapshot, Span};
use machine::target::Target;
use schemars::JsonSchema;
use serde::Serialize;

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
    let all = queues.iter().map(|queue| Reading::of(queue, images));
    let all = all.collect::<Result<Vec<_>, _>>()?;
    let heads = all.iter().flat_map(|it| [it.head(), it.lost(), it.clock()]);
    let snapshot = target.read(&Plan { spans: heads.collect() });
    let reports = all.iter().map(|it| it.report(&snapshot));
    let mut reports = reports.collect::<Result<Vec<_>, _>>()?;
    let clocks: Vec<_> = all.iter().map(|it| it.time_of(&snapshot)).collect();
    let spans = |(it, report): (&Reading<'_>, &StatusReport)| {
        let head = report.head();
        head.waiting().map(|number| it.entry(&head, number)).collect::<Vec<_>>()
    };
    let spans: Vec<Vec<Span>> = all.iter().zip(&reports).map(spans).collect();
    let snapshot = target.read(&Plan { spans: spans.concat() });
    for (((it, report), clock), spans) in all.iter().zip(&mut reports).zip(clocks).zip(spans) {
        let entries = spans.into_iter().map(|span| it.decoded(span, &snapshot, clock));
        report.entries = entries.collect::<Result<_, _>>()?;
    }
    Ok(reports)
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

    fn head(&self) -> StatusHead {
        let Self { room, write_count, read_count, .. } = *self;
        StatusHead { capacity: room, write_count, read_count }
    }

    /// Returns the operation that drains the entries that were read, with the only word that the
    /// control plane writes.
    ///
    /// # Errors
    /// `NoImage` or `NoMember`.
    pub fn drain(&self, images: &ImageMap) -> Result<Operation, ControlError> {
        let kernel = RouterImage::of(images, self.queue.image)?;
        let (at, _) = kernel.field(&format!("{HEADER}.read_count"))?;
        let mut operation =
            Operation::new(format!("drain the status queue of {}", self.queue.router));
        let read = self.read_count.wrapping_add(self.entries.len() as u32);
        operation.write_word(self.queue.place.at(self.queue.address + at), read);
        Ok(operation)
    }
}

/// A status queue, with what is needed to read it.
struct Reading<'a> {
    queue: &'a StatusQueue,
    status: StatusLayout,
    /// Address of the router's count of lost entries.
    lost: u64,
    layout: &'static ChipLayout,
}

impl<'a> Reading<'a> {
    fn of(queue: &'a StatusQueue, images: &ImageMap) -> Result<Self, ControlError> {
        let kernel = RouterImage::of(images, queue.image)?;
        let lost = kernel.state("status_entries_lost")?;
        Ok(Self { queue, status: kernel.status()?, lost, layout: images.layout() })
    }

    fn head(&self) -> Span {
        let addr = self.queue.place.at(self.queue.address);
        Span { addr, len: self.status.head_bytes as u32 }
    }

    /// Returns the span of the router's count of lost entries.
    fn lost(&self) -> Span {
        Span { addr: self.queue.router_place.at(self.lost), len: 4 }
    }

    /// Returns the span of the wall clock of the router's tile.
    fn clock(&self) -> Span {
        let at = self.layout.blocks.eth_debug + self.layout.debug.wall_clock_low.at;
        Span { addr: self.queue.router_place.at(at), len: 8 }
    }

    /// Returns the target's time, and the wall clock of the router's chip at that time.
    fn time_of(&self, snapshot: &Snapshot) -> Option<(u64, u64)> {
        let span = self.clock();
        snapshot.read_at(span.addr).zip(bytes_read(snapshot, span).ok().map(Member::value))
    }

    fn entry(&self, head: &StatusHead, number: u32) -> Span {
        let at = self.queue.address + self.status.offset(head, number);
        Span { addr: self.queue.place.at(at), len: self.status.entry_bytes as u32 }
    }

    /// Reads the counts.
    fn report(&self, snapshot: &Snapshot) -> Result<StatusReport, ControlError> {
        let span = self.head();
        let head = self.status.head(bytes_read(snapshot, span)?).ok_or_else(|| {
            let why = format!("{} holds no status queue", span.addr);
            ControlError::Access { addr: span.addr, reason: AccessError::Unreachable(why) }
        })?;
        let StatusHead { capacity, write_count, read_count } = head;
        let lost = Member::value(bytes_read(snapshot, self.lost())?) as u32;
        let (queue, entries) = (*self.queue, Vec::new());
        Ok(StatusReport { queue, room: capacity, write_count, read_count, lost, entries })
    }

    /// Decodes an entry, whose time the target's own at a wall clock gives.
    fn decoded(
        &self,
        span: Span,
        snapshot: &Snapshot,
        time: Option<(u64, u64)>,
    ) -> Result<StatusEntry, ControlError> {
        let words = self.status.entry(bytes_read(snapshot, span)?);
        let words =
            words.ok_or_else(|| ControlError::Settings(format!("no entry at {}", span.addr)))?;
        let text = words.text(self.layout, self.queue.router.chip);
        let StatusWords {
            event,
            number,
            wall_clock_cycles,
            node,
            eth_channel,
            direction,
            detail,
            ..
        } = words;
        let ago = |clock: u64| clock.saturating_sub(wall_clock_cycles);
        Ok(StatusEntry {
            text,
            event: event.to_string(),
            number,
            wall_clock_cycles,
            cycles: time.map(|(now, clock)| now.saturating_sub(ago(clock))),
            mesh_id: node.mesh.into(),
            device_id: node.device.into(),
            eth_channel,
            direction,
            detail,
        })
    }
}
