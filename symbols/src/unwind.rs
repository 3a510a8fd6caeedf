//! Backtraces: the frames of a stack from a core's registers, by call frame information.
//!
//! Everything has a limit, whatever the registers, the memory and the files contain: at most
//! `MAX_FRAMES` frames, none repeated, each with one word read per register, and at most 100
//! operations per expression in call frame information.

mod end;
mod expression;
mod recover;
mod registers;

use gimli::UnwindContext;

pub use end::StackEnd;
pub use registers::Registers;

use crate::call_frames::Rule;
use crate::frames::Location;
use crate::inner::Inner;
use crate::symbols::Symbols;
use crate::tail_calls;
use recover::Recovery;

/// The most frames. More do not fit into a core's private RAM: a function that makes calls needs 16
/// bytes of its 4096.
const MAX_FRAMES: usize = 256;

/// A file whose code may be on the stack, and its load bias.
#[derive(Clone, Debug)]
pub struct Module {
    /// The file.
    pub symbols: Symbols,
    /// The core's addresses minus the file's, modulo 2^32: 0 unless it is position-independent code
    /// loaded elsewhere.
    pub bias: u32,
}

impl Module {
    /// Returns a file loaded at its link address.
    pub fn new(symbols: Symbols) -> Module {
        Module { symbols, bias: 0 }
    }
}

/// One frame: a function that was called, and the functions inlined at its pc.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct StackFrame {
    /// The next instruction of the innermost frame, the return address of other frames.
    pub pc: u32,
    /// The index of the module with this code.
    pub module: usize,
    /// The canonical frame address: the value of `sp` at the call. None in the last frame if it is
    /// not certain.
    pub cfa: Option<u32>,
    /// The inlined functions at the pc, innermost first, and then the function itself; in a frame
    /// that waits for a call, the position of the call. Empty if the file has no information.
    pub locations: Vec<Location>,
    /// The known registers in this frame; in a frame that waits for a call, their values after the
    /// return.
    pub registers: Registers,
    /// Whether it has left the stack: it ended in a jump to the function of the frame before, its
    /// pc is the address after the jump, and the compiler's list of calls allows no other way.
    pub tail_call: bool,
    /// Whether frames that tail calls removed are missing between this frame and the next: the
    /// compiler's list of calls allows several ways, or does not know all.
    pub frames_missing: bool,
}

/// The frames of a stack, and the reason why it ends.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Backtrace<E> {
    /// The frames, innermost first.
    pub frames: Vec<StackFrame>,
    /// The reason why there is no further frame.
    pub end: StackEnd<E>,
}

/// Returns the frames of a core's stack. If modules overlap, the first one with code at an address
/// counts. `read` fills the buffer from the core's own address space; it is called for at most four
/// bytes.
///
/// It does not guess where call frame information is missing: every frame is certain. It can still
/// be wrong if a program changes its own stack pointer in contradiction to its call frame
/// information.
pub fn backtrace<E>(
    modules: &[Module],
    registers: &Registers,
    read: impl FnMut(u64, &mut [u8]) -> Result<(), E>,
) -> Backtrace<E> {
    let mut walk = Unwinder {
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

struct Unwinder<'a, R, E> {
    modules: &'a [Module],
    frames: Vec<StackFrame>,
    context: UnwindContext<usize>,
    recovery: Recovery<R, E>,
}

impl<R: FnMut(u64, &mut [u8]) -> Result<(), E>, E> Unwinder<'_, R, E> {
    /// Adds the frame with these registers, and returns the registers of its caller. `called_by` is
    /// the register through which this frame made its call, if it waits for one to return; the
    /// second result is the same for the caller.
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
        let function = locations.last().and_then(Location::name).map(Into::into);
        let frame = StackFrame {
            pc,
            module,
            cfa: None,
            locations,
            registers,
            tail_call: false,
            frames_missing: false,
        };
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
        let link = rules.rule(rules.link);
        if called_by == Some(rules.link) && matches!(link, None | Some(Rule::Same)) {
            // Without a rule for the return address, the stack pointer may be wrong too.
            return Err(StackEnd::NotSaved { function, pc, entry: is_entry(inner, linked) });
        }
        if let Some(frame) = self.frames.last_mut() {
            frame.cfa = Some(cfa);
        }
        if matches!(link, Some(Rule::Undefined)) {
            return Err(StackEnd::Outermost { function, pc });
        }
        let caller = self.recovery.caller(pc, &rules, cfa, &registers)?;
        if !rules.interrupts {
            self.tail_calls(module, linked, &caller);
        }
        Ok((caller, (!rules.interrupts).then_some(rules.link)))
    }

    /// Adds the frames that tail calls removed between the last frame and its caller.
    fn tail_calls(&mut self, module: usize, linked: u32, caller: &Registers) {
        let back = caller.pc.and_then(|pc| self.module(pc.wrapping_sub(1)));
        let Some((_, call)) = back.filter(|(of, _)| *of == module) else { return };
        let (Some(Module { symbols, bias }), Some(last)) =
            (self.modules.get(module), self.frames.last_mut())
        else {
            return;
        };
        let removed = tail_calls::removed(&symbols.inner, linked, call.wrapping_add(1));
        last.frames_missing = removed.missing_at == Some(0);
        let cfa = last.cfa;
        let left = MAX_FRAMES.saturating_sub(self.frames.len());
        let frames = removed.certain.iter().zip(1..).take(left).map(|(&after, number)| {
            let mut registers = caller.clone();
            let pc = after.wrapping_add(*bias);
            registers.pc = Some(pc);
            StackFrame {
                pc,
                module,
                cfa,
                locations: crate::frames::at(&symbols.inner, after.wrapping_sub(1)),
                registers,
                tail_call: true,
                frames_missing: removed.missing_at == Some(number),
            }
        });
        self.frames.extend(frames);
    }

    /// Returns the first module with code at an address of the core, and the address as linked.
    fn module(&self, at: u32) -> Option<(usize, u32)> {
        let linked = self.modules.iter().map(|module| at.wrapping_sub(module.bias)).enumerate();
        let mut all = linked.zip(self.modules);
        all.find(|((_, linked), module)| module.symbols.inner.image.is_code(*linked))
            .map(|(found, _)| found)
    }
}

/// Whether an address is in the function at the file's entry point.
fn is_entry(inner: &Inner, address: u32) -> bool {
    let start = |address| inner.symbol_at(address).map(|symbol| symbol.address);
    start(address).is_some() && start(address) == start(inner.image.entry)
}
