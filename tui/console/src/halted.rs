//! Cores under control, as `debug` prints them and the core screen draws them.

mod cores;
mod held;

pub(crate) use cores::HeldCores;
pub use held::Held;

use crate::locate;
use images::code::{self, Instruction};
use images::{ImageMap, SourceLine, code_words};
use launch::debugging::{CoreControl, Stop, Watched, Watchpoint};
use launch::outcome::RunError;
use layouts::CoreId;
use machine::target::Target;
use std::fmt;
use symbols::register_name;

/// A command of the live view to the core on screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CoreCommand {
    /// Halt the core on screen; it goes on when the live view ends.
    Halt,
    /// Let the core on screen go on, to its next breakpoint if it has one.
    Continue,
    /// Execute one instruction of the halted core, or several.
    Stepi {
        /// Number of instructions.
        count: u32,
    },
    /// Step the halted core to another source line, into functions.
    StepLine,
    /// Step the halted core to another source line, over functions.
    NextLine,
    /// Halt the core on screen at an address, a function, or FILE:LINE.
    Break {
        /// The place.
        place: String,
    },
    /// Halt the core on screen after a store to an address.
    Watch {
        /// The address, as the core sees it.
        addr: String,
    },
    /// Remove all breakpoints and watchpoints of the core on screen.
    Delete,
}

impl fmt::Display for CoreCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Halt => f.write_str("halt"),
            Self::Continue => f.write_str("continue"),
            Self::Stepi { count } => write!(f, "stepi {count}"),
            Self::StepLine => f.write_str("step-line"),
            Self::NextLine => f.write_str("next-line"),
            Self::Break { place } => write!(f, "break {place}"),
            Self::Watch { addr } => write!(f, "watch {addr}"),
            Self::Delete => f.write_str("delete"),
        }
    }
}

/// A core under control.
#[derive(Clone, Debug, PartialEq)]
pub struct HeldCore {
    /// The core.
    pub core: CoreId,
    /// Where it is paused; none while it runs.
    pub pause: Option<Pause>,
    /// Its breakpoints and watchpoints.
    pub watchpoints: Vec<Watchpoint>,
}

/// A pause of a core.
#[derive(Clone, Debug, PartialEq)]
pub struct Pause {
    /// command (also after a step), breakpoint, watchpoint or ebreak.
    pub why: &'static str,
    /// The address of the breakpoint or watchpoint, as the core sees it.
    pub addr: Option<u32>,
    /// The program counter.
    pub pc: u32,
    /// x0 to x31.
    pub registers: [u32; 32],
    /// The image with the code; none if no image that is known there has it.
    pub image: Option<String>,
    /// File and line, and the functions around them, innermost first; empty if they are unknown.
    pub lines: Vec<SourceLine>,
    /// Instructions around the program counter; empty if its memory could not be read.
    pub code: Vec<Instruction>,
    /// The Tensix instruction that the next instruction stores to the coprocessor, if it does.
    pub pushes: Option<String>,
}

impl Pause {
    /// Reads what is known of a paused core, with this many instructions before and after its
    /// program counter.
    ///
    /// # Errors
    /// When the core is not paused, or the machine does not answer.
    pub fn of(
        target: &mut dyn Target,
        images: &ImageMap,
        control: &mut CoreControl,
        stop: Stop,
        (before, after): (u32, u32),
    ) -> Result<Self, RunError> {
        let registers = control.registers(target)?;
        let pc = registers.pc;
        let (image, lines) = code::source_at(images, control.core(), pc);
        let first = pc.saturating_sub(4 * before);
        let len = 4 * after + (pc - first);
        // Where the code ends, at an end of memory, there may be less to read.
        let read = control.read(target, first, len).map(|bytes| (first, bytes));
        let read = read.or_else(|_| control.read(target, pc, 4).map(|bytes| (pc, bytes)));
        let code = read.map_or_else(
            |_| Vec::new(),
            |(first, bytes)| code::listing(images, control.core(), first, &bytes),
        );
        let next = code.iter().find(|instruction| instruction.addr == pc);
        let pushes =
            next.and_then(|next| code::pushed(images.layout(), next.word, &registers.general));
        let (why, addr) = why(stop);
        let registers = registers.general;
        Ok(Self { why, addr, pc, registers, image, lines, code, pushes })
    }

    /// The line, then those of the functions around it, then the image.
    pub fn place(&self) -> String {
        code_words(self.image.as_deref(), &self.lines, &format!("{:#x}", self.pc))
    }
}

/// Why a core is paused, in a word, with the address of the breakpoint or watchpoint.
fn why(stop: Stop) -> (&'static str, Option<u32>) {
    match stop {
        Stop::Command => ("command", None),
        Stop::Ebreak => ("ebreak", None),
        Stop::Watch(watch) if watch.watched == Watched::Execution => {
            ("breakpoint", Some(watch.addr))
        }
        Stop::Watch(watch) => ("watchpoint", Some(watch.addr)),
    }
}

/// Returns the breakpoints or the watchpoint that a command sets on a core: at `ADDR`, `NAME` or
/// `FILE:LINE`. Other commands set none.
///
/// # Errors
/// In a sentence, when the place means none there.
pub fn watchpoints(
    command: &CoreCommand,
    images: &ImageMap,
    core: CoreId,
) -> Result<Vec<Watchpoint>, String> {
    let is_number = |text: &str| text.starts_with(|first: char| first.is_ascii_digit());
    let (addrs, watched) = match command {
        CoreCommand::Break { place } if is_number(place) && !place.contains(':') => {
            (vec![address(place)?], Watched::Execution)
        }
        CoreCommand::Break { place } => (code::code_at(images, core, place)?, Watched::Execution),
        CoreCommand::Watch { addr } => (vec![address(addr)?], Watched::Stores),
        _ => return Ok(Vec::new()),
    };
    Ok(addrs.into_iter().map(|addr| Watchpoint { addr, watched }).collect())
}

/// Parses an address of a core.
fn address(text: &str) -> Result<u32, String> {
    let addr = u32::try_from(locate::number(text)?);
    addr.map_err(|_| format!("'{text}': an address of a core has 32 bits"))
}

/// Instructions, with their sources where these differ from the ones before: address, instruction,
/// source.
pub fn code_rows(code: &[Instruction]) -> Vec<[String; 3]> {
    let mut before: &[SourceLine] = &[];
    let rows = code.iter().map(|Instruction { addr, text, lines, .. }| {
        let same = std::mem::replace(&mut before, lines) == lines.as_slice();
        let lines = if same { &[] } else { lines.as_slice() };
        [format!("{addr:#010x}"), text.clone(), SourceLine::chain(lines)]
    });
    rows.collect()
}

/// The general registers with their names in assembly, this many in a row.
pub fn register_rows(pause: &Pause, columns: usize, gap: &str) -> Vec<String> {
    let cells = pause.registers.iter().enumerate().map(|(index, value)| {
        format!("{:>4} {value:#010x}", register_name(index).unwrap_or_default())
    });
    let cells: Vec<_> = cells.collect();
    cells.chunks(columns.max(1)).map(|row| row.join(gap)).collect()
}
