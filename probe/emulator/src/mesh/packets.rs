//! The packets of the Ethernet links, as someone sees them who looks.

use crate::noc::event::{Event, EventKind, LinkPayload};

/// A packet of an Ethernet link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EthPacket {
    /// Chip and Ethernet channel that send it.
    pub from: (usize, u8),
    /// Those that receive it.
    pub to: (usize, u8),
    /// The transmit queue, 0 or 1.
    pub queue: usize,
    /// The cycle at which the queue begins to send it.
    pub sent: u64,
    /// The cycle at which it arrives whole.
    pub arrives: u64,
    /// Bytes of its payload.
    pub len: u32,
    /// What it is.
    pub kind: EthPacketKind,
}

/// What an Ethernet packet does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EthPacketKind {
    /// It writes bytes to L1 from this address on.
    Write(u32),
    /// It writes a word to this register.
    Register(u32),
    /// It has no destination.
    Raw,
}

impl EthPacket {
    /// Returns the packet of an event that one end of a link posts to the other.
    pub(crate) fn of(from: (usize, u8), to: (usize, u8), event: &Event) -> Option<Self> {
        let EventKind::LinkPacket(packet) = &event.kind else { return None };
        let (kind, len) = match &packet.body {
            LinkPayload::Write { addr, data } => (EthPacketKind::Write(*addr), data.len()),
            LinkPayload::Register { addr, .. } => (EthPacketKind::Register(*addr), 4),
            LinkPayload::Raw { data } => (EthPacketKind::Raw, data.len()),
        };
        let (queue, sent, arrives) = (packet.queue, packet.sent, event.at);
        Some(Self { from, to, queue, sent, arrives, len: len as u32, kind })
    }
}
