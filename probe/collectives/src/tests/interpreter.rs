//! Carries out programs without a machine: workers take turns in a seeded order, channels hold as many packets as one end of
//! a link has buffers, and nothing is done that the kernel could not do.

use super::memory::{bytes_of, locate, page_bytes};
use crate::expected;
use crate::program::{Channel, Program, WorkerCommand, WorkerPlan, flags};
use layouts::{ChipKind, EthId};
use machine::place::Place;
use machine::target::Mesh;
use std::collections::{BTreeMap, VecDeque};

/// Bytes of a credit message of a socket.
const CREDIT_BYTES: usize = 32;

/// Memory, channels and semaphores of a mesh.
pub(super) struct Machine {
    /// Pages by tile and address.
    pub(super) memory: BTreeMap<(Place, u64), Vec<u8>>,
    /// Packets of each channel by its sending end.
    channels: BTreeMap<(Place, u32), Line>,
    signals: BTreeMap<Place, u32>,
    buffers: usize,
    random: u64,
}

/// A channel of a link.
#[derive(Default)]
struct Line {
    packets: VecDeque<Vec<u8>>,
    carried: u32,
}

/// What a worker is about to do.
#[derive(Clone, Default)]
struct State {
    slice: u32,
    command: usize,
    packet: u32,
    /// What it took from the channel, once it has it.
    taken: Option<Vec<u8>>,
    /// It has written its packet, and the credit is left to give.
    owes_credit: bool,
    sent: u64,
    acknowledged: u64,
    done: bool,
}

impl Machine {
    pub(super) fn new(program: &Program, seed: u64) -> Self {
        Self {
            memory: BTreeMap::new(),
            channels: BTreeMap::new(),
            signals: BTreeMap::new(),
            buffers: program.buffers_per_channel as usize,
            random: seed,
        }
    }

    /// Carries out the workers to their end.
    pub(super) fn run(&mut self, mesh: &Mesh, program: &Program) {
        let mut states = vec![State::default(); program.workers.len()];
        for line in self.channels.values_mut() {
            line.carried = 0;
        }
        loop {
            let mut order: Vec<usize> = (0..states.len()).collect();
            for last in (1..order.len()).rev() {
                order.swap(last, self.random() as usize % (last + 1));
            }
            let mut moved = false;
            for index in order {
                let turns = self.random() % 4;
                for _ in 0..=turns {
                    if self.step(mesh, program, &program.workers[index], &mut states[index]) {
                        moved = true;
                    } else {
                        break;
                    }
                }
            }
            if states.iter().all(|state| state.done) {
                break;
            }
            let stuck = || {
                let open = program.workers.iter().zip(&states).filter(|(_, state)| !state.done);
                open.map(|(worker, state)| {
                    format!("{:?} {} at {}", worker.place, worker.role, state.command)
                })
                .collect::<Vec<_>>()
            };
            assert!(moved, "deadlock: {:#?}", stuck());
        }
        assert!(self.signals.values().all(|&signals| signals == 0), "a signal is left");
        assert!(self.channels.values().all(|line| line.packets.is_empty()), "a packet is left");
        for edm in &program.edms {
            for (number, channel) in edm.channels.iter().enumerate() {
                let end = Channel { edm: edm.place, number: number as u32 };
                let line = if channel.sends { Some(end) } else { peer(mesh, end) }.unwrap();
                let carried =
                    self.channels.get(&(line.edm, line.number)).map_or(0, |line| line.carried);
                assert_eq!(carried, channel.messages, "messages of {end:?}");
            }
        }
    }

    fn random(&mut self) -> u64 {
        self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        self.random >> 33
    }

    /// One step of a worker. False: it waits, or is done.
    fn step(
        &mut self,
        mesh: &Mesh,
        program: &Program,
        worker: &WorkerPlan,
        state: &mut State,
    ) -> bool {
        if state.done {
            return false;
        }
        let first = state.slice * worker.slice_pages;
        if first >= worker.pages {
            return self.end(mesh, worker, state);
        }
        let Some(command) = worker.commands.get(state.command) else {
            (state.slice, state.command) = (state.slice + 1, 0);
            return true;
        };
        let end = worker.pages.min(first + worker.slice_pages);
        let from = first + state.packet * worker.packet_pages;
        if from >= end {
            (state.command, state.packet) = (state.command + 1, 0);
            return true;
        }
        let pages = from..end.min(from + worker.packet_pages);
        if state.owes_credit {
            state.owes_credit = !self.give(worker, vec![0; CREDIT_BYTES]);
            state.packet += u32::from(!state.owes_credit);
            return !state.owes_credit;
        }
        let has = |flag| command.flags & flag != 0;
        if state.taken.is_none() {
            if has(flags::WAIT) {
                let signals = self.signals.entry(worker.place).or_default();
                if *signals == 0 {
                    return false;
                }
                *signals -= 1;
            }
            let took =
                if has(flags::FROM_CHANNEL) { self.take(mesh, worker) } else { Some(Vec::new()) };
            if took.is_none() && has(flags::WAIT) {
                *self.signals.entry(worker.place).or_default() += 1;
            }
            state.taken = took;
            return state.taken.is_some();
        }
        self.put(mesh, program, worker, state, command, pages)
    }

    /// The packet is here: it is put together and goes to where it belongs.
    fn put(
        &mut self,
        mesh: &Mesh,
        program: &Program,
        worker: &WorkerPlan,
        state: &mut State,
        command: &WorkerCommand,
        pages: std::ops::Range<u32>,
    ) -> bool {
        let has = |flag| command.flags & flag != 0;
        let bytes: usize = pages.clone().map(|page| bytes_of(worker, page) as usize).sum();
        assert!(bytes as u64 <= u64::from(program.buffer_bytes), "a packet fits a buffer");
        let mut packet = state.taken.clone().unwrap();
        if has(flags::FROM_CHANNEL) {
            assert_eq!(packet.len(), bytes, "both ends mean the same packet");
        }
        if has(flags::FROM_TENSOR) {
            let read = pages.clone().flat_map(|page| {
                let at = locate(worker, command.source, command.source_page + page);
                let page =
                    self.memory.get(&at).unwrap_or_else(|| panic!("{at:?} was never written"));
                page.clone()
            });
            let read: Vec<u8> = read.collect();
            assert_eq!(read.len(), bytes);
            packet = if has(flags::FROM_CHANNEL) { add(program, &packet, &read) } else { read };
        }
        if has(flags::TO_CHANNEL) {
            if has(flags::CREDIT) {
                if state.sent - state.acknowledged + bytes as u64 > u64::from(worker.fifo_bytes) {
                    return self.acknowledged(mesh, worker, state);
                }
                state.sent += bytes as u64;
            }
            if !self.give(worker, packet.clone()) {
                if has(flags::CREDIT) {
                    state.sent -= bytes as u64;
                }
                return false;
            }
        }
        if has(flags::TO_TENSOR) {
            let mut rest = packet.as_slice();
            for page in pages {
                let (page_data, more) = rest.split_at(bytes_of(worker, page) as usize);
                let at = locate(worker, command.destination, command.destination_page + page);
                self.memory.insert(at, page_data.to_vec());
                rest = more;
            }
        }
        if has(flags::SIGNAL) {
            *self.signals.entry(worker.partner.unwrap()).or_default() += 1;
        }
        state.taken = None;
        state.owes_credit = has(flags::CREDIT) && has(flags::FROM_CHANNEL);
        state.packet += u32::from(!state.owes_credit);
        true
    }

    /// A socket's sender takes a credit: the bytes of one packet.
    fn acknowledged(&mut self, mesh: &Mesh, worker: &WorkerPlan, state: &mut State) -> bool {
        let Some(credit) = self.take(mesh, worker) else { return false };
        assert_eq!(credit.len(), CREDIT_BYTES);
        let packet = u64::from(worker.packet_pages) * u64::from(page_bytes(worker));
        state.acknowledged = state.sent.min(state.acknowledged + packet);
        true
    }

    /// The list is done; a socket's sender waits for what was not acknowledged yet.
    fn end(&mut self, mesh: &Mesh, worker: &WorkerPlan, state: &mut State) -> bool {
        if state.acknowledged < state.sent {
            return self.acknowledged(mesh, worker, state);
        }
        state.done = true;
        true
    }

    fn take(&mut self, mesh: &Mesh, worker: &WorkerPlan) -> Option<Vec<u8>> {
        let from = peer(mesh, worker.inbound.unwrap()).unwrap();
        self.channels.entry((from.edm, from.number)).or_default().packets.pop_front()
    }

    fn give(&mut self, worker: &WorkerPlan, packet: Vec<u8>) -> bool {
        let to = worker.outbound.unwrap();
        let line = self.channels.entry((to.edm, to.number)).or_default();
        if line.packets.len() == self.buffers {
            return false;
        }
        line.packets.push_back(packet);
        line.carried += 1;
        true
    }
}

fn add(program: &Program, a: &[u8], b: &[u8]) -> Vec<u8> {
    let word = |bytes: &[u8]| u32::from_le_bytes(bytes.try_into().unwrap());
    let words = a.chunks_exact(4).zip(b.chunks_exact(4));
    let sums = words.map(|(a, b)| expected::add(program.data_type, word(a), word(b)));
    sums.flat_map(u32::to_le_bytes).collect()
}

/// The channel's other end.
pub(super) fn peer(mesh: &Mesh, channel: Channel) -> Option<Channel> {
    let tile = |end: EthId| Place {
        chip: end.chip,
        tile: ChipKind::Wormhole.layout().eth_channel(end.channel).unwrap(),
    };
    mesh.links.iter().find_map(|link| {
        let (a, b) = (tile(link.a), tile(link.b));
        let far = if a == channel.edm {
            b
        } else if b == channel.edm {
            a
        } else {
            return None;
        };
        Some(Channel { edm: far, ..channel })
    })
}
