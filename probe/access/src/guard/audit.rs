//! The audit log: JSON lines for every commanded write, written before the write.
//!
//! A line that begins a command names it, and the first of a process its user and target; the
//! lines of the writes follow with the process's number. At its limit the file is renamed, and the
//! one before it goes.

mod file;
mod line;

use file::LogFile;
use layouts::NocAddr;
use machine::clock::host_micros;
use machine::notes::AuditLine;
use machine::snapshot::AccessError;
use machine::target::Audit;
use std::collections::VecDeque;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

/// Environment variable that names the log file.
const VARIABLE: &str = "MESHSCOPE_AUDIT_LOG";
/// The default file, below the folder of program state.
const FILE: &str = "audit.jsonl";
/// Size at which the file is renamed: some 80,000 writes.
const LIMIT_BYTES: u64 = 16 << 20;
/// Room that is reserved before a launch: more than the entries of a launch and teardown on every
/// tile of a Galaxy, a hundred bytes each.
const RESERVED_BYTES: u64 = 1 << 20;

/// Lines that are kept in memory until a recording takes them.
const MOST_RECENT: usize = 1 << 16;

/// A log to which every commanded write to one target is appended.
#[derive(Debug)]
pub struct AuditLog {
    path: Option<PathBuf>,
    limit_bytes: u64,
    target: String,
    command: String,
    /// The file that names this process's user and target, by its inode.
    begun_in: Option<u64>,
    /// Whether that file names the command.
    has_command: bool,
    /// Whether writes that cannot be logged are made.
    must_not_stop: bool,
    unlogged: u64,
    /// Why the first entry was not logged.
    first_reason: String,
    /// The newest lines that no recording has taken.
    recent: VecDeque<AuditLine>,
    /// The number of lines before them that none has taken.
    forgotten: u64,
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
        let default = || files::state_folder().map(|folder| folder.join(FILE));
        Self::over(path(VARIABLE).or_else(default), target.into())
    }

    /// Returns the log in this file, for writes to `target`.
    pub fn at(path: impl Into<PathBuf>, target: impl Into<String>) -> Self {
        Self::over(Some(path.into()), target.into())
    }

    fn over(path: Option<PathBuf>, target: String) -> Self {
        Self {
            path,
            limit_bytes: LIMIT_BYTES,
            target,
            command: "-".to_owned(),
            begun_in: None,
            has_command: false,
            must_not_stop: false,
            unlogged: 0,
            first_reason: String::new(),
            recent: VecDeque::new(),
            forgotten: 0,
        }
    }

    /// Returns the log with another size at which its file is renamed.
    #[must_use]
    pub fn limited_to(self, limit_bytes: u64) -> Self {
        Self { limit_bytes, ..self }
    }

    /// Appends an entry before its write.
    ///
    /// # Errors
    /// `Refused`: a write that cannot be logged is not made, unless it must not stop.
    pub(crate) fn append(
        &mut self,
        entry: &AuditEntry<'_>,
        now_micros: u64,
    ) -> Result<(), AccessError> {
        match self.line(line::written(entry, now_micros), now_micros) {
            Ok(()) => Ok(()),
            Err(why) if self.must_not_stop => {
                self.unlogged += 1;
                if self.unlogged == 1 {
                    self.first_reason = why;
                }
                Ok(())
            }
            Err(why) => {
                let text = format!("a write that cannot be logged is not made: {why}");
                Err(AccessError::Refused(text))
            }
        }
    }

    /// Appends that the write failed.
    pub(crate) fn failed(&mut self, addr: NocAddr, now_micros: u64, reason: &AccessError) {
        // The write itself has its line, and its error is returned anyway.
        let _ = self.line(line::failed(addr, now_micros, reason), now_micros);
    }

    fn line(&mut self, line: AuditLine, now_micros: u64) -> Result<(), String> {
        let appended = self.begin(now_micros).and_then(|mut file| file.append(&line));
        // Else the write is not made.
        if appended.is_ok() || self.must_not_stop {
            self.keep(line);
        }
        appended
    }

    fn keep(&mut self, line: AuditLine) {
        self.recent.push_back(line);
        if self.recent.len() > MOST_RECENT {
            self.recent.pop_front();
            self.forgotten += 1;
        }
    }

    /// Opens the file, and writes the line of the command unless the file has it.
    fn begin(&mut self, time_micros: u64) -> Result<LogFile, String> {
        let path = self.path.as_ref();
        let path = path.ok_or_else(|| format!("neither {VARIABLE} nor an absolute HOME is set"))?;
        let mut file = LogFile::open(path, self.limit_bytes)?;
        let is_new = self.begun_in != Some(file.inode());
        if is_new || !self.has_command {
            let (user, target) = (is_new.then(user), is_new.then(|| self.target.clone()));
            let (pid, command) = (std::process::id(), self.command.clone());
            let line = AuditLine::Begins { time_micros, pid, user, target, command };
            file.append(&line)?;
            self.keep(line);
            (self.begun_in, self.has_command) = (Some(file.inode()), true);
        }
        Ok(file)
    }
}

impl Audit for AuditLog {
    fn command(&mut self, name: &str) {
        if self.command != name {
            name.clone_into(&mut self.command);
            self.has_command = false;
        }
    }

    fn reserve(&mut self) -> Result<(), AccessError> {
        let reserved = self.begin(host_micros()).and_then(|file| file.reserve(RESERVED_BYTES));
        let refused =
            |why| AccessError::Refused(format!("the audit log has no room for a launch: {why}"));
        reserved.map_err(refused)?;
        self.must_not_stop = true;
        Ok(())
    }

    fn must_not_stop(&mut self) {
        self.must_not_stop = true;
    }

    fn take(&mut self) -> (Vec<AuditLine>, u64) {
        (self.recent.drain(..).collect(), std::mem::take(&mut self.forgotten))
    }

    fn remark(&self) -> Option<String> {
        let (count, why) = (self.unlogged, &self.first_reason);
        let entries = if count == 1 { "entry" } else { "entries" };
        let remark = || format!("the audit log lacks {count} {entries} of this session: {why}");
        (count > 0).then(remark)
    }
}

/// Returns the path in a variable of the environment.
fn path(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}

/// Returns the user's name, else the user id.
fn user() -> String {
    let name = |variable| std::env::var(variable).ok().filter(|name| !name.is_empty());
    let number = || std::fs::metadata("/proc/self").map_or(String::new(), |m| m.uid().to_string());
    name("USER").or_else(|| name("LOGNAME")).unwrap_or_else(number)
}
