//! Steps of a paused core by source lines.

use super::{CoreControl, Stop, Watched, Watchpoint};
use crate::outcome::RunError;
use images::code::source_at;
use images::{ImageMap, SourceLine};
use layouts::CoreId;
use machine::target::Target;

/// Instructions that one poll steps at most.
const MOST_STEPS: usize = 64;
/// The stack pointer.
const SP: usize = 2;

/// A step of a paused core to another source line.
#[derive(Clone, Debug)]
pub struct LineStep {
    /// The line at which it began, and the functions around it, innermost first.
    from: Vec<SourceLine>,
    /// Whether functions that are called are executed whole.
    over: bool,
    /// The return from a function that runs.
    returns: Option<Return>,
}

/// Where a function returns to: a breakpoint, and the stack pointer there.
#[derive(Clone, Copy, Debug)]
struct Return {
    at: Watchpoint,
    sp: u32,
    /// Whether the breakpoint is this step's, which then removes it.
    own: bool,
}

impl LineStep {
    /// Begins a step, `over` the functions that are called or into them.
    ///
    /// # Errors
    /// When the core is not paused.
    pub fn begin(
        target: &mut dyn Target,
        images: &ImageMap,
        control: &mut CoreControl,
        over: bool,
    ) -> Result<Self, RunError> {
        let pc = control.pc(target)?;
        Ok(Self { from: source_at(images, control.core(), pc).1, over, returns: None })
    }

    /// Steps on. Returns why the core has stopped, once it has; until then time has to pass
    /// between two polls.
    ///
    /// # Errors
    /// When the machine does not answer, or the core was let go by somebody else.
    pub fn poll(
        &mut self,
        target: &mut dyn Target,
        images: &ImageMap,
        control: &mut CoreControl,
    ) -> Result<Option<Stop>, RunError> {
        for _ in 0..MOST_STEPS {
            if let Some(returns) = self.returns {
                let Some(stop) = control.poll(target)? else { return Ok(None) };
                let registers = control.registers(target)?;
                let returned = stop == Stop::Watch(returns.at);
                if returned && registers.general[SP] < returns.sp {
                    // It is a deeper call of the same function that has returned.
                    control.go_on(target)?;
                    continue;
                }
                self.cancel(target, control)?;
                if !returned {
                    return Ok(Some(stop));
                }
            } else {
                self.advance(target, control)?;
                if self.returns.is_some() {
                    continue;
                }
            }
            let pc = control.pc(target)?;
            let breakpoint = Watchpoint { addr: pc, watched: Watched::Execution };
            if control.watchpoints().any(|set| set == breakpoint) {
                return Ok(Some(Stop::Watch(breakpoint)));
            }
            if self.is_another_line(images, control.core(), pc) {
                return Ok(Some(Stop::Command));
            }
        }
        Ok(None)
    }

    /// Takes the breakpoint of the step back, if it has one.
    ///
    /// # Errors
    /// When the core is not paused.
    pub fn cancel(
        &mut self,
        target: &mut dyn Target,
        control: &mut CoreControl,
    ) -> Result<(), RunError> {
        if let Some(returns) = self.returns.take()
            && returns.own
        {
            control.unwatch(target, returns.at)?;
        }
        Ok(())
    }

    /// Executes an instruction, or lets the core go on to the return of the function that it calls.
    fn advance(
        &mut self,
        target: &mut dyn Target,
        control: &mut CoreControl,
    ) -> Result<(), RunError> {
        let call = if self.over { call(target, control)? } else { None };
        control.step(target)?;
        // Without a watchpoint to spare, the function is stepped through.
        if let Some(returns) = call
            && (!returns.own || control.watch(target, returns.at).is_ok())
        {
            self.returns = Some(returns);
            control.go_on(target)?;
        }
        Ok(())
    }

    /// Whether the line at an address is known and another than that at which the step began. A
    /// function that was inlined there is part of the line, if calls are executed whole.
    fn is_another_line(&self, images: &ImageMap, core: CoreId, pc: u32) -> bool {
        let (_, lines) = source_at(images, core, pc);
        let inner = lines.len().saturating_sub(self.from.len());
        let same = lines == self.from
            || self.over && !self.from.is_empty() && lines.get(inner..) == Some(&*self.from);
        !same && lines.first().is_some_and(|line| line.line.is_some_and(|number| number > 0))
    }
}

/// Where the function returns that the next instruction calls, if it is a call.
fn call(target: &mut dyn Target, control: &mut CoreControl) -> Result<Option<Return>, RunError> {
    let pc = control.pc(target)?;
    let word = control.read(target, pc, 4)?;
    let word = word.first_chunk().copied().map_or(0, u32::from_le_bytes);
    // `jal` and `jalr` that leave the address after them in ra, or in t0 as `-msave-restore`.
    let links = matches!(word & 0x7F, 0x6F | 0x67) && matches!(word >> 7 & 31, 1 | 5);
    if !links {
        return Ok(None);
    }
    let at = Watchpoint { addr: pc.wrapping_add(4), watched: Watched::Execution };
    let sp = control.registers(target)?.general[SP];
    let own = !control.watchpoints().any(|set| set == at);
    Ok(Some(Return { at, sp, own }))
}
