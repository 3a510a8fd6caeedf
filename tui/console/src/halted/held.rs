//! A core under control: commanded, polled, and let go.

use super::{CoreCommand, Pause};
use launch::debugging::{CoreControl, LineStep, Stop, Watchpoint};
use launch::outcome::RunError;
use launch::undebuggable::Undebuggable;
use layouts::CoreId;
use probe::session::Session;

/// Instructions that are stepped in one poll at most.
const MOST_STEPS: u32 = 256;

/// A core under control. It goes on only at [`Held::end`] and [`Held::go_on`].
pub struct Held {
    control: CoreControl,
    pause: Option<Pause>,
    stepping: Option<Stepping>,
    /// Instructions that are shown before and after the program counter.
    around: (u32, u32),
}

/// What a core does between two polls.
enum Stepping {
    /// It executes this many instructions more.
    Instructions(u32),
    /// It steps to another source line.
    Line(LineStep),
}

impl Held {
    /// Takes control of a core, which runs on. `around` are the instructions that a pause shows before
    /// and after the program counter.
    ///
    /// # Errors
    /// As [`CoreControl::attach`].
    pub fn attach(
        core: CoreId,
        around: (u32, u32),
        session: &mut Session,
    ) -> Result<Self, RunError> {
        let control = CoreControl::attach(session.target(), core)?;
        Ok(Self { control, pause: None, stepping: None, around })
    }

    /// The core.
    pub fn core(&self) -> CoreId {
        self.control.core()
    }

    /// Where it is paused; none while it runs.
    pub fn pause(&self) -> Option<&Pause> {
        self.pause.as_ref()
    }

    /// Its breakpoints and watchpoints.
    pub fn watchpoints(&self) -> impl Iterator<Item = Watchpoint> {
        self.control.watchpoints()
    }

    /// Whether it runs or steps, so that it has to be polled.
    pub fn moves(&self) -> bool {
        self.pause.is_none() || self.stepping.is_some()
    }

    /// Pauses the core, and ends a step that goes on.
    ///
    /// # Errors
    /// When it does not pause, or the machine does not answer.
    pub fn halt(&mut self, session: &mut Session) -> Result<(), RunError> {
        let stop = self.control.pause(session.target())?;
        self.cancel(session)?;
        if self.pause.is_none() {
            self.note(stop, session)?;
        }
        Ok(())
    }

    /// Begins a step; other commands than steps do nothing.
    ///
    /// # Errors
    /// When the lines of the code are unknown, or the machine does not answer.
    pub fn step(&mut self, command: &CoreCommand, session: &mut Session) -> Result<(), RunError> {
        self.stepping = match command {
            CoreCommand::Stepi { count } => Some(Stepping::Instructions(*count)),
            CoreCommand::StepLine | CoreCommand::NextLine => {
                let over = *command == CoreCommand::NextLine;
                let (target, images) = session.parts();
                Some(Stepping::Line(LineStep::begin(target, images, &mut self.control, over)?))
            }
            _ => None,
        };
        Ok(())
    }

    /// Sets breakpoints and watchpoints; a core that runs goes on.
    ///
    /// # Errors
    /// When there are more than the core has, or the machine does not answer.
    pub fn watch(&mut self, watches: &[Watchpoint], session: &mut Session) -> Result<(), RunError> {
        let ran = self.pause.is_none();
        self.halt(session)?;
        let set = watches.iter().try_for_each(|it| self.control.watch(session.target(), *it));
        if ran && (set.is_ok() || self.control.watchpoints().next().is_some()) {
            self.go_on(session)?;
        }
        set
    }

    /// Removes all breakpoints and watchpoints, and ends a step that goes on.
    ///
    /// # Errors
    /// When the machine does not answer.
    pub fn delete(&mut self, session: &mut Session) -> Result<(), RunError> {
        self.cancel(session)?;
        let watches: Vec<_> = self.control.watchpoints().collect();
        let remove = |it: &Watchpoint| self.control.unwatch(session.target(), *it).map(drop);
        watches.iter().try_for_each(remove)
    }

    /// Lets a paused core run to its next breakpoint or watchpoint, or to an `ebreak`.
    ///
    /// # Errors
    /// When the machine does not answer.
    pub fn go_on(&mut self, session: &mut Session) -> Result<(), RunError> {
        self.cancel(session)?;
        if self.pause.take().is_some() {
            self.control.go_on(session.target())?;
        }
        Ok(())
    }

    /// Lets the core run on, without breakpoints.
    ///
    /// # Errors
    /// When the machine does not answer.
    pub fn end(&mut self, session: &mut Session) -> Result<(), RunError> {
        let cancelled = self.cancel(session);
        cancelled.and(self.control.end(session.target()))
    }

    /// Ends a step that goes on, where the core is now.
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
        self.pause = Some(Pause::of(target, images, &mut self.control, stop, self.around)?);
        Ok(())
    }

    /// Looks at a core that runs, and steps one that steps. Returns whether a core that ran is paused
    /// now.
    ///
    /// # Errors
    /// When the core is not where it was left, or the machine does not answer.
    pub fn poll(&mut self, session: &mut Session) -> Result<bool, RunError> {
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
                _ => return Ok(false),
            },
        };
        let Some(stop) = stop else { return Ok(false) };
        let came = self.pause.is_none();
        self.note(stop, session)?;
        Ok(came)
    }
}
