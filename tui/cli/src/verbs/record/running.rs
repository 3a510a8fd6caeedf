//! `run --record`: the moments of a run that this process started.

use super::Moments;
use crate::output::say;
use console::exit::Failure;
use console::host_time::now_micros;
use console::machine::Machine;
use console::recording::RecordingFile;
use diagnosis::Diagnosis;
use machine::notes::{Command, Note};
use std::path::Path;

/// Time of the target between two moments, in cycles, unless a snapshot takes longer.
const EVERY_CYCLES: u64 = 1_000_000;

/// Records a run from between its polls.
pub(in crate::verbs) struct RunRecorder {
    file: RecordingFile,
    moments: Moments,
    /// The target time from which the next moment is due, in cycles.
    due: u64,
}

impl RunRecorder {
    /// Creates the file; `run` is the run in words.
    ///
    /// # Errors
    /// If the file exists or cannot be written, or the target is gone.
    pub(in crate::verbs) fn begin(
        file: &Path,
        machine: &mut Machine,
        run: &str,
    ) -> Result<Self, Failure> {
        let kept = RecordingFile::new(file)?;
        kept.create(machine.target(), (run, Some(EVERY_CYCLES)))?;
        let mut recorder = Self { file: kept, moments: Moments::without_texts(machine), due: 0 };
        recorder.turn(machine)?;
        recorder.file.attach(machine.images())?;
        let target_cycles = recorder.due.saturating_sub(EVERY_CYCLES);
        let command = Command { target_cycles, host_micros: now_micros(), text: run.to_owned() };
        recorder.file.note(Note::Command(command))?;
        Ok(recorder)
    }

    /// Takes a moment, if one is due.
    ///
    /// # Errors
    /// If the file cannot be written, or the target is gone.
    pub(in crate::verbs) fn turn(&mut self, machine: &mut Machine) -> Result<(), Failure> {
        let now = machine.target().now();
        let now = now.map_err(|error| Failure::of_access(machine.target().name(), &error))?;
        if now < self.due {
            return Ok(());
        }
        let mut moment = self.moments.take(machine);
        self.due = moment.state.cycles.max(now).saturating_add(EVERY_CYCLES);
        self.file.keep(machine.session(), &mut moment)
    }

    /// Marks what was found.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub(in crate::verbs) fn mark(&self, verdict: &Diagnosis) -> Result<(), Failure> {
        verdict.findings.first().map_or(Ok(()), |found| self.file.mark_finding(found))
    }

    /// Takes a last moment and completes the file; returns what was recorded.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub(in crate::verbs) fn end(mut self, machine: &mut Machine) -> Result<String, Failure> {
        self.due = 0;
        let last = self.turn(machine);
        self.file.attach_run(machine.session())?.iter().for_each(|missing| say(missing));
        let ended = self.file.end()?;
        last.map(|()| ended)
    }
}
