//! The Ethernet side of a tile: packets out of its transmit queues, packets in from the peer
//! (wormhole.md 5.2).
//!
//! Packets of one queue become visible at the peer in the order they were sent; tt-metal depends on
//! it. The payload is fetched at the packet's turn, so a source buffer that is reused too early has
//! its effect.

use super::mix;
use crate::condition::{Actor, Refusal, UNMAPPED};
use crate::devices::blocks::{Blocks, ETH, Special, Visitor};
use crate::devices::eth::{Eth, LinkEnd};
use crate::devices::txq::{Command, Transfer};
use crate::disruption::TERABIT;
use crate::hart::{Devices, HartOrder, IRAM_BYTES};
use crate::memory::TileMemory;
use crate::noc::event::{Event, EventKind, LinkPacket, LinkPayload};

/// Source number of events from the Ethernet peer: after all units of the chip.
const PEER: u32 = 1 << 16;
/// Maximum payload in bytes of a packet that a slow acknowledge delays: one Ethernet word.
const SMALL_PAYLOAD: u32 = 16;
/// Maximum number of resends of a packet, so that a run with extreme noise still terminates.
const MOST_RESENDS: u32 = 255;

impl Blocks {
    fn eth(&mut self) -> Option<&mut Eth> {
        match &mut self.special {
            Special::Eth(eth) => Some(eth),
            Special::Tensix(_) => None,
        }
    }

    /// Starts a command in a transmit queue.
    pub(crate) fn start_txq(&mut self, queue: usize, now: u64) {
        self.post(now + self.timing.txq_latch, EventKind::TxqLatch { queue });
    }

    /// Latches the command of a transmit queue, or leaves it waiting for room.
    pub(crate) fn txq_latch(&mut self, queue: usize, now: u64) {
        let limit = self.timing.txq_backlog;
        let fetch = self.timing.txq_fetch;
        let Some(eth) = self.eth() else { return };
        if eth.txq[queue].latch(limit) {
            self.changed |= ETH;
            self.schedule_fetch(queue, now + fetch);
        }
    }

    /// Schedules the fetch of the queue's next packet, not before `earliest`.
    fn schedule_fetch(&mut self, queue: usize, earliest: u64) {
        let Some(eth) = self.eth() else { return };
        let txq = &eth.txq[queue];
        if !txq.packet_pending() || txq.fetching || !eth.sending() {
            return;
        }
        eth.txq[queue].fetching = true;
        let at = earliest.max(eth.line_free);
        self.post(at, EventKind::TxqFetch { queue });
    }

    /// Reads the payload of the queue's next packet and sends it.
    pub(crate) fn txq_fetch(&mut self, queue: usize, now: u64, memory: &TileMemory) {
        let overhead = self.timing.packet_overhead;
        let Some(eth) = self.eth() else { return };
        eth.txq[queue].fetching = false;
        let Some(link) = eth.link.filter(|_| eth.sending()) else { return };
        // The other queue may have taken the line in this cycle.
        if eth.line_free > now {
            return self.schedule_fetch(queue, now);
        }
        let Some(packet) = eth.txq[queue].next_packet() else { return };
        let bytes = u64::from(packet.len) + overhead;
        let corrupt = eth.draw_corruptions(&link, 8 * bytes);
        eth.txq[queue].resent(corrupt);
        let at = eth.send(&link, queue, &packet, now, bytes, corrupt);
        let (line_free, channel) = (eth.line_free, eth.channel);
        let latch_pending = eth.txq[queue].latch_pending();
        self.changed |= ETH;
        match frame_body(&packet, memory) {
            Ok(Some(body)) => {
                self.seq += 1;
                let kind =
                    EventKind::LinkPacket(Box::new(LinkPacket { queue, sent: now, corrupt, body }));
                let event = Event { at, source: PEER, seq: self.seq, kind };
                self.out.frames.push((channel, event));
            }
            Ok(None) => {}
            Err(refusal) => {
                let source = u64::from(packet.source);
                self.report(now, Actor::Block("txq"), refusal.name, source);
            }
        }
        self.schedule_fetch(queue, line_free);
        if latch_pending {
            self.post(now + 1, EventKind::TxqLatch { queue });
        }
    }

    /// Resumes waiting packets after the link came up or the MAC started again.
    pub(crate) fn resume_link(&mut self, now: u64) {
        self.changed |= ETH;
        let Some(eth) = self.eth() else { return };
        if eth.mac_stopped() {
            return;
        }
        for frame in std::mem::take(&mut eth.held) {
            self.post(now + 1, EventKind::LinkPacket(Box::new(frame)));
        }
        for queue in 0..2 {
            self.schedule_fetch(queue, now + 1);
        }
    }

    /// Receives a packet from the peer.
    pub(crate) fn frame(
        &mut self,
        frame: LinkPacket,
        now: u64,
        memory: &mut TileMemory,
        orders: &mut Vec<HartOrder>,
    ) -> Result<(), (Refusal, u64)> {
        self.changed |= ETH;
        let Some(eth) = self.eth() else { return Ok(()) };
        if eth.mac_stopped() {
            eth.held.push(frame);
            return Ok(());
        }
        eth.corrupt = eth.corrupt.wrapping_add(frame.corrupt);
        let rxq = &mut eth.rxq[frame.queue];
        let raw = matches!(frame.body, LinkPayload::Raw { .. });
        if rxq.tt_link() == raw {
            rxq.drop_packet();
            return Ok(());
        }
        match frame.body {
            LinkPayload::Write { addr, data } => {
                rxq.received(data.len());
                memory.write(addr, &data).map_err(|_| (UNMAPPED, u64::from(addr)))
            }
            LinkPayload::Register { addr, value } => {
                rxq.received(4);
                self.changed |= Self::device(addr);
                self.write_register(Visitor::Outside, addr, value, now, orders)
                    .map(|_| ())
                    .map_err(|refusal| (refusal, u64::from(addr)))
            }
            LinkPayload::Raw { data } => {
                rxq.received(data.len());
                let [pointer, start, size] = rxq.buffer;
                let addr = start.wrapping_add(pointer % size.max(1)).wrapping_mul(16);
                rxq.buffer[0] = pointer.wrapping_add(data.len().div_ceil(16) as u32) % size.max(1);
                memory.write(addr, &data).map_err(|_| (UNMAPPED, u64::from(addr)))
            }
        }
    }

    /// Starts a load of instruction RAM from L1, as firmware requested: 16 bytes per cycle.
    pub(crate) fn start_iram(&mut self, now: u64) {
        self.post(now + u64::from(IRAM_BYTES / 16), EventKind::IramCopy);
    }

    /// Returns the new contents of the instruction RAM, if the source is in L1.
    pub(crate) fn iram_bytes(&mut self, memory: &TileMemory) -> Option<Vec<u8>> {
        let from = self.eth()?.iram_source();
        memory.slice(from, IRAM_BYTES as usize).ok().map(<[u8]>::to_vec)
    }

    /// Ends the load after it has taken effect.
    pub(crate) fn finish_iram(&mut self) {
        self.changed |= ETH;
        if let Some(eth) = self.eth() {
            eth.finish_iram();
        }
    }
}

impl Eth {
    /// Draws how often a packet of this many bits arrives corrupt before it arrives intact. The
    /// result depends on the seed, the end, and the number of packets that the end sent before.
    fn draw_corruptions(&mut self, link: &LinkEnd, bits: u64) -> u32 {
        if link.per_terabit == 0 {
            return 0;
        }
        let whole = chance_of_no_error(link.per_terabit, bits);
        let mut corrupt = 0;
        loop {
            self.drawn += 1;
            if mix(link.noise, self.drawn) <= whole || corrupt == MOST_RESENDS {
                return corrupt;
            }
            corrupt += 1;
        }
    }

    /// Puts a packet on the line and returns its arrival cycle. Each corrupt copy costs a round
    /// trip before the packet is sent again.
    fn send(
        &mut self,
        link: &LinkEnd,
        queue: usize,
        packet: &Transfer,
        now: u64,
        bytes: u64,
        corrupt: u32,
    ) -> u64 {
        let once = bytes.saturating_mul(link.rate.1).div_ceil(link.rate.0.max(1));
        let resends = u64::from(corrupt).saturating_mul(once.saturating_add(2 * link.latency));
        self.line_free = now.saturating_add(once).saturating_add(resends);
        let delay = if packet.len <= SMALL_PAYLOAD { link.ack_delay } else { 0 };
        let at = self.line_free.saturating_add(link.latency).saturating_add(delay);
        // Packets of one queue arrive in the order they were sent.
        let at = at.max(self.arrives[queue]);
        self.arrives[queue] = at;
        at
    }
}

/// Returns the chance, in 2^-64, that all bits of a packet arrive intact. Integer squaring makes it
/// independent of the host's floating-point arithmetic.
fn chance_of_no_error(per_terabit: u64, bits: u64) -> u64 {
    let wrong = (u128::from(per_terabit.min(TERABIT)) << 64) / u128::from(TERABIT);
    let mut power = u64::try_from((1u128 << 64) - wrong).unwrap_or(u64::MAX);
    let (mut all, mut left) = (u64::MAX, bits);
    let product = |a: u64, b: u64| ((u128::from(a) * u128::from(b)) >> 64) as u64;
    while left > 0 {
        if left & 1 == 1 {
            all = product(all, power);
        }
        power = product(power, power);
        left >>= 1;
    }
    all
}

/// Returns the payload that a transfer puts on the wire; `None` for a flush.
fn frame_body(packet: &Transfer, memory: &TileMemory) -> Result<Option<LinkPayload>, Refusal> {
    let payload = || {
        memory.slice(packet.source, packet.len as usize).map(<[u8]>::to_vec).map_err(|_| UNMAPPED)
    };
    Ok(match packet.command {
        Command::Write => Some(LinkPayload::Write { addr: packet.dest, data: payload()? }),
        Command::Raw => Some(LinkPayload::Raw { data: payload()? }),
        Command::Register => Some(LinkPayload::Register { addr: packet.dest, value: packet.value }),
        Command::Flush => None,
    })
}
