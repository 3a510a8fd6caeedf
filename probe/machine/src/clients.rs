//! Who has a machine, and who had it before.

use serde::{Deserialize, Serialize};
use std::fmt;

/// A program that speaks to a server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Client {
    /// Its name, such as `meshscope`.
    pub name: String,
    /// Its process.
    pub pid: u32,
}

impl Client {
    /// This very program.
    pub fn this() -> Self {
        let program = std::env::current_exe().ok();
        let name = program.as_ref().and_then(|path| path.file_name());
        let name = name.map(|name| name.to_string_lossy().into_owned());
        Self { name: name.unwrap_or_else(|| "somebody".into()), pid: std::process::id() }
    }
}

impl fmt::Display for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (process {})", self.name, self.pid)
    }
}

/// Who had a machine before its present client, and who else has it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Before {
    /// The last client.
    pub client: Option<PastClient>,
    /// The last change that a client made.
    pub change: Option<Change>,
    /// Another client that has the right to write, as the present one came.
    pub writer: Option<Client>,
}

/// A client that has gone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PastClient {
    /// Who it was.
    pub client: Client,
    /// Host time of its end, in microseconds since the Unix epoch.
    pub until_micros: u64,
    /// It ended without a last word: killed, or a fault of its own.
    pub broke_off: bool,
}

/// A change that somebody made to a machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// Who made it.
    pub client: Client,
    /// Host time, in microseconds since the Unix epoch.
    pub at_micros: u64,
    /// The machine's own time after it, in cycles.
    pub at_cycles: u64,
    /// What was written, in words.
    pub what: String,
}
