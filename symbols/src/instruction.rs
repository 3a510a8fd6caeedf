//! RISC-V instructions, as far as constants in registers need them: RV32I and its compressed forms.

/// An instruction. Immediates are sign-extended; targets are absolute.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Instruction {
    /// Sets a register to a constant: `lui`, `auipc`, `c.lui`.
    Constant { rd: u8, value: u32 },
    /// Combines a register with an immediate: `addi`, `slli`, `c.li`, ...
    Immediate { rd: u8, left: u8, with: Arithmetic, right: u32 },
    /// Combines two registers.
    Register { rd: u8, left: u8, with: Arithmetic, right: u8 },
    /// Loads a word.
    Load { rd: u8, base: u8, offset: u32 },
    /// Stores a word; without a source, a part of one.
    Store { base: u8, offset: u32, source: Option<u8> },
    /// May go on elsewhere.
    Branch { target: u32 },
    /// Goes on elsewhere.
    Jump { target: u32 },
    /// Calls a function.
    Call { link: u8, target: Option<u32> },
    /// Returns, or jumps to an address in a register.
    Leave,
    /// Sets a register to an unknown value; x0 if it sets none.
    Other { rd: u8 },
}

/// An operation on two numbers.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Arithmetic {
    Add,
    Subtract,
    Xor,
    Or,
    And,
    ShiftLeft,
    ShiftRight,
}

impl Arithmetic {
    pub(crate) fn apply(self, left: u32, right: u32) -> u32 {
        match self {
            Self::Add => left.wrapping_add(right),
            Self::Subtract => left.wrapping_sub(right),
            Self::Xor => left ^ right,
            Self::Or => left | right,
            Self::And => left & right,
            Self::ShiftLeft => left.wrapping_shl(right),
            Self::ShiftRight => left.wrapping_shr(right),
        }
    }
}

/// The stack pointer.
pub(crate) const SP: u8 = 2;

const NOTHING: Instruction = Instruction::Other { rd: 0 };

/// Decodes the instruction at the start of `code`; returns its length too. Without compressed
/// instructions every four bytes are one: Tensix instructions, which baby cores push to the
/// coprocessor, use the encodings of the compressed ones.
pub(crate) fn decode(code: &[u8], pc: u32, compressed: bool) -> Option<(Instruction, u32)> {
    if compressed {
        let half = u16::from_le_bytes(*code.first_chunk()?);
        if half & 3 != 3 {
            return Some((decode_half(half.into(), pc), 2));
        }
    }
    let word = u32::from_le_bytes(*code.first_chunk()?);
    Some((if word & 3 == 3 { decode_word(word, pc) } else { NOTHING }, 4))
}

/// Sign-extends the lowest `bits` of a number.
fn extend(value: u32, bits: u32) -> u32 {
    ((value << (32 - bits)) as i32 >> (32 - bits)) as u32
}

fn decode_word(word: u32, pc: u32) -> Instruction {
    let field = |low: u32, bits: u32| word >> low & ((1 << bits) - 1);
    let register = |low: u32| field(low, 5) as u8;
    let (rd, left, right) = (register(7), register(15), register(20));
    let upper = word & !0xFFF;
    let immediate = extend(word >> 20, 12);
    match word & 0x7F {
        0x37 => Instruction::Constant { rd, value: upper },
        0x17 => Instruction::Constant { rd, value: pc.wrapping_add(upper) },
        0x13 => match arithmetic(field(12, 3)) {
            // An arithmetic shift to the right.
            Some(Arithmetic::ShiftRight) if field(30, 1) == 1 => Instruction::Other { rd },
            Some(with @ (Arithmetic::ShiftLeft | Arithmetic::ShiftRight)) => {
                Instruction::Immediate { rd, left, with, right: immediate & 31 }
            }
            Some(with) => Instruction::Immediate { rd, left, with, right: immediate },
            None => Instruction::Other { rd },
        },
        0x33 => {
            let with = match (field(25, 7), field(12, 3)) {
                (0, function) => arithmetic(function),
                (0x20, 0) => Some(Arithmetic::Subtract),
                _ => None,
            };
            let unknown = Instruction::Other { rd };
            with.map_or(unknown, |with| Instruction::Register { rd, left, with, right })
        }
        0x03 if field(12, 3) == 2 => Instruction::Load { rd, base: left, offset: immediate },
        0x23 => {
            let offset = extend(field(25, 7) << 5 | field(7, 5), 12);
            let source = (field(12, 3) == 2).then_some(right);
            Instruction::Store { base: left, offset, source }
        }
        // Fences set no register.
        0x0F => NOTHING,
        0x63 => {
            let offset =
                field(31, 1) << 12 | field(7, 1) << 11 | field(25, 6) << 5 | field(8, 4) << 1;
            Instruction::Branch { target: pc.wrapping_add(extend(offset, 13)) }
        }
        0x6F => {
            let offset =
                field(31, 1) << 20 | field(12, 8) << 12 | field(20, 1) << 11 | field(21, 10) << 1;
            let target = pc.wrapping_add(extend(offset, 21));
            match rd {
                0 => Instruction::Jump { target },
                link => Instruction::Call { link, target: Some(target) },
            }
        }
        0x67 => match rd {
            0 => Instruction::Leave,
            link => Instruction::Call { link, target: None },
        },
        _ => Instruction::Other { rd },
    }
}

fn arithmetic(function: u32) -> Option<Arithmetic> {
    match function {
        0 => Some(Arithmetic::Add),
        1 => Some(Arithmetic::ShiftLeft),
        4 => Some(Arithmetic::Xor),
        5 => Some(Arithmetic::ShiftRight),
        6 => Some(Arithmetic::Or),
        7 => Some(Arithmetic::And),
        _ => None,
    }
}

fn decode_half(half: u32, pc: u32) -> Instruction {
    use Arithmetic::{Add, And, Or, ShiftLeft, ShiftRight, Subtract, Xor};
    let field = |low: u32, bits: u32| half >> low & ((1 << bits) - 1);
    // The registers s0 to a5 in three bits.
    let short = |low: u32| 8 + field(low, 3) as u8;
    let (rd, rs) = (field(7, 5) as u8, field(2, 5) as u8);
    let immediate = extend(field(12, 1) << 5 | field(2, 5), 6);
    let jump = || {
        let offset = field(12, 1) << 11
            | field(8, 1) << 10
            | field(9, 2) << 8
            | field(6, 1) << 7
            | field(7, 1) << 6
            | field(2, 1) << 5
            | field(11, 1) << 4
            | field(3, 3) << 1;
        pc.wrapping_add(extend(offset, 12))
    };
    match (half & 3, half >> 13) {
        // c.addi4spn
        (0, 0) => {
            let right = field(7, 4) << 6 | field(11, 2) << 4 | field(5, 1) << 3 | field(6, 1) << 2;
            Instruction::Immediate { rd: short(2), left: SP, with: Add, right }
        }
        (0, function @ (2 | 6)) => {
            let offset = field(5, 1) << 6 | field(10, 3) << 3 | field(6, 1) << 2;
            let (base, other) = (short(7), short(2));
            match function {
                2 => Instruction::Load { rd: other, base, offset },
                _ => Instruction::Store { base, offset, source: Some(other) },
            }
        }
        (1, 0) => Instruction::Immediate { rd, left: rd, with: Add, right: immediate },
        (1, 1) => Instruction::Call { link: 1, target: Some(jump()) },
        (1, 2) => Instruction::Immediate { rd, left: 0, with: Add, right: immediate },
        // c.addi16sp
        (1, 3) if rd == SP => {
            let right = field(12, 1) << 9
                | field(3, 2) << 7
                | field(5, 1) << 6
                | field(2, 1) << 5
                | field(6, 1) << 4;
            Instruction::Immediate { rd, left: SP, with: Add, right: extend(right, 10) }
        }
        (1, 3) => Instruction::Constant { rd, value: immediate << 12 },
        (1, 4) => {
            let (rd, rs, shift) = (short(7), short(2), immediate & 31);
            let with = match (field(10, 2), field(12, 1), field(5, 2)) {
                (0, ..) => {
                    return Instruction::Immediate { rd, left: rd, with: ShiftRight, right: shift };
                }
                (2, ..) => {
                    return Instruction::Immediate { rd, left: rd, with: And, right: immediate };
                }
                (3, 0, 0) => Subtract,
                (3, 0, 1) => Xor,
                (3, 0, 2) => Or,
                (3, 0, 3) => And,
                _ => return Instruction::Other { rd },
            };
            Instruction::Register { rd, left: rd, with, right: rs }
        }
        (1, 5) => Instruction::Jump { target: jump() },
        (1, _) => {
            let offset = field(12, 1) << 8
                | field(5, 2) << 6
                | field(2, 1) << 5
                | field(10, 2) << 3
                | field(3, 2) << 1;
            Instruction::Branch { target: pc.wrapping_add(extend(offset, 9)) }
        }
        (2, 0) => Instruction::Immediate { rd, left: rd, with: ShiftLeft, right: immediate & 31 },
        (2, 2) => {
            let offset = field(2, 2) << 6 | field(12, 1) << 5 | field(4, 3) << 2;
            Instruction::Load { rd, base: SP, offset }
        }
        (2, 6) => {
            let offset = field(7, 2) << 6 | field(9, 4) << 2;
            Instruction::Store { base: SP, offset, source: Some(rs) }
        }
        (2, 4) => match (field(12, 1), rd, rs) {
            (0, _, 0) => Instruction::Leave,
            (0, ..) => Instruction::Register { rd, left: 0, with: Add, right: rs },
            // c.ebreak
            (_, 0, 0) => NOTHING,
            (_, _, 0) => Instruction::Call { link: 1, target: None },
            _ => Instruction::Register { rd, left: rd, with: Add, right: rs },
        },
        _ => NOTHING,
    }
}

#[cfg(test)]
mod tests {
    use super::{Arithmetic, Instruction, decode};

    #[test]
    fn words_are_decoded() {
        use Instruction::{
            Branch, Call, Constant, Immediate, Jump, Leave, Load, Other, Register, Store,
        };
        let add = Arithmetic::Add;
        // Encodings of binutils 2.40.
        let checks = [
            (0x5749_57B7, Constant { rd: 15, value: 0x5749_5000 }), // lui a5,0x57495
            (0x74E7_8793, Immediate { rd: 15, left: 15, with: add, right: 1870 }), // addi a5,a5,1870
            (0x22F8_2223, Store { base: 16, offset: 548, source: Some(15) }),      // sw a5,548(a6)
            (0x4EF0_2223, Store { base: 0, offset: 1252, source: Some(15) }), // sw a5,1252(zero)
            (0xFEA4_AC23, Store { base: 9, offset: -8i32 as u32, source: Some(10) }), // sw a0,-8(s1)
            (0x00F1_0323, Store { base: 2, offset: 6, source: None }),                // sb a5,6(sp)
            (0x0000_8067, Leave),                                                     // ret
            (0x0000_00EF, Call { link: 1, target: Some(0x1000) }),                    // jal ra,.
            (0xFFDF_F06F, Jump { target: 0xFFC }),                                    // j .-4
            (0xFE05_0EE3, Branch { target: 0xFFC }),                                  // beqz a0,.-4
            (0x0000_A503, Load { rd: 10, base: 1, offset: 0 }),                       // lw a0,0(ra)
            (0x0000_8503, Other { rd: 10 }),                                          // lb a0,0(ra)
            (0x00B5_0533, Register { rd: 10, left: 10, with: add, right: 11 }), // add a0,a0,a1
            (0x02B5_0533, Other { rd: 10 }),                                    // mul a0,a0,a1
            (0x4015_5513, Other { rd: 10 }),                                    // srai a0,a0,1
            (0x4E00_0020, Other { rd: 0 }), // a Tensix instruction
        ];
        for (word, want) in checks {
            let found = decode(&u32::to_le_bytes(word), 0x1000, false);
            assert_eq!(found, Some((want, 4)), "{word:#010x}");
        }
    }

    #[test]
    fn compressed_instructions_are_decoded() {
        use Instruction::{Branch, Call, Constant, Immediate, Jump, Leave, Load, Register, Store};
        let add = Arithmetic::Add;
        let checks = [
            (0x67C1, Constant { rd: 15, value: 0x1_0000 }), // c.lui a5,0x10
            (0x17FD, Immediate { rd: 15, left: 15, with: add, right: u32::MAX }), // c.addi a5,-1
            (0x4785, Immediate { rd: 15, left: 0, with: add, right: 1 }), // c.li a5,1
            (0xC31C, Store { base: 14, offset: 0, source: Some(15) }), // c.sw a5,0(a4)
            (0xC35C, Store { base: 14, offset: 4, source: Some(15) }), // c.sw a5,4(a4)
            (0x5B7C, Load { rd: 15, base: 14, offset: 116 }), // c.lw a5,116(a4)
            (0xD73E, Store { base: 2, offset: 172, source: Some(15) }), // c.swsp a5,172(sp)
            (0x57BA, Load { rd: 15, base: 2, offset: 172 }), // c.lwsp a5,172(sp)
            (0x7131, Immediate { rd: 2, left: 2, with: add, right: -192i32 as u32 }), // c.addi16sp
            (0x193C, Immediate { rd: 15, left: 2, with: add, right: 184 }), // c.addi4spn a5,184
            (0x8082, Leave),                                // c.jr ra
            (0x87BA, Register { rd: 15, left: 0, with: add, right: 14 }), // c.mv a5,a4
            (0xBFF5, Jump { target: 0xFFC }),               // c.j .-4
            (0x3FF5, Call { link: 1, target: Some(0xFFC) }), // c.jal .-4
            (0xDD75, Branch { target: 0xFFC }),             // c.beqz a0,.-4
        ];
        for (half, want) in checks {
            let found = decode(&u16::to_le_bytes(half), 0x1000, true);
            assert_eq!(found, Some((want, 2)), "{half:#06x}");
        }
        assert_eq!(decode(&[0x37], 0, false), None);
    }
}
