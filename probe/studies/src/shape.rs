//! The shape of every study: its name, its options, and tables of rows, whoever prints them.

use launch::ControlError;
use launch::outcome::Cause;
use machine::words::{bytes, cycles, number};
use probe::spec::{self, TargetSpec};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::fmt;
use workloads::scene::{Scene, SceneError};

/// A study.
#[derive(Clone, Copy, Debug)]
pub struct Study {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it does, in a sentence.
    pub about: &'static str,
    /// Its options.
    pub options: &'static [Choice],
    /// Its tables.
    pub tables: &'static [Table],
    /// Measures and reports. Returns whether everything is as it must be.
    pub run: fn(&Options, &mut Report<'_>) -> Result<bool, StudyError>,
}

/// An option of a study.
#[derive(Clone, Copy, Debug)]
pub struct Choice {
    /// Its name, without dashes.
    pub name: &'static str,
    /// What its value is called; none: it has no value.
    pub value: Option<&'static str>,
    /// Its value if it is not given.
    pub default: Option<&'static str>,
    /// What it is for.
    pub about: &'static str,
}

impl Choice {
    /// Returns an option with a default.
    pub const fn new(
        name: &'static str,
        value: &'static str,
        default: &'static str,
        about: &'static str,
    ) -> Self {
        Self { name, value: Some(value), default: Some(default), about }
    }

    /// Returns an option that may be absent.
    pub const fn optional(name: &'static str, value: &'static str, about: &'static str) -> Self {
        Self { name, value: Some(value), default: None, about }
    }

    /// Returns an option without a value.
    pub const fn flag(name: &'static str, about: &'static str) -> Self {
        Self { name, value: None, default: None, about }
    }
}

/// The options that are given, and the defaults of others.
#[derive(Clone, Debug, Default)]
pub struct Options(BTreeMap<&'static str, String>);

impl FromIterator<(&'static str, String)> for Options {
    fn from_iter<T: IntoIterator<Item = (&'static str, String)>>(options: T) -> Self {
        Self(options.into_iter().collect())
    }
}

impl Options {
    /// Returns the value of an option, or whether there is one.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// Returns the value of an option that has a default.
    pub fn text(&self, name: &str) -> &str {
        self.get(name).unwrap_or("")
    }

    /// Returns a number within limits.
    ///
    /// # Errors
    /// When it is none, or outside of them.
    pub fn number(&self, name: &str, [least, most]: [u64; 2]) -> Result<u64, StudyError> {
        let words = self.text(name);
        let usage = |why: String| StudyError::Usage(format!("--{name} {words}: {why}"));
        let number = number(words).map_err(usage)?;
        if number < least || number > most {
            return Err(usage(format!("it can be from {least} to {most}")));
        }
        Ok(number)
    }

    /// Returns the option `seed`.
    ///
    /// # Errors
    /// When it is no number.
    pub fn seed(&self) -> Result<u64, StudyError> {
        self.number("seed", [0, u64::MAX])
    }

    /// Returns a time, in cycles.
    ///
    /// # Errors
    /// When it is none, or 0.
    pub fn cycles(&self, name: &str) -> Result<u64, StudyError> {
        let option = format!("--{name}");
        match spec::time(&option, self.text(name)) {
            Ok(0) => Err(StudyError::Usage(format!("{option}: it is 1ns at least"))),
            Ok(cycles) => Ok(cycles),
            Err(error) => Err(StudyError::Usage(error.to_string())),
        }
    }

    /// Returns which of these words an option has.
    ///
    /// # Errors
    /// When it is none of them.
    pub fn one_of<T: Copy>(&self, name: &str, known: &[(&str, T)]) -> Result<T, StudyError> {
        let word = self.text(name);
        let found = known.iter().find(|(known, _)| *known == word).map(|(_, value)| *value);
        found.ok_or_else(|| {
            let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
            StudyError::Usage(format!("--{name} {word}: it can be {}", names.join(" or ")))
        })
    }

    /// Refuses two options of which one makes the other meaningless.
    ///
    /// # Errors
    /// When both are given.
    pub fn not_both(&self, [one, other]: [&str; 2]) -> Result<(), StudyError> {
        match (self.get(one), self.get(other)) {
            (Some(_), Some(_)) => {
                Err(StudyError::Usage(format!("--{one} cannot be used with --{other}")))
            }
            _ => Ok(()),
        }
    }

    /// Returns the scene of the option `mesh`: with a fabric, of the topology of the option
    /// `topology` or, without it, of the mesh's words.
    ///
    /// # Errors
    /// When there is no such mesh.
    pub fn scene(&self) -> Result<Scene, StudyError> {
        let mesh = self.text("mesh");
        let with = |name| format!(",topology={name}");
        let topology = self.get("topology").map_or_else(String::new, with);
        let words = mesh.strip_prefix("emulator:").unwrap_or(mesh);
        let words = format!("emulator:{words},run=fabric{topology}");
        match TargetSpec::parse(&words) {
            Ok(TargetSpec::Emulator(scene)) => Ok(scene),
            Ok(_) => Err(StudyError::Usage(format!("--mesh {mesh}: it is no emulated mesh"))),
            Err(error) => Err(StudyError::Usage(format!("--mesh {mesh}: {error}"))),
        }
    }
}

/// A table of a study.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Table {
    /// The key of its rows in the answer.
    pub name: &'static str,
    /// The columns that a person reads; none: the rows are for programs only. Rows may have more
    /// keys than these.
    pub columns: &'static [Column],
}

/// A column of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its head.
    pub head: &'static str,
    /// The key of its cells.
    pub key: &'static str,
    /// What they are.
    pub unit: Unit,
}

/// What the cells of a column are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Words, which usually have no more characters than this.
    Text(usize),
    /// A number, or the length of a list.
    Count,
    /// Emulated time, in cycles.
    Cycles,
    /// A size.
    Bytes,
    /// A number with so many digits behind the point.
    Fixed(usize),
    /// A deviation, in percent.
    Percent,
}

/// Returns a column.
pub const fn column(head: &'static str, key: &'static str, unit: Unit) -> Column {
    Column { head, key, unit }
}

impl Column {
    /// Returns its width, in characters.
    pub fn width(&self) -> usize {
        let least = match self.unit {
            Unit::Text(width) => width,
            Unit::Cycles => 10,
            Unit::Percent => 8,
            Unit::Count | Unit::Bytes | Unit::Fixed(_) => 6,
        };
        self.head.len().max(least)
    }

    /// Returns its cell of a row, as text.
    pub fn cell(&self, row: &Value) -> String {
        match (self.unit, &row[self.key]) {
            (_, Value::Null) => "-".to_owned(),
            (_, Value::String(text)) => text.clone(),
            (_, Value::Array(list)) => list.len().to_string(),
            (Unit::Cycles, value) => cycles(value.as_u64().unwrap_or(0)),
            (Unit::Bytes, value) => bytes(value.as_u64().unwrap_or(0)),
            (Unit::Percent, value) => percent(value.as_f64().unwrap_or(0.0)),
            (Unit::Fixed(digits), value) => {
                format!("{:.digits$}", value.as_f64().unwrap_or(0.0))
            }
            (Unit::Text(_) | Unit::Count, value) => value.to_string(),
        }
    }
}

/// Formats a deviation.
pub fn percent(deviation: f64) -> String {
    format!("{deviation:+.1} %")
}

/// What a study tells while it measures.
#[derive(Clone, Copy, Debug)]
pub enum Told<'a> {
    /// One more row of a table.
    Row(&'static Table, &'a Value),
    /// A note, of one or several lines.
    Note(&'a str),
    /// How much is done, of how much, and of what.
    Progress(u64, u64, &'static str),
}

/// What a study reports: it tells at once, and keeps the whole answer.
pub struct Report<'a> {
    answer: Map<String, Value>,
    tell: &'a mut dyn FnMut(Told<'_>),
}

impl<'a> Report<'a> {
    /// Returns the report of a study that tells this listener.
    pub fn new(study: &Study, tell: &'a mut dyn FnMut(Told<'_>)) -> Self {
        let names = study.tables.iter().map(|table| table.name).chain(["notes"]);
        let mut answer: Map<_, _> =
            names.map(|name| (name.to_owned(), Value::Array(Vec::new()))).collect();
        answer.insert("study".to_owned(), study.name.into());
        Self { answer, tell }
    }

    /// Adds a fact about the whole study to the answer.
    pub fn fact(&mut self, name: &str, value: impl Into<Value>) {
        self.answer.insert(name.to_owned(), value.into());
    }

    /// Adds a row to a table.
    pub fn row(&mut self, table: &'static Table, row: Value) {
        (self.tell)(Told::Row(table, &row));
        self.add(table.name, row);
    }

    /// Adds a note.
    pub fn note(&mut self, text: impl Into<String>) {
        let text = text.into();
        (self.tell)(Told::Note(&text));
        self.add("notes", text.into());
    }

    /// Tells how much is done, of how much.
    pub fn progress(&mut self, done: u64, of: u64, what: &'static str) {
        (self.tell)(Told::Progress(done, of, what));
    }

    /// Returns the answer: facts, rows and notes by their names.
    pub fn into_answer(self) -> Value {
        Value::Object(self.answer)
    }

    fn add(&mut self, name: &str, value: Value) {
        if let Some(Value::Array(list)) = self.answer.get_mut(name) {
            list.push(value);
        }
    }
}

/// Why a study did not end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StudyError {
    /// An option is unusable, or the mesh that it names.
    Usage(String),
    /// It was started, and the mesh failed.
    Finding(String),
    /// An error of the program.
    Internal(String),
}

impl StudyError {
    /// Returns a conversion of errors of scenes on this mesh.
    pub fn on(mesh: &str) -> impl Fn(SceneError) -> Self {
        let words = format!("emulator:{mesh}");
        move |error| {
            let text = error.to_string();
            // Errors about a file name it.
            let named = matches!(error, SceneError::Descriptor(_) | SceneError::File(_));
            let text =
                if named || text.contains(&words) { text } else { format!("{words}: {text}") };
            // The mesh that the user named cannot do it.
            let unfit = match &error {
                SceneError::Control(ControlError::NoRing | ControlError::Settings(_)) => true,
                SceneError::Run(_, error) => matches!(error.cause, Cause::Program(_)),
                _ => false,
            };
            match error {
                _ if unfit => Self::Usage(text),
                SceneError::Run(..)
                | SceneError::Control(_)
                | SceneError::Wrong(_)
                | SceneError::Stopped(_)
                | SceneError::Access(_) => Self::Finding(text),
                SceneError::Image(_) => Self::Internal(text),
                _ => Self::Usage(text),
            }
        }
    }
}

impl fmt::Display for StudyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Usage(text) | Self::Finding(text) | Self::Internal(text)) = self;
        f.write_str(text)
    }
}

impl std::error::Error for StudyError {}
