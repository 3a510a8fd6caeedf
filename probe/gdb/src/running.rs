//! The cores go on, and stop: when one stops, all are paused.

use crate::debuggee::{Action, Debuggee, is_gone, tid};
use gdbstub::common::{Signal, Tid};
use gdbstub::stub::MultiThreadStopReason;
use gdbstub::target::ext::base::multithread::{
    MultiThreadRangeStepping, MultiThreadRangeSteppingOps, MultiThreadResume,
    MultiThreadSingleStep, MultiThreadSingleStepOps,
};
use gdbstub::target::ext::breakpoints::WatchKind;
use launch::debugging::{Stop, Watched, Watchpoint};
use launch::outcome::RunError;

/// Time between two looks at running cores, in device cycles.
const POLL_CYCLES: u64 = 20_000;
/// Most steps in a range between two looks at the client.
const MOST_STEPS: usize = 256;

pub(crate) type Reason = MultiThreadStopReason<u32>;

impl Debuggee<'_> {
    /// Lets time pass and looks at the cores. Returns why one has stopped; then all are paused.
    pub(crate) fn look(&mut self) -> Result<Option<Reason>, RunError> {
        for index in 0..self.threads.len() {
            if let Some(reason) = self.look_at(index)? {
                self.pause_all()?;
                return Ok(Some(reason));
            }
        }
        self.target.pass(POLL_CYCLES)?;
        Ok(None)
    }

    fn look_at(&mut self, index: usize) -> Result<Option<Reason>, RunError> {
        let Some(tid) = tid(index) else { return Ok(None) };
        let thread = &mut self.threads[index];
        match thread.action {
            Action::Continue => {
                let stop = thread.control.poll(self.target)?;
                Ok(stop.map(|stop| self.reason(tid, stop)))
            }
            // The step was made when the cores went on.
            Action::Step => Ok(Some(done(tid))),
            Action::StepIn(start, end) => {
                for _ in 0..MOST_STEPS {
                    let pc = thread.control.pc(self.target)?;
                    let at_breakpoint =
                        thread.control.watchpoints().any(|watch| is_breakpoint(watch, pc));
                    if !(start..end).contains(&pc) || at_breakpoint {
                        return Ok(Some(done(tid)));
                    }
                    thread.control.step(self.target)?;
                }
                Ok(None)
            }
        }
    }

    fn reason(&self, tid: Tid, stop: Stop) -> Reason {
        match stop {
            Stop::Command | Stop::Ebreak => {
                MultiThreadStopReason::SignalWithThread { tid, signal: Signal::SIGTRAP }
            }
            Stop::Watch(Watchpoint { addr, watched: Watched::Execution }) => {
                if self.software.contains(&addr) {
                    MultiThreadStopReason::SwBreak(tid)
                } else {
                    MultiThreadStopReason::HwBreak(tid)
                }
            }
            Stop::Watch(Watchpoint { addr, watched }) => {
                let kind = match watched {
                    Watched::Loads => WatchKind::Read,
                    Watched::Stores => WatchKind::Write,
                    Watched::Accesses | Watched::Execution => WatchKind::ReadWrite,
                };
                MultiThreadStopReason::Watch { tid, kind, addr }
            }
        }
    }

    /// Pauses all cores. One that does not pause yet is told of, and left to itself.
    pub(crate) fn pause_all(&mut self) -> Result<(), RunError> {
        for thread in &mut self.threads {
            match thread.control.pause(self.target) {
                Err(error) if is_gone(&error) => return Err(error),
                Err(error) => (self.tell)(&error),
                Ok(_) => {}
            }
        }
        Ok(())
    }
}

fn is_breakpoint(watchpoint: Watchpoint, pc: u32) -> bool {
    watchpoint == Watchpoint { addr: pc, watched: Watched::Execution }
}

fn done(tid: Tid) -> Reason {
    MultiThreadStopReason::SignalWithThread { tid, signal: Signal::SIGTRAP }
}

impl MultiThreadResume for Debuggee<'_> {
    fn resume(&mut self) -> Result<(), Self::Error> {
        for thread in &mut self.threads {
            let gone = match thread.action {
                Action::Continue => thread.control.go_on(self.target),
                Action::Step | Action::StepIn(..) => thread.control.step(self.target),
            };
            match gone {
                Err(error) if is_gone(&error) => return Err(error),
                // A core that has not paused yet goes on anyway.
                Err(error) => (self.tell)(&error),
                Ok(()) => {}
            }
        }
        Ok(())
    }

    fn clear_resume_actions(&mut self) -> Result<(), Self::Error> {
        for thread in &mut self.threads {
            thread.action = Action::Continue;
        }
        Ok(())
    }

    fn set_resume_action_continue(
        &mut self,
        tid: Tid,
        _signal: Option<Signal>,
    ) -> Result<(), Self::Error> {
        self.act(tid, Action::Continue);
        Ok(())
    }

    fn support_single_step(&mut self) -> Option<MultiThreadSingleStepOps<'_, Self>> {
        Some(self)
    }

    fn support_range_step(&mut self) -> Option<MultiThreadRangeSteppingOps<'_, Self>> {
        Some(self)
    }
}

impl Debuggee<'_> {
    fn act(&mut self, tid: Tid, action: Action) {
        if let Some(thread) = self.threads.get_mut(tid.get() - 1) {
            thread.action = action;
        }
    }
}

impl MultiThreadSingleStep for Debuggee<'_> {
    fn set_resume_action_step(
        &mut self,
        tid: Tid,
        _signal: Option<Signal>,
    ) -> Result<(), Self::Error> {
        self.act(tid, Action::Step);
        Ok(())
    }
}

impl MultiThreadRangeStepping for Debuggee<'_> {
    fn set_resume_action_range_step(
        &mut self,
        tid: Tid,
        start: u32,
        end: u32,
    ) -> Result<(), Self::Error> {
        self.act(tid, Action::StepIn(start, end));
        Ok(())
    }
}
