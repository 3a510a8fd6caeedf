//! Copies of recordings without what is nobody else's business: who recorded, where files are, what
//! was written.

use crate::error::RecordingError;
use crate::replay::Replay;
use crate::writer::Writer;
use machine::history::History;
use machine::notes::{AuditLine, Note};
use std::path::Path;

/// What a copy keeps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is chosen on its own")]
pub struct Kept {
    /// The user's name, and process ids.
    pub users: bool,
    /// The folders of absolute paths.
    pub paths: bool,
    /// The bytes of writes.
    pub writes: bool,
    /// The run of an emulated mesh, which has the writes of the host.
    pub run: bool,
}

/// What a copy lacks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Redacted {
    /// Lines of the audit log with a user's name or a process id.
    pub users: u64,
    /// Absolute paths.
    pub paths: u64,
    /// Writes.
    pub writes: u64,
    /// Whether it lacks the run.
    pub run: bool,
}

impl Replay {
    /// Writes a copy to a new file; returns what it lacks.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn copy(&mut self, file: &Path, kept: Kept) -> Result<Redacted, RecordingError> {
        let mut redaction = Redaction { kept, lacks: Redacted::default() };
        let mut session = self.session().clone();
        redaction.text(&mut session.target);
        redaction.text(&mut session.asked);
        session.mesh.problems.iter_mut().for_each(|problem| redaction.text(problem));
        let mut writer = Writer::create_with(file, session)?;
        for elf in self.attachments() {
            writer.attach_elf(&elf.name, &elf.bytes)?;
        }
        for moment in 0..self.moments().len() {
            self.seek(moment);
            let partial = self.is_partial(moment);
            // A moment that is damaged is lost.
            match self.moment() {
                Some(snapshot) if partial => writer.append_partial(snapshot)?,
                Some(snapshot) => writer.append(snapshot)?,
                None => {}
            }
        }
        for mut mark in self.marks().to_vec() {
            redaction.text(&mut mark.text);
            writer.mark(mark)?;
        }
        for (_, mut note) in self.notes() {
            redaction.note(&mut note);
            writer.note(&note)?;
        }
        match self.run() {
            Some(run) if kept.run => writer.attach_run(&run)?,
            run => redaction.lacks.run = run.is_some(),
        }
        writer.finish()?;
        Ok(redaction.lacks)
    }
}

/// A copy in progress.
struct Redaction {
    kept: Kept,
    lacks: Redacted,
}

impl Redaction {
    fn text(&mut self, text: &mut String) {
        if !self.kept.paths {
            let (without, count) = without_folders(text);
            (*text, self.lacks.paths) = (without, self.lacks.paths + count);
        }
    }

    fn note(&mut self, note: &mut Note) {
        match note {
            Note::Command(command) => {
                self.text(&mut command.text);
                self.command(&mut command.text);
            }
            Note::Status(status) => self.text(&mut status.text),
            Note::Audit(line) => self.line(line),
        }
    }

    /// Leaves out the bytes of a command that writes: they follow the place.
    fn command(&mut self, text: &mut String) {
        if !self.kept.writes && text.starts_with("write ") {
            let words: Vec<&str> = text.split(' ').collect();
            if let [verb, place, _, ..] = words[..] {
                *text = format!("{verb} {place} ...");
                self.lacks.writes += 1;
            }
        }
    }

    fn line(&mut self, line: &mut AuditLine) {
        if let AuditLine::Begins { target, command, .. } = line {
            if let Some(target) = target {
                self.text(target);
            }
            self.text(command);
            self.command(command);
        }
        if !self.kept.users {
            let (AuditLine::Begins { pid, .. }
            | AuditLine::Write { pid, .. }
            | AuditLine::Failed { pid, .. }) = line;
            *pid = 0;
            self.lacks.users += 1;
            if let AuditLine::Begins { user, .. } = line {
                *user = None;
            }
        }
        if let AuditLine::Write { old, old_missing, new, bytes, old_crc32, new_crc32, .. } = line
            && !self.kept.writes
        {
            let len = bytes.unwrap_or(new.len() / 2);
            if old.take().is_some() {
                *old_missing = Some("left out".to_owned());
            }
            new.clear();
            (*bytes, *old_crc32, *new_crc32) = (Some(len), None, None);
            self.lacks.writes += 1;
        }
    }
}

/// Returns a text whose absolute paths are names of files, and their number. Devices keep their
/// paths.
pub fn without_folders(text: &str) -> (String, u64) {
    let (mut without, mut count) = (String::with_capacity(text.len()), 0);
    let ends = |c: char| c.is_whitespace() || "\"'`<>()[]{},;=:|\\".contains(c);
    for part in text.split_inclusive(ends) {
        let path = part.trim_end_matches(ends);
        let folders = path.strip_prefix('/').filter(|rest| !rest.starts_with('/'));
        let name = folders.and_then(|rest| Some(rest.rsplit_once('/')?.1));
        match name.filter(|_| !path.starts_with("/dev/")) {
            Some(name) => {
                without.push_str(name);
                without.push_str(&part[path.len()..]);
                count += 1;
            }
            None => without.push_str(part),
        }
    }
    (without, count)
}
