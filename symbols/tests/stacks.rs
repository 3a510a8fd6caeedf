//! Stacks of emulated cores, compared with gdb's backtraces of the same registers and memory.

#![allow(clippy::unwrap_used, reason = "a failed test stops")]

use std::path::{Path, PathBuf};

use symbols::{Module, Registers, StackFrame, Symbols, backtrace};

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/stacks").join(name)
}

fn image(name: &str) -> Module {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../firmware/images").join(name);
    Module::new(Symbols::open(path).unwrap().0)
}

fn number(text: &str) -> u32 {
    u32::from_str_radix(text.strip_prefix("0x").unwrap(), 16).unwrap()
}

fn registers(name: &str) -> Registers {
    let mut registers = Registers::default();
    for line in std::fs::read_to_string(data(name)).unwrap().lines() {
        let (name, value) = line.split_once('=').unwrap();
        match Registers::number(name) {
            Some(index) => registers.set(index, Some(number(value))),
            None => registers.pc = Some(number(value)),
        }
    }
    registers
}

/// Returns a frame in the format of gdb's answers, one line per function.
fn lines(frame: &StackFrame) -> Vec<String> {
    let sp = frame.registers.get(2).unwrap();
    let line = |location: &symbols::Location| {
        let name = location.function.as_deref().and_then(|name| name.split('<').next()).unwrap();
        let file = location.file.as_deref().and_then(|file| file.rsplit('/').next()).unwrap();
        let how = match (location.inlined, frame.tail_call) {
            (true, _) => "inlined",
            (false, true) => "tail-called",
            (false, false) => "called",
        };
        format!("{:#x} {name} {file}:{} {how} sp={sp:#x}", frame.pc, location.line.unwrap())
    };
    frame.locations.iter().map(line).collect()
}

#[test]
fn gdb_sees_the_same_frames() {
    const RAM: u64 = 0xFFB0_0000;
    let modules = ["erisc_base.elf", "erisc_app.elf", "ring_ping.elf"].map(image);
    let ram = std::fs::read(data("ring_ping.ram")).unwrap();
    let found = backtrace(&modules, &registers("ring_ping.txt"), |address, out| {
        let start = usize::try_from(address.checked_sub(RAM).ok_or(())?).map_err(|_| ())?;
        out.copy_from_slice(ram.get(start..start + out.len()).ok_or(())?);
        Ok::<_, ()>(())
    });
    let answers = std::fs::read_to_string(data("ring_ping.gdb.txt")).unwrap();
    let mut answers: Vec<&str> = answers.lines().collect();
    let lines_found: Vec<String> = found.frames.iter().flat_map(lines).collect();
    // Base firmware gives an application its own stack, above its own; gdb stops there because it
    // expects a damaged stack.
    assert_eq!(answers.pop(), Some("previous frame inner to this frame (corrupt stack?)"));
    assert_eq!(lines_found[..answers.len()], answers);
    let names: Vec<_> = found
        .frames
        .iter()
        .map(|frame| frame.locations.last().and_then(|it| it.function.as_ref()).unwrap().as_ref())
        .collect();
    assert!(names.ends_with(&["call_application", "firmware_main", "firmware_start"]), "{names:?}");
    assert_eq!(found.end.name(), "outermost");
    println!("{} of {} frames match gdb's, which has no more", answers.len(), lines_found.len());
}

/// gdb shows the tail calls that are certain, and does not say where others are missing.
#[test]
fn gdb_sees_the_same_tail_calls() {
    let answers = std::fs::read_to_string(data("tails.gdb.txt")).unwrap();
    let stacks: Vec<&str> = answers.split_terminator("frame did not save the PC\n").collect();
    let missing = [None, None, None, Some("leaf"), Some("leaf"), Some("leaf"), Some("last"), None];
    assert_eq!(stacks.len(), missing.len());
    for file in ["tails.elf", "tails-dwarf4.elf"] {
        let modules = [image(&format!("../cases/images/{file}"))];
        for (stack, missing) in stacks.iter().zip(missing) {
            let mut answers: Vec<&str> = stack.lines().collect();
            assert!(answers.pop().unwrap().starts_with("0x0 ?"), "gdb goes on to the word 0");
            let back = answers.last().and_then(|start| start.split(' ').next()).unwrap();
            let mut registers = Registers::at(0x9054);
            registers.set(2, Some(0xFFB0_0FC0));
            registers.set(1, Some(number(back)));
            let found = backtrace(&modules, &registers, |_, out| {
                out.fill(0);
                Ok::<_, ()>(())
            });
            let lines: Vec<String> = found.frames.iter().flat_map(lines).collect();
            // gdb has no inlined functions in a frame of a tail call, but the line of one.
            let placed = |line: &str| match line.split(' ').collect::<Vec<_>>()[..] {
                [pc, name, _, "tail-called", sp] => [pc, name, "tail-called", sp].join(" "),
                _ => line.to_owned(),
            };
            let [lines, answers]: [Vec<String>; 2] = [
                lines.iter().map(|line| placed(line)).collect(),
                answers.into_iter().map(placed).collect(),
            ];
            assert_eq!(lines, answers, "{file}");
            let before = found.frames.iter().filter(|frame| frame.frames_missing);
            let names: Vec<_> = before.map(|it| it.locations.last().unwrap().name()).collect();
            assert_eq!(
                names,
                missing.map(|name| Some(name.into())).into_iter().collect::<Vec<_>>()
            );
        }
    }
}
