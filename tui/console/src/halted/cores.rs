//! Cores that the user has halted: controlled between two snapshots, let go at the end.

use super::held::Held;
use super::{CoreCommand, HeldCore, Pause, watchpoints};
use crate::exit::Failure;
use launch::debugging::CoreControl;
use launch::outcome::RunError;
use launch::undebuggable::Undebuggable;
use layouts::CoreId;
use probe::session::Session;

/// Instructions that are shown before and after the program counter.
const AROUND: (u32, u32) = (24, 40);

/// The cores under control.
#[derive(Default)]
pub(crate) struct HeldCores {
    cores: Vec<Held>,
}

impl HeldCores {
    /// Whether any core is under control.
    pub(crate) fn is_empty(&self) -> bool {
        self.cores.is_empty()
    }

    /// What the screens show.
    pub(crate) fn shown(&self) -> Vec<HeldCore> {
        let shown = self.cores.iter().map(|held| HeldCore {
            core: held.core(),
            pause: held.pause().cloned(),
            watchpoints: held.watchpoints().collect(),
        });
        shown.collect()
    }

    /// Carries out a command. Returns a notice, if there is something to say.
    pub(crate) fn order(
        &mut self,
        core: CoreId,
        command: &CoreCommand,
        session: &mut Session,
    ) -> Result<Option<String>, Failure> {
        let layout = session.target().mesh().layout();
        let name = session.target().name().to_owned();
        let failed = |error: RunError| Failure::of_run(&name, layout, &error);
        session.target().commanded_by(&format!("{command} of {core}"));
        match command {
            CoreCommand::Halt => {
                let held = self.take(core, session).map_err(failed)?;
                held.halt(session).map_err(failed)?;
                Ok(Some(format!("{core} is halted, until :continue or the end of the live view")))
            }
            CoreCommand::Continue => self.go_on(core, session).map(Some).map_err(failed),
            CoreCommand::Stepi { .. } | CoreCommand::StepLine | CoreCommand::NextLine => {
                self.paused(core).and_then(|held| held.step(command, session)).map_err(failed)?;
                Ok(None)
            }
            CoreCommand::Break { .. } | CoreCommand::Watch { .. } => {
                session.verify_on(core);
                let watches = watchpoints(command, session.images(), core);
                let watches = watches.map_err(Failure::Usage)?;
                let held = self.take(core, session).map_err(failed)?;
                held.watch(&watches, session).map_err(failed)?;
                let after = if matches!(command, CoreCommand::Watch { .. }) {
                    "after a store to"
                } else {
                    "at"
                };
                let shown: Vec<_> = watches.iter().map(|it| format!("{:#x}", it.addr)).collect();
                Ok(Some(format!("{core} halts {after} {}", shown.join(" and "))))
            }
            CoreCommand::Delete => self.delete(core, session).map(Some).map_err(failed),
        }
    }

    fn find(&mut self, core: CoreId) -> Option<&mut Held> {
        self.cores.iter_mut().find(|held| held.core() == core)
    }

    /// Removes a core that has been let go; returns the notice.
    fn forget(&mut self, core: CoreId) -> String {
        self.cores.retain(|held| held.core() != core);
        format!("{core} runs, and is no longer controlled")
    }

    /// The core under control, which it becomes if it is not.
    fn take(&mut self, core: CoreId, session: &mut Session) -> Result<&mut Held, RunError> {
        if self.find(core).is_none() {
            // The images that run there say where the core is.
            session.verify_on(core);
            self.cores.push(Held::attach(core, AROUND, session)?);
        }
        self.find(core).ok_or_else(|| Undebuggable::NotPaused(core).into())
    }

    fn paused(&mut self, core: CoreId) -> Result<&mut Held, RunError> {
        let held = self.find(core).filter(|held| held.pause().is_some());
        held.ok_or_else(|| Undebuggable::NotPaused(core).into())
    }

    fn go_on(&mut self, core: CoreId, session: &mut Session) -> Result<String, RunError> {
        let Some(held) = self.find(core) else {
            let released = CoreControl::release(session.target(), core)?;
            let was = if released { "was halted by another debugger, and runs" } else { "runs" };
            return Ok(format!("{core} {was}"));
        };
        if held.watchpoints().next().is_none() {
            held.end(session)?;
            return Ok(self.forget(core));
        }
        held.go_on(session)?;
        Ok(format!("{core} runs to its next breakpoint or watchpoint"))
    }

    fn delete(&mut self, core: CoreId, session: &mut Session) -> Result<String, RunError> {
        let Some(held) = self.find(core) else {
            return Ok(format!("{core} has no breakpoints"));
        };
        if held.pause().is_none() {
            held.end(session)?;
            return Ok(self.forget(core));
        }
        held.delete(session)?;
        Ok(format!("{core} has no breakpoints any more"))
    }

    /// Looks at the cores that run, and steps those that step. Returns notices.
    pub(crate) fn poll(&mut self, session: &mut Session) -> Vec<String> {
        let layout = session.target().mesh().layout();
        let mut notices = Vec::new();
        self.cores.retain_mut(|held| match held.poll(session) {
            Ok(came) => {
                let place = held.pause().filter(|_| came).map(Pause::place);
                notices.extend(place.map(|place| format!("{} is halted: {place}", held.core())));
                true
            }
            Err(error) => {
                notices.push(error.sentence(layout));
                // It may be lost; then this fails for the same reason.
                let _ = held.end(session);
                false
            }
        });
        notices
    }

    /// Lets all cores go on. Returns what failed.
    pub(crate) fn release(&mut self, session: &mut Session) -> Vec<String> {
        let layout = session.target().mesh().layout();
        let ended = self
            .cores
            .drain(..)
            .filter_map(|mut held| held.end(session).err().map(|error| error.sentence(layout)));
        ended.collect()
    }
}
