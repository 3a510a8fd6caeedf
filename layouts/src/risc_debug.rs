//! The RISC debug interface: the words of its registers, and which cores have it.

use crate::address::CoreKind;
use serde::Deserialize;

/// The bits of a core select (wormhole.md 4.3).
const SELECTS: u32 = 3;

/// `risc_debug.toml`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RiscDebug {
    write: u32,
    select_shift: u8,
    /// Bit of control word 0 whose change from 0 to 1 starts an access.
    pub trigger: u32,
    valid: u32,
    valid_erisc: u32,
    /// Core select of the core of an Ethernet tile.
    pub(crate) select_erisc: u8,
    /// Cycles in which the loads of a core that enters slow mode drain.
    pub drain_cycles: u64,
    /// Index of the program counter among the registers that a command reads.
    pub pc: u32,
    /// Debug registers.
    pub registers: DebugRegisters,
    /// Bits of the status.
    pub status: DebugStatus,
    /// Bits of a command.
    pub command: DebugCommand,
    /// Modes of a watchpoint.
    pub watch: WatchModes,
    /// Where branch predictors are disabled.
    pub predictor: BranchPredictor,
}

/// Indices of the debug registers of a core.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DebugRegisters {
    /// Why the core is paused.
    pub status: u32,
    /// What the core is to do.
    pub command: u32,
    /// A register's index or an address.
    pub argument: u32,
    /// A value to write.
    pub data: u32,
    /// A value that was read.
    pub result: u32,
    /// The modes of all watchpoints.
    pub watch_modes: u32,
    /// The address of the first watchpoint.
    pub watch_address: u32,
    /// The number of watchpoints.
    pub watches: u32,
}

/// Bits of the status.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DebugStatus {
    /// The core is paused.
    pub paused: u32,
    /// By a watchpoint on an instruction, which has been executed.
    pub breakpoint: u32,
    /// By a watchpoint on memory.
    pub watchpoint: u32,
    /// By `ebreak` or `ecall`.
    pub ebreak: u32,
    /// The bit of the first watchpoint; those of the others follow.
    pub first_hit: u32,
}

/// Bits of a command.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DebugCommand {
    /// Pause.
    pub pause: u32,
    /// Execute one instruction.
    pub step: u32,
    /// Go on.
    #[serde(rename = "continue")]
    pub go_on: u32,
    /// Read a register.
    pub read_register: u32,
    /// Write a register.
    pub write_register: u32,
    /// Read a word as the core does.
    pub read_memory: u32,
    /// Write a word as the core does.
    pub write_memory: u32,
    /// Slow mode, without which a paused core cannot safely go on.
    pub slow: u32,
}

/// Modes of a watchpoint.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WatchModes {
    /// Execution.
    pub execute: u32,
    /// Loads.
    pub read: u32,
    /// Stores.
    pub write: u32,
    /// Loads and stores.
    pub access: u32,
}

/// The word that disables branch predictors, and the bits of the cores.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BranchPredictor {
    /// Its address, as a core of a compute tile sees it.
    pub at: u32,
    brisc: u32,
    trisc0: u32,
    trisc1: u32,
    trisc2: u32,
}

impl BranchPredictor {
    /// Returns the bit that disables the predictor of a core; none of a core without one.
    pub fn bit(&self, core: CoreKind) -> Option<u32> {
        match core {
            CoreKind::Brisc => Some(self.brisc),
            CoreKind::Trisc0 => Some(self.trisc0),
            CoreKind::Trisc1 => Some(self.trisc1),
            CoreKind::Trisc2 => Some(self.trisc2),
            CoreKind::Ncrisc | CoreKind::Erisc => None,
        }
    }
}

impl RiscDebug {
    /// Returns control word 0 for an access of a debug register of the core of this select.
    pub fn access(&self, select: u8, register: u32, write: bool) -> u32 {
        let write = if write { self.write } else { 0 };
        self.trigger | u32::from(select) << self.select_shift | write | register
    }

    /// Whether a status word 0 says that the value read of a core is valid.
    pub fn is_valid(&self, core: CoreKind, status: u32) -> bool {
        let erisc = if core == CoreKind::Erisc { self.valid_erisc } else { 0 };
        status & (self.valid | erisc) != 0
    }

    /// Returns the select of the core whose status was read last, by control word 0 and status word
    /// 0; none if something else was accessed.
    pub fn shows_status_of(&self, control: u32, status: u32) -> Option<u8> {
        let select = (control >> self.select_shift & SELECTS) as u8;
        let asked = control == self.access(select, self.registers.status, false);
        let answered = status & self.trigger != 0 && self.is_valid(CoreKind::Erisc, status);
        (asked && answered).then_some(select)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use crate::{ChipKind, TileKind};

    #[test]
    fn every_core_but_ncrisc_has_the_interface() {
        let layout = ChipKind::Wormhole.layout();
        let select = |core| layout.risc_debug_select(core);
        assert_eq!(select(CoreKind::Brisc), Some(0));
        assert_eq!(select(CoreKind::Trisc2), Some(3));
        assert_eq!(select(CoreKind::Ncrisc), None);
        assert_eq!(select(CoreKind::Erisc), Some(0));
        let ports = layout.risc_debug_at(TileKind::Eth).unwrap();
        assert_eq!(ports, [0xFFB1_2080, 0xFFB1_2084, 0xFFB1_2088, 0xFFB1_208C]);
        let debug = &layout.risc_debug;
        assert_eq!(debug.access(3, 17, true), 0x8007_0011);
        assert_eq!(debug.access(0, 4, false), 0x8000_0004);
        assert!(debug.is_valid(CoreKind::Erisc, 0x8800_0000));
        assert!(!debug.is_valid(CoreKind::Brisc, 0x8800_0000));
        let slow_pause = debug.command.slow | debug.command.pause;
        assert_eq!(slow_pause, 0x8000_0001);
    }
}
