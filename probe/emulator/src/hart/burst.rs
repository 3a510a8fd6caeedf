//! The fast loop: executes common instructions of one hart until an uncommon one.

use super::LOCAL_RAM;
use super::core::{Hart, MOST_HARTS};
use super::step::{compute, region, taken};
use crate::decode as d;
use crate::memory::{LINE_BYTES, OPEN, TileMemory};
use std::sync::Arc;

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

/// One hart in the fast loop.
struct Lane<'a> {
    regs: &'a mut [u32; 256],
    local: &'a mut [u8],
    /// The code region.
    code: &'a [d::Op],
    /// Its first address.
    base: u32,
    /// Index of the next instruction in the region.
    index: usize,
    hart: u8,
    /// Where the hart keeps its pc, its cycle and its count of instructions.
    pc: &'a mut u32,
    at: &'a mut u64,
    retired: &'a mut u64,
}

impl<'a> Lane<'a> {
    fn new(hart: &'a mut Hart, l1_code: &'a [d::Op]) -> Self {
        let base = region(hart.pc);
        Self {
            regs: &mut hart.regs,
            local: &mut Arc::make_mut(&mut hart.local)[..hart.local_bytes as usize],
            code: if base == 0 { l1_code } else { &hart.iram },
            base,
            index: (hart.pc.wrapping_sub(base) >> 2) as usize,
            hart: hart.index,
            pc: &mut hart.pc,
            at: &mut hart.at,
            retired: &mut hart.retired,
        }
    }

    /// Gives the hart its new pc and cycle.
    fn leave(self, cycle: u64) {
        *self.pc = self.base.wrapping_add((self.index as u32).wrapping_mul(4));
        *self.retired += cycle - *self.at;
        *self.at = cycle;
    }

    /// Executes one instruction; accesses L1 only if `shared` is true. Returns why it did not.
    #[inline(always)]
    fn execute(
        &mut self,
        op: d::Op,
        l1: &mut L1<'_>,
        shared: bool,
        replaced: &mut impl Replaced,
    ) -> Result<(), Exit> {
        // An aligned address rotated right by log2 of the size is the index of the element. A
        // misaligned address becomes an index beyond any memory, so one comparison checks both.
        macro_rules! load {
            ($size:literal, $word:ident, $value:expr) => {{
                let addr = self.regs[d::rs1(op) as usize].wrapping_add(d::imm(op));
                let element = addr.rotate_right(($size as u32).trailing_zeros()) as usize;
                let offset = addr.wrapping_sub(LOCAL_RAM);
                let own = offset.rotate_right(($size as u32).trailing_zeros()) as usize;
                let $word = if let Some(word) = l1.bytes.as_chunks::<$size>().0.get(element) {
                    if !shared {
                        return Err(Exit::Blocked);
                    }
                    *word
                } else if let Some(word) = self.local.as_chunks::<$size>().0.get(own) {
                    *word
                } else {
                    return Err(Exit::Slow);
                };
                self.regs[d::rd(op) as usize] = $value;
                self.index += 1;
            }};
        }
        macro_rules! store {
            ($size:literal, $value:ident, $data:expr, $int:ty) => {{
                let addr = self.regs[d::rs1(op) as usize].wrapping_add(d::imm(op));
                let $value = self.regs[d::rs2(op) as usize];
                let element = addr.rotate_right(($size as u32).trailing_zeros()) as usize;
                let offset = addr.wrapping_sub(LOCAL_RAM);
                let own = offset.rotate_right(($size as u32).trailing_zeros()) as usize;
                let word = if let Some(word) = l1.bytes.as_chunks_mut::<$size>().0.get_mut(element)
                {
                    if !shared {
                        return Err(Exit::Blocked);
                    }
                    if l1.flags.get((addr / LINE_BYTES) as usize) != Some(&OPEN) {
                        return Err(Exit::Slow);
                    }
                    word
                } else if let Some(word) = self.local.as_chunks_mut::<$size>().0.get_mut(own) {
                    word
                } else {
                    return Err(Exit::Slow);
                };
                let old = u32::from(<$int>::from_le_bytes(*word));
                if !replaced.keep(self.hart, addr, $size, old) {
                    return Err(Exit::Slow);
                }
                *word = $data;
                self.index += 1;
            }};
        }
        macro_rules! branch {
            ($kind:expr) => {{
                let (a, b) = (self.regs[d::rs1(op) as usize], self.regs[d::rs2(op) as usize]);
                self.index = if taken($kind, a, b) { d::imm(op) as usize } else { self.index + 1 };
            }};
        }
        macro_rules! computed {
            ($kind:expr) => {{
                let (a, b) = (self.regs[d::rs1(op) as usize], self.regs[d::rs2(op) as usize]);
                self.regs[d::rd(op) as usize] = compute($kind, a, b, d::imm(op));
                self.index += 1;
            }};
        }
        macro_rules! link {
            () => {
                self.regs[d::rd(op) as usize] = self.base.wrapping_add(self.index as u32 * 4 + 4)
            };
        }
        match d::kind(op) {
            d::LUI => computed!(d::LUI),
            d::JAL => {
                link!();
                self.index = d::imm(op) as usize;
            }
            d::JALR => {
                let target = self.regs[d::rs1(op) as usize].wrapping_add(d::imm(op)) & !1;
                let next = target.wrapping_sub(self.base).rotate_right(2) as usize;
                if next >= self.code.len() {
                    return Err(Exit::Slow);
                }
                link!();
                self.index = next;
            }
            d::BEQ => branch!(d::BEQ),
            d::BNE => branch!(d::BNE),
            d::BLT => branch!(d::BLT),
            d::BGE => branch!(d::BGE),
            d::BLTU => branch!(d::BLTU),
            d::BGEU => branch!(d::BGEU),
            d::LB => load!(1, word, i8::from_le_bytes(word) as u32),
            d::LH => load!(2, word, i16::from_le_bytes(word) as u32),
            d::LW => load!(4, word, u32::from_le_bytes(word)),
            d::LBU => load!(1, word, u32::from(u8::from_le_bytes(word))),
            d::LHU => load!(2, word, u32::from(u16::from_le_bytes(word))),
            d::SB => store!(1, value, (value as u8).to_le_bytes(), u8),
            d::SH => store!(2, value, (value as u16).to_le_bytes(), u16),
            d::SW => store!(4, value, value.to_le_bytes(), u32),
            d::ADDI => computed!(d::ADDI),
            d::SLTI => computed!(d::SLTI),
            d::SLTIU => computed!(d::SLTIU),
            d::XORI => computed!(d::XORI),
            d::ORI => computed!(d::ORI),
            d::ANDI => computed!(d::ANDI),
            d::SLLI => computed!(d::SLLI),
            d::SRLI => computed!(d::SRLI),
            d::SRAI => computed!(d::SRAI),
            d::ADD => computed!(d::ADD),
            d::SUB => computed!(d::SUB),
            d::SLL => computed!(d::SLL),
            d::SLT => computed!(d::SLT),
            d::SLTU => computed!(d::SLTU),
            d::XOR => computed!(d::XOR),
            d::SRL => computed!(d::SRL),
            d::SRA => computed!(d::SRA),
            d::OR => computed!(d::OR),
            d::AND => computed!(d::AND),
            d::MUL => computed!(d::MUL),
            d::MULH => computed!(d::MULH),
            d::MULHSU => computed!(d::MULHSU),
            d::MULHU => computed!(d::MULHU),
            d::DIV => computed!(d::DIV),
            d::DIVU => computed!(d::DIVU),
            d::REM => computed!(d::REM),
            d::REMU => computed!(d::REMU),
            d::NOP => self.index += 1,
            _ => return Err(Exit::Slow),
        }
        Ok(())
    }
}

/// The memory that the harts of a tile share.
struct L1<'a> {
    bytes: &'a mut [u8],
    flags: &'a [u8],
}

/// Executes instructions of cycles before `horizon`. Accesses L1 only in cycles before `shared`.
pub(crate) fn burst(
    hart: &mut Hart,
    memory: &mut TileMemory,
    horizon: u64,
    shared: u64,
    replaced: &mut impl Replaced,
) -> Exit {
    let mut l1 = L1 { bytes: &mut memory.bytes, flags: &memory.flags };
    let mut lane = Lane::new(hart, &memory.code);
    let mut cycle = *lane.at;
    let exit = loop {
        if cycle >= horizon {
            break Exit::Horizon;
        }
        let Some(&op) = lane.code.get(lane.index) else { break Exit::Slow };
        if let Err(exit) = lane.execute(op, &mut l1, cycle < shared, replaced) {
            break exit;
        }
        cycle += 1;
    };
    lane.leave(cycle);
    exit
}

/// Executes the harts that are due before `limit` in step: in each cycle one instruction of each, in
/// index order. This is cheaper than turns where several share L1. Ends before an instruction that
/// needs [`super::step`], and returns the index of its hart.
pub(crate) fn in_step(
    harts: &mut [Hart],
    memory: &mut TileMemory,
    limit: u64,
    replaced: &mut impl Replaced,
) -> Option<usize> {
    let mut l1 = L1 { bytes: &mut memory.bytes, flags: &memory.flags };
    let mut lanes = [const { None }; MOST_HARTS];
    let mut first = limit;
    let due = harts.iter_mut().filter(|hart| hart.due().is_some_and(|at| at < limit));
    for (place, hart) in lanes.iter_mut().zip(due) {
        first = first.min(hart.at);
        *place = Some((hart.at, Lane::new(hart, &memory.code)));
    }
    let mut slow = None;
    'cycles: for cycle in first..limit {
        for (at, lane) in lanes.iter_mut().map_while(Option::as_mut) {
            if *at > cycle {
                continue;
            }
            let op = lane.code.get(lane.index).copied().unwrap_or(d::UNDECODED.into());
            if lane.execute(op, &mut l1, true, replaced).is_err() {
                slow = Some(usize::from(lane.hart));
                break 'cycles;
            }
            *at = cycle + 1;
        }
    }
    for (at, lane) in lanes.into_iter().flatten() {
        lane.leave(at);
    }
    slow
}
