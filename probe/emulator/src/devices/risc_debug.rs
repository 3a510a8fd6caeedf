//! The four registers through which a debugger reaches the debug registers of the harts of a tile
//! (wormhole.md 4.3).

use crate::condition::Refusal;
use crate::hart::{BRISC, DebugOrder, HartOrder, TRISC0};

const IS_WRITE: u32 = 1 << 16;
const TRIGGER: u32 = 1 << 31;
const VALID: u32 = 1 << 30;
/// Bits of DR 1 that let a paused hart continue.
const RESUMES: u32 = 0b110;

/// The debug registers of a hart that software writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Registers {
    command: u32,
    argument: u32,
    data: u32,
    modes: u32,
    addresses: [u32; 8],
}

/// The registers of one tile.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RiscDebug {
    control: u32,
    to_write: u32,
    valid: bool,
    value: u32,
    /// By core select.
    cores: [Registers; 4],
    /// DR 0 and DR 4 of each hart, taken just before an access from outside.
    pub(crate) seen: [(u32, u32); 5],
}

/// What the registers need to know of their tile.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DebuggedTile {
    pub(crate) tensix: bool,
    /// Whether a link ends at it: what an ERISC that was paused does to base firmware afterwards is
    /// not known, only that its board needs a reset.
    pub(crate) linked: bool,
    /// Harts that are held in reset, one bit each.
    pub(crate) held: u32,
}

impl DebuggedTile {
    /// Returns the hart of a core select.
    fn hart(self, select: usize) -> Result<u8, Refusal> {
        match (self.tensix, select) {
            (_, 0) => Ok(BRISC),
            (true, _) => Ok(TRISC0 + select as u8 - 1),
            (false, _) => Err(Refusal::refused("debug-core-not-present")),
        }
    }
}

impl RiscDebug {
    /// Reads the register at this offset of the page.
    pub(crate) fn read(&self, offset: u32) -> u32 {
        match offset {
            0x080 => self.control,
            0x084 => self.to_write,
            0x088 => {
                let write = u32::from(self.control & IS_WRITE != 0) << self.select();
                let valid = if self.valid { VALID } else { 0 };
                self.control & TRIGGER | valid | write << 13 | self.control & 0x7FF
            }
            _ => self.value,
        }
    }

    /// Writes a register. Effects on the harts go to `orders`.
    pub(crate) fn write(
        &mut self,
        offset: u32,
        value: u32,
        tile: DebuggedTile,
        orders: &mut Vec<HartOrder>,
    ) -> Result<(), Refusal> {
        match offset {
            0x080 => {
                let triggered = value & !self.control & TRIGGER != 0;
                self.control = value;
                if triggered { self.access(tile, orders) } else { Ok(()) }
            }
            0x084 => {
                self.to_write = value;
                Ok(())
            }
            // Writes of the status are discarded.
            _ => Ok(()),
        }
    }

    /// Forgets what was written for a hart that enters reset.
    pub(crate) fn reset(&mut self, hart: u8) {
        let select = if hart < TRISC0 { usize::from(hart) } else { usize::from(hart - TRISC0) + 1 };
        // NCRISC has no debug registers.
        if hart == BRISC || hart >= TRISC0 {
            self.cores[select] = Registers::default();
        }
    }

    fn select(&self) -> usize {
        (self.control >> 17 & 3) as usize
    }

    fn access(&mut self, tile: DebuggedTile, orders: &mut Vec<HartOrder>) -> Result<(), Refusal> {
        let (select, index) = (self.select(), self.control & 0x7FF);
        let hart = tile.hart(select)?;
        let held = tile.held >> hart & 1 == 1;
        self.valid = false;
        if self.control & IS_WRITE == 0 {
            let value = self.debug_register(select, hart, index)?;
            (self.value, self.valid) = (if held { 0 } else { value }, true);
            return Ok(());
        }
        if held {
            return Ok(());
        }
        let value = self.to_write;
        let core = &mut self.cores[select];
        let order = match index {
            0 | 4 => return Ok(()),
            1 if tile.linked && value & RESUMES != 0 => {
                return Err(Refusal::refused("resume-of-active-erisc-not-modelled"));
            }
            1 => {
                core.command = value;
                DebugOrder::Command { bits: value, argument: core.argument, data: core.data }
            }
            2 => {
                core.argument = value;
                return Ok(());
            }
            3 => {
                core.data = value;
                return Ok(());
            }
            5 | 10..18 => {
                match index {
                    5 => core.modes = value,
                    _ => core.addresses[index as usize - 10] = value,
                }
                DebugOrder::Watch { modes: core.modes, addresses: core.addresses }
            }
            _ => return Err(Refusal::refused("debug-register-not-present")),
        };
        orders.push(HartOrder::Debug { hart, order });
        Ok(())
    }

    fn debug_register(&self, select: usize, hart: u8, index: u32) -> Result<u32, Refusal> {
        let (core, (status, result)) = (&self.cores[select], self.seen[usize::from(hart)]);
        match index {
            0 => Ok(status),
            1 => Ok(core.command),
            2 => Ok(core.argument),
            3 => Ok(core.data),
            4 => Ok(result),
            5 => Ok(core.modes),
            10..18 => Ok(core.addresses[index as usize - 10]),
            _ => Err(Refusal::refused("debug-register-not-present")),
        }
    }
}
