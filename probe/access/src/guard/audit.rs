//! The audit log: one JSON line for every commanded write, written before the write.

use layouts::NocAddr;
use machine::snapshot::AccessError;
use serde::Serialize;
use std::fmt::Write as _;
use std::io::Write as _;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::PathBuf;

/// Environment variable that names the log file.
const VARIABLE: &str = "MESHSCOPE_AUDIT_LOG";
/// The default file, below the folder of program state.
const FILE: &str = "meshscope/audit.jsonl";

/// A log to which every commanded write to one target is appended.
#[derive(Clone, Debug)]
pub struct AuditLog {
    path: Option<PathBuf>,
    target: String,
    command: String,
}

/// A line of the log. Bytes are hexadecimal, in the order of memory.
#[derive(Serialize)]
struct AuditLine<'a> {
    /// Host time, in microseconds since the Unix epoch.
    time_micros: u64,
    user: String,
    pid: u32,
    target: &'a str,
    command: &'a str,
    chip: u16,
    tile: [u8; 2],
    addr: u64,
    old: Option<String>,
    /// Why the old bytes are unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    old_missing: Option<String>,
    new: String,
    /// Why the write failed; set in a second line.
    #[serde(skip_serializing_if = "Option::is_none")]
    failed: Option<String>,
}

/// An entry of the log: a write with the bytes before it.
pub(crate) struct AuditEntry<'a> {
    pub(crate) addr: NocAddr,
    pub(crate) old: Result<Vec<u8>, AccessError>,
    pub(crate) new: &'a [u8],
}

impl AuditLog {
    /// Returns the log for writes to `target` that the environment selects: `MESHSCOPE_AUDIT_LOG`,
    /// else a file below `XDG_STATE_HOME`, else one below `~/.local/state`. Relative folders are
    /// ignored.
    pub fn from_environment(target: impl Into<String>) -> Self {
        let path = |name| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
        // A relative folder would depend on the working directory (XDG Base Directory).
        let folder = |name| path(name).filter(|folder: &PathBuf| folder.is_absolute());
        let home = || folder("HOME").map(|home| home.join(".local/state"));
        let default = || folder("XDG_STATE_HOME").or_else(home).map(|state| state.join(FILE));
        Self { path: path(VARIABLE).or_else(default), target: target.into(), command: "-".into() }
    }

    /// Returns the log in this file, for writes to `target`.
    pub fn at(path: impl Into<PathBuf>, target: impl Into<String>) -> Self {
        Self { path: Some(path.into()), target: target.into(), command: "-".into() }
    }

    /// Names the command of the following writes.
    pub(crate) fn command(&mut self, name: &str) {
        if self.command != name {
            name.clone_into(&mut self.command);
        }
    }

    /// Appends an entry before its write.
    ///
    /// # Errors
    /// `Refused`: a write that cannot be logged is not made.
    pub(crate) fn append(
        &self,
        entry: &AuditEntry<'_>,
        now_micros: u64,
    ) -> Result<(), AccessError> {
        self.line(entry, now_micros, None)
    }

    /// Appends that the write failed.
    pub(crate) fn failed(&self, entry: &AuditEntry<'_>, now_micros: u64, reason: &AccessError) {
        // The write itself has its line, and its error is returned anyway.
        let _ = self.line(entry, now_micros, Some(reason));
    }

    fn line(
        &self,
        entry: &AuditEntry<'_>,
        time_micros: u64,
        failed: Option<&AccessError>,
    ) -> Result<(), AccessError> {
        let refused = |why: String| {
            AccessError::Refused(format!("a write that cannot be logged is not made: {why}"))
        };
        let NocAddr { chip, tile, offset } = entry.addr;
        let line = AuditLine {
            time_micros,
            user: user(),
            pid: std::process::id(),
            target: &self.target,
            command: &self.command,
            chip: chip.0,
            tile: [tile.x, tile.y],
            addr: offset,
            old: entry.old.as_ref().ok().map(|old| hex(old)),
            old_missing: entry.old.as_ref().err().map(ToString::to_string),
            new: hex(entry.new),
            failed: failed.map(ToString::to_string),
        };
        let mut text = serde_json::to_string(&line).map_err(|error| refused(error.to_string()))?;
        text.push('\n');
        let path = self.path.as_ref();
        let path =
            path.ok_or_else(|| refused(format!("neither {VARIABLE} nor an absolute HOME is set")))?;
        if let Some(folder) = path.parent() {
            // If this fails, opening the file reports why.
            let _ = std::fs::create_dir_all(folder);
        }
        let file = std::fs::OpenOptions::new().append(true).create(true).mode(0o600).open(path);
        // One call for the whole line keeps lines of concurrent programs apart.
        let written = file.and_then(|mut file| file.write_all(text.as_bytes()));
        written.map_err(|error| refused(format!("{}: {error}", path.display())))
    }
}

/// Returns the user's name, else the user id.
fn user() -> String {
    let name = |variable| std::env::var(variable).ok().filter(|name| !name.is_empty());
    let number = || std::fs::metadata("/proc/self").map_or(String::new(), |m| m.uid().to_string());
    name("USER").or_else(|| name("LOGNAME")).unwrap_or_else(number)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
