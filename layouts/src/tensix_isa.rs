//! The instructions of the Tensix coprocessor: their encoding, names and fields.

use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt::Write;

/// `tensix_isa.toml`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TensixIsa {
    opcode_shift: u8,
    rotated: u32,
    push: Vec<u32>,
    push_bytes: u32,
    opcodes: BTreeMap<String, u32>,
    #[serde(default)]
    fields: BTreeMap<String, Vec<InstructionField>>,
}

/// A field of an instruction: its name, and its lowest bit.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(try_from = "String")]
struct InstructionField {
    name: String,
    low: u8,
}

impl TryFrom<String> for InstructionField {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let wrong = || format!("'{text}' is not a name and a bit");
        let (name, low) = text.split_once(' ').ok_or_else(wrong)?;
        Ok(Self { name: name.to_owned(), low: low.parse().map_err(|_| wrong())? })
    }
}

impl TensixIsa {
    /// Returns the Tensix instruction that a word of a core's code pushes to the coprocessor; none
    /// if the word is an instruction of the core itself.
    pub fn of_code(&self, word: u32) -> Option<u32> {
        (word & 0b11 != 0b11).then(|| word.rotate_right(self.rotated))
    }

    /// Whether a store of a word to this address of a core pushes it as an instruction.
    pub fn is_pushed_at(&self, addr: u32) -> bool {
        self.push.iter().any(|first| addr.wrapping_sub(*first) < self.push_bytes)
    }

    /// Returns the name of an instruction, and its fields that are not 0, the highest first: the
    /// order of tt-metal's `TT_OP_` macros. None if no instruction has this opcode.
    pub fn words(&self, instruction: u32) -> Option<String> {
        let opcode = instruction >> self.opcode_shift;
        let (name, _) = self.opcodes.iter().find(|(_, known)| **known == opcode)?;
        let mut text = name.clone();
        let mut end = self.opcode_shift;
        let fields = self.fields.get(name).map_or(&[][..], Vec::as_slice);
        for InstructionField { name, low } in fields.iter().rev() {
            let value = instruction >> low & ((1 << end.saturating_sub(*low)) - 1);
            end = *low;
            if value != 0 {
                let _ = write!(text, " {name}={value:#x}");
            }
        }
        Some(text)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use crate::ChipKind;
    use std::collections::BTreeSet;

    #[test]
    fn an_instruction_is_rotated_in_code() {
        let isa = &ChipKind::Wormhole.layout().tensix_isa;
        // STALLWAIT (0xA2) of mathematics until packer 0 is idle.
        let instruction: u32 = 0xA200_0008 | 0x40 << 15;
        let code = instruction.rotate_left(2);
        assert_eq!(isa.of_code(code), Some(instruction));
        assert_eq!(isa.words(instruction).unwrap(), "STALLWAIT stall_res=0x40 wait_res=0x8");
        assert_eq!(isa.words(0x0200_0000).unwrap(), "NOP");
        assert_eq!(isa.words(0), None);
        // addi sp, sp, -16 is an instruction of the core.
        assert_eq!(isa.of_code(0xFF01_0113), None);
        assert!(isa.is_pushed_at(0xFFE6_FFFC) && !isa.is_pushed_at(0xFFE7_0000));
    }

    #[test]
    fn opcodes_are_different_and_fields_ascend() {
        let isa = &ChipKind::Wormhole.layout().tensix_isa;
        let opcodes: BTreeSet<_> = isa.opcodes.values().collect();
        // Larger ones would be words of a core's own code.
        assert!(opcodes.iter().all(|opcode| **opcode < 0xC0));
        assert_eq!(opcodes.len(), isa.opcodes.len());
        for (name, fields) in &isa.fields {
            assert!(isa.opcodes.contains_key(name), "{name}");
            assert!(fields.is_sorted_by(|a, b| a.low < b.low), "{name}");
            assert!(fields.iter().all(|field| field.low < 24), "{name}");
        }
    }

    #[test]
    fn the_table_is_that_of_the_macros_of_tt_metal() {
        let Some(root) = std::env::var_os("MESHSCOPE_TT_METAL_ELFS") else {
            return println!("skipped: MESHSCOPE_TT_METAL_ELFS is not set");
        };
        let header = "ttnn/tt_metal/tt-llk/tt_llk_wormhole_b0/common/inc/ckernel_ops.h";
        let text = std::fs::read_to_string(std::path::Path::new(&root).join(header)).unwrap();
        let isa = &ChipKind::Wormhole.layout().tensix_isa;
        let mut checked = 0;
        for definition in text.replace("\\\n", " ").split("#define TT_OP_").skip(1) {
            let definition = definition.lines().next().unwrap();
            let (name, body) = definition.split_once("TT_OP(").unwrap_or((definition, ""));
            let name = name.split(['(', ' ']).next().unwrap();
            let opcode = body.split(',').next().unwrap().trim().trim_start_matches("0x");
            assert_eq!(
                isa.opcodes.get(name).copied(),
                u32::from_str_radix(opcode, 16).ok(),
                "{name}"
            );
            let shifts = body.split("<< ").skip(1).map(|rest| rest.split(')').next().unwrap());
            let mut shifts: Vec<u8> = shifts.map(|shift| shift.parse().unwrap()).collect();
            shifts.reverse();
            let fields = isa.fields.get(name).map_or(&[][..], Vec::as_slice);
            let lows: Vec<u8> = fields.iter().map(|field| field.low).collect();
            assert_eq!(lows, shifts, "{name}");
            checked += 1;
        }
        assert_eq!(checked, isa.opcodes.len());
    }
}
