//! Runs that are followed: polled in turn until each has ended, paused, recorded, and relaunched on the
//! chips that are left when one is lost.

use super::list::ListRun;
use super::relaunch;
use crate::args::StepArguments;
use crate::interrupt::Stop;
use crate::output::{self, say};
use crate::verbs::line::{Line, STEP_CYCLES};
use crate::verbs::record::RunRecorder;
use crate::verbs::step;
use console::exit::Failure;
use console::machine::Machine;
use console::run::Going;
use console::run::pausing::{release, settle};
use console::run::stepping::Stepping;
use diagnosis::Diagnosis;
use probe::session::{Session, WATCHED_CYCLES};
use std::io::IsTerminal;

/// Runs on lists of chips.
pub(super) struct Following<'a> {
    /// The name of the collective.
    pub(super) op: &'static str,
    pub(super) lists: &'a mut Vec<ListRun>,
    pub(super) stop: Stop,
    pub(super) line: Line,
    pub(super) recorder: Option<RunRecorder>,
    /// Whether a run that failed because of a lost chip is relaunched without it; then the target, as
    /// `--target` names it.
    pub(super) relaunches: Option<&'a str>,
}

impl Following<'_> {
    /// Polls all runs in turn until each has ended.
    pub(super) fn follow(&mut self, machine: &mut Machine) -> Result<(), Failure> {
        let mut stopping = false;
        loop {
            if self.stop.is_requested() && !stopping {
                stopping = true;
                say("stopping; Ctrl-C again exits at once");
                self.lists.iter_mut().for_each(|list| list.job.cancel());
            }
            let mut going: Vec<(usize, Going)> = Vec::new();
            for (index, list) in self.lists.iter_mut().enumerate() {
                going.extend(list.poll(self.op, machine)?.map(|it| (index, it)));
            }
            if !stopping && self.relaunch(machine)? {
                continue;
            }
            if going.is_empty() {
                return Ok(());
            }
            let words = || going.iter().map(|(_, it)| it.words()).collect::<Vec<_>>().join("; ");
            self.line.show(words);
            let paused = going.iter().any(|(index, it)| {
                self.lists.get_mut(*index).is_some_and(|list| list.job.takes_pause(it))
            });
            if paused {
                self.pause(machine, true)?;
                continue;
            }
            let passed = machine.target().pass(STEP_CYCLES);
            passed.map_err(|error| Failure::of_access(machine.target().name(), &error))?;
            self.record(machine, None);
            self.judge(machine)?;
        }
    }

    /// Judges the mesh of runs that stand still.
    fn judge(&mut self, machine: &mut Machine) -> Result<(), Failure> {
        for index in 0..self.lists.len() {
            if !self.lists[index].job.stands() {
                continue;
            }
            // The other runs rest until it is known what is left.
            if self.relaunches.is_some() && self.lists.len() > 1 {
                self.pause(machine, false)?;
            }
            // Where that is not possible, the error of the run is the one reported.
            let verdict = machine.diagnose(WATCHED_CYCLES).ok().map(|it| it.diagnosis);
            self.record(machine, verdict.as_ref());
            self.lists[index].verdict = verdict;
        }
        Ok(())
    }

    /// Relaunches each run that has failed because of a lost chip on the chips that are left; returns
    /// whether there is one.
    fn relaunch(&mut self, machine: &mut Machine) -> Result<bool, Failure> {
        let Some(words) = self.relaunches else { return Ok(false) };
        let mut any = false;
        for index in 0..self.lists.len() {
            let failed = &mut self.lists[index];
            if !failed.takes_failure() {
                continue;
            }
            match relaunch::on_what_is_left(failed, words, (machine, &self.stop)) {
                Ok(Some(list)) => {
                    failed.is_relaunched = true;
                    self.lists.push(list);
                    any = true;
                }
                // The other runs are cancelled next if the user stops it.
                Ok(None) | Err(Failure::Interrupted) => {}
                Err(Failure::ClosedPipe) => return Err(Failure::ClosedPipe),
                // The error of the run is the one that is returned.
                Err(failure) => say(&format!("it is not relaunched: {failure}")),
            }
        }
        Ok(any)
    }

    /// Takes a moment of the recording if one is due, and marks what a verdict found. A run whose
    /// recording cannot be written goes on without it: its kernels must be ended.
    fn record(&mut self, machine: &mut Machine, verdict: Option<&Diagnosis>) {
        let Some(recorder) = &mut self.recorder else { return };
        let turned = recorder.turn(machine);
        let kept = turned.and_then(|()| verdict.map_or(Ok(()), |verdict| recorder.mark(verdict)));
        if let Err(failure) = kept {
            say(&failure.to_string());
            self.recorder = None;
        }
    }

    /// Pauses the kernels, and lets them run on: when the user wishes, if there is one to be asked.
    fn pause(&mut self, machine: &mut Machine, asks: bool) -> Result<(), Failure> {
        let settled = settle(machine.session());
        match &settled {
            Ok(rest) => {
                say(&rest.sentence());
                rest.balance.miscounts.iter().for_each(|miscount| say(miscount));
                if asks && std::io::stdin().is_terminal() {
                    say(
                        "Enter lets it run on; s lets each kernel begin its next stage, as `step` does",
                    );
                    self.steps(machine);
                }
            }
            // The run itself goes on; what is parked is released.
            Err(failure) => say(&failure.to_string()),
        }
        // Steps may have led every kernel to its end.
        if !machine.session().running_kernels().is_empty()
            && let Err(failure) = release(machine.session())
            && settled.is_ok()
        {
            say(&failure.to_string());
        }
        let mut lists = self.lists.iter_mut();
        lists.try_for_each(|list| list.job.resumed(machine.target()))
    }

    /// Steps as the lines of the user say, until an empty one.
    fn steps(&self, machine: &mut Machine) {
        let mut stepping = Stepping::default();
        loop {
            let mut line = String::new();
            let read = std::io::stdin().read_line(&mut line);
            if !read.is_ok_and(|bytes| bytes > 0)
                || line.trim().is_empty()
                || self.stop.is_requested()
            {
                return;
            }
            if let Err(failure) = steps(machine.session(), &mut stepping, &line) {
                say(&failure.to_string());
            }
        }
    }
}

/// Steps as a line such as `s --link 0.8` says.
fn steps(session: &mut Session, stepping: &mut Stepping, line: &str) -> Result<(), Failure> {
    let mut words = line.split_whitespace();
    if words.next() != Some("s") {
        return Err(Failure::Usage(
            "`s [CORE] [--link LINK] [-n N]` steps, Enter lets it run on".into(),
        ));
    }
    let order = StepArguments::of(words)?.order()?;
    // Standard output has the table of the run.
    step::carry_out(&order, session, stepping, |heading, kernels| {
        output::beside(&step::page(&heading, &kernels));
        Ok(())
    })
}
