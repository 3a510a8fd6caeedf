//! The harts of one tile, executed in the order of cycles.

use super::before::Ahead;
use super::core::{Hart, State};
use super::mode::Mode;
use super::{DeviceSet, HartOrder, HartStop};
use crate::memory::TileMemory;

/// All harts of a tile, at one present cycle.
///
/// Methods that take the index of a hart ignore an index that the tile does not have. They act at
/// the present cycle, so the machine first runs the group to the cycle of the event with
/// [`HartGroup::run`] (cheap while all harts sleep).
#[derive(Debug, Clone)]
pub struct HartGroup {
    pub(crate) harts: Vec<Hart>,
    pub(crate) now: u64,
    pub(crate) orders: Vec<HartOrder>,
    /// The boundary at which pending orders and stores into code take effect, if any.
    pub(crate) pending: Option<u64>,
    /// Devices that harts may wait for and that have changed since the last notification.
    pub(crate) woken: DeviceSet,
    /// Whether harts may sleep.
    pub(crate) sleep: bool,
    pub(super) ahead: Ahead,
}

impl HartGroup {
    /// Creates BRISC, NCRISC and three TRISCs, all in reset, with the reset pcs of wormhole.md 4.2.
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
        Self::new(harts, sleep)
    }

    /// Creates one ERISC in reset, with reset pc 0 (wormhole.md 5.1).
    pub fn eth(sleep: bool) -> Self {
        Self::new(vec![Hart::new(0, 0, 4096, true, false)], sleep)
    }

    fn new(harts: Vec<Hart>, sleep: bool) -> Self {
        Self {
            harts,
            now: 0,
            orders: Vec::new(),
            pending: None,
            woken: DeviceSet::NONE,
            sleep,
            ahead: Ahead::default(),
        }
    }

    /// Returns the present cycle.
    pub fn now(&self) -> u64 {
        self.now
    }

    /// Returns the number of harts.
    pub fn len(&self) -> u8 {
        self.harts.len() as u8
    }

    /// Always returns false: each tile has a hart.
    pub fn is_empty(&self) -> bool {
        self.harts.is_empty()
    }

    /// Signals that registers of devices that a hart may wait for have changed, other than by a store
    /// of a hart of this tile. Call it after the change, at the present cycle.
    pub fn devices_changed(&mut self, devices: DeviceSet) {
        self.woken |= devices;
    }

    /// Wakes a hart for an access from outside.
    fn awake(&mut self, hart: u8) -> Option<&mut Hart> {
        let now = self.now;
        let hart = self.harts.get_mut(hart as usize)?;
        hart.wake(now);
        // Earlier observations may no longer hold. The next run drops the hart's watches.
        hart.mode = Mode::Plain;
        Some(hart)
    }

    /// Applies an order at the next boundary, because harts may have run ahead up to it. An order
    /// for a hart that does not run applies at once, unless other orders are pending.
    pub fn order(&mut self, order: HartOrder) {
        let at_once = match order {
            HartOrder::Assert { .. } | HartOrder::Pause { .. } => false,
            HartOrder::Release { .. } | HartOrder::ResetPc { .. } | HartOrder::Resume { .. } => {
                true
            }
            HartOrder::LoadIram { hart, .. } | HartOrder::Debug { hart, .. } => {
                !self.harts.get(hart as usize).is_some_and(Hart::running)
            }
        };
        if at_once && self.orders.is_empty() {
            self.carry_out(order);
        } else {
            self.orders.push(order);
        }
    }

    pub(crate) fn carry_out(&mut self, order: HartOrder) {
        let now = self.now;
        let index = order.hart();
        let Some(hart) = self.awake(index) else { return };
        match order {
            HartOrder::Assert { .. } => hart.reset(),
            HartOrder::Release { .. } if hart.state == State::Reset => hart.start(now),
            HartOrder::ResetPc { pc, .. } => hart.reset_pc = pc,
            HartOrder::LoadIram { offset, bytes, .. } => hart.load_iram(offset, &bytes),
            HartOrder::Pause { .. } if hart.running() => hart.state = State::Paused,
            HartOrder::Resume { .. } if hart.state == State::Paused => {
                hart.state = hart.released();
                hart.at = now;
            }
            HartOrder::Debug { order, .. } => hart.debug(&order, now),
            HartOrder::Release { .. } | HartOrder::Pause { .. } | HartOrder::Resume { .. } => {}
        }
    }

    /// Holds a hart in reset from the next boundary on. Its private RAM keeps its contents.
    pub fn assert_reset(&mut self, hart: u8) {
        self.order(HartOrder::Assert { hart });
    }

    /// Releases a hart from reset, with zero registers, at its reset pc. Does nothing if the hart
    /// is not in reset.
    pub fn release_reset(&mut self, hart: u8) {
        self.order(HartOrder::Release { hart });
    }

    /// Whether a hart is held in reset, or will be at the next boundary.
    pub fn in_reset(&self, hart: u8) -> bool {
        let ordered = self.orders.iter().rev().find_map(|order| match *order {
            HartOrder::Assert { hart: other } if other == hart => Some(true),
            HartOrder::Release { hart: other } if other == hart => Some(false),
            _ => None,
        });
        ordered.unwrap_or_else(|| {
            self.harts.get(hart as usize).is_some_and(|hart| hart.state == State::Reset)
        })
    }

    /// Sets the pc at which a hart starts after reset.
    pub fn set_reset_pc(&mut self, hart: u8, pc: u32) {
        self.order(HartOrder::ResetPc { hart, pc });
    }

    /// Loads instruction RAM from a byte offset in it. Ignores harts without one, incomplete words
    /// and bytes past its end.
    pub fn load_iram(&mut self, hart: u8, offset: u32, bytes: &[u8]) {
        self.order(HartOrder::LoadIram { hart, offset, bytes: bytes.to_vec() });
    }

    /// Whether [`HartOrder::Pause`] holds a hart.
    pub fn paused(&self, hart: u8) -> bool {
        self.harts.get(hart as usize).is_some_and(|hart| hart.state == State::Paused)
    }

    /// Returns DR 0 and DR 4 of the debug interface of a hart.
    pub(crate) fn debug_registers(&self, hart: u8) -> (u32, u32) {
        self.harts.get(hart as usize).map_or((0, 0), Hart::debug_registers)
    }

    /// Returns the name of an order of the debug interface that a hart refused, once.
    pub(crate) fn refused_order(&mut self, hart: u8) -> Option<&'static str> {
        self.harts.get_mut(hart as usize)?.refused_order()
    }

    /// Returns why a hart stopped, unless it runs or a reset is pending.
    pub fn stopped(&self, hart: u8) -> Option<HartStop> {
        match self.harts.get(hart as usize)?.state {
            State::Stopped(stop) if !self.in_reset(hart) => Some(stop),
            _ => None,
        }
    }

    /// Returns the address of a hart's next instruction; 0 for a hart that the tile does not have.
    pub fn pc(&self, hart: u8) -> u32 {
        self.harts.get(hart as usize).map_or(0, |hart| match &hart.mode {
            Mode::Sleep(sleep) => sleep.pc(self.now),
            _ => hart.pc,
        })
    }

    /// Sets the pc of a hart that does not run, for the debug interface.
    pub fn set_pc(&mut self, hart: u8, pc: u32) {
        if let Some(hart) = self.awake(hart) {
            hart.pc = pc;
        }
    }

    /// Returns a register of a hart; 0 for a register or hart that does not exist.
    pub fn register(&self, hart: u8, register: u8) -> u32 {
        let Some(hart) = self.harts.get(hart as usize).filter(|_| register < 32) else { return 0 };
        let mut value = hart.regs[register as usize];
        if let Mode::Sleep(sleep) = &hart.mode {
            sleep.state(self.now, |slot, at| {
                if slot == u32::from(register) {
                    value = at;
                }
            });
        }
        value
    }

    /// Sets a register of a hart that does not run or was just released, for the debug interface.
    /// x0 stays zero.
    pub fn set_register(&mut self, hart: u8, register: u8, value: u32) {
        if let Some(hart) = self.awake(hart).filter(|_| (1..32).contains(&register)) {
            hart.regs[register as usize] = value;
        }
    }

    /// Returns the private RAM of a hart, for the debug interface; empty for a hart that does not
    /// exist.
    pub fn local_ram(&mut self, hart: u8) -> &[u8] {
        self.awake(hart).map_or(&[], |hart| &hart.local[..hart.local_bytes as usize])
    }

    /// Writes the private RAM of a hart that does not run. Ignores bytes past its end.
    pub fn write_local_ram(&mut self, hart: u8, offset: u32, bytes: &[u8]) {
        if let Some(hart) = self.awake(hart) {
            let room = hart.local_mut().iter_mut().skip(offset as usize);
            room.zip(bytes).for_each(|(slot, byte)| *slot = *byte);
        }
    }

    /// Returns the instructions a hart has retired, including skipped ones.
    pub fn retired(&self, hart: u8) -> u64 {
        self.harts.get(hart as usize).map_or(0, |hart| hart.retired + self.sleeping(hart))
    }

    /// Returns the instructions executed on the host for a hart. The number depends on host
    /// scheduling of sleep and slices, so it is not emulated state.
    pub fn executed(&self, hart: u8) -> u64 {
        self.harts.get(hart as usize).map_or(0, |hart| hart.retired - hart.slept)
    }

    /// Sets the watches of sleeping and observed harts in a memory that has none.
    pub(crate) fn set_watches(&self, memory: &mut TileMemory) {
        for hart in &self.harts {
            for line in &hart.watched {
                memory.watch(*line, 1 << hart.index);
            }
        }
    }

    /// Wakes all harts, at the present cycle.
    pub(crate) fn wake_all(&mut self, memory: &mut TileMemory) {
        for hart in &mut self.harts {
            hart.wake(self.now);
            hart.plain(memory);
        }
    }

    fn sleeping(&self, hart: &Hart) -> u64 {
        match &hart.mode {
            Mode::Sleep(sleep) => sleep.slept(self.now),
            _ => 0,
        }
    }
}
