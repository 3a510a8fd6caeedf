//! Reads the undamaged parts of a recording's file.

mod attachment;
mod chunk;
mod gathered;
mod packed;
mod record;
mod source;
mod summary;
mod walk;

pub use attachment::Attachment;
pub(crate) use chunk::Chunk;

use crate::error::{Damage, RecordingError};
use crate::format::{Entry, FORMAT, KEY, NOTES, PROFILE, RUN, SessionRecord};
use chunk::note;
use gathered::Gathered;
use machine::history::Mark;
use machine::notes::Note;
use source::{Place, Source};
use std::collections::BTreeMap;
use std::path::Path;

/// Files up to this size are checked as a whole when they are opened.
const CHECKED_BYTES: u64 = 32 << 20;

/// An open file with what is known of its moments.
#[derive(Debug)]
pub(crate) struct Contents {
    pub(crate) session: SessionRecord,
    pub(crate) entries: Vec<Entry>,
    pub(crate) marks: Vec<Mark>,
    pub(crate) attachments: Vec<Attachment>,
    /// The run of an emulated mesh.
    pub(crate) run: Option<Attachment>,
    /// The first moment once more.
    key: Option<Chunk>,
    /// Messages about the damaged parts.
    pub(crate) problems: Vec<String>,
    source: Source,
    chunks: Vec<Place>,
    /// Those that have notes.
    noted: Vec<usize>,
    /// All notes of a finished file.
    notes: Option<Attachment>,
}

impl Contents {
    /// Returns the chunk of a moment, or the copy of the first one.
    pub(crate) fn chunk_of(&self, entry: &Entry) -> Result<Chunk, Damage> {
        let is_first = |chunk: &&Chunk| chunk.messages().any(|it| it.number == entry.number);
        let copy = || self.key.as_ref().filter(is_first).cloned();
        self.chunk(entry.chunk).or_else(|why| copy().ok_or(why))
    }

    fn chunk(&self, index: usize) -> Result<Chunk, Damage> {
        let place = self.chunks.get(index).ok_or(Damage::ChunkMissing)?;
        Chunk::read(&self.source, *place)
    }

    /// Reads the notes that are whole.
    pub(crate) fn notes(&self) -> Vec<Note> {
        let all = self.notes.as_ref().and_then(|all| serde_json::from_slice(&all.bytes).ok());
        if let Some(all) = all {
            return all;
        }
        let chunks = self.noted.iter().filter_map(|chunk| self.chunk(*chunk).ok());
        let notes = |chunk: Chunk| {
            chunk.messages().filter_map(|it| note(&it).ok().flatten()).collect::<Vec<_>>()
        };
        chunks.flat_map(notes).collect()
    }
}

/// Opens a recording. A large file that was finished is read only at its end.
///
/// # Errors
/// If it is not a recording, is newer than this version, or contains no readable moment.
pub(crate) fn open(path: &Path) -> Result<Contents, RecordingError> {
    let file = files::open(path, files::Kind::RECORDING).map_err(RecordingError::Unusable)?;
    let io = |error| RecordingError::Io { path: path.into(), error };
    let (source, cut) = packed::unpacked(Source::new(file).map_err(io)?).map_err(io)?;
    check_magic(path, &source.read(0, mcap::MAGIC.len() as u64).map_err(io)?)?;
    let finished = (source.len() > CHECKED_BYTES).then(|| summary::read(&source)).flatten();
    let gathered = match finished {
        Some(gathered) => gathered,
        None => match Gathered::by_walking(&source).map_err(io)? {
            // Moments that are like others cost little of a file, and much to be checked.
            walked if walked.has_too_much => summary::read(&source).unwrap_or(walked),
            walked => walked,
        },
    };
    let mut contents = contents(path, source, gathered)?;
    contents.problems.splice(0..0, cut);
    Ok(contents)
}

/// A damaged beginning is close to the right one.
fn check_magic(path: &Path, start: &[u8]) -> Result<(), RecordingError> {
    let right = start.iter().zip(mcap::MAGIC).filter(|(a, b)| **a == **b).count();
    if right + 1 >= mcap::MAGIC.len() {
        return Ok(());
    }
    let found = if start.is_empty() { "empty file" } else { "not an MCAP file" };
    Err(RecordingError::NotARecording { path: path.into(), found: found.into() })
}

fn contents(path: &Path, source: Source, gathered: Gathered) -> Result<Contents, RecordingError> {
    let session = match &gathered.session {
        Some(record) => checked_session(path, record)?,
        None => return Err(foreign(path, &gathered)),
    };
    let Gathered { entries, marks, mut attachments, problems, chunks, noted, .. } = gathered;
    if entries.is_empty() {
        let what = problems.first().cloned().unwrap_or_else(|| "it contains no moment".into());
        return Err(RecordingError::Damaged { path: path.into(), what });
    }
    let mut take = |name: &str| {
        let at = attachments.iter().rposition(|file| file.name == name)?;
        Some(attachments.remove(at))
    };
    let (run, notes) = (take(RUN), take(NOTES));
    let key = take(KEY).map(|file| Chunk::attached(&file.bytes));
    Ok(Contents {
        session,
        entries,
        marks,
        attachments,
        run,
        key,
        problems,
        source,
        chunks,
        noted,
        notes,
    })
}

/// Returns why a file without a session is no recording.
fn foreign(path: &Path, gathered: &Gathered) -> RecordingError {
    let path = path.to_path_buf();
    match &gathered.profile {
        Some(profile) if profile != PROFILE => {
            let found = format!("an MCAP file with profile {profile:?}");
            RecordingError::NotARecording { path, found }
        }
        _ => RecordingError::Damaged { path, what: "its session is not readable".into() },
    }
}

fn checked_session(
    path: &Path,
    record: &BTreeMap<String, String>,
) -> Result<SessionRecord, RecordingError> {
    if let Some((format, made_by)) = SessionRecord::version(record)
        && format > FORMAT
    {
        let (path, made_by) = (path.into(), made_by.into());
        return Err(RecordingError::Newer { path, format, known: FORMAT, made_by });
    }
    let damaged = |it: Damage| RecordingError::Damaged { path: path.into(), what: it.to_string() };
    SessionRecord::from_record(record).map_err(damaged)
}
