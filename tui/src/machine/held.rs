//! Cores that the user has halted: controlled between two snapshots, let go at the end.

use crate::exit::Failure;
use crate::halted::{self, CoreCommand, HeldCore, Pause};
use launch::debugging::{CoreControl, LineStep, Stop, Watched, Watchpoint};
use launch::outcome::RunError;
use launch::undebuggable::Undebuggable;
use layouts::CoreId;
use probe::session::Session;

/// Instructions that are shown before and after the program counter.
const AROUND: (u32, u32) = (24, 40);
/// Instructions that are stepped between two snapshots at most.
const MOST_STEPS: u32 = 256;

/// The cores under control.
#[derive(Default)]
pub(super) struct HeldCores {
    cores: Vec<Held>,
}

/// A core under control.
struct Held {
    control: CoreControl,
    pause: Option<Pause>,
    stepping: Option<Stepping>,
}

/// What a core does between two snapshots.
enum Stepping {
    /// It executes this many instructions more.
    Instructions(u32),
    /// It steps to another source line.
    Line(LineStep),
}

impl HeldCores {
    /// Whether any core is under control.
    pub(super) fn is_empty(&self) -> bool {
        self.cores.is_empty()
    }

    /// What the screens show.
    pub(super) fn shown(&self) -> Vec<HeldCore> {
        let shown = self.cores.iter().map(|held| HeldCore {
            core: held.control.core(),
            pause: held.pause.clone(),
            watchpoints: held.control.watchpoints().collect(),
        });
        shown.collect()
    }

    /// Carries out a command. Returns a notice, if there is something to say.
    pub(super) fn order(
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
            CoreCommand::Stepi { count } => {
                self.paused(core).map_err(failed)?.stepping = Some(Stepping::Instructions(*count));
                Ok(None)
            }
            CoreCommand::StepLine | CoreCommand::NextLine => {
                let over = *command == CoreCommand::NextLine;
                let held = self.paused(core).map_err(failed)?;
                let (target, images) = session.parts();
                let step = LineStep::begin(target, images, &mut held.control, over);
                held.stepping = Some(Stepping::Line(step.map_err(failed)?));
                Ok(None)
            }
            CoreCommand::Break { place } => {
                session.verify_on(core);
                let addrs = halted::code_places(session.images(), core, place);
                let addrs = addrs.map_err(Failure::Usage)?;
                let watch = |addr| Watchpoint { addr, watched: Watched::Execution };
                let watches: Vec<_> = addrs.into_iter().map(watch).collect();
                self.watch(core, &watches, session).map_err(failed)?;
                let shown: Vec<_> = watches.iter().map(|it| format!("{:#x}", it.addr)).collect();
                Ok(Some(format!("{core} halts at {}", shown.join(" and "))))
            }
            CoreCommand::Watch { addr } => {
                let addr = halted::address(addr).map_err(Failure::Usage)?;
                let watch = Watchpoint { addr, watched: Watched::Stores };
                self.watch(core, &[watch], session).map_err(failed)?;
                Ok(Some(format!("{core} halts after a store to {addr:#x}")))
            }
            CoreCommand::Delete => self.delete(core, session).map(Some).map_err(failed),
        }
    }

    fn find(&mut self, core: CoreId) -> Option<&mut Held> {
        self.cores.iter_mut().find(|held| held.control.core() == core)
    }

    /// Removes a core that has been let go; returns the notice.
    fn forget(&mut self, core: CoreId) -> String {
        self.cores.retain(|held| held.control.core() != core);
        format!("{core} runs, and is no longer controlled")
    }

    /// The core under control, which it becomes if it is not.
    fn take(&mut self, core: CoreId, session: &mut Session) -> Result<&mut Held, RunError> {
        if self.find(core).is_none() {
            // The images that run there say where the core is.
            session.verify_on(core);
            let control = CoreControl::attach(session.target(), core)?;
            self.cores.push(Held { control, pause: None, stepping: None });
        }
        self.find(core).ok_or_else(|| Undebuggable::NotPaused(core).into())
    }

    fn paused(&mut self, core: CoreId) -> Result<&mut Held, RunError> {
        let held = self.find(core).filter(|held| held.pause.is_some());
        held.ok_or_else(|| Undebuggable::NotPaused(core).into())
    }

    fn go_on(&mut self, core: CoreId, session: &mut Session) -> Result<String, RunError> {
        let Some(held) = self.find(core) else {
            let released = CoreControl::release(session.target(), core)?;
            let was = if released { "was halted by another debugger, and runs" } else { "runs" };
            return Ok(format!("{core} {was}"));
        };
        held.cancel(session)?;
        if held.control.watchpoints().next().is_none() {
            held.control.end(session.target())?;
            return Ok(self.forget(core));
        }
        if held.pause.take().is_some() {
            held.control.go_on(session.target())?;
        }
        Ok(format!("{core} runs to its next breakpoint or watchpoint"))
    }

    /// Sets watchpoints; a core that runs goes on.
    fn watch(
        &mut self,
        core: CoreId,
        watches: &[Watchpoint],
        session: &mut Session,
    ) -> Result<(), RunError> {
        let held = self.take(core, session)?;
        let ran = held.pause.is_none();
        held.halt(session)?;
        let set = watches.iter().try_for_each(|it| held.control.watch(session.target(), *it));
        if ran && (set.is_ok() || held.control.watchpoints().next().is_some()) {
            held.pause = None;
            held.control.go_on(session.target())?;
        }
        set
    }

    fn delete(&mut self, core: CoreId, session: &mut Session) -> Result<String, RunError> {
        let Some(held) = self.find(core) else {
            return Ok(format!("{core} has no breakpoints"));
        };
        if held.pause.is_none() {
            held.control.end(session.target())?;
            return Ok(self.forget(core));
        }
        held.cancel(session)?;
        let watches: Vec<_> = held.control.watchpoints().collect();
        for watch in &watches {
            held.control.unwatch(session.target(), *watch)?;
        }
        Ok(format!("{core} has no breakpoints any more"))
    }

    /// Looks at the cores that run, and steps those that step. Returns notices.
    pub(super) fn poll(&mut self, session: &mut Session) -> Vec<String> {
        let layout = session.target().mesh().layout();
        let mut notices = Vec::new();
        self.cores.retain_mut(|held| match held.poll(session) {
            Ok(notice) => {
                notices.extend(notice);
                true
            }
            Err(error) => {
                notices.push(error.sentence(layout));
                // It may be lost; then this fails for the same reason.
                let _ = held.control.end(session.target());
                false
            }
        });
        notices
    }

    /// Lets all cores go on. Returns what failed.
    pub(super) fn release(&mut self, session: &mut Session) -> Vec<String> {
        let layout = session.target().mesh().layout();
        let ended = self.cores.drain(..).filter_map(|mut held| {
            held.control.end(session.target()).err().map(|error| error.sentence(layout))
        });
        ended.collect()
    }
}

impl Held {
    /// Pauses the core, and ends a step that goes on.
    fn halt(&mut self, session: &mut Session) -> Result<(), RunError> {
        let stop = self.control.pause(session.target())?;
        self.cancel(session)?;
        if self.pause.is_none() {
            self.note(stop, session)?;
        }
        Ok(())
    }

    fn cancel(&mut self, session: &mut Session) -> Result<(), RunError> {
        match self.stepping.take() {
            Some(Stepping::Line(mut step)) => {
                let stop = self.control.pause(session.target())?;
                step.cancel(session.target(), &mut self.control)?;
                self.note(stop, session)
            }
            _ => Ok(()),
        }
    }

    fn note(&mut self, stop: Stop, session: &mut Session) -> Result<(), RunError> {
        let (target, images) = session.parts();
        self.pause = Some(Pause::of(target, images, &mut self.control, stop, AROUND)?);
        Ok(())
    }

    fn poll(&mut self, session: &mut Session) -> Result<Option<String>, RunError> {
        let stop = match self.stepping.take() {
            Some(Stepping::Instructions(count)) => {
                let now = count.min(MOST_STEPS);
                for _ in 0..now {
                    self.control.step(session.target())?;
                }
                self.stepping = (count > now).then_some(Stepping::Instructions(count - now));
                Some(Stop::Command)
            }
            Some(Stepping::Line(mut step)) => {
                let (target, images) = session.parts();
                let stop = step.poll(target, images, &mut self.control)?;
                if stop.is_none() {
                    self.stepping = Some(Stepping::Line(step));
                }
                stop
            }
            None => match (self.control.poll(session.target())?, &self.pause) {
                (Some(stop), None) => Some(stop),
                (None, Some(_)) => return Err(Undebuggable::NotPaused(self.control.core()).into()),
                _ => return Ok(None),
            },
        };
        let Some(stop) = stop else { return Ok(None) };
        let came = self.pause.is_none();
        self.note(stop, session)?;
        let place = self.pause.as_ref().filter(|_| came).map(Pause::place);
        Ok(place.map(|place| format!("{} is halted: {place}", self.control.core())))
    }
}
