//! RV32IM words decoded into compact operations.
//!
//! An operation is one `u64`: kind, rd, rs1, rs2 in the low four bytes, a 32-bit immediate above.
//! It is an integer, not a struct, so that tables of operations come zeroed from the allocator and
//! stay uncommitted until code runs.

/// A decoded instruction; 0 means not decoded.
pub(crate) type Op = u64;

/// Slot for results to x0, which must stay zero.
pub(crate) const DISCARD: u8 = 32;

macro_rules! kinds {
    ($($name:ident)*) => { kinds!(@ 0u8; $($name)*); };
    (@ $value:expr; $name:ident $($rest:ident)*) => {
        pub(crate) const $name: u8 = $value;
        kinds!(@ $value + 1; $($rest)*);
    };
    (@ $value:expr;) => {};
}

kinds! {
    UNDECODED
    LUI JAL JALR BEQ BNE BLT BGE BLTU BGEU
    LB LH LW LBU LHU SB SH SW
    ADDI SLTI SLTIU XORI ORI ANDI SLLI SRLI SRAI
    ADD SUB SLL SLT SLTU XOR SRL SRA OR AND
    MUL MULH MULHSU MULHU DIV DIVU REM REMU
    NOP CSR ECALL EBREAK TENSIX ILLEGAL BRANCH_ODD JAL_ODD
}

pub(crate) const fn pack(kind: u8, rd: u8, rs1: u8, rs2: u8, imm: u32) -> Op {
    kind as u64 | (rd as u64) << 8 | (rs1 as u64) << 16 | (rs2 as u64) << 24 | (imm as u64) << 32
}

#[inline]
pub(crate) const fn kind(op: Op) -> u8 {
    op as u8
}

#[inline]
pub(crate) const fn rd(op: Op) -> u8 {
    (op >> 8) as u8
}

#[inline]
pub(crate) const fn rs1(op: Op) -> u8 {
    (op >> 16) as u8
}

#[inline]
pub(crate) const fn rs2(op: Op) -> u8 {
    (op >> 24) as u8
}

#[inline]
pub(crate) const fn imm(op: Op) -> u32 {
    (op >> 32) as u32
}

/// Decodes the word at `pc` of a code region that starts at `base`. Branch targets become word
/// indices from `base`, and pc-relative values become constants.
pub(crate) fn decode(word: u32, pc: u32, base: u32, tensix: bool) -> Op {
    let field = |low: u32, bits: u32| (word >> low & ((1 << bits) - 1)) as u8;
    let rd = if field(7, 5) == 0 { DISCARD } else { field(7, 5) };
    let (rs1, rs2, funct3, funct7) = (field(15, 5), field(20, 5), field(12, 3), field(25, 7));
    let imm_i = (word as i32 >> 20) as u32;
    let illegal = pack(ILLEGAL, DISCARD, 0, 0, word);
    match word & 0x7F {
        0x37 => pack(LUI, rd, 0, 0, word & 0xFFFF_F000),
        0x17 => pack(LUI, rd, 0, 0, pc.wrapping_add(word & 0xFFFF_F000)),
        0x6F => jump(rd, pc.wrapping_add(jump_offset(word)), base),
        0x67 if funct3 == 0 => pack(JALR, rd, rs1, 0, imm_i),
        0x63 => {
            branch(funct3, rs1, rs2, pc.wrapping_add(branch_offset(word)), base).unwrap_or(illegal)
        }
        0x03 => match funct3 {
            0 => pack(LB, rd, rs1, 0, imm_i),
            1 => pack(LH, rd, rs1, 0, imm_i),
            2 => pack(LW, rd, rs1, 0, imm_i),
            4 => pack(LBU, rd, rs1, 0, imm_i),
            5 => pack(LHU, rd, rs1, 0, imm_i),
            _ => illegal,
        },
        0x23 if funct3 <= 2 => {
            let imm = (word as i32 >> 25 << 5) as u32 | u32::from(field(7, 5));
            pack(SB + funct3, 0, rs1, rs2, imm)
        }
        0x13 => immediate(funct3, funct7, rd, rs1, imm_i, rs2).unwrap_or(illegal),
        0x33 => register(funct3, funct7).map_or(illegal, |kind| pack(kind, rd, rs1, rs2, 0)),
        0x0F if funct3 <= 1 => pack(NOP, DISCARD, 0, 0, 0),
        0x73 => match (funct3, word) {
            (0, 0x0000_0073) => pack(ECALL, DISCARD, 0, 0, 0),
            (0, 0x0010_0073) => pack(EBREAK, DISCARD, 0, 0, 0),
            (1..=3 | 5..=7, _) => pack(CSR, rd, rs1, funct3, word >> 20),
            _ => illegal,
        },
        // `.ttinsn` rotates a Tensix instruction left by two, so that its low bits differ from
        // those of a 32-bit RISC-V instruction.
        _ if tensix && word & 3 != 3 && word != 0 => pack(TENSIX, DISCARD, 0, 0, word),
        _ => illegal,
    }
}

fn jump(rd: u8, target: u32, base: u32) -> Op {
    match target & 3 {
        0 => pack(JAL, rd, 0, 0, target.wrapping_sub(base) >> 2),
        _ => pack(JAL_ODD, rd, 0, 0, target),
    }
}

fn branch(funct3: u8, rs1: u8, rs2: u8, target: u32, base: u32) -> Option<Op> {
    let kind = match funct3 {
        0 => BEQ,
        1 => BNE,
        4 => BLT,
        5 => BGE,
        6 => BLTU,
        7 => BGEU,
        _ => return None,
    };
    Some(match target & 3 {
        0 => pack(kind, 0, rs1, rs2, target.wrapping_sub(base) >> 2),
        // Stops the hart only if the branch is taken. rd holds the condition.
        _ => pack(BRANCH_ODD, kind, rs1, rs2, target),
    })
}

fn immediate(funct3: u8, funct7: u8, rd: u8, rs1: u8, imm: u32, shift: u8) -> Option<Op> {
    let kind = match (funct3, funct7) {
        (0, _) => ADDI,
        (2, _) => SLTI,
        (3, _) => SLTIU,
        (4, _) => XORI,
        (6, _) => ORI,
        (7, _) => ANDI,
        (1, 0) => return Some(pack(SLLI, rd, rs1, 0, u32::from(shift))),
        (5, 0) => return Some(pack(SRLI, rd, rs1, 0, u32::from(shift))),
        (5, 0x20) => return Some(pack(SRAI, rd, rs1, 0, u32::from(shift))),
        _ => return None,
    };
    Some(pack(kind, rd, rs1, 0, imm))
}

fn register(funct3: u8, funct7: u8) -> Option<u8> {
    const BASE: [u8; 8] = [ADD, SLL, SLT, SLTU, XOR, SRL, OR, AND];
    match (funct7, funct3) {
        (0, _) => Some(BASE[funct3 as usize & 7]),
        (0x20, 0) => Some(SUB),
        (0x20, 5) => Some(SRA),
        (1, _) => Some(MUL + funct3),
        _ => None,
    }
}

fn jump_offset(word: u32) -> u32 {
    (word as i32 >> 31 << 20) as u32
        | word & 0xF_F000
        | (word >> 20 & 1) << 11
        | (word >> 21 & 0x3FF) << 1
}

fn branch_offset(word: u32) -> u32 {
    (word as i32 >> 31 << 12) as u32
        | (word >> 7 & 1) << 11
        | (word >> 25 & 0x3F) << 5
        | (word >> 8 & 0xF) << 1
}
