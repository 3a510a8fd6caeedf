//! The present and past clients of a machine.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;

/// A program connected to a server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Client {
    /// Name of its program, such as `meshscope`.
    pub name: String,
    /// Its process id.
    pub pid: u32,
}

impl Client {
    /// Returns this process.
    pub fn this() -> Self {
        let program = std::env::current_exe().ok();
        let name = program.as_ref().and_then(|path| path.file_name());
        let name = name.map(|name| name.to_string_lossy().into_owned());
        Self { name: name.unwrap_or_else(|| "unknown".into()), pid: std::process::id() }
    }
}

impl fmt::Display for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (process {})", self.name, self.pid)
    }
}

/// A process that has a device of the machine open.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Holder {
    /// Its process id; 0 if this process cannot see it.
    pub pid: u32,
    /// Name of its program.
    pub name: String,
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.pid, self.name)
    }
}

/// A process that runs tt-metal on a machine, or serves one on which it started kernels of tt-metal, with the
/// directories of its ELFs and logs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MetalProcess {
    /// The other host on which it runs; null on this one.
    pub host: Option<String>,
    /// Its process id.
    pub pid: u32,
    /// Name of its program.
    pub name: String,
    /// The directories of its ELFs and logs.
    pub directories: Vec<PathBuf>,
    /// Another process that writes logs in the same directory. What they say of a kernel counts only
    /// where L1 has its text: each process counts its own kernels.
    pub shares_logs_with: Option<u32>,
    /// Where its Inspector answers, if it does.
    pub inspector: Option<SocketAddr>,
    /// Which of its files are not known, and why.
    pub unknown: Option<String>,
}

impl fmt::Display for MetalProcess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "process {} ({})", self.pid, self.name)?;
        self.host.as_ref().map_or(Ok(()), |host| write!(f, " on {host}"))
    }
}

/// The previous client of a machine, its last change and its present writer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServedHistory {
    /// The last client.
    pub client: Option<PastClient>,
    /// The last change that a client made.
    pub change: Option<Change>,
    /// Another client that held the right to write when this one connected.
    pub writer: Option<Client>,
}

/// A client that has disconnected.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PastClient {
    /// The client.
    pub client: Client,
    /// Host time of its end, in microseconds since the Unix epoch.
    pub until_micros: u64,
    /// Whether the connection broke without a goodbye: the client crashed or was killed.
    pub broke_off: bool,
}

/// A change that a client made to a machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// The client that made it.
    pub client: Client,
    /// Host time, in microseconds since the Unix epoch.
    pub at_micros: u64,
    /// The machine's time after it, in cycles.
    pub at_cycles: u64,
    /// Description of what was written.
    pub what: String,
}
