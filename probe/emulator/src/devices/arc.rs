//! The ARC tile as the host sees it: shared memory, reset unit, message mailbox, telemetry table
//! (wormhole.md 8).

use crate::condition::{NOT_MODELLED, READ_ONLY, REGISTER_WIDTH, Refusal};
use crate::heap::{of_arc, of_vec};
use std::sync::Arc as Shared;

/// ARC address of its shared memory.
pub(crate) const CSM: u32 = 0x1000_0000;
/// Alias of the shared memory: UMD reads the legacy telemetry table of every card here, over the
/// NoC.
const CSM_ALIAS: u32 = 0x2000_0000;
const CSM_BYTES: usize = 512 << 10;
/// ARC address of its peripherals.
pub(crate) const APB: u32 = 0x8000_0000;
/// Reset unit in the peripherals.
const RESET_UNIT: u32 = 0x3_0000;
/// Both NIUs in the peripherals.
pub(crate) const NIUS: [u32; 2] = [0x5_0000, 0x5_8000];
/// Where the emulator puts the telemetry table and its values in shared memory: a choice of the
/// emulator.
const TABLE: u32 = 0x7_9000;
const VALUES: u32 = 0x7_9800;
/// Offset of the legacy telemetry table of 50 words, and the words of it that have a tag: (tag,
/// index) (wormhole.md 8).
const LEGACY_TABLE: u32 = 0x7_8D60;
const LEGACY_WORDS: [(u16, u32); 6] =
    [(1, 4), (2, 5), (24, 11), (HEARTBEAT, 19), (14, 24), (28, 49)];
/// Tag of the firmware's heartbeat count. Its period of 100 ms is an estimate.
const HEARTBEAT: u16 = 32;
const HEARTBEAT_CYCLES: u64 = 100_000_000;
/// Post code of firmware that is ready for messages.
const POSTCODE_IDLE: u32 = 0xC0DE_003F;
/// ARC_MISC_CNTL bit that raises the message interrupt.
const INTERRUPT: u32 = 1 << 16;
/// REFCLK counts 27 per 1000 cycles of the 1 GHz clock.
const REFCLK: (u128, u128) = (27, 1000);

/// The ARC tile.
#[derive(Clone, Debug)]
pub(crate) struct Arc {
    /// Shared with checkpoints until it is written.
    csm: Shared<Vec<u8>>,
    /// Offsets in shared memory of the words that count heartbeats.
    heartbeats: Vec<u32>,
    scratch: [u32; 8],
    misc: u32,
    /// Rows that are fused off, in the encoding of message 0x57.
    harvesting: u32,
    aiclk_mhz: u32,
    /// The message that requests a chip reset has arrived; the machine resets the chip after the
    /// host's write.
    pub(crate) reset_requested: bool,
}

impl Arc {
    /// Creates an ARC whose firmware is idle.
    pub(crate) fn new(telemetry: &[(u16, u32)], harvesting: u32) -> Self {
        let (mut csm, mut heartbeats) = (vec![0; CSM_BYTES], Vec::new());
        let mut put = |at, value| put_word(&mut csm, at, value);
        // Table: version, count, then tag and word offset of each value.
        put(TABLE, 1);
        put(TABLE + 4, telemetry.len() as u32);
        for (i, (tag, value)) in (0u32..0x100).zip(telemetry) {
            put(TABLE + 8 + 4 * i, u32::from(*tag) | i << 16);
            put(VALUES + 4 * i, *value);
            let legacy = LEGACY_WORDS.iter().find(|(known, _)| known == tag);
            let legacy = legacy.map(|(_, index)| LEGACY_TABLE + 4 * index);
            if let Some(at) = legacy {
                put(at, *value);
            }
            if *tag == HEARTBEAT {
                heartbeats.extend([VALUES + 4 * i].into_iter().chain(legacy));
            }
        }
        let mut scratch = [0; 8];
        scratch[0] = POSTCODE_IDLE;
        let aiclk = telemetry.iter().find(|(tag, _)| *tag == 14);
        let aiclk_mhz = aiclk.map_or(1000, |(_, value)| value & 0xFFFF);
        let csm = Shared::new(csm);
        Self { csm, heartbeats, scratch, misc: 0, harvesting, aiclk_mhz, reset_requested: false }
    }

    /// Returns the bytes of what the same ARC at an earlier moment has not in common.
    pub(crate) fn bytes_beyond(&self, earlier: Option<&Self>) -> usize {
        let shared = earlier.is_some_and(|earlier| Shared::ptr_eq(&self.csm, &earlier.csm));
        let csm = if shared { 0 } else { of_arc(&self.csm) + of_vec(&self.csm) };
        size_of::<Self>() + csm + of_vec(&self.heartbeats)
    }

    /// Reads the ARC's own address space: any bytes of shared memory, words of the reset unit.
    pub(crate) fn read(&mut self, addr: u32, out: &mut [u8], now: u64) -> Result<(), Refusal> {
        if let Some(start) = csm_offset(addr, out.len()) {
            let beats = 1 + now / HEARTBEAT_CYCLES;
            let csm = Shared::make_mut(&mut self.csm);
            for at in &self.heartbeats {
                put_word(csm, *at, beats as u32);
            }
            out.copy_from_slice(&self.csm[start..start + out.len()]);
            return Ok(());
        }
        if out.len() != 4 || addr & 3 != 0 {
            return Err(REGISTER_WIDTH);
        }
        let offset = reset_unit_offset(addr)?;
        let refclk = (u128::from(now) * REFCLK.0 / REFCLK.1) as u64;
        let value = match offset {
            0x60..0x80 => self.scratch[((offset - 0x60) / 4) as usize],
            0xE0 => refclk as u32,
            0xE4 => (refclk >> 32) as u32,
            0x100 => self.misc,
            0x1D0 => CSM + TABLE,
            0x1D4 => CSM + VALUES,
            // No message queues: firmware bundles without them return 0 here.
            0x1D8 => 0,
            0x328 => return Err(Refusal::hang("arc-reset-unit-hole")),
            _ => return Err(NOT_MODELLED),
        };
        out.copy_from_slice(&value.to_le_bytes());
        Ok(())
    }

    /// Writes the ARC's own address space; returns true if the write raised the message interrupt.
    pub(crate) fn write(&mut self, addr: u32, data: &[u8]) -> Result<bool, Refusal> {
        if let Some(start) = csm_offset(addr, data.len()) {
            Shared::make_mut(&mut self.csm)[start..start + data.len()].copy_from_slice(data);
            return Ok(false);
        }
        let word = <[u8; 4]>::try_from(data).map_err(|_| REGISTER_WIDTH)?;
        let value = u32::from_le_bytes(word);
        match reset_unit_offset(addr)? {
            offset @ 0x60..0x80 if offset.is_multiple_of(4) => {
                self.scratch[((offset - 0x60) / 4) as usize] = value;
            }
            0x100 => {
                let raised = value & !self.misc & INTERRUPT != 0;
                self.misc = value;
                self.reset_requested |= raised && self.scratch[5] == 0xAA56;
                return Ok(raised);
            }
            0x328..0x32C => return Err(Refusal::hang("arc-reset-unit-hole")),
            0xE0..0xE8 | 0x1D0..0x1DC => return Err(READ_ONLY),
            _ => return Err(NOT_MODELLED),
        }
        Ok(false)
    }

    /// Answers the message in SCRATCH[5] as the firmware does, with results in SCRATCH[3] and [4].
    pub(crate) fn answer(&mut self) {
        self.misc &= !INTERRUPT;
        let message = self.scratch[5];
        if message & 0xFF00 != 0xAA00 {
            return;
        }
        let code = message & 0xFF;
        match code {
            0x34 => self.scratch[3] = self.aiclk_mhz,
            0x57 => self.scratch[3] = self.harvesting,
            0x58 => self.scratch[3] = 1,
            0x2C => self.scratch[3] = CSM + LEGACY_TABLE,
            0x11 | 0x21 | 0x51..=0x56 | 0x90 | 0xA0 | 0xA3 | 0xB6 | 0xB7 | 0xBA | 0xBC | 0xC1 => {}
            _ => {
                self.scratch[5] = u32::MAX;
                return;
            }
        }
        self.scratch[5] = code;
    }
}

fn put_word(csm: &mut [u8], at: u32, value: u32) {
    if let Some(word) = csm.get_mut(at as usize..at as usize + 4) {
        word.copy_from_slice(&value.to_le_bytes());
    }
}

fn csm_offset(addr: u32, len: usize) -> Option<usize> {
    let start = addr.checked_sub(if addr < CSM_ALIAS { CSM } else { CSM_ALIAS })? as usize;
    (start.checked_add(len)? <= CSM_BYTES).then_some(start)
}

fn reset_unit_offset(addr: u32) -> Result<u32, Refusal> {
    let offset = addr.wrapping_sub(APB + RESET_UNIT);
    if offset < 0x1_0000 {
        return Ok(offset);
    }
    let apb = (APB..APB + 0x10_0000).contains(&addr);
    Err(if apb { Refusal::refused("arc-peripheral-not-safe") } else { NOT_MODELLED })
}
