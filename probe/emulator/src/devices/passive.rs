//! Tiles without cores that software can reach: DRAM ports, ARC, the PCIe endpoint, and bare
//! routers.
//!
//! They answer requests and never send any.

use super::arc::{APB, Arc as ArcTile, NIUS};
use super::dram::{CHANNEL_BYTES, Dram};
use super::endpoint::Endpoint;
use crate::condition::{Actor, Condition, NOT_MODELLED, REGISTER_WIDTH, Refusal, UNMAPPED};
use crate::noc::event::{Body, Event, EventKind, NocPacket, Outbox, Queue};
use crate::noc::grid::{self, Xy};
use crate::noc::niu::{Niu, counter as c};
use crate::noc::request::data_flits;
use crate::timing::Timing;
use std::sync::Arc;

/// NIU registers of a tile without cores; the upper half of the low word selects the NoC
/// (wormhole.md 3.3).
const NIU_SPACE: u64 = 0xF_0000_0000;
/// Copies of the NIUs of all ports in a DRAM channel's APB space.
const DRAM_NIU_COPIES: u64 = 0x1_0008_0000;
const DRAM_NIU_COPIES_END: u64 = 0x1_000B_0000;
/// The ARC tile's view of its own 32-bit space.
pub(crate) const ARC_XBAR: u64 = 0x8_0000_0000;
const ARC_XBAR_END: u64 = 0x9_0000_0000;
/// Registers of one NIU.
const NIU_BYTES: u32 = 0x1000;
/// The PCIe tile's window to the host.
const HOST: u64 = 0x8_0000_0000;
const HOST_END: u64 = 0x9_0000_0000;

/// The device behind the NIUs.
#[derive(Clone, Debug)]
pub(crate) enum Backend {
    Dram(Dram),
    Arc(Box<ArcTile>),
    Pcie(Box<Endpoint>),
    Router,
}

/// A unit without cores. A DRAM channel is one unit with three ports, so that its memory sees a
/// single order of accesses.
#[derive(Clone, Debug)]
pub(crate) struct Passive {
    pub(crate) chip: usize,
    pub(crate) unit: u32,
    pub(crate) timing: Arc<Timing>,
    /// NIUs of each port, NOC 0 and NOC 1.
    pub(crate) ports: Vec<[Niu; 2]>,
    pub(crate) backend: Backend,
    pub(crate) events: Queue,
    pub(crate) out: Outbox,
    pub(crate) seq: u64,
    pub(crate) hung: bool,
}

impl Passive {
    /// Returns the port at a grid place; the first port if the unit has none there.
    pub(crate) fn port_at(&self, at: Xy) -> usize {
        self.ports.iter().position(|port| port[0].at == at).unwrap_or(0)
    }

    /// Runs the unit up to `until`.
    pub(crate) fn run(&mut self, until: u64) {
        while let Some(event) = self.events.take_before(until) {
            match event.kind {
                EventKind::Packet(packet) => self.receive(&packet, event.at),
                EventKind::ArcMessage => {
                    if let Backend::Arc(arc) = &mut self.backend {
                        arc.answer();
                    }
                }
                _ => {}
            }
        }
    }

    fn receive(&mut self, packet: &NocPacket, now: u64) {
        let port = self.port_at(packet.to);
        let niu = &mut self.ports[port][packet.noc];
        if packet.multicast && !niu.takes_multicast() {
            return;
        }
        niu.count(c::REQUESTS_ACCEPTED, 1);
        if let Backend::Dram(Dram { write_watch: Some(watch), .. }) = &mut self.backend {
            watch.writer(now, packet.writer());
        }
        if let Err((refusal, addr)) = self.serve(port, packet, now) {
            let (x, y) = packet.from;
            self.refuse(now, port, Actor::Noc { x, y }, refusal, addr);
        }
    }

    fn serve(&mut self, port: usize, packet: &NocPacket, now: u64) -> Result<(), (Refusal, u64)> {
        if self.hung {
            return Err((Refusal::refused("tile-hung"), 0));
        }
        let noc = packet.noc;
        let niu = &mut self.ports[port][noc];
        let latency = match self.backend {
            Backend::Dram(_) => self.timing.dram_access,
            _ => self.timing.l1_access,
        };
        match &packet.body {
            Body::Read { addr, len, to, to_addr, id } => {
                niu.count(c::READS_RECEIVED, 1);
                niu.count(c::READ_RESPONSES_SENT, 1);
                niu.count(c::READ_WORDS_SENT, data_flits(*len) as u32);
                let dram = matches!(self.backend, Backend::Dram(_)) && *addr < CHANNEL_BYTES;
                if dram && (addr ^ to_addr) & 31 != 0 {
                    return Err((Refusal::refused("dram-read-alignment"), *addr));
                }
                let mut data = vec![0; *len as usize];
                self.read(port, noc, *addr, &mut data, now).map_err(|r| (r, *addr))?;
                let body = Body::ReadData { addr: *to_addr, data, id: *id };
                self.answer(port, noc, now + latency, 1 + data_flits(*len), *to, body);
            }
            Body::Write { addr, data, mask, ack, id } => {
                self.count_write(port, noc, ack.is_some(), data_flits(data.len() as u32) as u32);
                if mask.is_some() {
                    return Err((Refusal::refused("byte-enable-write-not-modelled"), *addr));
                }
                self.write(port, noc, *addr, data, now).map_err(|r| (r, *addr))?;
                self.acknowledge(port, noc, *ack, *id, now + latency);
            }
            Body::Inline { addr, value, ack, id, .. } => {
                self.count_write(port, noc, ack.is_some(), 1);
                let bytes = value.to_le_bytes();
                self.write(port, noc, *addr, &bytes, now).map_err(|r| (r, *addr))?;
                self.acknowledge(port, noc, *ack, *id, now + latency);
            }
            Body::Atomic { addr, .. } => {
                return Err((Refusal::hang("atomic-outside-l1"), *addr));
            }
            Body::ReadData { .. } | Body::Ack { .. } | Body::AtomicResult { .. } => {}
        }
        Ok(())
    }

    fn count_write(&mut self, port: usize, noc: usize, marked: bool, words: u32) {
        let posted = usize::from(!marked);
        let niu = &mut self.ports[port][noc];
        niu.count(c::WRITES_RECEIVED_STARTED + posted, 1);
        niu.count(c::WRITES_RECEIVED + posted, 1);
        niu.count(c::WRITE_WORDS_RECEIVED + posted, words);
        niu.count(c::WRITE_ACKS_SENT, u32::from(marked));
    }

    fn acknowledge(&mut self, port: usize, noc: usize, ack: Option<Xy>, id: u8, ready: u64) {
        // A hardware bug (wormhole.md 3.3): acknowledgements from PCIe and ARC carry transaction id
        // 0.
        let keeps_id = matches!(self.backend, Backend::Dram(_));
        if let Some(to) = ack {
            let id = if keeps_id { id } else { 0 };
            self.answer(port, noc, ready, 1, to, Body::Ack { id });
        }
    }

    fn answer(&mut self, port: usize, noc: usize, ready: u64, flits: u64, to: Xy, body: Body) {
        if !grid::on_grid(to) {
            return self.report(ready, port, Actor::Block("niu"), "no-such-tile", 0);
        }
        let niu = &mut self.ports[port][noc];
        let leaves = ready.max(niu.answer_free) + flits;
        niu.answer_free = leaves;
        let from = niu.at;
        let latency = 2 * self.timing.niu_router + self.timing.noc_hop * grid::hops(noc, from, to);
        let packet = Box::new(NocPacket { noc, from, to, multicast: false, body });
        self.seq += 1;
        let at = leaves + latency;
        let event = Event { at, source: self.unit, seq: self.seq, kind: EventKind::Packet(packet) };
        self.out.packets.push((to, event));
    }

    fn report(&mut self, cycle: u64, port: usize, actor: Actor, name: &'static str, addr: u64) {
        let tile = self.ports.get(port).map(|port| port[0].at);
        let detail = String::new();
        self.out.conditions.push(Condition {
            cycle,
            chip: self.chip,
            tile,
            actor,
            name,
            addr,
            detail,
        });
    }

    /// Records a refusal. A hang disables the tile.
    pub(crate) fn refuse(
        &mut self,
        now: u64,
        port: usize,
        actor: Actor,
        refusal: Refusal,
        addr: u64,
    ) {
        self.hung |= refusal.hangs;
        self.report(now, port, actor, refusal.name, addr);
    }

    /// Returns the NIU register that an address names, if any: port, NoC and offset.
    fn niu_register(&self, port: usize, noc: usize, addr: u64) -> Option<(usize, usize, u32)> {
        match addr {
            NIU_SPACE.. => {
                // Over NoC 1 both views are in use: 0xFFB3 by the documentation, 0xFFB2 by UMD and
                // exalens.
                let page = addr as u32 & 0xFFFF_0000;
                let seen = page == 0xFFB2_0000 || (page == 0xFFB3_0000 && noc == 1);
                seen.then_some((port, noc, addr as u32 & 0xFFFF))
            }
            DRAM_NIU_COPIES..DRAM_NIU_COPIES_END => {
                let copy = addr - DRAM_NIU_COPIES;
                let (port, noc) = ((copy >> 16) as usize, (copy >> 15 & 1) as usize);
                let dram = matches!(self.backend, Backend::Dram(_));
                dram.then_some((port, noc, copy as u32 & 0x7FFF))
            }
            // The ARC also has its NIUs among its peripherals.
            ARC_XBAR..ARC_XBAR_END if matches!(self.backend, Backend::Arc(_)) => {
                let offset = |base: u32| (addr as u32).wrapping_sub(APB + base);
                let noc = NIUS.iter().position(|base| offset(*base) < NIU_BYTES)?;
                Some((port, noc, offset(NIUS[noc])))
            }
            _ => None,
        }
    }

    /// Reads for the NoC and the host's windows.
    pub(crate) fn read(
        &mut self,
        port: usize,
        noc: usize,
        addr: u64,
        out: &mut [u8],
        now: u64,
    ) -> Result<(), Refusal> {
        if let Some((port, noc, offset)) = self.niu_register(port, noc, addr) {
            if out.len() != 4 || offset & 3 != 0 {
                return Err(REGISTER_WIDTH);
            }
            let niu = self.ports.get(port).ok_or(UNMAPPED)?;
            out.copy_from_slice(&niu[noc].read(offset)?.to_le_bytes());
            return Ok(());
        }
        match &mut self.backend {
            Backend::Dram(dram) if addr < CHANNEL_BYTES => dram.read(addr, out),
            Backend::Dram(_) if (0x1_0000_0000..0x1_0010_0000).contains(&addr) => {
                Err(Refusal::hang("gddr-controller"))
            }
            Backend::Arc(arc) if (ARC_XBAR..ARC_XBAR_END).contains(&addr) => {
                arc.read(addr as u32, out, now)
            }
            Backend::Pcie(endpoint) if (HOST..HOST_END).contains(&addr) => {
                endpoint.read_host(addr - HOST, out)
            }
            _ => Err(UNMAPPED),
        }
    }

    /// Writes for the NoC and the host's windows.
    pub(crate) fn write(
        &mut self,
        port: usize,
        noc: usize,
        addr: u64,
        data: &[u8],
        now: u64,
    ) -> Result<(), Refusal> {
        if let Some((port, noc, offset)) = self.niu_register(port, noc, addr) {
            let word = <[u8; 4]>::try_from(data).map_err(|_| REGISTER_WIDTH)?;
            let niu = self.ports.get_mut(port).ok_or(UNMAPPED)?;
            return niu[noc].write(offset, u32::from_le_bytes(word)).map(|_| ());
        }
        match &mut self.backend {
            Backend::Dram(dram) if addr < CHANNEL_BYTES => dram.write(addr, data),
            Backend::Dram(_) if (0x1_0000_0000..0x1_0010_0000).contains(&addr) => {
                Err(Refusal::hang("gddr-controller"))
            }
            Backend::Arc(_) if (ARC_XBAR..ARC_XBAR_END).contains(&addr) => {
                self.write_arc(addr as u32, data, now)
            }
            Backend::Pcie(endpoint) if (HOST..HOST_END).contains(&addr) => {
                endpoint.write_host(addr - HOST, data)
            }
            _ => Err(UNMAPPED),
        }
    }

    /// Writes to the ARC's own address space; a write that raises its interrupt schedules the
    /// answer.
    pub(crate) fn write_arc(&mut self, addr: u32, data: &[u8], now: u64) -> Result<(), Refusal> {
        let Backend::Arc(arc) = &mut self.backend else { return Err(NOT_MODELLED) };
        if arc.write(addr, data)? {
            self.seq += 1;
            let at = now + self.timing.arc_message;
            let kind = EventKind::ArcMessage;
            self.events.post(Event { at, source: self.unit, seq: self.seq, kind });
        }
        Ok(())
    }
}
