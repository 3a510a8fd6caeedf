//! The harts of one tile, executed in the order of cycles.
#![allow(dead_code, reason = "sleep is being built on this")]

use super::core::{Hart, State};
use super::step::{self, Outside, Touched};
use super::{BOUNDARY_CYCLES, Devices, Nature, Order, Stop, Stored};
use crate::memory::TileMemory;

/// All harts of a tile, at one present cycle.
///
/// Methods that take the index of a hart ignore an index that the tile does not have. They act at the present cycle, which
/// the machine must have brought to the cycle of the event with [`HartGroup::run`] (cheap while all harts sleep).
#[derive(Debug, Clone)]
pub struct HartGroup {
    harts: Vec<Hart>,
    now: u64,
    orders: Vec<Order>,
    sleep: bool,
    woken: bool,
}

impl HartGroup {
    /// BRISC, NCRISC and three TRISCs, all in reset, with the reset pcs of wormhole.md 4.2.
    pub fn tensix(sleep: bool) -> Self {
        let hart = |index, reset_pc, local_bytes, iram| {
            Hart::new(index, reset_pc, local_bytes, iram, true)
        };
        let harts = vec![
            hart(0, 0, 4096, false),
            hart(1, 0x12000, 4096, true),
            hart(2, 0x6000, 2048, false),
            hart(3, 0xA000, 2048, false),
            hart(4, 0xE000, 2048, false),
        ];
        Self { harts, now: 0, orders: Vec::new(), sleep, woken: false }
    }

    /// One ERISC in reset, starting at 0 (wormhole.md 5.1).
    pub fn eth(sleep: bool) -> Self {
        Self {
            harts: vec![Hart::new(0, 0, 4096, true, false)],
            now: 0,
            orders: Vec::new(),
            sleep,
            woken: false,
        }
    }

    /// The present cycle.
    pub fn now(&self) -> u64 {
        self.now
    }

    /// Number of harts.
    pub fn len(&self) -> u8 {
        self.harts.len() as u8
    }

    /// Never.
    pub fn is_empty(&self) -> bool {
        self.harts.is_empty()
    }

    /// The first cycle after which something can happen without an event from outside: `None` if that is never, the present
    /// cycle if a hart is executing. Until then the machine need not call [`HartGroup::run`], except to bring the group to the
    /// cycle of an event before the event is applied.
    pub fn next_wake(&self, memory: &TileMemory) -> Option<u64> {
        let busy = self.harts.iter().any(Hart::running).then_some(self.now);
        let boundary =
            (!self.orders.is_empty() || !memory.stale.is_empty()).then(|| next_boundary(self.now));
        busy.into_iter().chain(boundary).min()
    }

    /// Brings all harts to exactly `to_cycle`; nothing if that is not ahead.
    pub fn run(&mut self, memory: &mut TileMemory, devices: &mut impl Devices, to_cycle: u64) {
        while self.now < to_cycle {
            if self.now.is_multiple_of(BOUNDARY_CYCLES) {
                self.boundary(memory);
            }
            if !self.harts.iter().any(Hart::running) {
                let pending = !self.orders.is_empty();
                self.now = if pending { next_boundary(self.now).min(to_cycle) } else { to_cycle };
                continue;
            }
            for index in 0..self.harts.len() {
                self.step(index, memory, devices);
            }
            self.now += 1;
        }
    }

    fn step(&mut self, index: usize, memory: &mut TileMemory, devices: &mut impl Devices) {
        let hart = &mut self.harts[index];
        if !hart.running() {
            return;
        }
        hart.at = self.now;
        let mut out = Outside { memory, devices, orders: &mut self.orders };
        let done = step::fetch(hart, out.memory).and_then(|op| step::execute(hart, op, &mut out));
        match done {
            Ok(touched) => {
                hart.retired += 1;
                if matches!(
                    touched,
                    Touched::DeviceLoad { nature: Nature::Volatile }
                        | Touched::DeviceStore { stored: Stored::Changed }
                ) {
                    self.woken = true;
                }
            }
            Err((cause, address)) => {
                hart.state = State::Stopped(Stop {
                    cause,
                    hart: hart.index,
                    pc: hart.pc,
                    address,
                    cycle: hart.at,
                });
            }
        }
    }

    fn boundary(&mut self, memory: &mut TileMemory) {
        memory.drop_stale();
        for order in std::mem::take(&mut self.orders) {
            match order {
                Order::Assert { hart } => self.assert_reset(hart),
                Order::Release { hart } => self.release_reset(hart),
                Order::ResetPc { hart, pc } => self.set_reset_pc(hart, pc),
                Order::LoadIram { hart, offset, bytes } => self.load_iram(hart, offset, &bytes),
            }
        }
    }

    /// A device register that a hart may be waiting for has changed, by something else than a store of a hart of this tile.
    /// Call it after the change, at the present cycle.
    pub fn devices_changed(&mut self) {
        self.woken = true;
    }

    /// Holds a hart in reset. Its private RAM keeps its contents.
    pub fn assert_reset(&mut self, hart: u8) {
        if let Some(hart) = self.harts.get_mut(hart as usize) {
            hart.state = State::Reset;
        }
    }

    /// Lets a hart go from reset, with zero registers, from its reset pc. Nothing if it is not held in reset.
    pub fn release_reset(&mut self, hart: u8) {
        let now = self.now;
        if let Some(hart) =
            self.harts.get_mut(hart as usize).filter(|hart| hart.state == State::Reset)
        {
            hart.start(now);
        }
    }

    /// Whether a hart is held in reset.
    pub fn in_reset(&self, hart: u8) -> bool {
        self.harts.get(hart as usize).is_some_and(|hart| hart.state == State::Reset)
    }

    /// Where a hart starts when it is next released.
    pub fn set_reset_pc(&mut self, hart: u8, pc: u32) {
        if let Some(hart) = self.harts.get_mut(hart as usize) {
            hart.reset_pc = pc;
        }
    }

    /// Fills instruction RAM from a byte offset in it; harts without one, incomplete words and bytes past its end are ignored.
    pub fn load_iram(&mut self, hart: u8, offset: u32, bytes: &[u8]) {
        if let Some(hart) = self.harts.get_mut(hart as usize) {
            hart.load_iram(offset, bytes);
        }
    }

    /// Holds a running hart between two instructions.
    pub fn pause(&mut self, hart: u8) {
        if let Some(hart) = self.harts.get_mut(hart as usize).filter(|hart| hart.running()) {
            hart.state = State::Paused;
        }
    }

    /// Lets a paused hart go on.
    pub fn resume(&mut self, hart: u8) {
        let now = self.now;
        if let Some(hart) =
            self.harts.get_mut(hart as usize).filter(|hart| hart.state == State::Paused)
        {
            hart.state = State::Running;
            hart.at = now;
        }
    }

    /// Whether a hart is held by [`HartGroup::pause`].
    pub fn paused(&self, hart: u8) -> bool {
        self.harts.get(hart as usize).is_some_and(|hart| hart.state == State::Paused)
    }

    /// Why a hart stopped, if it did.
    pub fn stopped(&self, hart: u8) -> Option<Stop> {
        match self.harts.get(hart as usize)?.state {
            State::Stopped(stop) => Some(stop),
            _ => None,
        }
    }

    /// The address of the next instruction of a hart; 0 for a hart that the tile does not have.
    pub fn pc(&self, hart: u8) -> u32 {
        self.harts.get(hart as usize).map_or(0, |hart| hart.pc)
    }

    /// Sets the pc of a hart, for the debug interface.
    pub fn set_pc(&mut self, hart: u8, pc: u32) {
        if let Some(hart) = self.harts.get_mut(hart as usize) {
            hart.pc = pc;
        }
    }

    /// A register of a hart; 0 for a register or hart that there is not.
    pub fn register(&self, hart: u8, register: u8) -> u32 {
        self.harts
            .get(hart as usize)
            .filter(|_| register < 32)
            .map_or(0, |hart| hart.regs[register as usize])
    }

    /// Sets a register, for the debug interface; x0 stays zero.
    pub fn set_register(&mut self, hart: u8, register: u8, value: u32) {
        if let Some(hart) =
            self.harts.get_mut(hart as usize).filter(|_| (1..32).contains(&register))
        {
            hart.regs[register as usize] = value;
        }
    }

    /// The private RAM of a hart, for the debug interface; empty for a hart that there is not.
    pub fn local_ram(&self, hart: u8) -> &[u8] {
        self.harts.get(hart as usize).map_or(&[], |hart| &hart.local[..hart.local_bytes as usize])
    }

    /// Stores into the private RAM of a hart; bytes past its end are ignored.
    pub fn write_local_ram(&mut self, hart: u8, offset: u32, bytes: &[u8]) {
        if let Some(hart) = self.harts.get_mut(hart as usize) {
            let room = hart.local[..hart.local_bytes as usize].iter_mut().skip(offset as usize);
            room.zip(bytes).for_each(|(slot, byte)| *slot = *byte);
        }
    }

    /// Instructions a hart has retired, those of skipped iterations included.
    pub fn retired(&self, hart: u8) -> u64 {
        self.harts.get(hart as usize).map_or(0, |hart| hart.retired)
    }

    /// Instructions really executed on the host for a hart; depends on how sleep and slices fell, so never show it as emulated state.
    pub fn executed(&self, hart: u8) -> u64 {
        self.harts.get(hart as usize).map_or(0, |hart| hart.retired - hart.slept)
    }
}

fn next_boundary(cycle: u64) -> u64 {
    (cycle / BOUNDARY_CYCLES + 1) * BOUNDARY_CYCLES
}
