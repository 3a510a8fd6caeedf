//! What happens between and inside tiles at a known cycle, in an order that no schedule can change.

use crate::condition::Condition;
use crate::grid::Xy;
use crate::request::Request;
use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::sync::Arc;

/// A NoC packet on its way.
#[derive(Clone, Debug)]
pub(crate) struct Packet {
    pub(crate) noc: usize,
    /// The tile whose NIU sent it, NOC 0 coordinates.
    pub(crate) from: Xy,
    /// The tile it goes to.
    pub(crate) to: Xy,
    /// Sent to a rectangle: tiles that opted out let it pass.
    pub(crate) multicast: bool,
    pub(crate) body: Body,
}

/// What a packet carries.
#[derive(Clone, Debug)]
pub(crate) enum Body {
    /// A write of bytes; `mask` picks bytes of the 32 from the 16-byte unit `addr` lies in.
    Write { addr: u64, data: Arc<[u8]>, mask: Option<u32>, ack: Option<Xy>, id: u8 },
    /// A write of one word.
    Inline { addr: u64, value: u32, mask: u32, ack: Option<Xy>, id: u8 },
    /// A read request; the data go to `to_addr` of tile `to`.
    Read { addr: u64, len: u32, to: Xy, to_addr: u64, id: u8 },
    /// An atomic; the old value goes to `to_addr` of `to`, if wanted.
    Atomic { addr: u64, opcode: u32, operand: u32, answer: Option<(Xy, u64)>, id: u8 },
    /// Data of a read.
    ReadData { addr: u64, data: Vec<u8>, id: u8 },
    /// Acknowledgement of a write.
    Ack { id: u8 },
    /// Old value of an atomic.
    AtomicResult { addr: u64, value: u32, id: u8 },
}

impl Body {
    /// Does it ask for a register of a Tensix or Ethernet tile's NIU?
    pub(crate) fn is_for_niu(&self) -> bool {
        match self {
            Self::Write { addr, .. } | Self::Inline { addr, .. } | Self::Read { addr, .. } => {
                matches!(*addr as u32, 0xFFB2_0000..0xFFB4_0000)
            }
            _ => false,
        }
    }
}

/// A packet on an Ethernet link.
#[derive(Clone, Debug)]
pub(crate) struct LinkPacket {
    /// Queue it was sent from, 0 or 1.
    pub(crate) queue: usize,
    /// How often it arrived broken before.
    pub(crate) broken: u32,
    pub(crate) body: LinkPayload,
}

/// What an Ethernet packet carries.
#[derive(Clone, Debug)]
pub(crate) enum LinkPayload {
    /// Bytes for an L1 address of the peer.
    Write { addr: u32, data: Vec<u8> },
    /// A word for a register of the peer.
    Register { addr: u32, value: u32 },
    /// Bytes without a destination; received only by a queue in raw mode.
    Raw { data: Vec<u8> },
}

/// What an event is about.
#[derive(Clone, Debug)]
pub(crate) enum What {
    /// The NIU assigns a virtual channel to a started command buffer.
    Begin { noc: usize, buf: usize },
    /// The last flit of a bulk write leaves: its data are read now.
    Leave { noc: usize, request: Box<Request> },
    /// A packet arrives.
    Packet(Box<Packet>),
    /// A transmit queue latched a command.
    TxqLatch { queue: usize },
    /// A transmit queue fetches the payload of its next packet.
    TxqFetch { queue: usize },
    /// A packet from the Ethernet peer arrives.
    LinkPacket(Box<LinkPacket>),
    /// The mover's copy is carried out.
    MoverCopy,
    /// The mover shows that it is done; what it did to instruction RAM has taken effect.
    MoverDone,
    /// The instruction RAM of an ERISC is loaded.
    IramCopy,
    /// Its register shows that; the load has taken effect.
    IramDone,
    /// ARC firmware answers a message.
    ArcMessage,
}

/// Something at a cycle. Equal cycles are ordered by sender and the sender's own count.
#[derive(Clone, Debug)]
pub(crate) struct Event {
    pub(crate) at: u64,
    pub(crate) source: u32,
    pub(crate) seq: u64,
    pub(crate) what: What,
}

impl Event {
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
    // The heap gives its greatest first, and the earliest event must be that.
    fn cmp(&self, other: &Self) -> Ordering {
        other.key().cmp(&self.key())
    }
}

/// The events of one unit, earliest first.
#[derive(Clone, Debug, Default)]
pub(crate) struct Queue(BinaryHeap<Event>);

impl Queue {
    /// Cycle of the earliest event, `u64::MAX` if there is none.
    pub(crate) fn next_at(&self) -> u64 {
        self.0.peek().map_or(u64::MAX, |event| event.at)
    }

    /// Adds an event.
    pub(crate) fn post(&mut self, event: Event) {
        self.0.push(event);
    }

    /// Takes the earliest event if it is due before this cycle.
    pub(crate) fn take_before(&mut self, cycle: u64) -> Option<Event> {
        if self.next_at() < cycle { self.0.pop() } else { None }
    }
}

/// What a unit sends to others, and what it has to report.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outbox {
    /// Packets with the unit they go to, known by its tile.
    pub(crate) packets: Vec<(Xy, Event)>,
    /// Frames with the Ethernet channel they leave by.
    pub(crate) frames: Vec<(u8, Event)>,
    pub(crate) conditions: Vec<Condition>,
    /// Cycle at which the earliest packet in here arrives.
    pub(crate) first_arrival: Option<u64>,
}
