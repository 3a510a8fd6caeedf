//! The fast loop: executes common instructions of one hart until an uncommon one.

use super::LOCAL_RAM;
use super::core::Hart;
use super::step::{compute, region, taken};
use crate::decode as d;
use crate::memory::{LINE_BYTES, TileMemory};

/// Why the fast loop ended; the instruction at the pc has not been executed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// The horizon is reached.
    Horizon,
    /// The instruction accesses L1, and another hart may access L1 at an earlier cycle.
    Blocked,
    /// The instruction needs [`super::step`].
    Slow,
}

/// What becomes of the bytes that a store replaces.
pub(crate) trait Replaced {
    /// Takes `bytes` bytes at an address of L1 or of the hart's private RAM; false ends the loop
    /// before the store.
    fn keep(&mut self, hart: u8, addr: u32, bytes: u8, old: u32) -> bool;
}

/// Nobody needs them.
impl Replaced for () {
    #[inline]
    fn keep(&mut self, _: u8, _: u32, _: u8, _: u32) -> bool {
        true
    }
}

/// Executes instructions of cycles before `horizon`. Accesses L1 only in cycles before `shared`.
pub(crate) fn burst(
    hart: &mut Hart,
    memory: &mut TileMemory,
    horizon: u64,
    shared: u64,
    replaced: &mut impl Replaced,
) -> Exit {
    let base = region(hart.pc);
    let code: &[d::Op] = if base == 0 { &memory.code } else { &hart.iram };
    let regs = &mut *hart.regs;
    let local = &mut hart.local[..hart.local_bytes as usize];
    let (bytes, flags) = (&mut memory.bytes[..], &memory.flags[..]);
    let start = hart.at;
    let mut cycle = start;
    let mut index = (hart.pc.wrapping_sub(base) >> 2) as usize;

    // An aligned address rotated right by log2 of the size is the index of the element. A
    // misaligned address becomes an index beyond any memory, so one comparison checks both.
    macro_rules! load {
        ($op:ident, $size:literal, $word:ident, $value:expr) => {{
            let addr = regs[d::rs1($op) as usize].wrapping_add(d::imm($op));
            let element = addr.rotate_right(($size as u32).trailing_zeros()) as usize;
            let offset = addr.wrapping_sub(LOCAL_RAM);
            let own = offset.rotate_right(($size as u32).trailing_zeros()) as usize;
            let $word = if let Some(word) = bytes.as_chunks::<$size>().0.get(element) {
                if cycle >= shared {
                    break Exit::Blocked;
                }
                *word
            } else if let Some(word) = local.as_chunks::<$size>().0.get(own) {
                *word
            } else {
                break Exit::Slow;
            };
            regs[d::rd($op) as usize] = $value;
            index += 1;
        }};
    }
    macro_rules! store {
        ($op:ident, $size:literal, $value:ident, $data:expr, $int:ty) => {{
            let addr = regs[d::rs1($op) as usize].wrapping_add(d::imm($op));
            let $value = regs[d::rs2($op) as usize];
            let element = addr.rotate_right(($size as u32).trailing_zeros()) as usize;
            let offset = addr.wrapping_sub(LOCAL_RAM);
            let own = offset.rotate_right(($size as u32).trailing_zeros()) as usize;
            if let Some(word) = bytes.as_chunks_mut::<$size>().0.get_mut(element) {
                if cycle >= shared {
                    break Exit::Blocked;
                }
                if flags.get((addr / LINE_BYTES) as usize) != Some(&0) {
                    break Exit::Slow;
                }
                if !replaced.keep(hart.index, addr, $size, u32::from(<$int>::from_le_bytes(*word)))
                {
                    break Exit::Slow;
                }
                *word = $data;
            } else if let Some(word) = local.as_chunks_mut::<$size>().0.get_mut(own) {
                if !replaced.keep(hart.index, addr, $size, u32::from(<$int>::from_le_bytes(*word)))
                {
                    break Exit::Slow;
                }
                *word = $data;
            } else {
                break Exit::Slow;
            }
            index += 1;
        }};
    }
    macro_rules! branch {
        ($op:ident, $kind:expr) => {{
            let (a, b) = (regs[d::rs1($op) as usize], regs[d::rs2($op) as usize]);
            index = if taken($kind, a, b) { d::imm($op) as usize } else { index + 1 };
        }};
    }
    macro_rules! computed {
        ($op:ident, $kind:expr) => {{
            let (a, b) = (regs[d::rs1($op) as usize], regs[d::rs2($op) as usize]);
            regs[d::rd($op) as usize] = compute($kind, a, b, d::imm($op));
            index += 1;
        }};
    }

    let exit = loop {
        if cycle >= horizon {
            break Exit::Horizon;
        }
        let Some(&op) = code.get(index) else { break Exit::Slow };
        match d::kind(op) {
            d::LUI => computed!(op, d::LUI),
            d::JAL => {
                regs[d::rd(op) as usize] = base.wrapping_add(index as u32 * 4 + 4);
                index = d::imm(op) as usize;
            }
            d::JALR => {
                let target = regs[d::rs1(op) as usize].wrapping_add(d::imm(op)) & !1;
                let next = target.wrapping_sub(base).rotate_right(2) as usize;
                if next >= code.len() {
                    break Exit::Slow;
                }
                regs[d::rd(op) as usize] = base.wrapping_add(index as u32 * 4 + 4);
                index = next;
            }
            d::BEQ => branch!(op, d::BEQ),
            d::BNE => branch!(op, d::BNE),
            d::BLT => branch!(op, d::BLT),
            d::BGE => branch!(op, d::BGE),
            d::BLTU => branch!(op, d::BLTU),
            d::BGEU => branch!(op, d::BGEU),
            d::LB => load!(op, 1, word, i8::from_le_bytes(word) as u32),
            d::LH => load!(op, 2, word, i16::from_le_bytes(word) as u32),
            d::LW => load!(op, 4, word, u32::from_le_bytes(word)),
            d::LBU => load!(op, 1, word, u32::from(u8::from_le_bytes(word))),
            d::LHU => load!(op, 2, word, u32::from(u16::from_le_bytes(word))),
            d::SB => store!(op, 1, value, (value as u8).to_le_bytes(), u8),
            d::SH => store!(op, 2, value, (value as u16).to_le_bytes(), u16),
            d::SW => store!(op, 4, value, value.to_le_bytes(), u32),
            d::ADDI => computed!(op, d::ADDI),
            d::SLTI => computed!(op, d::SLTI),
            d::SLTIU => computed!(op, d::SLTIU),
            d::XORI => computed!(op, d::XORI),
            d::ORI => computed!(op, d::ORI),
            d::ANDI => computed!(op, d::ANDI),
            d::SLLI => computed!(op, d::SLLI),
            d::SRLI => computed!(op, d::SRLI),
            d::SRAI => computed!(op, d::SRAI),
            d::ADD => computed!(op, d::ADD),
            d::SUB => computed!(op, d::SUB),
            d::SLL => computed!(op, d::SLL),
            d::SLT => computed!(op, d::SLT),
            d::SLTU => computed!(op, d::SLTU),
            d::XOR => computed!(op, d::XOR),
            d::SRL => computed!(op, d::SRL),
            d::SRA => computed!(op, d::SRA),
            d::OR => computed!(op, d::OR),
            d::AND => computed!(op, d::AND),
            d::MUL => computed!(op, d::MUL),
            d::MULH => computed!(op, d::MULH),
            d::MULHSU => computed!(op, d::MULHSU),
            d::MULHU => computed!(op, d::MULHU),
            d::DIV => computed!(op, d::DIV),
            d::DIVU => computed!(op, d::DIVU),
            d::REM => computed!(op, d::REM),
            d::REMU => computed!(op, d::REMU),
            d::NOP => index += 1,
            _ => break Exit::Slow,
        }
        cycle += 1;
    };
    hart.pc = base.wrapping_add((index as u32).wrapping_mul(4));
    hart.at = cycle;
    hart.retired += cycle - start;
    exit
}
