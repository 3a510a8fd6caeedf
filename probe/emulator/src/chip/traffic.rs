//! The traffic of a tile's NIUs: requests out, packets in, answers back, and their counters.

use crate::condition::{Actor, REGISTER_WIDTH, Refusal, UNMAPPED};
use crate::config::{GRID_HEIGHT, GRID_WIDTH};
use crate::devices::blocks::{Blocks, NIU, Visitor};
use crate::hart::{Devices, HartOrder};
use crate::memory::{REGISTERS, TileMemory};
use crate::noc::event::{Body, Event, EventKind, NocPacket};
use crate::noc::grid::{self, Xy};
use crate::noc::niu::counter as c;
use crate::noc::request::{Action, NocRequest, NocTarget, data_flits};
use std::sync::Arc;

impl Blocks {
    /// Starts a command buffer, which waits for its turn at the output.
    pub(crate) fn start_command(
        &mut self,
        noc: usize,
        buf: usize,
        now: u64,
    ) -> Result<(), Refusal> {
        let flits = self.niu[noc].accept(buf)?;
        let begin = (now + self.timing.niu_issue).max(self.niu[noc].request_free);
        self.niu[noc].request_free = begin + flits;
        self.post(begin, EventKind::Begin { noc, buf });
        Ok(())
    }

    /// Sends the request (or its next 8192 bytes), which got its virtual channel.
    pub(crate) fn begin(&mut self, noc: usize, buf: usize, now: u64) {
        self.changed |= NIU;
        let (request, more) = match self.niu[noc].begin(buf) {
            Ok(begun) => begun,
            Err(refusal) => return self.report(now, Actor::Block("niu"), refusal.name, 0),
        };
        let flits = request.flits();
        let reserve = if request.path_reserve { self.timing.path_reserve } else { 0 };
        let leaves = now + flits + reserve;
        if let Action::Write { .. } = request.action {
            self.post(leaves, EventKind::Leave { noc, request: Box::new(request) });
        } else {
            self.emit(noc, leaves, &request, None);
        }
        if more {
            self.post(now + flits, EventKind::Begin { noc, buf });
        }
    }

    /// Sends a bulk write as its last flit leaves, with the bytes read at this cycle.
    pub(crate) fn leave(
        &mut self,
        noc: usize,
        request: &NocRequest,
        now: u64,
        memory: &TileMemory,
    ) {
        self.changed |= NIU;
        let Action::Write { len, from, mask } = request.action else { return };
        let from = if mask.is_some() { from & !15 } else { from };
        let mut data = vec![0; len as usize];
        let posted = usize::from(!request.marked);
        let niu = &mut self.niu[noc];
        niu.count(c::WRITES_SENT + posted, 1);
        niu.count(c::WRITE_WORDS_SENT + posted, data_flits(len) as u32);
        niu.count(c::OUTGOING + usize::from(request.id), u32::MAX);
        match self.read_local(from, &mut data, now, memory) {
            Ok(()) => self.emit(noc, now, request, Some(&Arc::from(data))),
            Err(refusal) => self.report(now, Actor::Block("niu"), refusal.name, from),
        }
    }

    /// Sends a request to one tile or to each tile of a rectangle.
    fn emit(&mut self, noc: usize, leaves: u64, request: &NocRequest, data: Option<&Arc<[u8]>>) {
        match request.target {
            NocTarget::One(to) if grid::on_grid(to) => {
                let body = Self::body(request, data);
                self.send(noc, leaves, to, false, body);
            }
            NocTarget::One(_) => {
                self.report(leaves, Actor::Block("niu"), "no-such-tile", request.addr);
            }
            NocTarget::Rectangle { start, end, sender_too } => {
                for y in (0..GRID_HEIGHT).filter(|y| grid::in_span(start.1, end.1, *y)) {
                    for x in (0..GRID_WIDTH).filter(|x| grid::in_span(start.0, end.0, *x)) {
                        let to = grid::flip(noc, (x, y));
                        if to != self.at || sender_too {
                            let body = Self::body(request, data);
                            self.send(noc, leaves, to, true, body);
                        }
                    }
                }
            }
        }
    }

    fn body(request: &NocRequest, data: Option<&Arc<[u8]>>) -> Body {
        let &NocRequest { addr, id, ack, .. } = request;
        match request.action {
            Action::Write { mask, .. } => Body::Write {
                addr,
                data: data.map_or_else(|| Arc::from([]), Arc::clone),
                mask,
                ack,
                id,
            },
            Action::Inline { value, mask } => Body::Inline { addr, value, mask, ack, id },
            Action::Read { len, to, to_addr } => Body::Read { addr, len, to, to_addr, id },
            Action::Atomic { opcode, operand, to, to_addr } => {
                let answer = request.marked.then_some((to, to_addr));
                Body::Atomic { addr, opcode, operand, answer, id }
            }
        }
    }

    /// Sends a packet that leaves the NIU at `leaves`.
    fn send(&mut self, noc: usize, leaves: u64, to: Xy, multicast: bool, body: Body) {
        let latency =
            2 * self.timing.niu_router + self.timing.noc_hop * grid::hops(noc, self.at, to);
        let at = leaves + latency;
        let packet = Box::new(NocPacket { noc, from: self.at, to, multicast, body });
        self.seq += 1;
        let event = Event { at, source: self.unit, seq: self.seq, kind: EventKind::Packet(packet) };
        if to == self.at {
            self.events.post(event);
        } else {
            let first = self.out.first_arrival.map_or(at, |first| first.min(at));
            self.out.first_arrival = Some(first);
            self.out.packets.push((to, event));
        }
    }

    /// Sends an answer once it is ready and the response port is free.
    fn answer(&mut self, noc: usize, ready: u64, flits: u64, to: Xy, body: Body) {
        if !grid::on_grid(to) {
            return self.report(ready, Actor::Block("niu"), "no-such-tile", 0);
        }
        let leaves = ready.max(self.niu[noc].answer_free) + flits;
        self.niu[noc].answer_free = leaves;
        self.send(noc, leaves, to, false, body);
    }

    /// Receives a packet.
    pub(crate) fn receive(
        &mut self,
        packet: NocPacket,
        now: u64,
        memory: &mut TileMemory,
        orders: &mut Vec<HartOrder>,
    ) -> Result<(), (Refusal, u64)> {
        let noc = packet.noc;
        if packet.multicast && !self.niu[noc].takes_multicast() {
            return Ok(());
        }
        self.changed |= NIU;
        match packet.body {
            Body::Write { addr, data, mask, ack, id } => {
                let words = data_flits(data.len() as u32) as u32;
                self.count_write(noc, ack.is_some(), words);
                self.write_masked(addr, &data, mask, now, memory, orders).map_err(|r| (r, addr))?;
                self.acknowledge(noc, ack, id, now);
            }
            Body::Inline { addr, value, mask, ack, id } => {
                self.count_write(noc, ack.is_some(), 1);
                self.write_inline(addr, value, mask, now, memory, orders).map_err(|r| (r, addr))?;
                self.acknowledge(noc, ack, id, now);
            }
            Body::Read { addr, len, to, to_addr, id } => {
                self.niu[noc].count(c::REQUESTS_ACCEPTED, 1);
                self.niu[noc].count(c::READS_RECEIVED, 1);
                let mut data = vec![0; len as usize];
                self.read_local(addr, &mut data, now, memory).map_err(|r| (r, addr))?;
                let flits = data_flits(len);
                self.niu[noc].count(c::READ_RESPONSES_SENT, 1);
                self.niu[noc].count(c::READ_WORDS_SENT, flits as u32);
                let body = Body::ReadData { addr: to_addr, data, id };
                self.answer(noc, now + self.timing.l1_access, 1 + flits, to, body);
            }
            Body::Atomic { addr, opcode, operand, answer, id } => {
                self.niu[noc].count(c::REQUESTS_ACCEPTED, 1);
                self.niu[noc].count(c::ATOMICS_RECEIVED + usize::from(answer.is_none()), 1);
                let old = crate::memory::atomic::perform(memory, addr as u32, opcode, operand);
                let value = old.map_err(|r| (r, addr))?;
                if let Some((to, to_addr)) = answer {
                    self.niu[noc].count(c::ATOMIC_RESPONSES_SENT, 1);
                    let body = Body::AtomicResult { addr: to_addr, value, id };
                    self.answer(noc, now + self.timing.l1_access, 1, to, body);
                }
            }
            answer => self.receive_answer(noc, answer, now, memory, orders)?,
        }
        Ok(())
    }

    fn receive_answer(
        &mut self,
        noc: usize,
        body: Body,
        now: u64,
        memory: &mut TileMemory,
        orders: &mut Vec<HartOrder>,
    ) -> Result<(), (Refusal, u64)> {
        let (counter, id) = match body {
            Body::ReadData { addr, data, id } => {
                self.write_local(addr, &data, now, memory, orders).map_err(|r| (r, addr))?;
                self.niu[noc].count(c::READ_WORDS, data_flits(data.len() as u32) as u32);
                (c::READ_RESPONSES, id)
            }
            Body::AtomicResult { addr, value, id } => {
                let bytes = value.to_le_bytes();
                self.write_local(addr, &bytes, now, memory, orders).map_err(|r| (r, addr))?;
                (c::ATOMIC_RESPONSES, id)
            }
            Body::Ack { id } => (c::WRITE_ACKS, id),
            _ => return Ok(()),
        };
        self.niu[noc].count(counter, 1);
        self.niu[noc].count(c::OUTSTANDING + usize::from(id), u32::MAX);
        Ok(())
    }

    fn count_write(&mut self, noc: usize, marked: bool, words: u32) {
        let posted = usize::from(!marked);
        let niu = &mut self.niu[noc];
        niu.count(c::REQUESTS_ACCEPTED, 1);
        niu.count(c::WRITES_RECEIVED_STARTED + posted, 1);
        niu.count(c::WRITES_RECEIVED + posted, 1);
        niu.count(c::WRITE_WORDS_RECEIVED + posted, words);
    }

    fn acknowledge(&mut self, noc: usize, ack: Option<Xy>, id: u8, now: u64) {
        if let Some(to) = ack {
            self.niu[noc].count(c::WRITE_ACKS_SENT, 1);
            self.answer(noc, now, 1, to, Body::Ack { id });
        }
    }

    /// Reads L1 bytes or one register, as the NoC does.
    pub(crate) fn read_local(
        &mut self,
        addr: u64,
        out: &mut [u8],
        now: u64,
        memory: &TileMemory,
    ) -> Result<(), Refusal> {
        let addr = addr as u32;
        if addr < REGISTERS {
            return memory.read(addr, out).map_err(|_| UNMAPPED);
        }
        if out.len() != 4 || addr & 3 != 0 {
            return Err(REGISTER_WIDTH);
        }
        let load = self.read_register(Visitor::Outside, addr, now)?;
        out.copy_from_slice(&load.value.to_le_bytes());
        Ok(())
    }

    /// Writes L1 bytes or one register, as the NoC does.
    pub(crate) fn write_local(
        &mut self,
        addr: u64,
        data: &[u8],
        now: u64,
        memory: &mut TileMemory,
        orders: &mut Vec<HartOrder>,
    ) -> Result<(), Refusal> {
        let addr = addr as u32;
        if addr < REGISTERS {
            return memory.write(addr, data).map_err(|_| UNMAPPED);
        }
        let word = <[u8; 4]>::try_from(data).map_err(|_| REGISTER_WIDTH)?;
        if addr & 3 != 0 {
            return Err(REGISTER_WIDTH);
        }
        let value = u32::from_le_bytes(word);
        self.changed |= Self::device(addr);
        self.write_register(Visitor::Outside, addr, value, now, orders).map(|_| ())
    }

    fn write_masked(
        &mut self,
        addr: u64,
        data: &[u8],
        mask: Option<u32>,
        now: u64,
        memory: &mut TileMemory,
        orders: &mut Vec<HartOrder>,
    ) -> Result<(), Refusal> {
        let Some(mask) = mask else {
            return self.write_local(addr, data, now, memory, orders);
        };
        if addr as u32 >= REGISTERS {
            let word = data.get(..4).ok_or(REGISTER_WIDTH)?;
            return self.write_local(addr, word, now, memory, orders);
        }
        let base = addr & !15;
        for (i, byte) in data.iter().enumerate().filter(|(i, _)| mask >> i & 1 == 1) {
            self.write_local(base + i as u64, &[*byte], now, memory, orders)?;
        }
        Ok(())
    }

    fn write_inline(
        &mut self,
        addr: u64,
        value: u32,
        mask: u32,
        now: u64,
        memory: &mut TileMemory,
        orders: &mut Vec<HartOrder>,
    ) -> Result<(), Refusal> {
        let bytes = value.to_le_bytes();
        if addr as u32 >= REGISTERS {
            return self.write_local(addr, &bytes, now, memory, orders);
        }
        // Both halves of the mask select bytes of the 16-byte unit (wormhole.md 3.3).
        let (unit, mask) = (addr as u32 & !15, mask | mask >> 16);
        let mut line = [0; 16];
        memory.read(unit, &mut line).map_err(|_| UNMAPPED)?;
        for (i, slot) in line.iter_mut().enumerate().filter(|(i, _)| mask >> i & 1 == 1) {
            *slot = bytes[i & 3];
        }
        memory.write(unit, &line).map_err(|_| UNMAPPED)
    }
}
