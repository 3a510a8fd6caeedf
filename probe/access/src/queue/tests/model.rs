//! A model machine that consists of gateways only: base firmware as wormhole.md 6 describes it,
//! with a switch for every convention in which sources or targets differ.

use layouts::{ChipKind, NocXy};
use machine::bar::{Bar, BarOp, Sharing};
use machine::snapshot::AccessError;
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::{Arc, Mutex};

pub(super) const BASE: u64 = 0x11000;
const REQUESTS: u64 = BASE + 0x80;
const RESPONSES: u64 = BASE + 0x200;
const BUFFERS: u64 = BASE + 0x1000;

/// Conventions of the firmware.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is an independent switch")]
pub(super) struct Conventions {
    /// A write is answered like a read.
    pub(super) answers_writes: bool,
    /// The index moves when the command begins, data and flags follow at its end; else all at its
    /// end.
    pub(super) two_stage: bool,
    /// The request is taken when it begins; else when it ends.
    pub(super) takes_early: bool,
    /// Most commands running at a time.
    pub(super) at_once: usize,
    /// Answers repeat the address.
    pub(super) echoes: bool,
    /// Reads are counted.
    pub(super) counts_reads: bool,
    /// A command waits for room in the response queue; else it must always have room.
    pub(super) waits_for_room: bool,
    /// Cycles that a command takes.
    pub(super) delay: Range<u64>,
    /// One block in this number finds no buffer.
    pub(super) unavailable_in: u32,
}

/// A running command.
struct Running {
    request: u32,
    response: Option<u32>,
    entry: [u32; 8],
    /// The bytes of a block to write, once taken out of its buffer.
    block: Vec<u32>,
    due: u64,
}

pub(super) struct Firmware {
    pub(super) l1: Vec<u8>,
    running: Vec<Running>,
    /// Requests begun, of those not yet taken.
    begun: u32,
    /// While set, nothing is done.
    pub(super) stopped: bool,
    /// Number of next commands that are never answered.
    pub(super) swallow: usize,
}

/// The machine.
pub(super) struct Model {
    pub(super) conventions: Conventions,
    pub(super) gateways: BTreeMap<(u8, u8), Firmware>,
    pub(super) memory: HashMap<u64, u32>,
    /// Writes carried out, in order.
    pub(super) carried_out: u64,
    random: fastrand::Rng,
    windows: HashMap<u16, (NocXy, u64)>,
    now: u64,
    pub(super) sharing: Sharing,
    pub(super) held: bool,
    pub(super) locks: u32,
    batches: u64,
}

fn word(l1: &[u8], at: u64) -> u32 {
    l1.get(at as usize..).and_then(|b| b.first_chunk()).map_or(0, |b| u32::from_le_bytes(*b))
}

fn put(l1: &mut [u8], at: u64, value: u32) {
    l1[at as usize..at as usize + 4].copy_from_slice(&value.to_le_bytes());
}

impl Firmware {
    fn new() -> Self {
        Self { l1: vec![0; 0x40000], running: Vec::new(), begun: 0, stopped: false, swallow: 0 }
    }

    pub(super) fn word(&self, at: u64) -> u32 {
        word(&self.l1, at)
    }

    fn add(&mut self, at: u64) {
        let value = self.word(at).wrapping_add(1);
        put(&mut self.l1, at, value);
    }

    fn step(&mut self, at: u64) {
        let value = (self.word(at) + 1) & 7;
        put(&mut self.l1, at, value);
    }

    fn waiting(&self) -> u32 {
        self.word(RESPONSES + 0x20).wrapping_sub(self.word(RESPONSES + 0x30)) & 7
    }
}

impl Model {
    pub(super) fn new(conventions: Conventions, seed: u64, tiles: &[NocXy]) -> Self {
        let gateways = tiles.iter().map(|tile| ((tile.x, tile.y), Firmware::new())).collect();
        Self {
            conventions,
            gateways,
            memory: HashMap::new(),
            carried_out: 0,
            random: fastrand::Rng::with_seed(seed),
            windows: HashMap::new(),
            now: 0,
            sharing: Sharing::Alone,
            held: false,
            locks: 0,
            batches: 0,
        }
    }

    fn run(&mut self, cycles: u64) {
        // Gateways run every few cycles, as firmware polls its queue.
        let end = self.now + cycles;
        while self.now < end {
            self.now = (self.now + 10).min(end);
            for at in self.gateways.keys().copied().collect::<Vec<_>>() {
                let Some(mut gateway) = self.gateways.remove(&at) else { continue };
                if !gateway.stopped {
                    self.finish(&mut gateway);
                    while self.begin(&mut gateway) {}
                }
                self.gateways.insert(at, gateway);
            }
        }
    }

    /// Begins the next request; returns false if there is none, or none may begin now.
    fn begin(&mut self, gateway: &mut Firmware) -> bool {
        let rules = &self.conventions;
        let taken = gateway.word(REQUESTS + 0x30);
        let next = (taken + gateway.begun) & 7;
        if next == gateway.word(REQUESTS + 0x20) || gateway.running.len() == rules.at_once {
            return false;
        }
        let at = REQUESTS + 0x40 + 32 * u64::from(next & 3);
        let mut entry = [0; 8];
        for (place, value) in (0..).zip(&mut entry) {
            *value = gateway.word(at + 4 * place);
        }
        let reads = entry[3] & 4 != 0;
        // A write runs alone, so that ordered requests are done in order.
        let alone = |running: &Running| running.entry[3] & 4 == 0;
        if !gateway.running.is_empty() && (!reads || gateway.running.iter().any(alone)) {
            return false;
        }
        let answered = reads || rules.answers_writes;
        if answered && rules.waits_for_room && gateway.waiting() == 4 {
            return false;
        }
        let mut response = None;
        if answered && rules.two_stage {
            response = Some(Self::reserve(gateway));
        }
        gateway.add(REQUESTS + if reads { 8 } else { 0 });
        if reads && !rules.counts_reads {
            put(&mut gateway.l1, REQUESTS + 8, 0);
        }
        if rules.takes_early {
            gateway.step(REQUESTS + 0x30);
        } else {
            gateway.begun += 1;
        }
        let due = self.now + self.random.u64(rules.delay.clone());
        let mut begun = Running { request: next & 3, response, entry, block: Vec::new(), due };
        if rules.takes_early {
            // The host may reuse the buffer as soon as the request is taken.
            begun.block = Self::block(gateway, &begun);
        }
        gateway.running.push(begun);
        true
    }

    /// Clears the flags of the next response slot and moves the index; returns the slot.
    fn reserve(gateway: &mut Firmware) -> u32 {
        assert!(gateway.waiting() < 4, "a fifth answer would overwrite one that was not taken");
        let slot = gateway.word(RESPONSES + 0x20) & 3;
        put(&mut gateway.l1, RESPONSES + 0x40 + 32 * u64::from(slot) + 12, 0);
        gateway.step(RESPONSES + 0x20);
        slot
    }

    fn block(gateway: &Firmware, running: &Running) -> Vec<u32> {
        let buffer = BUFFERS + 1024 * u64::from(running.request);
        let words = u64::from(running.entry[2].min(1024)) / 4;
        (0..words).map(|word| gateway.word(buffer + 4 * word)).collect()
    }

    fn finish(&mut self, gateway: &mut Firmware) {
        let now = self.now;
        let ordered = !self.conventions.two_stage || !self.conventions.takes_early;
        let mut at = 0;
        while at < gateway.running.len() {
            if gateway.running[at].due > now {
                if ordered {
                    return;
                }
                at += 1;
                continue;
            }
            let mut done = gateway.running.remove(at);
            if !self.conventions.takes_early {
                done.block = Self::block(gateway, &done);
            }
            if gateway.swallow > 0 {
                gateway.swallow -= 1;
            } else {
                self.complete(gateway, &done);
            }
            if !self.conventions.takes_early {
                gateway.begun -= 1;
                gateway.step(REQUESTS + 0x30);
            }
        }
    }

    fn complete(&mut self, gateway: &mut Firmware, done: &Running) {
        let [low, high, length, flags, ..] = done.entry;
        let address = u64::from(high) << 32 | u64::from(low);
        let (reads, block) = (flags & 4 != 0, flags & 0x40 != 0);
        let absent = high >> 16 & 0x3F != 1;
        let full = block && self.random.u32(0..self.conventions.unavailable_in) == 0;
        let errors = if absent {
            1 << 31
        } else if full && reads {
            1 << 30
        } else {
            0
        };
        let answered = reads || self.conventions.answers_writes;
        let slot = done.response.or_else(|| {
            answered.then(|| {
                // All at once: no client reads in between.
                Self::reserve(gateway)
            })
        });
        let buffer = |slot: u32| BUFFERS + 1024 * u64::from(slot);
        let mut data = length;
        if errors == 0 {
            let count = if block { u64::from(length) / 4 } else { 1 };
            for word in 0..count {
                let place = address + 4 * word;
                let value = self.memory.get(&place).copied().unwrap_or(0);
                match (reads, block) {
                    (true, true) => {
                        let at = buffer(slot.unwrap_or(0)) + 4 * word;
                        put(&mut gateway.l1, at, value);
                    }
                    (true, false) => data = value,
                    (false, true) => {
                        let value = done.block.get(word as usize).copied().unwrap_or(0);
                        self.memory.insert(place, value);
                    }
                    (false, false) => drop(self.memory.insert(place, length)),
                }
            }
            self.carried_out += u64::from(!reads);
        } else {
            gateway.add(REQUESTS + 0x10);
        }
        if let Some(slot) = slot {
            let at = RESPONSES + 0x40 + 32 * u64::from(slot);
            let echo = if self.conventions.echoes { [low, high] } else { [0, 0] };
            let kind = if reads { 8 } else { 2 } | flags & 0x40;
            for (place, value) in (0..).zip([echo[0], echo[1], data, kind | errors]) {
                put(&mut gateway.l1, at + 4 * place, value);
            }
        }
        if !reads {
            gateway.add(REQUESTS + 4);
        } else if self.conventions.counts_reads {
            gateway.add(REQUESTS + 12);
        }
    }

    /// Returns the gateway and the offset in its L1 that an offset in BAR 0 leads to.
    fn behind(&mut self, offset: u64) -> (&mut Firmware, usize) {
        let classes = ChipKind::Wormhole.layout().bar.windows.iter();
        let mut matching = classes.filter(|c| {
            (c.bar_offset..c.bar_offset + u64::from(c.count) * c.bytes).contains(&offset)
        });
        let class = matching.next().unwrap();
        let window = class.first + ((offset - class.bar_offset) / class.bytes) as u16;
        let (tile, page) = self.windows[&window];
        let within = (offset - class.bar_offset) % class.bytes;
        (self.gateways.get_mut(&(tile.x, tile.y)).unwrap(), (page + within) as usize)
    }
}

/// The machine with a second handle, for operations that no bus has.
#[derive(Clone)]
pub(super) struct Handle(pub(super) Arc<Mutex<Model>>);

impl Bar for Handle {
    fn chip(&self) -> ChipKind {
        ChipKind::Wormhole
    }

    fn submit(&mut self, batch: &[BarOp], answer: &mut Vec<u8>) -> Result<(), AccessError> {
        let mut model = self.0.lock().unwrap();
        model.batches += 1;
        for op in batch {
            match op {
                BarOp::Read { offset, len, ones: 0, .. } => {
                    model.run(20);
                    let (gateway, at) = model.behind(*offset);
                    answer.extend(&gateway.l1[at..at + *len as usize]);
                }
                BarOp::Write { offset, bytes, .. } => {
                    model.run(2);
                    let alone = model.sharing == Sharing::Alone;
                    assert!(alone || model.held, "a queue was written without the lock");
                    let (gateway, at) = model.behind(*offset);
                    gateway.l1[at..at + bytes.len()].copy_from_slice(bytes);
                }
                BarOp::Point { window, x, y, page, .. } => {
                    model.windows.insert(*window, (NocXy { x: *x, y: *y }, *page));
                }
                BarOp::Pass { cycles } => model.run(*cycles),
                BarOp::Now => answer.extend(model.now.to_le_bytes()),
                BarOp::ConfigRead { .. } | BarOp::Read { .. } => panic!("not supported here"),
            }
        }
        Ok(())
    }

    fn lock_queues(&mut self, _device: u8) -> Result<Sharing, AccessError> {
        let mut model = self.0.lock().unwrap();
        assert!(!std::mem::replace(&mut model.held, true), "the lock was taken twice");
        model.locks += 1;
        Ok(model.sharing)
    }

    fn unlock_queues(&mut self, _device: u8) -> Result<(), AccessError> {
        assert!(std::mem::take(&mut self.0.lock().unwrap().held), "the lock was not held");
        Ok(())
    }
}

impl Model {
    /// Returns the batches and cycles so far.
    pub(super) fn spent(&self) -> (u64, u64) {
        (self.batches, self.now)
    }

    /// Stops answering commands.
    pub(super) fn swallow_all(&mut self) {
        self.gateways.values_mut().for_each(|firmware| firmware.swallow = usize::MAX);
    }
}
