//! What each snapshot reports of runs: the sheets of this session, and the last notice.

use super::job::Going;
use super::table::Measured;
use crate::halted::HeldCore;
use std::path::PathBuf;

/// All runs of this session.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Board {
    /// The sheets, the oldest first.
    pub sheets: Vec<Sheet>,
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
        self.notice = Some((number, sentence.into()));
        self.retries = false;
    }
}

impl Sheet {
    /// Whether the sweep has ended.
    pub fn is_over(&self) -> bool {
        matches!(self.state, SheetState::Done | SheetState::Stopped | SheetState::Failed(_))
    }
}
