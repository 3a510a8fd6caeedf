//! Atomic operations on L1 (ISA documentation, NoC/Atomics.md).

use super::TileMemory;
use crate::condition::{Refusal, UNMAPPED};

/// Opcodes, bits 14:12 of AT_LEN_BE.
mod opcode {
    pub(super) const INCREMENT: u32 = 1;
    pub(super) const SWAP_MASK: u32 = 3;
    pub(super) const COMPARE_SWAP: u32 = 4;
    pub(super) const SWAP_INDEX: u32 = 6;
    pub(super) const SWAP_INDEX_7: u32 = 7;
}

/// Performs the operation and returns the word that was at `addr`.
pub(crate) fn perform(
    memory: &mut TileMemory,
    addr: u32,
    bits: u32,
    operand: u32,
) -> Result<u32, Refusal> {
    let result = memory.read_u32(addr & !3).map_err(|_| UNMAPPED)?;
    // Bits of the request, not the address, choose the word that changes.
    let index_7 = bits >> 12 & 7 == opcode::SWAP_INDEX_7;
    let word = (addr & !15) + 4 * if index_7 { bits >> 2 & 3 } else { bits & 3 };
    let old = memory.read_u32(word).map_err(|_| UNMAPPED)?;
    let new = match bits >> 12 & 7 {
        opcode::INCREMENT => {
            let width = bits >> 2 & 31;
            let mask = (2u64 << width).wrapping_sub(1) as u32;
            old.wrapping_add(operand) & mask | old & !mask
        }
        opcode::COMPARE_SWAP => {
            // 4-bit operands: the comparand in bits 5:2, the new value in bits 9:6.
            let (compare, set) = (bits >> 2 & 15, bits >> 6 & 15);
            if old == compare { set } else { old }
        }
        opcode::SWAP_INDEX | opcode::SWAP_INDEX_7 => operand,
        opcode::SWAP_MASK => {
            swap_mask(memory, addr & !15, bits, operand)?;
            return Ok(result);
        }
        _ => return Err(Refusal::refused("atomic-not-modelled")),
    };
    memory.write_u32(word, new).map_err(|_| UNMAPPED)?;
    Ok(result)
}

/// Replaces the 16-bit halves of a 16-byte unit that the mask selects.
fn swap_mask(memory: &mut TileMemory, unit: u32, bits: u32, operand: u32) -> Result<(), Refusal> {
    let halves = [operand as u16, (operand >> 16) as u16];
    for i in (0..8u32).filter(|i| bits >> (2 + i) & 1 == 1) {
        let half = halves[(i & 1) as usize].to_le_bytes();
        memory.write(unit + 2 * i, &half).map_err(|_| UNMAPPED)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::perform;
    use crate::memory::TileMemory;

    #[test]
    fn the_changed_word_is_chosen_by_the_request() {
        let mut memory = TileMemory::eth();
        assert!(memory.write_u32(0x104, 100).is_ok());
        // Width 32, word 1 of the unit.
        assert_eq!(perform(&mut memory, 0x104, 0x107D, 7), Ok(100));
        assert_eq!(memory.read_u32(0x104), Ok(107));
        // Word 0, although the address points at word 1.
        assert_eq!(perform(&mut memory, 0x104, 0x107C, 1), Ok(107));
        assert_eq!((memory.read_u32(0x100), memory.read_u32(0x104)), (Ok(1), Ok(107)));
        // Only the low 4 bits change.
        assert!(memory.write_u32(0x100, 0xFF).is_ok());
        assert_eq!(perform(&mut memory, 0x100, 0x1000 | 3 << 2, 1), Ok(0xFF));
        assert_eq!(memory.read_u32(0x100), Ok(0xF0));
    }
}
