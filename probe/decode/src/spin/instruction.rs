//! Instructions of RV32IM, as far as loops that wait are made of them.

/// The registers that a called function may change: `ra`, `t0` to `t6`, `a0` to `a7`.
const CALLEE_MAY_CHANGE: u32 = 0xF003_FCE2;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Instruction {
    /// `lui` and `auipc`.
    Constant {
        rd: usize,
        value: u32,
    },
    /// An immediate is `Err`.
    Compute {
        how: Alu,
        rd: usize,
        a: usize,
        b: Result<usize, u32>,
    },
    Load {
        size: u32,
        signed: bool,
        rd: usize,
        base: usize,
        offset: u32,
    },
    Branch {
        how: Compare,
        a: usize,
        b: usize,
        target: u32,
    },
    Jump {
        target: u32,
    },
    Call,
    /// What changes memory or the machine, or is not known.
    Store,
    /// A return, and what is no instruction.
    Other,
    Fence,
}

/// What an instruction of a register computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Alu {
    Add,
    Sub,
    ShiftLeft,
    Less,
    LessUnsigned,
    Xor,
    ShiftRight,
    ShiftRightSigned,
    Or,
    And,
    /// A multiplication or division, which is not followed.
    Multiply,
}

/// How two values compare, in words.
pub(super) const AT_LEAST: &str = "at least ";
pub(super) const MORE_THAN: &str = "more than ";

/// When a branch is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Compare {
    Equal,
    NotEqual,
    Less,
    NotLess,
    LessUnsigned,
    NotLessUnsigned,
}

impl Instruction {
    /// Decodes the word at an address.
    pub(super) fn of(word: u32, at: u32) -> Self {
        let field = |low: u32, bits: u32| word >> low & ((1 << bits) - 1);
        let register = |low| field(low, 5) as usize;
        let (rd, a, b, funct3) = (register(7), register(15), register(20), field(12, 3));
        let immediate = (word as i32 >> 20) as u32;
        match word & 0x7F {
            0x37 => Self::Constant { rd, value: word & 0xFFFF_F000 },
            0x17 => Self::Constant { rd, value: at.wrapping_add(word & 0xFFFF_F000) },
            0x6F if rd == 0 => Self::Jump { target: at.wrapping_add(jump_offset(word)) },
            0x6F => Self::Call,
            0x67 if rd != 0 => Self::Call,
            0x63 => Compare::of(funct3).map_or(Self::Other, |how| Self::Branch {
                how,
                a,
                b,
                target: at.wrapping_add(branch_offset(word)),
            }),
            0x03 => match funct3 {
                0..=2 => {
                    Self::Load { size: 1 << funct3, signed: true, rd, base: a, offset: immediate }
                }
                4 | 5 => Self::Load {
                    size: 1 << (funct3 - 4),
                    signed: false,
                    rd,
                    base: a,
                    offset: immediate,
                },
                _ => Self::Other,
            },
            0x13 => {
                let immediate = if matches!(funct3, 1 | 5) { immediate & 31 } else { immediate };
                let how = Alu::of(funct3, funct3 == 5 && word >> 30 & 1 == 1);
                Self::Compute { how, rd, a, b: Err(immediate) }
            }
            0x33 if word >> 25 & 1 == 1 => Self::Compute { how: Alu::Multiply, rd, a, b: Ok(b) },
            0x33 => Self::Compute { how: Alu::of(funct3, word >> 30 & 1 == 1), rd, a, b: Ok(b) },
            0x0F => Self::Fence,
            0x23 | 0x73 => Self::Store,
            // `.ttinsn` rotates a Tensix instruction left by two.
            _ if word & 3 != 3 && word != 0 => Self::Store,
            _ => Self::Other,
        }
    }

    /// Returns where a branch or jump leads.
    pub(super) fn target(&self) -> Option<u32> {
        match self {
            Self::Branch { target, .. } | Self::Jump { target } => Some(*target),
            _ => None,
        }
    }

    pub(super) fn is_load(&self) -> bool {
        matches!(self, Self::Load { .. })
    }

    pub(super) fn is_jump(&self) -> bool {
        matches!(self, Self::Jump { .. })
    }

    /// Whether it may change more than a register.
    pub(super) fn acts(&self) -> bool {
        matches!(self, Self::Call | Self::Store | Self::Other)
    }

    /// Returns the registers that it writes, a bit each.
    pub(super) fn writes(&self) -> u32 {
        match self {
            Self::Constant { rd, .. } | Self::Compute { rd, .. } | Self::Load { rd, .. } => {
                1 << rd & !1
            }
            Self::Call => CALLEE_MAY_CHANGE,
            Self::Other => !1,
            Self::Branch { .. } | Self::Jump { .. } | Self::Store | Self::Fence => 0,
        }
    }

    /// Returns the registers that it reads, a bit each.
    pub(super) fn reads(&self) -> u32 {
        let all = match *self {
            Self::Compute { a, b, .. } => 1 << a | b.map_or(0, |b| 1 << b),
            Self::Load { base, .. } => 1 << base,
            Self::Branch { a, b, .. } => 1 << a | 1 << b,
            _ => 0,
        };
        all & !1
    }
}

impl Alu {
    fn of(funct3: u32, other: bool) -> Self {
        match (funct3, other) {
            (0, false) => Self::Add,
            (0, true) => Self::Sub,
            (1, _) => Self::ShiftLeft,
            (2, _) => Self::Less,
            (3, _) => Self::LessUnsigned,
            (4, _) => Self::Xor,
            (5, false) => Self::ShiftRight,
            (5, true) => Self::ShiftRightSigned,
            (6, _) => Self::Or,
            _ => Self::And,
        }
    }

    pub(super) fn of_values(self, a: u32, b: u32) -> Option<u32> {
        Some(match self {
            Self::Add => a.wrapping_add(b),
            Self::Sub => a.wrapping_sub(b),
            Self::ShiftLeft => a << (b & 31),
            Self::Less => u32::from((a as i32) < b as i32),
            Self::LessUnsigned => u32::from(a < b),
            Self::Xor => a ^ b,
            Self::ShiftRight => a >> (b & 31),
            Self::ShiftRightSigned => (a as i32 >> (b & 31)) as u32,
            Self::Or => a | b,
            Self::And => a & b,
            Self::Multiply => return None,
        })
    }
}

impl Compare {
    fn of(funct3: u32) -> Option<Self> {
        let all = [Self::Equal, Self::NotEqual, Self::Less, Self::NotLess];
        let unsigned = [Self::LessUnsigned, Self::NotLessUnsigned];
        match funct3 {
            0 | 1 => all.get(funct3 as usize),
            4 | 5 => all.get(funct3 as usize - 2),
            6 | 7 => unsigned.get(funct3 as usize - 6),
            _ => None,
        }
        .copied()
    }

    pub(super) fn holds(self, a: u32, b: u32) -> bool {
        match self {
            Self::Equal => a == b,
            Self::NotEqual => a != b,
            Self::Less => (a as i32) < b as i32,
            Self::NotLess => a as i32 >= b as i32,
            Self::LessUnsigned => a < b,
            Self::NotLessUnsigned => a >= b,
        }
    }

    pub(super) fn opposite(self) -> Self {
        match self {
            Self::Equal => Self::NotEqual,
            Self::NotEqual => Self::Equal,
            Self::Less => Self::NotLess,
            Self::NotLess => Self::Less,
            Self::LessUnsigned => Self::NotLessUnsigned,
            Self::NotLessUnsigned => Self::LessUnsigned,
        }
    }

    /// Returns what the first of its values is when it holds, such as `at least` the second one.
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Equal => "",
            Self::NotEqual => "not ",
            Self::Less | Self::LessUnsigned => "less than ",
            Self::NotLess | Self::NotLessUnsigned => AT_LEAST,
        }
    }

    /// Returns what the second of its values is when it holds.
    pub(super) fn reversed_words(self) -> &'static str {
        match self {
            Self::Equal => "",
            Self::NotEqual => "not ",
            Self::Less | Self::LessUnsigned => MORE_THAN,
            Self::NotLess | Self::NotLessUnsigned => "at most ",
        }
    }
}

fn jump_offset(word: u32) -> u32 {
    let sign = (word as i32 >> 31 << 20) as u32;
    sign | word & 0xFF000 | word >> 9 & 0x800 | word >> 20 & 0x7FE
}

fn branch_offset(word: u32) -> u32 {
    let sign = (word as i32 >> 31 << 12) as u32;
    sign | word << 4 & 0x800 | word >> 20 & 0x7E0 | word >> 7 & 0x1E
}
