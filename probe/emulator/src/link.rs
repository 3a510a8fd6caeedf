//! The Ethernet side of a tile: packets out of its transmit queues, packets in from the peer (wormhole.md 5.2).
//!
//! Everything sent earlier on a queue is visible at the peer before what was sent later: metal depends on it. Payload is
//! fetched when its packet's turn comes, so a source that is reused too early shows.

use crate::blocks::{Blocks, Special, Visitor};
use crate::condition::{Actor, Refusal, UNMAPPED};
use crate::eth::Eth;
use crate::event::{Event, LinkPacket, LinkPayload, What};
use crate::hart::{IRAM_BYTES, Order};
use crate::memory::TileMemory;
use crate::txq::{Command, Transfer};

/// Source number of events that come from the Ethernet peer: after all units of the chip.
const PEER: u32 = 1 << 16;

impl Blocks {
    fn eth(&mut self) -> Option<&mut Eth> {
        match &mut self.special {
            Special::Eth(eth) => Some(eth),
            Special::Tensix(_) => None,
        }
    }

    /// A transmit queue took a command.
    pub(crate) fn start_txq(&mut self, queue: usize, now: u64) {
        self.post(now + self.timing.txq_latch, What::TxqLatch { queue });
    }

    /// A transmit queue latches its command, or waits for room.
    pub(crate) fn txq_latch(&mut self, queue: usize, now: u64) {
        let limit = self.timing.txq_backlog;
        let fetch = self.timing.txq_fetch;
        let Some(eth) = self.eth() else { return };
        if eth.txq[queue].latch(limit) {
            self.changed = true;
            self.schedule_fetch(queue, now + fetch);
        }
    }

    /// Gives the queue's next packet its turn, not before `earliest`.
    fn schedule_fetch(&mut self, queue: usize, earliest: u64) {
        let Some(eth) = self.eth() else { return };
        let txq = &eth.txq[queue];
        if !txq.wants_line() || txq.fetching || !eth.sending() {
            return;
        }
        eth.txq[queue].fetching = true;
        let at = earliest.max(eth.line_free);
        self.post(at, What::TxqFetch { queue });
    }

    /// A packet's turn on the line has come: its payload is read now.
    pub(crate) fn txq_fetch(&mut self, queue: usize, now: u64, memory: &TileMemory) {
        let overhead = self.timing.packet_overhead;
        let Some(eth) = self.eth() else { return };
        eth.txq[queue].fetching = false;
        let Some(link) = eth.link.filter(|_| eth.sending()) else { return };
        // The other queue may have taken the line in this very cycle.
        if eth.line_free > now {
            return self.schedule_fetch(queue, now);
        }
        let Some(packet) = eth.txq[queue].next_packet() else { return };
        let wire = u64::from(packet.len) + overhead;
        eth.line_free = now + wire.saturating_mul(link.rate.1).div_ceil(link.rate.0.max(1));
        let (line_free, channel) = (eth.line_free, eth.channel);
        let wants_latch = eth.txq[queue].wants_latch();
        self.changed = true;
        match frame_body(&packet, memory) {
            Ok(Some(body)) => {
                self.seq += 1;
                let what = What::LinkPacket(Box::new(LinkPacket { queue, body }));
                let at = line_free.saturating_add(link.latency);
                let event = Event { at, source: PEER, seq: self.seq, what };
                self.out.frames.push((channel, event));
            }
            Ok(None) => {}
            Err(refusal) => {
                let source = u64::from(packet.source);
                self.report(now, Actor::Block("txq"), refusal.name, source);
            }
        }
        self.schedule_fetch(queue, line_free);
        if wants_latch {
            self.post(now + 1, What::TxqLatch { queue });
        }
    }

    /// The link came up, or the MAC was started again: what waited goes on.
    pub(crate) fn resume_link(&mut self, now: u64) {
        self.changed = true;
        let Some(eth) = self.eth() else { return };
        if eth.mac_stopped() {
            return;
        }
        for frame in std::mem::take(&mut eth.held) {
            self.post(now + 1, What::LinkPacket(Box::new(frame)));
        }
        for queue in 0..2 {
            self.schedule_fetch(queue, now + 1);
        }
    }

    /// A packet from the peer arrives.
    pub(crate) fn frame(
        &mut self,
        frame: LinkPacket,
        now: u64,
        memory: &mut TileMemory,
        orders: &mut Vec<Order>,
    ) -> Result<(), (Refusal, u64)> {
        self.changed = true;
        let Some(eth) = self.eth() else { return Ok(()) };
        if eth.mac_stopped() {
            eth.held.push(frame);
            return Ok(());
        }
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

    /// Firmware asked for its instruction RAM to be loaded from L1: 16 bytes a cycle.
    pub(crate) fn start_iram(&mut self, now: u64) {
        self.post(now + u64::from(IRAM_BYTES / 16), What::IramCopy);
    }

    /// The instruction RAM's new contents, if L1 has them.
    pub(crate) fn iram_bytes(&mut self, memory: &TileMemory) -> Option<Vec<u8>> {
        let from = self.eth()?.iram_source();
        memory.slice(from, IRAM_BYTES as usize).ok().map(<[u8]>::to_vec)
    }

    /// The load is over and has taken effect.
    pub(crate) fn finish_iram(&mut self) {
        self.changed = true;
        if let Some(eth) = self.eth() {
            eth.finish_iram();
        }
    }
}

/// What a transfer puts on the wire; nothing for a flush.
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
