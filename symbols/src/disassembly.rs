//! Instructions as text: RV32IM with Zicsr and Zifencei, in the words of the GNU disassembler.

use std::fmt::Write;

/// The names of x0 to x31 in assembly.
const REGISTERS: [&str; 32] = [
    "zero", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "s0", "s1", "a0", "a1", "a2", "a3", "a4",
    "a5", "a6", "a7", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "t3", "t4",
    "t5", "t6",
];

/// Returns the name of a general register in assembly; none above x31.
pub fn register_name(index: usize) -> Option<&'static str> {
    REGISTERS.get(index).copied()
}

/// Returns an instruction as text, with the pseudo-instructions that the GNU disassembler prefers;
/// none if it is not of RV32IM, Zicsr or Zifencei. Targets of jumps are absolute.
pub fn disassemble(word: u32, pc: u32) -> Option<String> {
    Word { word, pc }.text()
}

/// A word of code at its address.
#[derive(Clone, Copy)]
struct Word {
    word: u32,
    pc: u32,
}

impl Word {
    fn text(self) -> Option<String> {
        let (rd, upper) = (self.rd(), self.word >> 12);
        match self.word & 0x7F {
            0x37 => Some(format!("lui {rd},{upper:#x}")),
            0x17 => Some(format!("auipc {rd},{upper:#x}")),
            0x6F => Some(self.jump()),
            0x67 if self.function() == 0 => Some(self.jump_to_register()),
            0x63 => self.branch(),
            0x03 => self.load(),
            0x23 => self.store(),
            0x13 => self.with_immediate(),
            0x33 => self.with_register(),
            0x0F => self.fence(),
            0x73 => self.system(),
            _ => None,
        }
    }

    fn field(self, low: u32, bits: u32) -> u32 {
        self.word >> low & ((1 << bits) - 1)
    }

    fn function(self) -> u32 {
        self.field(12, 3)
    }

    fn register(self, low: u32) -> &'static str {
        register_name(self.field(low, 5) as usize).unwrap_or("?")
    }

    fn rd(self) -> &'static str {
        self.register(7)
    }

    fn rs1(self) -> &'static str {
        self.register(15)
    }

    fn rs2(self) -> &'static str {
        self.register(20)
    }

    /// The sign-extended immediate of loads and of sums.
    fn immediate(self) -> i32 {
        self.word as i32 >> 20
    }

    /// The sign, as all bits above a bit.
    fn sign(self, from: u32) -> u32 {
        (self.word as i32 >> 31) as u32 & u32::MAX << from
    }

    fn jump(self) -> String {
        let offset = self.sign(20)
            | self.field(12, 8) << 12
            | self.field(20, 1) << 11
            | self.field(21, 10) << 1;
        let target = self.pc.wrapping_add(offset);
        match self.rd() {
            "zero" => format!("j {target:#x}"),
            "ra" => format!("jal {target:#x}"),
            rd => format!("jal {rd},{target:#x}"),
        }
    }

    fn jump_to_register(self) -> String {
        let (rs1, offset) = (self.rs1(), self.immediate());
        let to = if offset == 0 { rs1.to_owned() } else { format!("{offset}({rs1})") };
        match self.rd() {
            "zero" if to == "ra" => "ret".to_owned(),
            "zero" => format!("jr {to}"),
            "ra" => format!("jalr {to}"),
            rd => format!("jalr {rd},{to}"),
        }
    }

    fn branch(self) -> Option<String> {
        let offset =
            self.sign(12) | self.field(7, 1) << 11 | self.field(25, 6) << 5 | self.field(8, 4) << 1;
        let target = self.pc.wrapping_add(offset);
        let name = ["beq", "bne", "", "", "blt", "bge", "bltu", "bgeu"];
        let name = name.get(self.function() as usize).filter(|name| !name.is_empty())?;
        let (left, right) = (self.rs1(), self.rs2());
        Some(match (*name, left, right) {
            ("bge", "zero", _) => format!("blez {right},{target:#x}"),
            ("blt", "zero", right) if right != "zero" => format!("bgtz {right},{target:#x}"),
            ("beq" | "bne" | "blt" | "bge", _, "zero") => format!("{name}z {left},{target:#x}"),
            _ => format!("{name} {left},{right},{target:#x}"),
        })
    }

    fn load(self) -> Option<String> {
        let name = ["lb", "lh", "lw", "", "lbu", "lhu", "", ""];
        let name = name.get(self.function() as usize).filter(|name| !name.is_empty())?;
        Some(format!("{name} {},{}({})", self.rd(), self.immediate(), self.rs1()))
    }

    fn store(self) -> Option<String> {
        let name = ["sb", "sh", "sw"].get(self.function() as usize)?;
        let offset = (self.sign(11) | self.field(25, 6) << 5 | self.field(7, 5)) as i32;
        Some(format!("{name} {},{offset}({})", self.rs2(), self.rs1()))
    }

    fn with_immediate(self) -> Option<String> {
        let (rd, rs1, value) = (self.rd(), self.rs1(), self.immediate());
        let shift = self.field(20, 5);
        Some(match (self.function(), self.field(25, 7)) {
            (0, _) if (rd, rs1, value) == ("zero", "zero", 0) => "nop".to_owned(),
            (0, _) if rs1 == "zero" => format!("li {rd},{value}"),
            (0, _) if value == 0 => format!("mv {rd},{rs1}"),
            (0, _) => format!("addi {rd},{rs1},{value}"),
            (1, 0) => format!("slli {rd},{rs1},{shift:#x}"),
            (2, _) => format!("slti {rd},{rs1},{value}"),
            (3, _) if value == 1 => format!("seqz {rd},{rs1}"),
            (3, _) => format!("sltiu {rd},{rs1},{value}"),
            (4, _) if value == -1 => format!("not {rd},{rs1}"),
            (4, _) => format!("xori {rd},{rs1},{value}"),
            (5, 0) => format!("srli {rd},{rs1},{shift:#x}"),
            (5, 0x20) => format!("srai {rd},{rs1},{shift:#x}"),
            (6, _) => format!("ori {rd},{rs1},{value}"),
            (7, _) if value == 255 => format!("zext.b {rd},{rs1}"),
            (7, _) => format!("andi {rd},{rs1},{value}"),
            _ => return None,
        })
    }

    fn with_register(self) -> Option<String> {
        let names = match self.field(25, 7) {
            0 => ["add", "sll", "slt", "sltu", "xor", "srl", "or", "and"],
            1 => ["mul", "mulh", "mulhsu", "mulhu", "div", "divu", "rem", "remu"],
            0x20 => ["sub", "", "", "", "", "sra", "", ""],
            _ => return None,
        };
        let name = names.get(self.function() as usize).filter(|name| !name.is_empty())?;
        let (rd, left, right) = (self.rd(), self.rs1(), self.rs2());
        Some(match (*name, left, right) {
            ("sub", "zero", _) => format!("neg {rd},{right}"),
            ("sltu", "zero", _) => format!("snez {rd},{right}"),
            ("slt", _, "zero") => format!("sltz {rd},{left}"),
            ("slt", "zero", _) => format!("sgtz {rd},{right}"),
            _ => format!("{name} {rd},{left},{right}"),
        })
    }

    fn fence(self) -> Option<String> {
        let set = |low: u32| {
            let letters = [(3, 'i'), (2, 'o'), (1, 'r'), (0, 'w')];
            let set = letters.iter().filter(|(bit, _)| self.field(low + bit, 1) == 1);
            set.map(|(_, letter)| *letter).collect::<String>()
        };
        match self.function() {
            0 => match (&*set(24), &*set(20)) {
                ("iorw", "iorw") => Some("fence".to_owned()),
                (before, after) if before.is_empty() || after.is_empty() => None,
                (before, after) => Some(format!("fence {before},{after}")),
            },
            1 => Some("fence.i".to_owned()),
            _ => None,
        }
    }

    fn system(self) -> Option<String> {
        match self.word {
            0x0000_0073 => return Some("ecall".to_owned()),
            0x0010_0073 => return Some("ebreak".to_owned()),
            0x3020_0073 => return Some("mret".to_owned()),
            0x1050_0073 => return Some("wfi".to_owned()),
            0xC000_1073 => return Some("unimp".to_owned()),
            _ => {}
        }
        let name = ["", "csrrw", "csrrs", "csrrc", "", "csrrwi", "csrrsi", "csrrci"];
        let name = name.get(self.function() as usize).filter(|name| !name.is_empty())?;
        let (rd, csr) = (self.rd(), self.field(20, 12));
        let is_immediate = self.function() > 4;
        let source = self.field(15, 5).to_string();
        let source = if is_immediate { &source } else { self.rs1() };
        if *name == "csrrs" && source == "zero" {
            return Some(format!("csrr {rd},{csr:#x}"));
        }
        let mut text = String::new();
        // Without the old value it is `csrw`, not `csrrw`.
        let _ = match rd {
            "zero" => write!(text, "csr{} {csr:#x},{source}", name.trim_start_matches("csrr")),
            _ => write!(text, "{name} {rd},{csr:#x},{source}"),
        };
        Some(text)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn words_are_the_disassembler_s() {
        let of = |word| disassemble(word, 0x1000).unwrap();
        assert_eq!(of(0xFF01_0113), "addi sp,sp,-16");
        assert_eq!(of(0x0000_0013), "nop");
        assert_eq!(of(0xFE5F_F06F), "j 0xfe4");
        assert_eq!(of(0x0000_8067), "ret");
        assert_eq!(of(0x2050_2023), "sw t0,512(zero)");
        assert_eq!(of(0xFFB0_0337), "lui t1,0xffb00");
        assert_eq!(of(0x0FF0_000F), "fence");
        assert_eq!(of(0x0010_0073), "ebreak");
        assert_eq!(of(0x3000_2573), "csrr a0,0x300");
        // Floating point.
        assert_eq!(disassemble(0x0000_0053, 0), None);
    }
}
