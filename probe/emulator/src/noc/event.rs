//! Events between and inside tiles, each at a known cycle, in an order that is independent of
//! scheduling.

use super::grid::Xy;
use super::request::NocRequest;
use crate::condition::Condition;
use crate::heap::{allocation, of_arc, of_box, of_vec};
use crate::watch::{NocWrite, Writer};
use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::ops::Range;
use std::sync::Arc;

/// A NoC packet in flight.
#[derive(Clone, Debug)]
pub(crate) struct NocPacket {
    pub(crate) noc: usize,
    /// The tile whose NIU sent it, in NOC 0 coordinates.
    pub(crate) from: Xy,
    /// The target tile.
    pub(crate) to: Xy,
    /// Sent to a rectangle: tiles that opted out ignore it.
    pub(crate) multicast: bool,
    pub(crate) body: Body,
}

/// The contents of a packet.
#[derive(Clone, Debug)]
pub(crate) enum Body {
    /// A write of bytes; `mask` selects among the 32 bytes from the 16-byte unit that contains
    /// `addr`.
    Write { addr: u64, data: Arc<[u8]>, mask: Option<u32>, ack: Option<Xy>, id: u8 },
    /// A write of one word.
    Inline { addr: u64, value: u32, mask: u32, ack: Option<Xy>, id: u8 },
    /// A read request; the data go to `to_addr` of tile `to`.
    Read { addr: u64, len: u32, to: Xy, to_addr: u64, id: u8 },
    /// An atomic operation; the old value goes to the address in `answer`, if any.
    Atomic { addr: u64, opcode: u32, operand: u32, answer: Option<(Xy, u64)>, id: u8 },
    /// Data of a read.
    ReadData { addr: u64, data: Vec<u8>, id: u8 },
    /// Acknowledgement of a write.
    Ack { id: u8 },
    /// Old value of an atomic operation.
    AtomicResult { addr: u64, value: u32, id: u8 },
}

impl Body {
    fn bytes(&self) -> usize {
        match self {
            Self::Write { data, .. } => of_arc(data),
            Self::ReadData { data, .. } => of_vec(data),
            _ => 0,
        }
    }

    /// Whether it accesses a register of the NIU of a Tensix or Ethernet tile.
    pub(crate) fn is_for_niu(&self) -> bool {
        self.is_in(&(0xFFB2_0000..0xFFB4_0000))
    }

    /// Whether it accesses a register that shows the harts of a Tensix or Ethernet tile.
    pub(crate) fn is_for_debug(&self) -> bool {
        self.is_in(&(0xFFB1_2000..0xFFB1_3000))
    }

    fn is_in(&self, registers: &Range<u32>) -> bool {
        match self {
            Self::Write { addr, .. } | Self::Inline { addr, .. } | Self::Read { addr, .. } => {
                registers.contains(&(*addr as u32))
            }
            _ => false,
        }
    }
}

impl NocPacket {
    /// Returns the packet as the writer of what it writes.
    pub(crate) fn writer(&self) -> Writer {
        let packet = match self.body {
            Body::Inline { .. } => NocWrite::Inline,
            Body::Atomic { .. } => NocWrite::Atomic,
            Body::ReadData { .. } => NocWrite::ReadAnswer,
            Body::AtomicResult { .. } => NocWrite::AtomicAnswer,
            Body::Write { .. } | Body::Read { .. } | Body::Ack { .. } => NocWrite::Write,
        };
        Writer::Noc { from: self.from, noc: self.noc as u8, packet }
    }
}

/// A packet on an Ethernet link.
#[derive(Clone, Debug)]
pub(crate) struct LinkPacket {
    /// The sending queue, 0 or 1.
    pub(crate) queue: usize,
    /// The cycle at which the queue began to send it.
    pub(crate) sent: u64,
    /// How often it arrived corrupt before.
    pub(crate) corrupt: u32,
    pub(crate) body: LinkPayload,
}

/// The contents of an Ethernet packet.
#[derive(Clone, Debug)]
pub(crate) enum LinkPayload {
    /// Bytes for an L1 address of the peer.
    Write { addr: u32, data: Vec<u8> },
    /// A word for a register of the peer.
    Register { addr: u32, value: u32 },
    /// Bytes without a destination; received only by a queue in raw mode.
    Raw { data: Vec<u8> },
}

impl LinkPayload {
    fn bytes(&self) -> usize {
        match self {
            Self::Write { data, .. } | Self::Raw { data } => of_vec(data),
            Self::Register { .. } => 0,
        }
    }
}

/// The kind of an event.
#[derive(Clone, Debug)]
pub(crate) enum EventKind {
    /// The NIU assigns a virtual channel to a started command buffer.
    Begin { noc: usize, buf: usize },
    /// The last flit of a bulk write leaves; its data are read now.
    Leave { noc: usize, request: Box<NocRequest> },
    /// A packet arrives.
    Packet(Box<NocPacket>),
    /// A transmit queue latched a command.
    TxqLatch { queue: usize },
    /// A transmit queue fetches the payload of its next packet.
    TxqFetch { queue: usize },
    /// A packet from the Ethernet peer arrives.
    LinkPacket(Box<LinkPacket>),
    /// The mover copies.
    MoverCopy,
    /// The mover reports completion; its writes to instruction RAM have taken effect.
    MoverDone,
    /// The instruction RAM of an ERISC is loaded.
    IramCopy,
    /// The load's register reports completion; the load has taken effect.
    IramDone,
    /// ARC firmware answers a message.
    ArcMessage,
}

impl EventKind {
    /// Returns who writes to L1 in the event, if it can.
    pub(crate) fn writer(&self) -> Option<Writer> {
        match self {
            Self::Packet(packet) => Some(packet.writer()),
            Self::LinkPacket(_) => Some(Writer::Link { peer: None }),
            Self::MoverCopy => Some(Writer::Mover),
            _ => None,
        }
    }
}

/// An event at a cycle. Events at equal cycles are ordered by sender and the sender's own count.
#[derive(Clone, Debug)]
pub(crate) struct Event {
    pub(crate) at: u64,
    pub(crate) source: u32,
    pub(crate) seq: u64,
    pub(crate) kind: EventKind,
}

impl Event {
    /// Returns the memory of what it holds in bytes.
    fn bytes(&self) -> usize {
        match &self.kind {
            EventKind::Leave { request, .. } => of_box(&**request),
            EventKind::Packet(packet) => of_box(&**packet) + packet.body.bytes(),
            EventKind::LinkPacket(packet) => of_box(&**packet) + packet.body.bytes(),
            _ => 0,
        }
    }

    fn key(&self) -> (u64, u32, u64) {
        (self.at, self.source, self.seq)
    }
}

impl PartialEq for Event {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Event {}

impl PartialOrd for Event {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Event {
    // The heap pops its greatest element first, so the earliest event is the greatest.
    fn cmp(&self, other: &Self) -> Ordering {
        other.key().cmp(&self.key())
    }
}

/// The events of one unit, earliest first.
#[derive(Clone, Debug, Default)]
pub(crate) struct Queue(BinaryHeap<Event>);

impl Queue {
    /// Returns the cycle of the earliest event, `u64::MAX` if there is none.
    pub(crate) fn next_at(&self) -> u64 {
        self.0.peek().map_or(u64::MAX, |event| event.at)
    }

    /// Adds an event.
    pub(crate) fn post(&mut self, event: Event) {
        self.0.push(event);
    }

    /// Whether there are no events.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the approximate memory in bytes; packets may share what they carry.
    pub(crate) fn bytes(&self) -> usize {
        let own: usize = self.0.iter().map(Event::bytes).sum();
        own + allocation(self.0.capacity() * size_of::<Event>())
    }

    /// Returns the events, earliest first.
    pub(crate) fn sorted(&self) -> Vec<&Event> {
        let mut events: Vec<&Event> = self.0.iter().collect();
        events.sort_by_key(|event| event.key());
        events
    }

    /// Takes the earliest event if it is due before this cycle.
    pub(crate) fn take_before(&mut self, cycle: u64) -> Option<Event> {
        if self.next_at() < cycle { self.0.pop() } else { None }
    }
}

/// What a unit sends to others, and the conditions it reports.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outbox {
    /// Packets, each with the tile of the target unit.
    pub(crate) packets: Vec<(Xy, Event)>,
    /// Frames, each with the Ethernet channel it leaves by.
    pub(crate) frames: Vec<(u8, Event)>,
    pub(crate) conditions: Vec<Condition>,
    /// Arrival cycle of the earliest packet in `packets`.
    pub(crate) first_arrival: Option<u64>,
}

impl Outbox {
    /// Returns the memory in bytes.
    pub(crate) fn bytes(&self) -> usize {
        let packets = self.packets.iter().map(|(_, event)| event);
        let events = packets.chain(self.frames.iter().map(|(_, event)| event));
        let own: usize = events.map(Event::bytes).sum();
        own + of_vec(&self.packets) + of_vec(&self.frames) + of_vec(&self.conditions)
    }

    /// Whether there is nothing in it.
    pub(crate) fn is_empty(&self) -> bool {
        let Self { packets, frames, conditions, first_arrival } = self;
        packets.is_empty() && frames.is_empty() && conditions.is_empty() && first_arrival.is_none()
    }
}
