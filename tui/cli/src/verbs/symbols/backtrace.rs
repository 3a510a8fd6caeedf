//! `symbols backtrace`: the frames of a stack, from saved registers and memory.

use super::{frame_words, load, source};
use crate::output::{json, say, text};
use crate::shape::{Stack, StackReason, StackSource, Stacked};
use crate::target::Style;
use console::exit::{Failure, Outcome};
use console::locate;
use std::fmt::Write;
use std::path::Path;
use symbols::{Backtrace, Module, Registers, StackEnd, StackFrame, backtrace};

/// Saved memory with its address.
struct Memory {
    addr: u32,
    bytes: Vec<u8>,
}

/// `symbols backtrace`.
pub(super) fn run(
    style: Style,
    elfs: &[String],
    registers: &[String],
    memory: &[String],
) -> Result<Outcome, Failure> {
    let registers = registers_of(registers).map_err(Failure::Usage)?;
    let memory = memory.iter().map(|m| memory_of(m)).collect::<Result<Vec<_>, _>>();
    let memory = memory.map_err(Failure::Usage)?;
    let modules = elfs.iter().map(|elf| module_of(elf)).collect::<Result<Vec<_>, _>>()?;
    let found = backtrace(&modules, &registers, |addr, out| read(&memory, addr as u32, out));
    if style.json {
        json(shape(&modules, &found))?;
    } else {
        text(&lines(&modules, &found))?;
        say(&found.end.to_string());
    }
    Ok(match found.end {
        StackEnd::Outermost { .. }
        | StackEnd::NotSaved { entry: true, .. }
        | StackEnd::NoCallFrames { entry: true, .. } => Outcome::Healthy,
        _ => Outcome::Partial,
    })
}

/// `NAME=VALUE`, each at most once.
fn registers_of(texts: &[String]) -> Result<Registers, String> {
    let mut registers = Registers::default();
    for text in texts {
        let wrong = || format!("'{text}' is not <register>=<value>, such as sp=0xffb00fd0");
        let (name, value) = text.split_once('=').ok_or_else(wrong)?;
        let value = word(value)?;
        let known = if name == "pc" {
            registers.pc.replace(value)
        } else {
            let number = Registers::number(name).ok_or_else(|| {
                format!(
                    "'{text}': there is no register '{name}', only pc, x1 to x31 and their names such as sp"
                )
            })?;
            let known = registers.get(number).filter(|_| number > 0);
            registers.set(number, Some(value));
            known
        };
        if known.is_some() {
            return Err(format!("'{text}': {name} is given twice"));
        }
    }
    Ok(registers)
}

fn word(text: &str) -> Result<u32, String> {
    let value = locate::number(text)?;
    u32::try_from(value).map_err(|_| format!("{value:#x}: a core's words have 32 bits"))
}

/// `FILE@ADDR`.
fn memory_of(text: &str) -> Result<Memory, String> {
    let wrong = || format!("'{text}' is not <file>@<address>, such as stack.bin@0xffb00000");
    let (file, addr) = text.rsplit_once('@').ok_or_else(wrong)?;
    let addr = word(addr)?;
    let bytes = files::read(Path::new(file), files::Kind::MEMORY).map_err(|e| e.to_string())?;
    Ok(Memory { addr, bytes })
}

/// `FILE` or `FILE@BIAS`; the bias may be negative. Text after `@` that is not a number belongs to
/// the name.
fn module_of(text: &str) -> Result<Module, Failure> {
    let bias = |text: &str| match text.strip_prefix('-') {
        Some(down) => word(down).map(u32::wrapping_neg).ok(),
        None => word(text).ok(),
    };
    let split = text.rsplit_once('@').and_then(|(file, at)| Some((file, bias(at)?)));
    let (file, bias) = split.unwrap_or((text, 0));
    Ok(Module { symbols: load(Path::new(file))?, bias })
}

fn read(memory: &[Memory], addr: u32, out: &mut [u8]) -> Result<(), &'static str> {
    let bytes = memory.iter().find_map(|part| {
        let start = addr.checked_sub(part.addr)? as usize;
        part.bytes.get(start..start.checked_add(out.len())?)
    });
    out.copy_from_slice(bytes.ok_or("not in any --memory")?);
    Ok(())
}

/// The name of a frame's file, without its folder.
fn elf<'a>(modules: &'a [Module], frame: &StackFrame) -> &'a str {
    let name = modules.get(frame.module).map_or("?", |module| module.symbols.name());
    Path::new(name).file_name().and_then(|name| name.to_str()).unwrap_or(name)
}

fn lines<E>(modules: &[Module], found: &Backtrace<E>) -> String {
    let mut lines = String::new();
    let mut number = 0;
    for frame in &found.frames {
        let (pc, elf) = (frame.pc, elf(modules, frame));
        for location in &frame.locations {
            let mark = match (location.inlined, frame.tail_call) {
                (true, _) => "  (inlined)",
                (false, true) => "  (tail call)",
                (false, false) => "",
            };
            let words = frame_words(location);
            let _ = writeln!(lines, "#{number} {pc:#010x} {words}{mark}  [{elf}]");
            number += 1;
        }
        if frame.locations.is_empty() {
            let _ = writeln!(lines, "#{number} {pc:#010x} ?  [{elf}]");
            number += 1;
        }
        if frame.frames_missing {
            lines += "   frames are missing here: tail calls removed them, and which ones is not certain\n";
        }
    }
    lines
}

fn shape<'a, E: std::fmt::Display>(modules: &'a [Module], found: &'a Backtrace<E>) -> Stack<'a> {
    let frame = |frame: &'a StackFrame| {
        let known = |n| Some((Registers::name(n)?, frame.registers.get(n)?));
        let locations = frame
            .locations
            .iter()
            .map(|location| StackSource { source: source(location), inlined: location.inlined });
        Stacked {
            pc: frame.pc,
            cfa: frame.cfa,
            elf: elf(modules, frame),
            locations: locations.collect(),
            registers: (1..32).filter_map(known).collect(),
            tail_call: frame.tail_call,
            frames_missing: frame.frames_missing,
        }
    };
    let end = StackReason { reason: found.end.name(), detail: found.end.to_string() };
    Stack { frames: found.frames.iter().map(frame).collect(), end }
}
