//! One instruction, in full generality: for the instructions that the fast loop leaves out, and for
//! observation.

use super::core::Hart;
use super::{Cause, DeviceAccess, DeviceSet, Devices, HartOrder, IRAM, Nature, Stored};
use crate::decode::{self as d, Op};
use crate::memory::TileMemory;
use crate::watch::Writer;

/// What an instruction touched, apart from registers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Touched {
    Nothing,
    /// A word of private RAM; for slots see [`super::mode`].
    LocalLoad {
        slot: u32,
    },
    /// `old` is the previous value of the word.
    LocalStore {
        slot: u32,
        old: u32,
    },
    L1Load {
        addr: u32,
    },
    /// `old` is the previous value of the word.
    L1Store {
        addr: u32,
        changed: bool,
        old: u32,
    },
    DeviceLoad {
        nature: Nature,
        device: DeviceSet,
    },
    DeviceStore {
        stored: Stored,
        device: DeviceSet,
    },
    CsrChanged,
}

impl Touched {
    /// Whether the instruction had an effect that a skipped iteration would have to repeat.
    pub(crate) fn has_effect(self) -> bool {
        match self {
            Self::L1Store { changed, .. } => changed,
            Self::DeviceStore { stored, .. } => stored != Stored::Same,
            Self::DeviceLoad { nature, .. } => nature == Nature::Volatile,
            Self::CsrChanged => true,
            Self::Nothing
            | Self::LocalLoad { .. }
            | Self::LocalStore { .. }
            | Self::L1Load { .. } => false,
        }
    }
}

/// The cause and address of a stop, without hart and cycle.
pub(crate) type Halt = (Cause, u32);

/// The state outside the hart.
pub(crate) struct Outside<'a, D> {
    pub(crate) memory: &'a mut TileMemory,
    pub(crate) devices: &'a mut D,
    pub(crate) orders: &'a mut Vec<HartOrder>,
}

/// Returns the instruction at the hart's pc.
pub(crate) fn fetch(hart: &Hart, memory: &mut TileMemory) -> Result<Op, Halt> {
    let pc = hart.pc;
    if pc & 3 != 0 {
        return Err((Cause::MisalignedFetch, pc));
    }
    let iram = hart.iram.get((pc.wrapping_sub(IRAM) >> 2) as usize).copied();
    iram.or_else(|| memory.fetch(pc)).ok_or((Cause::UnmappedFetch, pc))
}

/// Returns the start of the code region that contains the pc.
pub(crate) fn region(pc: u32) -> u32 {
    if pc >= IRAM { IRAM } else { 0 }
}

/// Executes one fetched instruction. On `Err`, nothing has changed.
pub(crate) fn execute<D: Devices>(
    hart: &mut Hart,
    op: Op,
    out: &mut Outside<'_, D>,
) -> Result<Touched, Halt> {
    let kind = d::kind(op);
    let (a, b, imm) = (hart.regs[d::rs1(op) as usize], hart.regs[d::rs2(op) as usize], d::imm(op));
    let next = hart.pc.wrapping_add(4);
    let (mut result, mut pc, mut touched) = (None, next, Touched::Nothing);
    match kind {
        d::JAL => (result, pc) = (Some(next), region(hart.pc).wrapping_add(imm << 2)),
        d::JALR => (result, pc) = (Some(next), a.wrapping_add(imm) & !1),
        d::BEQ..=d::BGEU if taken(kind, a, b) => pc = region(hart.pc).wrapping_add(imm << 2),
        d::BEQ..=d::BGEU | d::NOP => {}
        d::BRANCH_ODD if taken(d::rd(op), a, b) => return Err((Cause::MisalignedFetch, imm)),
        d::BRANCH_ODD => {}
        d::JAL_ODD => return Err((Cause::MisalignedFetch, imm)),
        d::LB..=d::LHU => {
            let value;
            (value, touched) = load(hart, kind, a.wrapping_add(imm), out)?;
            result = Some(value);
        }
        d::SB..=d::SW => touched = store(hart, kind, a.wrapping_add(imm), b, out)?,
        d::CSR => {
            let old = hart.csr;
            csr(hart, op, a)?;
            result = Some(old);
            touched = if hart.csr == old { Touched::Nothing } else { Touched::CsrChanged };
        }
        d::ECALL => return Err((Cause::Ecall, hart.pc)),
        d::EBREAK => return Err((Cause::Ebreak, hart.pc)),
        d::TENSIX => return Err((Cause::TensixInstruction, imm)),
        d::LUI..=d::REMU => result = Some(compute(kind, a, b, imm)),
        _ => return Err((Cause::IllegalInstruction, imm)),
    }
    // A jump to a misaligned address stops the hart at the jump, before it links.
    if pc & 3 != 0 {
        return Err((Cause::MisalignedFetch, pc));
    }
    if let Some(value) = result {
        hart.regs[d::rd(op) as usize] = value;
    }
    hart.pc = pc;
    Ok(touched)
}

/// Whether a branch is taken.
pub(crate) fn taken(kind: u8, a: u32, b: u32) -> bool {
    match kind {
        d::BEQ => a == b,
        d::BNE => a != b,
        d::BLT => (a as i32) < b as i32,
        d::BGE => a as i32 >= b as i32,
        d::BLTU => a < b,
        _ => a >= b,
    }
}

/// Returns the result of a computing instruction.
#[inline]
pub(crate) fn compute(kind: u8, a: u32, b: u32, imm: u32) -> u32 {
    match kind {
        d::LUI => imm,
        d::ADDI => a.wrapping_add(imm),
        d::SLTI => u32::from((a as i32) < imm as i32),
        d::SLTIU => u32::from(a < imm),
        d::XORI => a ^ imm,
        d::ORI => a | imm,
        d::ANDI => a & imm,
        d::SLLI => a.wrapping_shl(imm),
        d::SRLI => a.wrapping_shr(imm),
        d::SRAI => (a as i32).wrapping_shr(imm) as u32,
        d::ADD => a.wrapping_add(b),
        d::SUB => a.wrapping_sub(b),
        d::SLL => a.wrapping_shl(b),
        d::SLT => u32::from((a as i32) < b as i32),
        d::SLTU => u32::from(a < b),
        d::XOR => a ^ b,
        d::SRL => a.wrapping_shr(b),
        d::SRA => (a as i32).wrapping_shr(b) as u32,
        d::OR => a | b,
        d::AND => a & b,
        d::MUL => a.wrapping_mul(b),
        d::MULH => ((i64::from(a as i32) * i64::from(b as i32)) >> 32) as u32,
        d::MULHSU => ((i64::from(a as i32) * i64::from(b)) >> 32) as u32,
        d::MULHU => ((u64::from(a) * u64::from(b)) >> 32) as u32,
        // Division by zero yields all ones and the dividend; the only overflow yields the dividend
        // and zero.
        d::DIV if b == 0 => u32::MAX,
        d::DIV => (a as i32).wrapping_div(b as i32) as u32,
        d::DIVU => a.checked_div(b).unwrap_or(u32::MAX),
        d::REM if b == 0 => a,
        d::REM => (a as i32).wrapping_rem(b as i32) as u32,
        _ => a.checked_rem(b).unwrap_or(a),
    }
}

fn size(kind: u8) -> u8 {
    match kind {
        d::LB | d::LBU | d::SB => 1,
        d::LH | d::LHU | d::SH => 2,
        _ => 4,
    }
}

/// Extends a loaded value to a register.
pub(crate) fn extend(kind: u8, value: u32) -> u32 {
    match kind {
        d::LB => value as u8 as i8 as u32,
        d::LBU => u32::from(value as u8),
        d::LH => value as u16 as i16 as u32,
        d::LHU => u32::from(value as u16),
        _ => value,
    }
}

fn word(bytes: &[u8]) -> u32 {
    bytes.iter().rev().fold(0, |word, &byte| word << 8 | u32::from(byte))
}

fn load<D: Devices>(
    hart: &Hart,
    kind: u8,
    addr: u32,
    out: &mut Outside<'_, D>,
) -> Result<(u32, Touched), Halt> {
    let bytes = size(kind);
    if addr & (u32::from(bytes) - 1) != 0 {
        return Err((Cause::MisalignedAccess, addr));
    }
    let (value, touched) = if let Ok(slice) = out.memory.slice(addr, bytes as usize) {
        (word(slice), Touched::L1Load { addr })
    } else if let Some((offset, slot)) = hart.local_offset(addr).zip(hart.local_slot(addr)) {
        (word(&hart.local[offset..offset + bytes as usize]), Touched::LocalLoad { slot })
    } else {
        let at = DeviceAccess { hart: hart.index, cycle: hart.at, addr, bytes };
        let load =
            out.devices.load(at, out.memory).map_err(|fault| (Cause::Device(fault), addr))?;
        (load.value, Touched::DeviceLoad { nature: load.nature, device: D::device(addr) })
    };
    Ok((extend(kind, value), touched))
}

/// Returns the hart as the writer of what it stores.
fn writer(hart: &Hart) -> Writer {
    match hart.served() {
        Some(_) => Writer::Debugger { hart: hart.index },
        None => Writer::Hart { hart: hart.index, pc: hart.pc },
    }
}

fn store<D: Devices>(
    hart: &mut Hart,
    kind: u8,
    addr: u32,
    value: u32,
    out: &mut Outside<'_, D>,
) -> Result<Touched, Halt> {
    let bytes = size(kind);
    if addr & (u32::from(bytes) - 1) != 0 {
        return Err((Cause::MisalignedAccess, addr));
    }
    let le = value.to_le_bytes();
    let data = &le[..bytes as usize];
    if let Ok(old) = out.memory.read_u32(addr & !3) {
        if let Some(watch) = &mut out.memory.write_watch {
            watch.writer(hart.at, writer(hart));
        }
        let changed = out.memory.store_by_hart(addr, data);
        return Ok(Touched::L1Store { addr, changed: changed != Ok(false), old });
    }
    if let Some((offset, slot)) = hart.local_offset(addr).zip(hart.local_slot(addr)) {
        let old = hart.slot(slot, out.memory);
        hart.local_mut()[offset..offset + bytes as usize].copy_from_slice(data);
        return Ok(Touched::LocalStore { slot, old });
    }
    let at = DeviceAccess { hart: hart.index, cycle: hart.at, addr, bytes };
    let stored = out
        .devices
        .store(at, word(data), out.memory, out.orders)
        .map_err(|fault| (Cause::Device(fault), addr))?;
    Ok(Touched::DeviceStore { stored, device: D::device(addr) })
}

/// Executes an access to CSR 0x7C0, which holds chip configuration bits that firmware sets at
/// start. Here it is plain storage.
fn csr(hart: &mut Hart, op: Op, a: u32) -> Result<(), Halt> {
    if d::imm(op) != 0x7C0 {
        return Err((Cause::UnknownCsr, d::imm(op)));
    }
    let operand = if d::rs2(op) >= 5 { u32::from(d::rs1(op)) } else { a };
    match d::rs2(op) & 3 {
        1 => hart.csr = operand,
        2 => hart.csr |= operand,
        _ => hart.csr &= !operand,
    }
    Ok(())
}
