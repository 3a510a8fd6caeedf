//! The page of control, debug and status registers at 0xFFB12000: wall clock, soft reset, debug bus,
//! RISC debug interface (wormhole.md 4).

use super::risc_debug::{DebuggedTile, RiscDebug};
use crate::condition::{NOT_MODELLED, READ_ONLY, Refusal};
use crate::hart::{HartOrder, Load};

/// Bits of SOFT_RESET_0 that hold a hart, in the order of the tile's harts.
const TENSIX_BITS: [u32; 5] = [11, 18, 12, 13, 14];
const ETH_BITS: [u32; 1] = [11];
/// Bits of SOFT_RESET_0 that a Tensix tile stores; higher bits have no effect (SoftReset.md).
const TENSIX_KEPT: u32 = (1 << 23) - 1;
/// The only bit that an Ethernet tile stores [ttsim: writing 0x47800 reads back 0x800].
const ETH_KEPT: u32 = 1 << 11;
/// Debug bus: daisy chain stop of the harts' pcs.
const DAISY_HARTS: u32 = 7;
const TENSIX_SIGNALS: [u32; 5] = [10, 24, 12, 14, 16];
const ETH_SIGNALS: [u32; 1] = [18];
const BUS_ENABLE: u32 = 1 << 29;
/// Signal that returns a test pattern at every stop.
const SELF_TEST: u32 = 255;

/// The registers of one tile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Debug {
    tensix: bool,
    /// This chip's wall clock minus the mesh's cycle count.
    clock_offset: u64,
    latched_high: u32,
    soft_reset: u32,
    bus: u32,
    bus_since: u64,
    /// Pcs of the harts, read just before an access from outside.
    pub(crate) pcs: [u32; 5],
    pub(crate) risc: RiscDebug,
    plain: [u32; PLAIN.len()],
}

/// Registers that firmware writes at start and that have no effect here, by their names in
/// tt-metal's tensix.h: DBG_FEATURE_DISABLE and CG_CTRL_HYST0-2.
const PLAIN: [u32; 4] = [0x068, 0x070, 0x074, 0x07C];

impl Debug {
    /// Creates the registers of a tile whose harts are all held in reset.
    pub(crate) fn new(tensix: bool, clock_offset: u64) -> Self {
        let bits: &[u32] = if tensix { &TENSIX_BITS } else { &ETH_BITS };
        let soft_reset = bits.iter().fold(0, |all, bit| all | 1 << bit);
        Self {
            tensix,
            clock_offset,
            latched_high: 0,
            soft_reset,
            bus: 0,
            bus_since: 0,
            pcs: [0; 5],
            risc: RiscDebug::default(),
            plain: [0; PLAIN.len()],
        }
    }

    fn bits(&self) -> &'static [u32] {
        if self.tensix { &TENSIX_BITS } else { &ETH_BITS }
    }

    /// Whether the register holds this hart in reset.
    pub(crate) fn holds(&self, hart: u8) -> bool {
        self.bits().get(usize::from(hart)).is_some_and(|bit| self.soft_reset >> bit & 1 == 1)
    }

    /// Releases the first hart, as ARC does at power on.
    pub(crate) fn release_first(&mut self) {
        self.soft_reset &= !(1 << self.bits()[0]);
    }

    /// Returns the chip's wall clock.
    pub(crate) fn wall_clock(&self, now: u64) -> u64 {
        now.wrapping_add(self.clock_offset)
    }

    /// Reads the register at this offset of the page. The debug bus settles `settle` cycles after a
    /// new selection.
    pub(crate) fn read(&mut self, offset: u32, now: u64, settle: u64) -> Result<Load, Refusal> {
        let clock = self.wall_clock(now);
        let wraps = now + ((1 << 32) - (clock & 0xFFFF_FFFF));
        if let Some(i) = PLAIN.iter().position(|known| *known == offset) {
            return Ok(Load::stable(self.plain[i]));
        }
        match offset {
            0x054 => Ok(Load::stable(self.bus)),
            0x05C => {
                let value = self.bus_value()?;
                let shown = self.bus_enabled() && now >= self.bus_since + settle;
                Ok(Load::volatile(if shown { value } else { 0 }))
            }
            0x1B0 => Ok(Load::stable(self.soft_reset)),
            0x1F0 => {
                self.latched_high = (clock >> 32) as u32;
                Ok(Load::clock(clock as u32))
            }
            0x1F4 => Ok(Load::until((clock >> 32) as u32, wraps)),
            0x1F8 => Ok(Load::until(self.latched_high, wraps)),
            0x080..=0x08C => Ok(Load::volatile(self.risc.read(offset))),
            _ => Err(NOT_MODELLED),
        }
    }

    /// Writes a register. Effects on the harts go to `orders`, with reset pcs from `reset_pc`.
    pub(crate) fn write(
        &mut self,
        offset: u32,
        value: u32,
        now: u64,
        reset_pc: impl Fn(u8) -> u32,
        orders: &mut Vec<HartOrder>,
    ) -> Result<(), Refusal> {
        if let Some(i) = PLAIN.iter().position(|known| *known == offset) {
            self.plain[i] = value;
            return Ok(());
        }
        match offset {
            0x054 => {
                (self.bus, self.bus_since) = (value, now);
                Ok(())
            }
            // A store here only orders accesses (DebugDaisychain.md).
            0x05C => Ok(()),
            0x1B0 => {
                self.write_soft_reset(value, reset_pc, orders);
                Ok(())
            }
            0x1F0..=0x1F8 => Err(READ_ONLY),
            _ => Err(NOT_MODELLED),
        }
    }

    /// Writes a register of the RISC debug interface; `linked` as in [`DebuggedTile`].
    pub(crate) fn write_risc(
        &mut self,
        offset: u32,
        value: u32,
        linked: bool,
        orders: &mut Vec<HartOrder>,
    ) -> Result<(), Refusal> {
        let held = (0..).zip(self.bits()).filter(|(_, bit)| self.soft_reset >> **bit & 1 == 1);
        let held = held.fold(0, |all, (hart, _)| all | 1 << u32::from(hart as u8));
        let tile = DebuggedTile { tensix: self.tensix, linked, held };
        self.risc.write(offset, value, tile, orders)
    }

    fn write_soft_reset(
        &mut self,
        value: u32,
        reset_pc: impl Fn(u8) -> u32,
        orders: &mut Vec<HartOrder>,
    ) {
        let value = value & if self.tensix { TENSIX_KEPT } else { ETH_KEPT };
        let changed = self.soft_reset ^ value;
        self.soft_reset = value;
        for (hart, bit) in (0u8..).zip(self.bits()) {
            if changed >> bit & 1 == 0 {
                continue;
            }
            if value >> bit & 1 == 1 {
                self.risc.reset(hart);
                orders.push(HartOrder::Assert { hart });
            } else {
                orders.push(HartOrder::ResetPc { hart, pc: reset_pc(hart) });
                orders.push(HartOrder::Release { hart });
            }
        }
    }

    /// Whether the debug bus shows anything.
    pub(crate) fn bus_enabled(&self) -> bool {
        self.bus & BUS_ENABLE != 0
    }

    /// Returns the 32 selected bits of the debug bus: pcs of the harts, groups A and B
    /// (wormhole.md 4.4). An executing hart's pc is always valid here: it has no queue of
    /// instructions that wait to retire.
    fn bus_value(&self) -> Result<u32, Refusal> {
        let (signal, daisy) = (self.bus & 0xFFFF, self.bus >> 16 & 0xFF);
        let word = self.bus >> 25 & 3;
        if !self.bus_enabled() {
            return Ok(0);
        }
        if signal == SELF_TEST {
            return Ok(if word & 1 == 0 { 0xA5A5_A5A5 } else { 0x5A5A_5A5A });
        }
        let signals: &[u32] = if self.tensix { &TENSIX_SIGNALS } else { &ETH_SIGNALS };
        let group = |first: u32| signals.iter().position(|s| s + first == signal);
        let held = |hart: usize| self.holds(hart as u8);
        let (hart, low_bits, valid) = match (daisy, group(0), group(1), word) {
            (DAISY_HARTS, Some(hart), _, 0) => (hart, 31, !held(hart)),
            (DAISY_HARTS, Some(hart), _, 2) => (hart, 30, false),
            (DAISY_HARTS, _, Some(hart), 1) => (hart, 30, !held(hart)),
            _ => return Err(Refusal::refused("debug-bus-signal-not-modelled")),
        };
        Ok(self.pcs[hart] & ((1 << low_bits) - 1) | u32::from(valid) << 31)
    }
}
