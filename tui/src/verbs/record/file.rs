//! The file being written, shared with the signal watcher.

use super::{failed, words};
use crate::exit::Failure;
use crate::interrupt;
use crate::machine::Machine;
use crate::verbs::fresh;
use crate::words as amounts;
use machine::history::Mark;
use machine::snapshot::Snapshot;
use recordings::{FlightRecorder, Writer};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A recording in progress: what is in memory is written before everything that follows.
struct Recording {
    writer: Writer,
    flight: Option<FlightRecorder>,
    /// The time that was asked for between two moments, in cycles.
    every_cycles: u64,
    /// Moments dropped.
    dropped: u64,
}

impl Recording {
    fn append(&mut self, snapshot: &Snapshot) -> Result<(), Failure> {
        match &mut self.flight {
            Some(flight) => flight.append(snapshot),
            None => self.writer.append(snapshot).map_err(|e| failed(&e))?,
        }
        Ok(())
    }

    /// Writes what is in memory, and from now on to the file.
    fn write_out(&mut self) -> Result<(), Failure> {
        let Some(flight) = self.flight.take() else { return Ok(()) };
        self.dropped += flight.dropped();
        flight.write(&mut self.writer).map_err(|e| failed(&e))
    }

    /// Returns what was reached.
    fn reached(&self) -> String {
        let moments = self.writer.moments();
        let mut reached = words(moments);
        let over = self.writer.over_cycles();
        if let Some(apart) = over.checked_div(u64::from(moments).saturating_sub(1)) {
            let (over, every) = (amounts::cycles(over), amounts::cycles(apart));
            let _ = write!(reached, " over {over}, one every {every}");
            if apart > self.every_cycles + self.every_cycles / 10 {
                let asked = amounts::cycles(self.every_cycles);
                let _ = write!(reached, " instead of {asked}: a snapshot takes so long");
            }
        }
        if self.dropped > 0 {
            let _ = write!(reached, "; {} older dropped", self.dropped);
        }
        reached
    }
}

/// The file being written.
#[derive(Clone)]
pub(in crate::verbs) struct RecordingFile {
    file: PathBuf,
    recording: Arc<Mutex<Option<Recording>>>,
}

impl RecordingFile {
    /// Refuses a file that exists.
    pub(in crate::verbs) fn new(file: &Path) -> Result<Self, Failure> {
        fresh::check(file)?;
        Ok(Self { file: file.into(), recording: Arc::default() })
    }

    /// Lets a signal finish the file and end the process.
    pub(in crate::verbs) fn end_at_signals(&self) -> Result<(), Failure> {
        let at_signal = self.clone();
        interrupt::watch(move || at_signal.interrupted())
    }

    /// Creates the file.
    pub(in crate::verbs) fn create(
        &self,
        machine: &mut Machine,
        (asked, every_cycles): (&str, u64),
    ) -> Result<(), Failure> {
        let writer = Writer::create(&self.file, machine.target(), asked).map_err(|e| failed(&e))?;
        *self.lock() = Some(Recording { writer, flight: None, every_cycles, dropped: 0 });
        Ok(())
    }

    /// Keeps moments in memory until they are written.
    pub(in crate::verbs) fn in_memory(&self, most_bytes: usize) {
        if let Some(recording) = self.lock().as_mut() {
            recording.flight = Some(FlightRecorder::new(most_bytes));
        }
    }

    /// Writes what is in memory.
    pub(in crate::verbs) fn write_out(&self) -> Result<(), Failure> {
        self.lock().as_mut().map_or(Ok(()), Recording::write_out)
    }

    /// Appends a moment.
    pub(in crate::verbs) fn append(&self, snapshot: &Snapshot) -> Result<(), Failure> {
        self.lock().as_mut().map_or(Ok(()), |recording| recording.append(snapshot))
    }

    /// Attaches the ELFs that run and are not built in, so that the recording is decoded anywhere.
    pub(in crate::verbs) fn attach(&self, machine: &mut Machine) -> Result<(), Failure> {
        let mut recording = self.lock();
        let Some(recording) = recording.as_mut() else { return Ok(()) };
        for (name, elf) in machine.images().attachments() {
            recording.writer.attach_elf(&name, elf).map_err(|error| failed(&error))?;
        }
        Ok(())
    }

    /// Marks the newest moment with what was found there.
    pub(in crate::verbs) fn mark_newest(&self, condition: &str, text: &str) -> Result<(), Failure> {
        let (cycles, micros) =
            self.lock().as_ref().map_or((0, 0), |recording| recording.writer.times());
        let condition = Some(condition.to_owned());
        self.mark(Mark { condition, ..Mark::new(cycles, micros, text) })
    }

    /// Keeps a mark.
    pub(super) fn mark(&self, mark: Mark) -> Result<(), Failure> {
        let marked = self.lock().as_mut().map(|recording| recording.writer.mark(mark));
        marked.transpose().map(|_| ()).map_err(|error| failed(&error))
    }

    fn lock(&self) -> MutexGuard<'_, Option<Recording>> {
        self.recording.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Finishes the file, or removes it if it contains no snapshot; returns what was recorded.
    pub(in crate::verbs) fn end(&self) -> Result<String, Failure> {
        finish(&mut self.lock(), &self.file)
    }

    /// The same, keeping the lock: the verb must not write while the process ends.
    fn interrupted(&self) -> Option<String> {
        let mut recording = self.lock();
        let message = recording.is_some().then(|| match finish(&mut recording, &self.file) {
            Ok(recorded) => recorded,
            Err(failure) => failure.to_string(),
        });
        std::mem::forget(recording);
        message
    }
}

fn finish(recording: &mut Option<Recording>, file: &Path) -> Result<String, Failure> {
    let name = file.display();
    let Some(mut recording) = recording.take() else { return Ok(format!("{name}: nothing")) };
    recording.write_out()?;
    if recording.writer.moments() == 0 {
        drop(recording);
        let _ = std::fs::remove_file(file);
        return Ok(format!("{name}: nothing recorded"));
    }
    let reached = recording.reached();
    recording.writer.finish().map_err(|e| failed(&e))?;
    Ok(format!("{name}: {reached}; open it with --target {name}"))
}
