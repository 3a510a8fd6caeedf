//! The debug bus: how the program counter of a core is selected, and what its word means.

use crate::address::CoreKind;
use serde::Deserialize;

/// `debug_bus.toml`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DebugBus {
    /// Bit of the control register with which the bus is in use.
    pub enable: u32,
    daisy_shift: u8,
    daisy: u32,
    /// Cycles from a new selection to its data.
    pub settle_cycles: u64,
    certain: u32,
    high_from: u32,
    high_bit: u32,
    signals: Signals,
}

/// Group A of each core.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Signals {
    brisc: u32,
    ncrisc: u32,
    trisc0: u32,
    trisc1: u32,
    trisc2: u32,
    erisc: u32,
}

/// A program counter, as the debug bus shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShownPc {
    /// The program counter.
    pub pc: u32,
    /// Whether it is certainly that of an instruction in flight; otherwise it is a recent one.
    pub certain: bool,
}

impl DebugBus {
    /// Whether a control register says that the bus is in use.
    pub fn in_use(&self, control: u32) -> bool {
        control & self.enable != 0
    }

    /// Returns the control register that selects the program counter of a core.
    pub fn select(&self, core: CoreKind) -> u32 {
        let signals = &self.signals;
        let signal = match core {
            CoreKind::Brisc => signals.brisc,
            CoreKind::Ncrisc => signals.ncrisc,
            CoreKind::Trisc0 => signals.trisc0,
            CoreKind::Trisc1 => signals.trisc1,
            CoreKind::Trisc2 => signals.trisc2,
            CoreKind::Erisc => signals.erisc,
        };
        self.enable | self.daisy << self.daisy_shift | signal
    }

    /// Returns the program counter in a word of the data register.
    pub fn shown(&self, word: u32) -> ShownPc {
        let low = word & !self.certain;
        let high = if low >= self.high_from { self.high_bit } else { 0 };
        ShownPc { pc: low | high, certain: word & self.certain != 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ChipKind, TileKind};

    #[test]
    fn a_word_is_the_pc_of_the_selected_core() {
        let layout = ChipKind::Wormhole.layout();
        let at = Some((0xFFB1_2054, 0xFFB1_205C));
        assert_eq!(layout.debug_bus_at(TileKind::Tensix), at);
        assert_eq!(layout.debug_bus_at(TileKind::Dram), None);
        let bus = &layout.debug_bus;
        assert_eq!(bus.select(CoreKind::Ncrisc), 0x2007_0018);
        assert_eq!(bus.select(CoreKind::Erisc), 0x2007_0012);
        assert!(bus.in_use(0x2000_0000) && !bus.in_use(0x0007_0018));
        assert_eq!(bus.shown(0x8000_9040), ShownPc { pc: 0x9040, certain: true });
        assert_eq!(bus.shown(0x9040), ShownPc { pc: 0x9040, certain: false });
        assert_eq!(bus.shown(0xFFC0_0010), ShownPc { pc: 0xFFC0_0010, certain: true });
        assert_eq!(bus.shown(0x7FC0_0010), ShownPc { pc: 0xFFC0_0010, certain: false });
    }
}
