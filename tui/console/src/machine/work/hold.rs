//! A pause of the kernels that run: the run that launched them is not polled meanwhile.

use super::{MachineTask, Work, may_launch};
use crate::exit::Failure;
use crate::run::pausing::AtRest;
use crate::run::{StepOrder, pausing, stepping};
use launch::pause::{Pause, Rest};
use layouts::CoreId;
use machine::words::counted;
use probe::session::Session;

/// The cores that step, and the number of their steps that are left.
type Steps = (Vec<CoreId>, u64);

/// Whether kernels are paused.
#[derive(Default)]
pub(super) enum Hold {
    #[default]
    None,
    /// As soon as the kernels of the run work.
    Asked,
    /// They are being paused, and step this often once they are.
    Settles(Box<Pause>, Steps),
    /// They are at rest, and the run is not polled.
    Rests,
}

impl Work {
    /// Pauses what runs, at once or as soon as its kernels work.
    pub(super) fn pause(&mut self, session: &mut Session) -> Result<(), Failure> {
        let waits = match &self.task {
            MachineTask::Run(_) => true,
            MachineTask::Stop(_) | MachineTask::Clean(_) => {
                return Err(Failure::Refused("what runs is being stopped".into()));
            }
            MachineTask::Replay(_) => {
                return Err(Failure::Refused("a trace is sent without pauses".into()));
            }
            MachineTask::Launch(launched) if !launched.is_watched() => {
                let why = "the launched kernel is being started or taken away";
                return Err(Failure::Refused(why.into()));
            }
            MachineTask::None | MachineTask::Launch(_) => false,
        };
        if !matches!(self.hold, Hold::None) {
            return Err(Failure::Refused("paused already; :resume lets the kernels run on".into()));
        }
        if waits {
            self.hold = Hold::Asked;
            if let MachineTask::Run(job) = &mut self.task {
                job.pauses(true);
            }
            self.board_mut().say("pauses as soon as the kernels of the run work");
            return Ok(());
        }
        may_launch(session.target())?;
        let kernels = session.running_kernels();
        self.hold = Hold::Settles(Box::new(pausing::begin(session, kernels)?), Steps::default());
        self.board_mut().say("pausing");
        Ok(())
    }

    pub(super) fn resume(&mut self, session: &mut Session) -> Result<(), Failure> {
        let asked = matches!(std::mem::take(&mut self.hold), Hold::Asked);
        self.goes_on();
        if asked {
            self.board_mut().say("the run is not paused");
            return Ok(());
        }
        self.board_mut().paused = false;
        may_launch(session.target())?;
        let count = pausing::release(session)?;
        if let MachineTask::Run(job) = &mut self.task {
            job.resumed(session.target())?;
        }
        session.paused();
        let count = counted(count as u64, "kernel runs on", "kernels run on");
        self.board_mut().say(format!("resumed: {count}"));
        Ok(())
    }

    /// Lets paused kernels begin their next stage.
    pub(super) fn step(&mut self, order: &StepOrder, session: &mut Session) -> Result<(), Failure> {
        if !matches!(self.hold, Hold::Rests) {
            return Err(Failure::Refused("nothing is paused here; :pause parks what runs".into()));
        }
        let cores = order.forward(session.target().mesh())?.cores;
        let step = Box::new(stepping::begin_step(session, &cores)?);
        self.hold = Hold::Settles(step, (cores, order.count - 1));
        Ok(())
    }

    /// Continues a pause; returns whether the kernels rest, or come to rest.
    pub(super) fn holds(&mut self, session: &mut Session) -> bool {
        if let (Hold::Asked, MachineTask::Run(job)) = (&self.hold, &self.task)
            && job.is_watching()
        {
            let kernels = session.running_kernels();
            // They have just returned: those of the next launch park.
            if kernels.is_empty() {
                return false;
            }
            match pausing::begin(session, kernels) {
                Ok(pause) => self.hold = Hold::Settles(Box::new(pause), Steps::default()),
                Err(failure) => {
                    self.hold = Hold::None;
                    self.goes_on();
                    self.board_mut().say(failure.to_string());
                }
            }
        }
        let Hold::Settles(pause, (cores, left)) = &mut self.hold else {
            return matches!(self.hold, Hold::Rests);
        };
        let rested = pausing::poll(session, pause).and_then(|rest| match rest {
            Some(_) if *left > 0 => {
                **pause = stepping::begin_step(session, cores)?;
                *left -= 1;
                Ok(None)
            }
            rest => Ok(rest),
        });
        let all_returned =
            |rest: &AtRest| rest.paused.count(Rest::Parked) + rest.paused.count(Rest::Waits) == 0;
        let notice = match rested {
            Ok(None) => return true,
            Ok(Some(rest)) if !self.board.paused && self.is_run() && all_returned(&rest) => {
                self.hold = Hold::Asked;
                return false;
            }
            Ok(Some(rest)) => rest.sentence(),
            Err(failure) => failure.to_string(),
        };
        self.goes_on();
        // Also after a failure some are parked.
        self.hold = Hold::Rests;
        let board = self.board_mut();
        board.paused = true;
        board.say(notice);
        true
    }

    fn is_run(&self) -> bool {
        matches!(self.task, MachineTask::Run(_))
    }

    /// Lets the next launches of the run go on.
    fn goes_on(&mut self) {
        if let MachineTask::Run(job) = &mut self.task {
            job.pauses(false);
        }
    }

    /// Lets what was paused run on, before it is stopped.
    pub(super) fn let_go(&mut self, session: &mut Session) -> Result<(), Failure> {
        match self.hold {
            Hold::Settles(..) | Hold::Rests => self.resume(session),
            Hold::None | Hold::Asked => {
                self.hold = Hold::None;
                Ok(())
            }
        }
    }
}
