//! The layer of an image, its provenance, go signals, and source lines.

use schemars::JsonSchema;
use serde::Serialize;
use std::fmt;

/// The layer an image belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(with = "String", inline)]
pub enum ImageRole {
    /// Serves the link and the routing queues.
    #[serde(rename = "base firmware")]
    BaseFirmware,
    /// Owns the mailbox.
    Application,
    /// Runs when it is launched.
    Kernel,
}

impl ImageRole {
    const ALL: [Self; 3] = [Self::BaseFirmware, Self::Application, Self::Kernel];

    /// Returns the name in JSON and in recordings.
    pub fn name(self) -> &'static str {
        match self {
            Self::BaseFirmware => "base firmware",
            Self::Application => "application",
            Self::Kernel => "kernel",
        }
    }

    /// Returns the layer of this name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.name() == name)
    }
}

/// How it is known that an image runs on a core.
#[derive(strum::IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(with = "String", inline)]
pub enum Provenance {
    /// This process loaded it, or the user stated it.
    Stated,
    /// A file of the host or a recording names it.
    Recorded,
    /// Samples of its text were found in L1; the rest was not compared.
    Sampled,
    /// Its build id or its whole text was found in L1.
    Verified,
    /// L1 does not hold the image that was stated or found before.
    #[strum(serialize = "MISMATCH")]
    Mismatch,
}

/// `go_msg_t.signal` (tt-metal dev_msgs.h).
#[derive(strum::IntoStaticStr)]
#[strum(serialize_all = "SCREAMING_SNAKE_CASE")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[schemars(with = "String", inline)]
pub enum GoSignal {
    /// 0x00.
    Done,
    /// 0x40.
    Init,
    /// 0x80.
    Go,
    /// 0xC0.
    ResetReadPtr,
    /// 0xE0.
    ResetReadPtrFromHost,
    /// 0xF0.
    ReplayTrace,
}

/// A place in a source file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct SourceLine {
    /// Function, where known.
    pub function: Option<String>,
    /// File, where known.
    pub file: Option<String>,
    /// Line, where known.
    pub line: Option<u32>,
}

impl SourceLine {
    /// Returns the line without the template arguments of its function: a router's fill a screen.
    #[must_use]
    pub fn without_arguments(&self) -> Self {
        Self { function: self.function.as_deref().map(without_arguments), ..self.clone() }
    }

    /// Returns a line and those of the functions around it, in one line of text.
    pub fn chain(lines: &[Self]) -> String {
        let lines = lines.iter().map(|line| line.without_arguments().to_string());
        lines.collect::<Vec<_>>().join(" < ")
    }
}

impl fmt::Display for SourceLine {
    /// `file:line in function`, where known.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let file = self.file.as_deref().map_or("", |file| file.rsplit('/').next().unwrap_or(file));
        f.write_str(file)?;
        if let Some(line) = self.line.filter(|_| !file.is_empty()) {
            write!(f, ":{line}")?;
        }
        match &self.function {
            Some(function) if file.is_empty() => write!(f, "in {function}"),
            Some(function) => write!(f, " in {function}"),
            None => Ok(()),
        }
    }
}

/// Returns a line, then those of the functions around it, then the image; of code that no image has,
/// or of which no line is known, its addresses.
pub fn code_words(image: Option<&str>, lines: &[SourceLine], addresses: &str) -> String {
    match image {
        Some(image) if lines.is_empty() => format!("{addresses} [{image}]"),
        Some(image) => format!("{} [{image}]", SourceLine::chain(lines)),
        None => format!("{addresses}, in no image that is known there"),
    }
}

/// Returns the name of a function without its template arguments.
pub fn without_arguments(name: &str) -> String {
    match (name.find('<'), name.rfind('>')) {
        (Some(from), Some(to)) if from < to && !name.starts_with("operator") => {
            format!("{}{}", &name[..from], &name[to + 1..])
        }
        _ => name.to_owned(),
    }
}
