//! What the probe thread tells of runs with every sample: the sheets of this session, and the last sentence.

use super::job::Going;
use super::table::Measured;

/// All runs of this session.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Board {
    /// The oldest first.
    pub sheets: Vec<Sheet>,
    /// The last sentence to a person, and its number.
    pub said: Option<(u64, String)>,
}

/// One sweep.
#[derive(Clone, Debug, PartialEq)]
pub struct Sheet {
    /// What was asked for, in a line.
    pub title: String,
    /// Lines of its table.
    pub rows: Vec<Measured>,
    /// How it stands.
    pub state: SheetState,
}

/// How a sweep stands.
#[derive(Clone, Debug, PartialEq)]
pub enum SheetState {
    /// It goes on; where, if it was polled.
    Going(Option<Going>),
    /// It is being torn down.
    Stopping,
    /// All sizes were carried out.
    Done,
    /// A person stopped it.
    Stopped,
    /// Why it ended.
    Failed(String),
}

impl Board {
    /// The sweep that is under way.
    pub(crate) fn going(&self) -> Option<&Sheet> {
        self.sheets.last().filter(|sheet| !sheet.is_over())
    }

    /// Says a sentence to the person.
    pub(crate) fn say(&mut self, sentence: impl Into<String>) {
        let number = self.said.as_ref().map_or(1, |(number, _)| number + 1);
        self.said = Some((number, sentence.into()));
    }
}

impl Sheet {
    /// Nothing more comes.
    pub fn is_over(&self) -> bool {
        matches!(self.state, SheetState::Done | SheetState::Stopped | SheetState::Failed(_))
    }
}
