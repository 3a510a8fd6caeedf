//! What the RISC debug interface does to a hart: pause, step, registers, memory, watchpoints
//! (wormhole.md 4.3, DebugInterface.md of the ISA documentation).
//!
//! A hart pauses between two instructions. The instruction of a breakpoint has been executed when
//! the hart pauses, and so has a watched store; a watched load has not. Written registers are seen
//! by the next instruction, where silicon may execute some more before. A hart with a watchpoint
//! and one that steps execute through [`super::step`] and never sleep; the others are not slower.

use super::core::{Hart, State};
use super::debug_state::{ACCESS, Debugger, EXECUTE, Next, READ, WRITE};
use super::record::Before;
use super::{Cause, HartStop};
use crate::decode::{self as d, Op};

/// Bits of DR 1.
mod command {
    pub(super) const PAUSE: u32 = 1;
    pub(super) const STEP: u32 = 1 << 1;
    pub(super) const CONTINUE: u32 = 1 << 2;
    pub(super) const READ_REGISTER: u32 = 1 << 3;
    pub(super) const WRITE_REGISTER: u32 = 1 << 4;
    pub(super) const READ_MEMORY: u32 = 1 << 5;
    pub(super) const WRITE_MEMORY: u32 = 1 << 6;
    pub(super) const ZERO_REGISTERS: u32 = 1 << 7;
    pub(super) const WRITE_PC: u32 = 1 << 8;
    pub(super) const SLOW: u32 = 1 << 31;
}

/// Bits of DR 0.
const PAUSED: u32 = 1;
const BREAKPOINT: u32 = 1 << 1;
const WATCHPOINT: u32 = 1 << 2;
const EBREAK: u32 = 1 << 3;
/// Index of the pc among the registers of the interface.
const PC: u32 = 32;
/// Slot of the value that a served store stores.
const SERVED: u8 = 33;

/// An order of the debug interface.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DebugOrder {
    /// A write of DR 1, with DR 2 and DR 3.
    Command {
        /// DR 1.
        bits: u32,
        /// DR 2: a register's index or an address.
        argument: u32,
        /// DR 3.
        data: u32,
    },
    /// All watchpoints.
    Watch {
        /// DR 5: four bits each.
        modes: u32,
        /// DR 10 to 17.
        addresses: [u32; 8],
    },
}

/// Returns the bytes of a load or store.
fn bytes(kind: u8) -> u32 {
    match kind {
        d::LB | d::LBU | d::SB => 1,
        d::LH | d::LHU | d::SH => 2,
        _ => 4,
    }
}

impl Hart {
    /// Returns DR 0 and DR 4.
    pub(crate) fn debug_registers(&self) -> (u32, u32) {
        let status = match self.state {
            State::Halted(status) => status,
            State::Stopped(HartStop { cause: Cause::Ebreak | Cause::Ecall, .. }) => PAUSED | EBREAK,
            _ => 0,
        };
        (status, self.debugger.as_ref().map_or(0, |debugger| debugger.result))
    }

    /// Returns an order that the hart refused, once.
    pub(crate) fn refused_order(&mut self) -> Option<&'static str> {
        self.debugger.as_mut()?.refused.take()
    }

    /// Returns the state of a hart that was stuck until now.
    pub(crate) fn released(&mut self) -> State {
        let Some(debugger) =
            self.debugger.as_mut().filter(|debugger| debugger.next == Next::Pauses)
        else {
            return State::Running;
        };
        debugger.next = Next::GoesOn;
        debugger.safe = debugger.slow;
        State::Halted(PAUSED)
    }

    /// Carries out an order of the debug interface.
    pub(crate) fn debug(&mut self, order: &DebugOrder, now: u64) {
        if self.state == State::Reset {
            return;
        }
        self.debugger.get_or_insert_default();
        let Some(mut debugger) = self.debugger.take() else { return };
        match *order {
            DebugOrder::Watch { modes, addresses } => {
                (debugger.modes, debugger.addresses) = (modes, addresses);
            }
            DebugOrder::Command { bits, argument, data } => {
                let done = self.command(&mut debugger, bits, argument, data);
                match done {
                    Ok(Some(state)) => (self.state, self.at) = (state, now),
                    Ok(None) => {}
                    Err(name) => debugger.refused = Some(name),
                }
            }
        }
        self.traced = debugger.armed() || debugger.next == Next::Steps || debugger.serves.is_some();
        self.debugger = Some(debugger);
    }

    /// Carries out a write of DR 1; returns the new state of the hart, if it has one.
    fn command(
        &mut self,
        debugger: &mut Debugger,
        bits: u32,
        argument: u32,
        data: u32,
    ) -> Result<Option<State>, &'static str> {
        use command::{PAUSE, READ_MEMORY, READ_REGISTER, SLOW, STEP, WRITE_MEMORY};
        let (status, _) = self.debug_registers();
        debugger.slow = bits & SLOW != 0;
        debugger.safe &= debugger.slow;
        if bits & PAUSE != 0 && status == 0 {
            if self.state == State::Paused {
                debugger.next = Next::Pauses;
            }
            debugger.safe = debugger.slow;
            return Ok(self.running().then_some(State::Halted(PAUSED)));
        }
        let actions = bits & !(PAUSE | SLOW);
        if actions == 0 {
            return Ok(None);
        }
        if status == 0 {
            return Err("debug-command-to-running-core");
        }
        if actions & (READ_MEMORY | WRITE_MEMORY) != 0 {
            let write = match actions {
                READ_MEMORY => false,
                WRITE_MEMORY => true,
                _ => return Err("debug-commands-exclude-each-other"),
            };
            debugger.serves = Some(self.access(write, argument, data));
            return Ok(Some(State::Serving(status)));
        }
        if actions & READ_REGISTER != 0 {
            debugger.result = match argument {
                PC => self.pc,
                0..PC => self.regs[argument as usize],
                _ => return Err("debug-register-index"),
            };
        }
        self.write_registers(actions, argument, data)?;
        if actions & command::WRITE_PC != 0 {
            if actions & STEP == 0 {
                return Err("debug-pc-write-without-step");
            }
            self.pc = if debugger.slow { debugger.result } else { self.reset_pc };
            debugger.safe = true;
            let resumes = actions & command::CONTINUE != 0;
            return Ok(Some(if resumes { State::Running } else { State::Halted(PAUSED) }));
        }
        if actions & (STEP | command::CONTINUE) == 0 {
            return Ok(None);
        }
        // Whether a core may go on after an `ebreak` depends on the next eight instructions, which
        // is not judged.
        if !debugger.safe && status & EBREAK == 0 {
            return Err("debug-resume-without-slow-mode");
        }
        debugger.passing = true;
        let resumes = actions & command::CONTINUE != 0;
        debugger.next = if resumes { Next::GoesOn } else { Next::Steps };
        Ok(Some(State::Running))
    }

    fn write_registers(
        &mut self,
        actions: u32,
        argument: u32,
        data: u32,
    ) -> Result<(), &'static str> {
        if actions & command::ZERO_REGISTERS != 0 {
            self.regs[..32].fill(0);
        }
        if actions & command::WRITE_REGISTER != 0 {
            let register = (1..PC).contains(&argument).then_some(argument as usize);
            self.regs[register.ok_or("debug-register-index")?] = data;
        }
        Ok(())
    }

    /// Returns the instruction by which the hart accesses a word for the debugger.
    fn access(&mut self, write: bool, addr: u32, data: u32) -> Op {
        self.regs[usize::from(SERVED)] = data;
        if write {
            d::pack(d::SW, 0, 0, SERVED, addr)
        } else {
            d::pack(d::LW, d::DISCARD, 0, 0, addr)
        }
    }

    /// Returns the access that the hart makes for the debugger instead of an instruction.
    pub(super) fn served(&self) -> Option<Op> {
        self.debugger.as_ref().filter(|_| self.traced)?.serves
    }

    /// Whether the hart pauses before an instruction: a watched load.
    pub(super) fn pauses_before(&mut self, op: Op) -> bool {
        let Some(debugger) = self.debugger.as_mut().filter(|_| self.traced) else { return false };
        let kind = d::kind(op);
        if debugger.passing || debugger.serves.is_some() || !(d::LB..=d::LHU).contains(&kind) {
            return false;
        }
        let addr = self.regs[d::rs1(op) as usize].wrapping_add(d::imm(op));
        let hits = debugger.hits(&[READ, ACCESS], addr, bytes(kind));
        if hits != 0 {
            debugger.safe = debugger.slow;
            self.state = State::Halted(PAUSED | WATCHPOINT | hits);
        }
        hits != 0
    }

    /// Pauses the hart after an instruction if that was a step, a breakpoint or a watched store, and
    /// after an access for the debugger.
    pub(super) fn pause_after(&mut self, before: &Before) {
        let Some(debugger) = self.debugger.as_mut().filter(|_| self.traced) else { return };
        if debugger.serves.take().is_some()
            && let State::Serving(status) = self.state
        {
            (self.pc, self.retired) = (before.pc, self.retired - 1);
            if d::kind(before.op) == d::LW {
                debugger.result = self.regs[usize::from(d::DISCARD)];
            }
            self.state = State::Halted(status);
            self.traced = debugger.armed();
            return;
        }
        debugger.passing = false;
        let kind = d::kind(before.op);
        let executed = debugger.hits(&[EXECUTE], before.pc, 1);
        let stored = if (d::SB..=d::SW).contains(&kind) {
            let addr = before.a.wrapping_add(d::imm(before.op));
            debugger.hits(&[WRITE, ACCESS], addr, bytes(kind))
        } else {
            0
        };
        let why = |bit, hits| if hits == 0 { 0 } else { bit | hits };
        let status = PAUSED | why(BREAKPOINT, executed) | why(WATCHPOINT, stored);
        let stepped = std::mem::take(&mut debugger.next) == Next::Steps;
        if stepped || status != PAUSED {
            debugger.safe = debugger.slow;
            self.state = State::Halted(status);
            self.traced = debugger.armed();
        }
    }
}
