//! The flight recorder of the live view: what was read in the last minutes is in memory, and is
//! written when something is found, or when the user wishes.

use super::Work;
use crate::exit::Failure;
use crate::fresh;
use crate::host_time::now_micros;
use crate::player::PlayOrder;
use crate::recording::{FLIGHT_BYTES, Noted, RecordingFile, audited, mark_of};
use crate::run::{Bundle, Logged, MachineOrder};
use crate::verdict::title;
use diagnosis::{Condition, Diagnosis, Finding, Severity};
use machine::history::Mark;
use machine::notes::{Command, Note};
use machine::snapshot::Snapshot;
use probe::session::{Inspected, Session};
use recordings::FlightRecorder;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// What is found is recorded for so long.
const AFTER: Duration = Duration::from_secs(5);
/// Recording in memory takes one part in this of the time.
const PART: u32 = 50;
/// The folder of what was found, below that of program state.
const FOLDER: &str = "flights";
/// Files of findings that are kept.
const MOST_FILES: usize = 16;

/// The flight recorder.
pub(super) struct Flight {
    memory: FlightRecorder,
    file: Option<FlightFile>,
    noted: Noted,
    /// The newest moment, which completes the next one.
    newest: Option<Snapshot>,
    /// The times of the newest moment: target, in cycles, and host, in microseconds.
    times: (u64, u64),
    /// What the verdict before found; none before the first one.
    found: Option<Vec<Condition>>,
    /// When the next snapshot is kept.
    due: Instant,
    /// Lines of the log that are not on the board yet.
    logged: Vec<Logged>,
    /// The findings that were logged.
    reported: BTreeSet<String>,
}

/// What a recording notes of an order.
pub(super) enum OrderNote {
    Mark(String),
    Command(String),
    Nothing,
}

impl OrderNote {
    pub(super) fn of(order: &MachineOrder) -> Self {
        match (order, order.words()) {
            (MachineOrder::Play(PlayOrder::Mark(text)), _) => Self::Mark(text.clone()),
            (_, words) => words.map_or(Self::Nothing, Self::Command),
        }
    }
}

/// A file that is written.
struct FlightFile {
    file: RecordingFile,
    name: PathBuf,
    /// When it ends by itself.
    ends: Option<Instant>,
}

impl Default for Flight {
    fn default() -> Self {
        let (memory, due) = (FlightRecorder::new(FLIGHT_BYTES), Instant::now());
        Self {
            memory,
            file: None,
            noted: Noted::default(),
            newest: None,
            times: (0, 0),
            found: None,
            due,
            logged: Vec::new(),
            reported: BTreeSet::new(),
        }
    }
}

impl Flight {
    /// Keeps what a verdict looked at; returns a notice if something new was found.
    pub(super) fn look(
        &mut self,
        session: &mut Session,
        newest: &Inspected,
        verdict: &Diagnosis,
    ) -> Option<String> {
        let began = Instant::now();
        self.log_findings(verdict);
        let finding = self.new_finding(verdict);
        let moment = newest.snapshot.completed_by(session.proofs());
        let ended = self.keep(moment, false, session);
        self.due = Instant::now() + began.elapsed() * (PART - 1);
        finding.and_then(|finding| self.keep_finding(session, finding)).or(ended)
    }

    /// Keeps what the screens read; returns a notice if a recording ended.
    pub(super) fn add(&mut self, read: &Snapshot, session: &mut Session) -> Option<String> {
        let began = Instant::now();
        // What the user records is recorded as often as it is read.
        if began < self.due && self.file().is_none() {
            return None;
        }
        let ended = self.keep(read.completed_by(self.newest.as_ref()?), true, session);
        self.due = Instant::now() + began.elapsed() * (PART - 1);
        ended
    }

    /// The file that is written until the user ends it.
    pub(super) fn file(&self) -> Option<&Path> {
        self.file.as_ref().filter(|file| file.ends.is_none()).map(|file| file.name.as_path())
    }

    /// Notes an order that was carried out or begun; a mark is of the cycle that is visited, if one is.
    pub(super) fn note(&mut self, note: OrderNote, visited: Option<u64>) {
        let (newest, host_micros) = self.times;
        match note {
            OrderNote::Mark(text) => {
                self.logged.push(Logged::now("mark", text.clone()));
                self.keep_mark(Mark::new(visited.unwrap_or(newest), host_micros, text));
            }
            OrderNote::Command(text) => self.command(text),
            OrderNote::Nothing => {}
        }
    }

    fn command(&mut self, text: String) {
        let (target_cycles, host_micros) = (self.times.0, now_micros());
        self.keep_notes(vec![Note::Command(Command { target_cycles, host_micros, text })]);
    }

    fn keep_notes(&mut self, notes: Vec<Note>) {
        for note in notes {
            self.logged.push(Logged::now(note.kind(), note.to_string()));
            if let Some(file) = &self.file {
                // The next moment reports that the file cannot be written.
                drop(file.file.note(note.clone()));
            }
            self.memory.note(note);
        }
    }

    /// Ends the file that is written; returns what it holds, if there is one.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub(super) fn end(&mut self, session: &mut Session) -> Result<Option<String>, Failure> {
        if self.file.is_some() {
            self.keep_reports(session);
        }
        let Some(FlightFile { file, .. }) = self.file.take() else { return Ok(None) };
        let attached = file.attach_run(session);
        let ended = file.end();
        let (missing, ended) = (attached?, ended?);
        Ok(Some(missing.map_or_else(|| ended.clone(), |missing| format!("{ended}; {missing}"))))
    }

    /// Keeps the messages of the status queues, which wait there until they are drained.
    fn keep_reports(&mut self, session: &mut Session) {
        let (messages, _) = self.noted.reported(session);
        self.keep_notes(messages);
    }

    /// Keeps a moment; ends a file that is complete, or cannot be written.
    fn keep(&mut self, moment: Snapshot, partial: bool, session: &mut Session) -> Option<String> {
        let (lines, lost) = audited(session);
        self.keep_notes(lines);
        if let Some(file) = &self.file {
            file.file.lost_notes(lost);
        }
        let moment = &*self.newest.insert(moment);
        let newest = moment.pieces.iter().map(|piece| (piece.target_cycles, piece.host_micros));
        self.times = newest.max().unwrap_or(self.times);
        if partial {
            self.memory.append_partial(moment);
        } else {
            self.memory.append(moment);
        }
        let FlightFile { file, ends, .. } = self.file.as_ref()?;
        let failed = file.append(moment, partial).err();
        if failed.is_none() && ends.is_none_or(|ends| Instant::now() < ends) {
            return None;
        }
        let ended = self.end(session);
        match failed {
            Some(failure) => Some(failure.to_string()),
            None => ended.unwrap_or_else(|failure| Some(failure.to_string())),
        }
    }

    fn keep_mark(&mut self, mark: Mark) {
        if let Some(file) = &self.file {
            drop(file.file.mark(mark.clone()));
        }
        self.memory.mark(mark);
    }

    /// Logs what was not found before.
    fn log_findings(&mut self, verdict: &Diagnosis) {
        for finding in &verdict.findings {
            if self.reported.insert(format!("{} {}", finding.condition.name(), finding.place)) {
                let text = format!("{}: {}", title(finding), finding.sentence);
                self.logged.push(Logged::now("finding", text));
            }
        }
    }

    /// Takes the lines of the log that are not on the board yet.
    pub(super) fn take_logged(&mut self) -> Vec<Logged> {
        std::mem::take(&mut self.logged)
    }

    /// Returns what a verdict found, if the one before did not. The first verdict finds nothing new:
    /// nothing was recorded before it.
    fn new_finding<'a>(&mut self, verdict: &'a Diagnosis) -> Option<&'a Finding> {
        // Faults are known from the first snapshot, hangs only from several.
        if !verdict.missing.is_empty() {
            return None;
        }
        // A pause does not happen, it is asked for.
        let worse =
            |it: &&Finding| it.severity > Severity::Slow && it.condition != Condition::Paused;
        let found = || verdict.findings.iter().filter(worse);
        let before = self.found.replace(found().map(|it| it.condition).collect())?;
        found().find(|it| !before.contains(&it.condition))
    }

    /// Marks what was found, and writes what is in memory.
    fn keep_finding(&mut self, session: &mut Session, finding: &Finding) -> Option<String> {
        let name = finding.condition.name();
        self.keep_mark(mark_of(finding, self.times));
        if self.file.is_some() {
            return None;
        }
        let written = new_file(name).and_then(|file| {
            self.begin(&file, session, Some(Instant::now() + AFTER)).map(|()| file)
        });
        Some(match written {
            Ok(file) => format!("{name}: what led to it is written to {}", file.display()),
            Err(failure) => format!("{name}: what led to it cannot be written: {failure}"),
        })
    }

    /// Writes what is in memory to a file, and what follows up to a time, or until [`Flight::end`].
    fn begin(
        &mut self,
        name: &Path,
        session: &mut Session,
        ends: Option<Instant>,
    ) -> Result<(), Failure> {
        let file = RecordingFile::new(name)?;
        file.create(session.target(), ("the live view", None))?;
        file.attach(session.images())?;
        self.keep_reports(session);
        file.write(&self.memory)?;
        self.file = Some(FlightFile { file, name: name.into(), ends });
        Ok(())
    }

    /// Writes what is in memory to a file of its own.
    fn copy(&mut self, name: &Path, session: &mut Session) -> Result<(), Failure> {
        if self.newest.is_none() {
            return Err(Failure::Usage("nothing was kept yet: try again in a second".into()));
        }
        let file = RecordingFile::new(name)?;
        file.create(session.target(), ("bundle", None))?;
        file.attach(session.images())?;
        self.keep_reports(session);
        file.write(&self.memory)?;
        file.attach_run(session)?;
        file.end().map(drop)
    }
}

impl Work {
    /// Keeps what a verdict looked at.
    pub(in crate::machine) fn look(
        &mut self,
        session: &mut Session,
        newest: &Inspected,
        verdict: &Diagnosis,
    ) {
        let notice = self.flight.look(session, newest, verdict);
        self.report(notice);
    }

    /// Keeps what the screens read.
    pub(in crate::machine) fn add(&mut self, read: &Snapshot, session: &mut Session) {
        let notice = self.flight.add(read, session);
        self.report(notice);
    }

    /// Begins a recording, or ends the one that was begun.
    pub(super) fn record(
        &mut self,
        file: Option<PathBuf>,
        session: &mut Session,
    ) -> Result<(), Failure> {
        if session.target().history().is_some() {
            let why = "this is a recording: `meshscope record` copies it";
            return Err(Failure::Usage(why.into()));
        }
        let notice = match (self.flight.file(), file) {
            (Some(going), Some(_)) => {
                let going = going.display();
                return Err(Failure::Usage(format!("{going} is being written: :record ends it")));
            }
            (Some(_), None) => self.flight.end(session)?,
            (None, file) => {
                let file = file.unwrap_or_else(|| {
                    PathBuf::from(format!("record-{}.mcap", now_micros() / 1_000_000))
                });
                self.flight.end(session)?;
                self.flight.begin(&file, session, None)?;
                Some(format!("{} is being written: :record ends it", file.display()))
            }
        };
        self.report(notice);
        Ok(())
    }

    /// Writes the recording of an archive, unless it is one that is shown.
    pub(super) fn bundle(
        &mut self,
        archive: PathBuf,
        session: &mut Session,
    ) -> Result<(), Failure> {
        fresh::check(&archive)?;
        let shown = session.file().map(|file| file.path.clone());
        let temporary = shown.is_none();
        let recording = shown.unwrap_or_else(|| archive.with_added_extension("mcap"));
        if temporary {
            self.flight.copy(&recording, session)?;
        }
        self.board_mut().say(format!("{} is being written", archive.display()));
        self.board_mut().bundles.push(Bundle { archive, recording, temporary });
        Ok(())
    }

    fn report(&mut self, notice: Option<String>) {
        if let Some(notice) = notice {
            self.board_mut().say(notice);
        }
        let file = self.flight.file();
        if self.board.recording.as_deref() != file {
            let file = file.map(Path::to_owned);
            self.board_mut().recording = file;
        }
    }
}

/// Returns the name of a new file for a finding, and removes the oldest ones.
fn new_file(condition: &str) -> Result<PathBuf, Failure> {
    let folder = files::state_folder()
        .ok_or_else(|| Failure::Usage("neither XDG_STATE_HOME nor HOME is a folder".into()))?
        .join(FOLDER);
    let failed = |error| Failure::Usage(format!("{}: {error}", folder.display()));
    fs::create_dir_all(&folder).map_err(failed)?;
    let mut files: Vec<PathBuf> = fs::read_dir(&folder)
        .map_err(failed)?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|it| it == "mcap"))
        .collect();
    // Their names begin with their times.
    files.sort_unstable();
    let most = files.len().saturating_sub(MOST_FILES - 1);
    // One that cannot be removed is in nobody's way.
    files.iter().take(most).for_each(|oldest| drop(fs::remove_file(oldest)));
    Ok(folder.join(format!("{}-{condition}.mcap", now_micros() / 1_000_000)))
}
