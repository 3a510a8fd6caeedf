//! A recording that is being made: its file, shared with the signal watcher.

mod notes;

pub use notes::{Noted, audited};

use crate::exit::Failure;
use crate::feed::MeshSnapshot;
use crate::fresh;
use crate::words::cycles;
use diagnosis::Finding;
use images::ImageMap;
use machine::history::Mark;
use machine::notes::Note;
use machine::past::RecordedRun;
use machine::snapshot::Snapshot;
use machine::target::Target;
use machine::words::counted;
use probe::session::Session;
use recordings::{FlightRecorder, RecordingError, Writer};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Bytes of messages that a flight recorder keeps: minutes of a T3000.
pub const FLIGHT_BYTES: usize = 64 << 20;
/// The time in which a verb ends its recording after a signal.
const ORDERLY: Duration = Duration::from_secs(2);
/// Largest journal of a run that is kept, in bytes: minutes of a mesh that is read all the time.
const MOST_JOURNAL: usize = 256 << 20;

/// A recording in progress: what is in memory is written before everything that follows.
struct Recording {
    writer: Writer,
    flight: Option<FlightRecorder>,
    /// The time that was asked for between two moments, in cycles, if one was.
    every_cycles: Option<u64>,
    /// Moments dropped.
    dropped: u64,
    /// Lines of the audit log that came too fast to be kept.
    lost_lines: u64,
}

impl Recording {
    fn append(&mut self, snapshot: &Snapshot, partial: bool) -> Result<(), RecordingError> {
        match &mut self.flight {
            Some(flight) if partial => flight.append_partial(snapshot),
            Some(flight) => flight.append(snapshot),
            None if partial => self.writer.append_partial(snapshot)?,
            None => self.writer.append(snapshot)?,
        }
        Ok(())
    }

    fn note(&mut self, note: Note) -> Result<(), RecordingError> {
        match &mut self.flight {
            Some(flight) => flight.note(note),
            None => self.writer.note(&note)?,
        }
        Ok(())
    }

    /// Writes what is in memory, and from now on to the file.
    fn write_out(&mut self) -> Result<(), RecordingError> {
        self.flight.take().map_or(Ok(()), |flight| self.write(&flight))
    }

    /// Writes what a flight recorder has.
    fn write(&mut self, flight: &FlightRecorder) -> Result<(), RecordingError> {
        self.dropped += flight.dropped();
        flight.write(&mut self.writer)
    }

    /// Returns what was reached.
    fn reached(&self) -> String {
        let moments = self.writer.moments();
        let mut reached = counted(moments.into(), "moment", "moments");
        let over = self.writer.over_cycles();
        if let Some(apart) = over.checked_div(u64::from(moments).saturating_sub(1)) {
            let _ = write!(reached, " over {}, one every {}", cycles(over), cycles(apart));
            if let Some(asked) = self.every_cycles.filter(|asked| apart > asked + asked / 10) {
                let _ = write!(reached, " instead of {}: a snapshot takes so long", cycles(asked));
            }
        }
        if self.dropped > 0 {
            let _ = write!(reached, "; {} older dropped", self.dropped);
        }
        if self.lost_lines > 0 {
            let lines = counted(self.lost_lines, "line", "lines");
            let _ = write!(reached, "; {lines} of the audit log lost");
        }
        reached
    }
}

/// The file being written.
#[derive(Clone)]
pub struct RecordingFile {
    file: PathBuf,
    recording: Arc<Mutex<Option<Recording>>>,
    /// Whether a signal asked the verb to end.
    stopped: Arc<AtomicBool>,
    /// Whether the file has ended.
    ended: Arc<AtomicBool>,
    noted: Arc<Mutex<Noted>>,
}

impl RecordingFile {
    /// Refuses a file that exists.
    pub fn new(file: &Path) -> Result<Self, Failure> {
        fresh::check(file)?;
        let (stopped, ended, noted) = (Arc::default(), Arc::default(), Arc::default());
        Ok(Self { file: file.into(), recording: Arc::default(), stopped, ended, noted })
    }

    /// Whether a signal asked the verb to end the file, and itself.
    pub fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::SeqCst)
    }

    /// Creates the file. Says what was asked for: in words, and the time between two moments, in
    /// cycles.
    pub fn create(
        &self,
        target: &dyn Target,
        (asked, every_cycles): (&str, Option<u64>),
    ) -> Result<(), Failure> {
        // A signal that comes now waits for the file.
        let mut recording = self.lock();
        let writer = Writer::create(&self.file, target, asked).map_err(|e| failed(&e))?;
        *recording =
            Some(Recording { writer, flight: None, every_cycles, dropped: 0, lost_lines: 0 });
        Ok(())
    }

    /// Keeps moments in this memory until they are written.
    pub fn in_memory(&self, flight: FlightRecorder) {
        if let Some(recording) = self.lock().as_mut() {
            recording.flight = Some(flight);
        }
    }

    /// Writes what a flight recorder has, which keeps it.
    pub fn write(&self, flight: &FlightRecorder) -> Result<(), Failure> {
        self.with(|recording| recording.write(flight))
    }

    /// Writes what is in memory.
    pub fn write_out(&self) -> Result<(), Failure> {
        self.with(Recording::write_out)
    }

    /// Appends a moment, of which perhaps only a part was read.
    pub fn append(&self, snapshot: &Snapshot, partial: bool) -> Result<(), Failure> {
        self.with(|recording| recording.append(snapshot, partial))
    }

    /// Appends a moment, with what was done and reported before it.
    pub fn keep(&self, session: &mut Session, moment: &mut MeshSnapshot) -> Result<(), Failure> {
        let (lines, lost) = audited(session);
        let mut noted = self.noted.lock().unwrap_or_else(PoisonError::into_inner);
        let messages = noted.complete(session, moment);
        self.with(|recording| {
            recording.lost_lines += lost;
            lines.into_iter().chain(messages).try_for_each(|note| recording.note(note))?;
            recording.append(&moment.memory, false)
        })
    }

    /// Attaches the ELFs that run and are not built in, so that the recording is decoded anywhere.
    pub fn attach(&self, images: &ImageMap) -> Result<(), Failure> {
        let mut elfs = images.attachments().into_iter();
        self.with(|recording| {
            elfs.try_for_each(|(name, elf)| recording.writer.attach_elf(&name, elf))
        })
    }

    /// Attaches the run of an emulated mesh from its start. Without it moments are recorded all the
    /// same; returns why it is missing from a mesh that keeps its past, in a sentence.
    pub fn attach_run(&self, session: &mut Session) -> Result<Option<String>, Failure> {
        let attach = |run: &RecordedRun| self.with(|recording| recording.writer.attach_run(run));
        if let Some(run) = session.run() {
            return attach(run.run()).map(|()| None);
        }
        let why = match session.target().run().and_then(machine::target::KeptRun::recorded) {
            None => return Ok(None),
            Some(Ok(run)) if run.bytes() <= MOST_JOURNAL => {
                return attach(&run).map(|()| None);
            }
            Some(Ok(_)) => "what the host did takes more than 256 MiB".to_owned(),
            Some(Err(why)) => why,
        };
        Ok(Some(format!("{}: the run cannot be executed again: {why}", self.file.display())))
    }

    /// Marks the newest moment with a finding.
    pub fn mark_finding(&self, finding: &Finding) -> Result<(), Failure> {
        self.mark(mark_of(finding, self.times()))
    }

    /// Marks the newest moment with the name of a condition.
    pub fn mark_newest(&self, condition: &str, text: &str) -> Result<(), Failure> {
        let (cycles, micros) = self.times();
        let condition = Some(condition.to_owned());
        self.mark(Mark { condition, ..Mark::new(cycles, micros, text) })
    }

    /// Keeps a mark, behind what was written.
    pub fn mark(&self, mark: Mark) -> Result<(), Failure> {
        self.with(|recording| recording.writer.mark(mark))
    }

    /// Keeps a note.
    pub fn note(&self, note: Note) -> Result<(), Failure> {
        self.with(|recording| recording.note(note))
    }

    /// Counts lines of the audit log that are lost.
    pub fn lost_notes(&self, lines: u64) {
        if let Some(recording) = self.lock().as_mut() {
            recording.lost_lines += lines;
        }
    }

    /// The times of the newest moment: target, in cycles, and host, in microseconds.
    fn times(&self) -> (u64, u64) {
        self.lock().as_ref().map_or((0, 0), |recording| recording.writer.times())
    }

    /// Changes the recording, if it was created and has not ended.
    fn with(
        &self,
        act: impl FnOnce(&mut Recording) -> Result<(), RecordingError>,
    ) -> Result<(), Failure> {
        self.lock().as_mut().map_or(Ok(()), act).map_err(|error| failed(&error))
    }

    fn lock(&self) -> MutexGuard<'_, Option<Recording>> {
        self.recording.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Finishes the file, or removes it if it contains no snapshot; returns what was recorded.
    pub fn end(&self) -> Result<String, Failure> {
        let mut recording = self.lock();
        let ended = finish(&mut recording, &self.file);
        // A signal that finds no recording must find that it has ended.
        self.ended.store(true, Ordering::SeqCst);
        drop(recording);
        ended
    }

    /// Finishes the file before a signal ends the process: in order if the verb asks
    /// [`RecordingFile::is_stopped`] soon, else at once, without the run. The lock is kept: the verb
    /// must not write while the process ends. Returns what is said.
    pub fn interrupted(&self) -> Option<String> {
        self.stopped.store(true, Ordering::SeqCst);
        let asked = Instant::now();
        while self.lock().is_some() && asked.elapsed() < ORDERLY {
            std::thread::sleep(ORDERLY / 200);
        }
        if self.ended.load(Ordering::SeqCst) {
            // The verb says what it has recorded, and ends the process.
            std::thread::sleep(ORDERLY);
        }
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
    recording.write_out().map_err(|e| failed(&e))?;
    if recording.writer.moments() == 0 {
        drop(recording);
        let _ = std::fs::remove_file(file);
        return Ok(format!("{name}: nothing recorded"));
    }
    let reached = recording.reached();
    recording.writer.finish().map_err(|e| failed(&e))?;
    Ok(format!("{name}: {reached}; open it with --target {name}"))
}

/// Returns the mark of a finding at these times: target, in cycles, and host, in microseconds.
pub fn mark_of(finding: &Finding, (cycles, micros): (u64, u64)) -> Mark {
    let place = finding.place.to_string();
    let text = if finding.sentence.starts_with(&place) {
        finding.sentence.clone()
    } else {
        format!("{place}: {}", finding.sentence)
    };
    let condition = Some(finding.condition.name().to_owned());
    Mark { condition, ..Mark::new(cycles, micros, text) }
}

fn failed(error: &RecordingError) -> Failure {
    Failure::Usage(error.to_string())
}
