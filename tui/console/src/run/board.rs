//! What each snapshot reports of runs: the sheets of this session, and the last notice.

use super::job::Going;
use super::schedule::Scheduled;
use super::table::Measured;
use crate::halted::HeldCore;
use crate::host_time::now_micros;
use std::path::PathBuf;

/// Lines of the log that are kept.
const MOST_LOGGED: usize = 500;

/// All runs of this session.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Board {
    /// The sheets, the oldest first.
    pub sheets: Vec<Sheet>,
    /// The schedules of the last runs, and those that were asked for; the newest last.
    pub schedules: Vec<Scheduled>,
    /// The last notice, and its number.
    pub notice: Option<(u64, String)>,
    /// Whether the last notice is of something that could be tried again: it is in quarantine.
    pub retries: bool,
    /// Whether kernels were paused.
    pub paused: bool,
    /// The cores under control.
    pub held: Vec<HeldCore>,
    /// The file to which everything is written.
    pub recording: Option<PathBuf>,
    /// Whether a launched kernel runs, which is taken away at the end.
    pub launched: bool,
    /// Archives that were asked for, the oldest first.
    pub bundles: Vec<Bundle>,
    /// What was done and reported, the oldest first.
    pub log: Vec<Logged>,
}

/// An archive that was asked for; its recording is whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bundle {
    /// The archive, which does not exist yet.
    pub archive: PathBuf,
    /// The recording that it is made of.
    pub recording: PathBuf,
    /// Whether the recording was written for it, and is not needed afterwards.
    pub temporary: bool,
}

/// A line of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Logged {
    /// Host time, in microseconds since the Unix epoch.
    pub host_micros: u64,
    /// `command`, `audit`, `status`, `mark`, `finding` or `notice`.
    pub kind: &'static str,
    /// What was done or reported.
    pub text: String,
}

impl Logged {
    /// A line of now.
    pub fn now(kind: &'static str, text: impl Into<String>) -> Self {
        Self { host_micros: now_micros(), kind, text: text.into() }
    }
}

/// One sweep.
#[derive(Clone, Debug, PartialEq)]
pub struct Sheet {
    /// The sweep in one line.
    pub title: String,
    /// Rows of its table.
    pub rows: Vec<Measured>,
    /// Its status.
    pub state: SheetState,
}

/// The status of a sweep.
#[derive(Clone, Debug, PartialEq)]
pub enum SheetState {
    /// Running; its progress, if it was polled.
    Going(Option<Going>),
    /// Being torn down.
    Stopping,
    /// All sizes were carried out.
    Done,
    /// Stopped by the user.
    Stopped,
    /// Failed, with the reason.
    Failed(String),
}

impl Board {
    /// The running sweep.
    pub fn going(&self) -> Option<&Sheet> {
        self.sheets.last().filter(|sheet| !sheet.is_over())
    }

    /// Sets the notice.
    pub fn say(&mut self, sentence: impl Into<String>) {
        let number = self.notice.as_ref().map_or(1, |(number, _)| number + 1);
        let sentence = sentence.into();
        self.log(vec![Logged::now("notice", sentence.clone())]);
        self.notice = Some((number, sentence));
        self.retries = false;
    }

    /// Adds a schedule; the newest two are kept, to be compared.
    pub fn schedule(&mut self, scheduled: Scheduled) {
        self.schedules.push(scheduled);
        self.schedules.drain(..self.schedules.len().saturating_sub(2));
    }

    /// Adds lines to the log; the oldest go.
    pub fn log(&mut self, lines: Vec<Logged>) {
        self.log.extend(lines);
        self.log.drain(..self.log.len().saturating_sub(MOST_LOGGED));
    }
}

impl Sheet {
    /// Whether the sweep has ended.
    pub fn is_over(&self) -> bool {
        matches!(self.state, SheetState::Done | SheetState::Stopped | SheetState::Failed(_))
    }
}
