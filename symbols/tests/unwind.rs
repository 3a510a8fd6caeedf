//! Backtraces over handmade call frame information: the result of each kind of rule, and each
//! reason to end.
//!
//! `tests/house/backtraces` checks compiled code on harts that execute it.

#![allow(clippy::unwrap_used, reason = "a failed test stops")]

use std::collections::BTreeMap;
use std::path::Path;

use symbols::{Backtrace, Module, Registers, Symbols, backtrace};

/// The same code with call frame information of version 1, of version 4, and in `.eh_frame`.
const FILES: [&str; 3] = ["unwind.elf", "unwind-cie4.elf", "unwind-eh.elf"];
const STACK: u32 = 0xFFB0_0F00;
const BIAS: u32 = 0x1_0000;

fn load(file: &str) -> Module {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../firmware/cases/images").join(file);
    let mut bytes = std::fs::read(path).unwrap();
    // In entries of version 4 the GNU assembler 2.40 writes 8 as the address size, which is 4,
    // after the augmentation, which is empty or `S`.
    for head in [&b"\xff\xff\xff\xff\x04\0\x08\0"[..], b"\xff\xff\xff\xff\x04S\0\x08\0"] {
        for at in 0..bytes.len() {
            if bytes[at..].starts_with(head) {
                bytes[at + head.len() - 2] = 4;
            }
        }
    }
    Module::new(Symbols::load(bytes, file).unwrap().0)
}

/// Memory by words, and registers by name. Labels give pcs and return addresses.
struct Core {
    modules: Vec<Module>,
    memory: BTreeMap<u32, u32>,
    registers: Registers,
}

impl Core {
    fn at(file: &str, label: &str) -> Core {
        let modules = vec![load(file)];
        let mut core = Core { modules, memory: BTreeMap::new(), registers: Registers::default() };
        core.registers.pc = Some(core.address(label));
        core.with("sp", STACK)
    }

    fn address(&self, label: &str) -> u32 {
        let module = &self.modules[0];
        (module.symbols.symbol(label).unwrap().address as u32).wrapping_add(module.bias)
    }

    fn with(mut self, register: &str, value: u32) -> Core {
        self.registers.set(Registers::number(register).unwrap(), Some(value));
        self
    }

    fn with_ra(self, label: &str) -> Core {
        let address = self.address(label);
        self.with("ra", address)
    }

    /// Sets the word at this offset above the current stack pointer.
    fn word(mut self, offset: u32, value: u32) -> Core {
        self.memory.insert(STACK.wrapping_add(offset), value);
        self
    }

    fn word_at(self, offset: u32, label: &str) -> Core {
        let address = self.address(label);
        self.word(offset, address)
    }

    fn backtrace(&self) -> Backtrace<String> {
        backtrace(&self.modules, &self.registers, |address, out| {
            let word = self.memory.get(&(address as u32)).ok_or("unmapped")?;
            out.copy_from_slice(&word.to_le_bytes());
            Ok(())
        })
    }

    /// Returns the functions, innermost first, and the reason for the end.
    fn summary(&self) -> (String, String) {
        let found = self.backtrace();
        let name = |frame: &symbols::StackFrame| {
            frame.locations.last().and_then(|it| it.function.as_deref()).unwrap_or("?").to_owned()
        };
        let names: Vec<String> = found.frames.iter().map(name).collect();
        (names.join(" "), found.end.to_string())
    }

    #[track_caller]
    fn check(&self, frames: &str, end: &str) {
        assert_eq!(self.summary(), (frames.to_owned(), end.to_owned()));
    }
}

const OUTERMOST: &str =
    "outermost at 0x904c is outermost: its call frame information has no caller";

#[test]
fn a_leaf_a_frame_and_the_outermost_function() {
    for file in FILES {
        let core = Core::at(file, "leaf").with_ra("framed_after").with("s0", 8).with("a0", 1);
        let core = core.word_at(12, "outermost_after").word(8, 77);
        core.check("leaf framed outermost", OUTERMOST);
        let frames = core.backtrace().frames;
        let cfas: Vec<_> = frames.iter().map(|frame| frame.cfa).collect();
        assert_eq!(cfas, [Some(STACK), Some(STACK + 16), Some(STACK + 16)]);
        let known = |name| {
            let number = Registers::number(name).unwrap();
            frames.iter().map(|frame| frame.registers.get(number)).collect::<Vec<_>>()
        };
        assert_eq!(known("s0"), [Some(8), Some(8), Some(77)]);
        assert_eq!(known("a0"), [Some(1), None, None]);
        assert_eq!(known("sp"), [Some(STACK), Some(STACK), Some(STACK + 16)]);
        let [after, outer] = ["framed_after", "outermost_after"].map(|label| core.address(label));
        assert_eq!(known("ra"), [Some(after), Some(after), Some(outer)]);
    }
}

#[test]
fn every_instruction_of_a_function_has_its_own_rules() {
    for file in FILES {
        let core = Core::at(file, "framed").with_ra("outermost_after");
        core.check("framed outermost", OUTERMOST);
        let core = Core::at(file, "framed_ret").with_ra("outermost_after");
        core.check("framed outermost", OUTERMOST);
        let core = Core::at(file, "framed_again").word_at(12, "outermost_after");
        core.check("framed outermost", OUTERMOST);
    }
}

#[test]
fn cold_parts_tail_calls_and_calls_at_the_end() {
    for file in FILES {
        let core = Core::at(file, "framed_cold").word_at(12, "outermost_after").word(8, 0);
        core.check("framed_cold outermost", OUTERMOST);
        // `framed` jumped to the leaf after it had removed its own frame.
        Core::at(file, "leaf").with_ra("outermost_after").check("leaf outermost", OUTERMOST);
        let core = Core::at(file, "leaf").with_ra("ends_with_call_after");
        core.word_at(28, "outermost_after").check("leaf ends_with_call outermost", OUTERMOST);
    }
}

#[test]
fn frames_by_another_register_and_by_expressions() {
    for file in FILES {
        let core = Core::at(file, "by_s0").with("s0", STACK + 64).word_at(60, "outermost_after");
        core.check("by_s0 outermost", OUTERMOST);
        let core = Core::at(file, "moved");
        let outer = core.address("outermost_after");
        core.with("s1", outer).check("moved outermost", OUTERMOST);
        let core = Core::at(file, "expressions").word(8, STACK + 32).word_at(20, "outermost_after");
        core.check("expressions outermost", OUTERMOST);
        assert_eq!(core.backtrace().frames[1].registers.get(8), Some(STACK + 35));
    }
}

#[test]
fn another_link_register_leaves_ra_alone() {
    for file in FILES {
        let core = Core::at(file, "millicode").with_ra("outermost_after");
        let back = core.address("framed") + 4;
        core.with("t0", back).check("millicode framed outermost", OUTERMOST);
    }
}

#[test]
fn what_a_trap_interrupted_has_made_no_call() {
    for file in FILES {
        // At its first instruction: the byte before belongs to another function.
        let core = Core::at(file, "trap").word_at(12, "framed");
        let at = core.address("framed");
        core.check("trap framed", &format!("unwinding from {at:#x} needs ra, which is unknown"));
    }
}

#[test]
fn a_return_address_that_was_never_saved_ends_it() {
    for file in FILES {
        let core = Core::at(file, "leaf").with_ra("start_after");
        core.check(
            "leaf start",
            "start at 0x9044, the entry point of its file, has made a call, and its call frame \
             information does not locate its own return address",
        );
        let core = Core::at(file, "leaf").with_ra("not_saved_after");
        let at = core.address("not_saved_after");
        core.check(
            "leaf not_saved",
            &format!(
                "not_saved at {at:#x} has made a call, and its call frame information does not \
                 locate its own return address"
            ),
        );
    }
}

#[test]
fn code_that_no_file_has_or_speaks_of_ends_it() {
    for file in FILES {
        Core::at(file, "leaf").with("ra", 0).check("leaf", "no file has code at 0x0");
        let mut core = Core::at(file, "leaf");
        core.registers.pc = Some(0xFFFF_FFFC);
        core.check("", "no file has code at 0xfffffffc");
        let core = Core::at(file, "no_information").with("ra", 0x9018);
        let at = core.address("no_information");
        core.check(
            "no_information",
            &format!("no call frame information for no_information at {at:#x}; ra holds 0x9018"),
        );
        let core = Core::at(file, "leaf").with_ra("no_information_after");
        core.check(
            "leaf no_information",
            &format!("no call frame information for no_information at {:#x}", at + 4),
        );
    }
}

#[test]
fn memory_and_registers_that_are_not_there_end_it() {
    for file in FILES {
        let core = Core::at(file, "framed_after");
        let at = core.address("framed_after");
        core.check(
            "framed",
            &format!(
                "unwinding from {at:#x} needs the return address at 0xffb00f0c, which cannot be read: \
                 unmapped"
            ),
        );
        // s0 is lost to unreadable memory two frames before it is needed, or to an intermediate
        // function.
        let core = core.word_at(12, "moved_after");
        let by_s0 = core.address("by_s0_after");
        core.with("s1", by_s0).check(
            "framed moved by_s0",
            &format!(
                "unwinding from {by_s0:#x} needs the s0 at 0xffb00f08, which cannot be read: unmapped"
            ),
        );
        let core = Core::at(file, "loses_s0").word_at(12, "by_s0_after").with("s0", 8);
        core.check(
            "loses_s0 by_s0",
            &format!("unwinding from {by_s0:#x} needs s0, which is unknown"),
        );
        let mut core = Core::at(file, "leaf");
        core.registers.set(2, None);
        let at = core.address("leaf");
        core.check("leaf", &format!("unwinding from {at:#x} needs sp, which is unknown"));
        core.registers.pc = None;
        core.check("", "pc is unknown");
    }
}

#[test]
fn a_stack_that_goes_round_or_on_for_ever_ends() {
    for file in FILES {
        // The frame found through s0 is its own caller.
        let core = Core::at(file, "by_s0_after").with("s0", STACK + 64).word_at(60, "by_s0_after");
        let at = core.address("by_s0_after");
        let cfa = STACK + 64;
        core.check(
            "by_s0 by_s0",
            &format!("the frame at pc {at:#x} with address {cfa:#x} repeats: the stack is damaged"),
        );
        let mut core = Core::at(file, "framed_after");
        for frame in 0..1000 {
            core = core.word_at(frame * 16 + 12, "framed_after");
        }
        let (names, end) = core.summary();
        assert_eq!(names.split(' ').count(), 256);
        assert_eq!(end, "stopped at the limit of 256 frames");
    }
}

#[test]
fn information_that_makes_no_sense_ends_it() {
    for file in FILES {
        let broken = |name: &str, words: &str| {
            let core = Core::at(file, name);
            let (frames, end) = core.summary();
            assert_eq!(frames, name);
            let at = core.address(name);
            let start = format!("the call frame information for {at:#x} is invalid: ");
            assert!(end.starts_with(&start) && end.contains(words), "{end}");
        };
        broken("endless", "terations");
        broken("circular", "CallFrameCfa");
        broken("unbalanced", "state");
        broken("huge", "an entry of 16");
        if file != "unwind-eh.elf" {
            broken("nonsense", "instruction");
        }
    }
}

#[test]
fn modules_lie_where_their_bias_puts_them() {
    let mut kernel = load("unwind.elf");
    kernel.bias = BIAS;
    let firmware = load("unwind-eh.elf");
    let mut core = Core::at("unwind.elf", "leaf");
    // At the kernel's bias first, then in the firmware that called it.
    core.modules = vec![kernel, firmware];
    let leaf = core.address("leaf");
    core.registers.pc = Some(leaf);
    let core = core.with_ra("framed_after");
    let outermost = core.address("outermost_after") - BIAS;
    let core = core.word(12, outermost).word(8, 0);
    core.check("leaf framed outermost", OUTERMOST);
    let modules: Vec<_> = core.backtrace().frames.iter().map(|frame| frame.module).collect();
    assert_eq!(modules, [0, 0, 1]);
    // A file with a negative bias: the addition wraps.
    let mut core = Core::at("unwind.elf", "leaf");
    core.modules[0].bias = 0x9000_u32.wrapping_neg();
    let leaf = core.address("leaf");
    assert!(leaf < 0x1000);
    core.registers.pc = Some(leaf);
    core.with("ra", 0x8000_0000).check("leaf", "no file has code at 0x80000000");
}
