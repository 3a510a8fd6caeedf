//! The instruction of a breakpoint: the hardware pauses after it, and a person expects before it.

use super::{CoreControl, CoreRegisters};
use layouts::CoreAddr;
use machine::target::Target;

/// An instruction that has been executed although the core is shown at it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Skid {
    /// Its address.
    pub(super) addr: u32,
    /// The register that it counted up, and by how much: this is taken back, because frames of
    /// functions are found by the stack pointer.
    added: Option<(usize, u32)>,
}

impl Skid {
    /// Returns the register and the summand of `addi rd, rd, summand`.
    fn added(word: u32) -> Option<(usize, u32)> {
        let (rd, rs1, summand) = (word >> 7 & 31, word >> 15 & 31, (word as i32) >> 20);
        let is_addi = word & 0x707F == 0x13;
        (is_addi && rd == rs1 && rd != 0).then_some((rd as usize, summand as u32))
    }

    /// Shows the registers as they were before the instruction, as far as that is known.
    pub(super) fn apply(&self, registers: &mut CoreRegisters) {
        registers.pc = self.addr;
        if let Some((register, summand)) = self.added {
            registers.general[register] = registers.general[register].wrapping_sub(summand);
        }
    }
}

impl CoreControl {
    pub(super) fn skid_of(&self, target: &mut dyn Target, addr: u32) -> Skid {
        let at = self.layout.core_to_noc(self.core(), CoreAddr(addr)).ok();
        let word = at.and_then(|addr| target.read_word(addr).ok());
        Skid { addr, added: word.and_then(Skid::added) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_sum_in_place_is_taken_back() {
        // addi sp, sp, -16; addi a0, sp, 8; lw ra, 12(sp); nop.
        let words = [0xFF01_0113, 0x0081_0513, 0x00C1_2083, 0x13];
        let added = [Some((2, 16u32.wrapping_neg())), None, None, None];
        assert_eq!(words.map(Skid::added), added);
        let mut registers = CoreRegisters { general: [0x100; 32], pc: 0x44 };
        Skid { addr: 0x40, added: added[0] }.apply(&mut registers);
        assert_eq!(
            (registers.pc, registers.general[2], registers.general[3]),
            (0x40, 0x110, 0x100)
        );
    }
}
