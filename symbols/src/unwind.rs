//! Backtraces: from a core's registers through the frames of its stack, by call frame information.
//!
//! Everything is bounded, whatever the registers, the memory and the files say: there are at most
//! `MAX_FRAMES` frames, none comes twice, each reads one word per register, and an expression in call
//! frame information has at most 100 operations.

mod end;
mod expression;
mod recover;
mod registers;

use std::sync::Arc;

use gimli::UnwindContext;

pub use end::StackEnd;
pub use registers::Registers;

use crate::call_frames::Rule;
use crate::frames::Location;
use crate::inner::Inner;
use crate::symbols::Symbols;
use recover::Recovery;

/// More frames than this do not fit into a core's private RAM: a function that calls needs 16 bytes,
/// and there are 4096.
const MAX_FRAMES: usize = 256;

/// A file whose code may be on the stack, and where it is.
#[derive(Clone, Debug)]
pub struct Module {
    /// The file.
    pub symbols: Symbols,
    /// What is added to its addresses, modulo 2^32, to give those that the core sees: 0 unless it is
    /// position-independent code that was put elsewhere.
    pub bias: u32,
}

impl Module {
    /// A file whose code is where it was linked.
    pub fn new(symbols: Symbols) -> Module {
        Module { symbols, bias: 0 }
    }
}

/// One frame: a function that was really called, and what was inlined into it there.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct StackFrame {
    /// Where it is: for the innermost frame the next instruction, else where the call returns to.
    pub pc: u32,
    /// Which of the modules has this code.
    pub module: usize,
    /// The canonical frame address: what `sp` was when it was called. None in the last frame, if that
    /// could not be told for certain.
    pub cfa: Option<u32>,
    /// The inlined functions there, innermost first, and then the function itself; of a frame that
    /// waits for a call, where the call stands. Empty if the file names nothing there.
    pub locations: Vec<Location>,
    /// The registers in this frame, as far as they are known: of a frame that waits for a call, as
    /// they will be when it returns.
    pub registers: Registers,
}

impl StackFrame {
    /// The name of the function that was really called.
    pub fn function(&self) -> Option<&Arc<str>> {
        self.locations.last()?.function.as_ref()
    }
}

/// The frames of a stack, and why there are no more.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Backtrace<E> {
    /// The frames, innermost first.
    pub frames: Vec<StackFrame>,
    /// Why the last one is the last.
    pub end: StackEnd<E>,
}

/// Finds the frames of a core's stack. Of modules that overlap, the first one with code at an address
/// counts. `read` fills the buffer with what the core would read at that address of its own; it is
/// asked for four bytes at most.
///
/// Only what is certain becomes a frame: there is no guessing where call frame information is missing.
/// It can be wrong all the same where a program tampers with its own stack pointer behind the back of
/// its call frame information.
pub fn backtrace<E>(
    modules: &[Module],
    registers: &Registers,
    read: impl FnMut(u64, &mut [u8]) -> Result<(), E>,
) -> Backtrace<E> {
    let mut walk = Walk {
        modules,
        frames: Vec::new(),
        context: UnwindContext::new(),
        recovery: Recovery::new(read),
    };
    let mut registers = registers.clone();
    let mut called_by = None;
    let end = loop {
        match walk.frame(registers, called_by) {
            Ok((next, link)) => (registers, called_by) = (next, link),
            Err(end) => break end,
        }
    };
    Backtrace { frames: walk.frames, end }
}

struct Walk<'a, R, E> {
    modules: &'a [Module],
    frames: Vec<StackFrame>,
    context: UnwindContext<usize>,
    recovery: Recovery<R, E>,
}

impl<R: FnMut(u64, &mut [u8]) -> Result<(), E>, E> Walk<'_, R, E> {
    /// Adds the frame with these registers and finds those of its caller. `called_by` is the register
    /// through which this frame made its call, if it waits for one to return; so is the answer's for
    /// the caller.
    fn frame(
        &mut self,
        registers: Registers,
        called_by: Option<u16>,
    ) -> Result<(Registers, Option<u16>), StackEnd<E>> {
        if self.frames.len() >= MAX_FRAMES {
            return Err(StackEnd::Limit { frames: self.frames.len() });
        }
        let last = self.frames.last().map(|frame| frame.pc);
        let pc = registers.pc.ok_or(StackEnd::Unknown { pc: last, register: "pc" })?;
        // The call may be the last instruction of its function, or of an inlined one.
        let at = if called_by.is_some() { pc.wrapping_sub(1) } else { pc };
        let (module, linked) = self.module(at).ok_or(StackEnd::NoModule { pc })?;
        let Some(inner) = self.modules.get(module).map(|module| &module.symbols.inner) else {
            return Err(StackEnd::NoModule { pc });
        };
        let locations = crate::frames::at(inner, linked);
        let function = locations.last().and_then(|location| location.function.clone());
        let frame = StackFrame { pc, module, cfa: None, locations, registers };
        let registers = frame.registers.clone();
        self.frames.push(frame);

        let broken = |reason| StackEnd::BrokenCallFrames { pc, reason };
        let found = inner.rules(&mut self.context, linked);
        let Some(rules) = found.map_err(broken)? else {
            let ra = if called_by.is_none() { registers.get(registers::RA) } else { None };
            let entry = is_entry(inner, linked);
            return Err(StackEnd::NoCallFrames { function, pc, ra, entry });
        };
        let cfa = self.recovery.cfa(pc, &rules, &registers)?;
        if self.frames.iter().any(|frame| frame.pc == pc && frame.cfa == Some(cfa)) {
            return Err(StackEnd::Repeats { pc, cfa });
        }
        let link = rules.of(rules.link);
        if called_by == Some(rules.link) && matches!(link, None | Some(Rule::Same)) {
            // What does not tell of the return address need not be right about the stack pointer.
            return Err(StackEnd::NotSaved { function, pc, entry: is_entry(inner, linked) });
        }
        if let Some(frame) = self.frames.last_mut() {
            frame.cfa = Some(cfa);
        }
        if matches!(link, Some(Rule::Undefined)) {
            return Err(StackEnd::Outermost { function, pc });
        }
        let caller = self.recovery.caller(pc, &rules, cfa, &registers)?;
        Ok((caller, (!rules.interrupts).then_some(rules.link)))
    }

    /// The first module with code at an address of the core, and the address as it was linked.
    fn module(&self, at: u32) -> Option<(usize, u32)> {
        let linked = self.modules.iter().map(|module| at.wrapping_sub(module.bias)).enumerate();
        let mut all = linked.zip(self.modules);
        all.find(|((_, linked), module)| module.symbols.inner.image.is_code(*linked))
            .map(|(found, _)| found)
    }
}

/// Whether an address is in the function at which the file says that execution starts.
fn is_entry(inner: &Inner, address: u32) -> bool {
    let start = |address| inner.symbol_at(address).map(|symbol| symbol.address);
    start(address).is_some() && start(address) == start(inner.image.entry)
}
