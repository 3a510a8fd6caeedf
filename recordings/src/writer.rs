//! Writes moments of a target to a file, in chunks of a second and ten moments, or of five seconds:
//! what a chunk holds is complete on disk before the next begins.

use crate::encoder::{Encoded, Encoder};
use crate::error::RecordingError;
use crate::format::{
    COMPRESSED, Channel, ELF_MEDIA_TYPE, Entry, FORMAT, INDEX, Index, KEY, MomentRecord, NOTES,
    PROFILE, RUN, SCHEMA_ENCODING, SESSION, SessionRecord, channels,
};
use machine::history::Mark;
use machine::notes::Note;
use machine::past::RecordedRun;
use machine::snapshot::Snapshot;
use machine::target::Target;
use mcap::records::{MessageHeader, Metadata, op};
use mcap::{Attachment, McapError, WriteOptions};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, ErrorKind};
use std::path::{Path, PathBuf};

/// The level of compression: smaller files than zstd's usual level 3, at tens of megabytes per second.
const LEVEL: u32 = 9;

/// zstd's usual level, for what is attached.
const USUAL_LEVEL: i32 = 0;
/// Bytes of a message before its data: channel, number, two times.
const MESSAGE_HEAD: u64 = 22;

/// The level of a run, which is compressed once: half a second for the most bytes.
const RUN_LEVEL: i32 = 19;
/// Bytes of a run beyond which its level is lower: a third larger, at ten times the speed.
const LONG_RUN: usize = 8 << 20;
/// The level of a run of more bytes.
const LONG_RUN_LEVEL: i32 = 12;

type Mcap = mcap::Writer<BufWriter<File>>;

/// A recording in progress.
pub struct Writer {
    path: PathBuf,
    mcap: Mcap,
    session: BTreeMap<String, String>,
    encoder: Encoder,
    entries: Vec<Entry>,
    /// Chunks that are complete.
    chunks: usize,
    /// Whether messages were written since.
    open: bool,
    /// The number of the first moment, from which the file counts.
    first: Option<u32>,
    /// The messages of the first moment, until they are written once more.
    key: Vec<u8>,
    marks: Vec<Mark>,
    notes: Vec<Note>,
}

impl Writer {
    /// Starts a recording of `target` in a new file. `asked` says what was asked for, in words, and is
    /// kept.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn create(path: &Path, target: &dyn Target, asked: &str) -> Result<Self, RecordingError> {
        let session = SessionRecord {
            made_by: env!("CARGO_PKG_VERSION").into(),
            format: FORMAT,
            target: target.name().into(),
            mesh: target.mesh().clone(),
            abilities: target.abilities().clone(),
            asked: asked.into(),
        };
        Self::create_with(path, session)
    }

    /// Starts a recording of a session in a new file.
    pub(crate) fn create_with(path: &Path, session: SessionRecord) -> Result<Self, RecordingError> {
        let file = files::create(path).map_err(RecordingError::Unusable)?;
        let chips: Vec<_> = session.mesh.chips.iter().map(|chip| chip.id).collect();
        let session = SessionRecord { format: FORMAT, ..session };
        let failed = |what: String| RecordingError::Write { path: path.into(), what };
        let session = session.to_record().map_err(|error| failed(error.to_string()))?;
        let chips = channels(chips.into_iter());
        let mcap = begin(file, session.clone(), chips).map_err(|e| failed(words(&e)))?;
        Ok(Self {
            path: path.into(),
            mcap,
            session,
            encoder: Encoder::default(),
            entries: Vec::new(),
            // That of the channels.
            chunks: 1,
            open: false,
            first: None,
            key: Vec::new(),
            marks: Vec::new(),
            notes: Vec::new(),
        })
    }

    /// Attaches an ELF image under a name, so that the recording can be decoded on any host.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn attach_elf(&mut self, name: &str, bytes: &[u8]) -> Result<(), RecordingError> {
        self.attach(name, bytes, USUAL_LEVEL)
    }

    /// Attaches the run of an emulated mesh from its start, so that it can be executed again.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn attach_run(&mut self, run: &RecordedRun) -> Result<(), RecordingError> {
        let run = rmp_serde::to_vec_named(run).map_err(|error| self.failed(error.to_string()))?;
        let level = if run.len() <= LONG_RUN { RUN_LEVEL } else { LONG_RUN_LEVEL };
        self.attach(RUN, &run, level)
    }

    /// Appends a moment. Its time is that of its newest piece; without pieces, that of the moment
    /// before.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn append(&mut self, snapshot: &Snapshot) -> Result<(), RecordingError> {
        self.encode(snapshot, false)
    }

    /// Appends a moment of which only a part was read; the rest is as the moment before has it.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn append_partial(&mut self, snapshot: &Snapshot) -> Result<(), RecordingError> {
        self.encode(snapshot, true)
    }

    fn encode(&mut self, snapshot: &Snapshot, partial: bool) -> Result<(), RecordingError> {
        let encoded = self.encoder.encode(snapshot, partial);
        let encoded = encoded.map_err(|error| self.failed(error.to_string()))?;
        self.write(&encoded)
    }

    /// Marks the moment before with words, and with the condition that a verdict found.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn mark(&mut self, mark: Mark) -> Result<(), RecordingError> {
        let times = (mark.target_cycles, mark.host_micros);
        self.message(Channel::Marks, self.marks.len() as u32, times, &json(&mark))?;
        self.marks.push(mark);
        Ok(())
    }

    /// Keeps a note.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn note(&mut self, note: &Note) -> Result<(), RecordingError> {
        let (channel, cycles, message) = match note {
            Note::Command(command) => (Channel::Commands, command.target_cycles, json(command)),
            Note::Audit(line) => (Channel::Audit, self.times().0, json(line)),
            Note::Status(status) => (Channel::Status, self.times().0, json(status)),
        };
        let number = self.notes.len() as u32;
        self.message(channel, number, (cycles, note.host_micros()), &message)?;
        self.notes.push(note.clone());
        Ok(())
    }

    /// Returns the number of moments appended.
    pub fn moments(&self) -> u32 {
        self.entries.len() as u32
    }

    /// Returns the times of the newest moment: target, in device cycles, and host, in microseconds
    /// since the Unix epoch.
    pub fn times(&self) -> (u64, u64) {
        self.entries.last().map_or((0, 0), |entry| (entry.target_cycles, entry.host_micros))
    }

    /// Returns the time from the first moment to the newest, in device cycles.
    pub fn over_cycles(&self) -> u64 {
        let time = |entry: Option<&Entry>| entry.map_or(0, |entry| entry.target_cycles);
        time(self.entries.last()).saturating_sub(time(self.entries.first()))
    }

    /// Writes the index and closes the file.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn finish(mut self) -> Result<(), RecordingError> {
        self.write_key()?;
        if !self.notes.is_empty() {
            let notes = json(&std::mem::take(&mut self.notes));
            self.attach(NOTES, &notes, USUAL_LEVEL)?;
        }
        let marks = std::mem::take(&mut self.marks);
        let index = rmp_serde::to_vec_named(&Index::new(&self.entries, marks));
        let index = index.map_err(|error| self.failed(error.to_string()))?;
        self.attach(INDEX, &index, USUAL_LEVEL)?;
        let session = std::mem::take(&mut self.session);
        let again = Metadata { name: SESSION.into(), metadata: session };
        let done = self.mcap.write_metadata(&again).and_then(|()| self.mcap.finish());
        done.map(|_| ()).map_err(|error| self.failed(words(&error)))
    }

    /// Continues the moments of a flight recorder.
    pub(crate) fn go_on_with(&mut self, encoder: Encoder) {
        self.encoder = encoder;
    }

    /// Writes a moment that was encoded.
    pub(crate) fn write(&mut self, moment: &Encoded) -> Result<(), RecordingError> {
        if moment.begins_chunk {
            self.write_key()?;
            self.flush()?;
        }
        let is_first = self.first.is_none();
        let first = *self.first.get_or_insert(moment.number);
        let number = moment.number - first;
        let key_moment = moment.record.key_moment.saturating_sub(first);
        let record = &MomentRecord { key_moment, ..moment.record.clone() };
        let times = (record.target_cycles, record.host_micros);
        for (chip, message) in &moment.chips {
            self.message(Channel::Chip(*chip), number, times, message)?;
        }
        self.message(Channel::Moments, number, times, &json(record))?;
        if is_first {
            let chips = moment.chips.iter().map(|(chip, it)| (Channel::Chip(*chip), it.clone()));
            let messages = chips.chain([(Channel::Moments, json(record))]);
            self.key =
                messages.flat_map(|(channel, it)| message(channel, number, times, &it)).collect();
        }
        self.entries.push(Entry {
            number,
            target_cycles: record.target_cycles,
            host_micros: record.host_micros,
            chunk: self.chunks,
            key_moment,
            changed_bytes: record.changed_bytes.iter().map(|(chip, n)| (*chip, *n)).collect(),
            partial: record.partial,
        });
        Ok(())
    }

    fn message(
        &mut self,
        channel: Channel,
        sequence: u32,
        (target_cycles, host_micros): (u64, u64),
        data: &[u8],
    ) -> Result<(), RecordingError> {
        let header = MessageHeader {
            channel_id: channel.ids().0,
            sequence,
            log_time: nanos(host_micros),
            publish_time: target_cycles,
        };
        self.open = true;
        let written = self.mcap.write_to_known_channel(&header, data);
        written.map_err(|error| self.failed(words(&error)))
    }

    /// Writes the first moment once more, behind its chunk.
    fn write_key(&mut self) -> Result<(), RecordingError> {
        match std::mem::take(&mut self.key) {
            key if key.is_empty() => Ok(()),
            key => self.attach(KEY, &key, LEVEL as i32),
        }
    }

    /// Attaches bytes, compressed.
    fn attach(&mut self, name: &str, bytes: &[u8], level: i32) -> Result<(), RecordingError> {
        let data = zstd::bulk::compress(bytes, level)
            .map_err(|error| RecordingError::Io { path: self.path.clone(), error })?;
        // An attachment stands between two chunks.
        self.flush()?;
        self.encoder.end_chunk();
        let log_time = nanos(self.entries.last().map_or(0, |entry| entry.host_micros));
        let (name, media_type) = (format!("{name}{COMPRESSED}"), ELF_MEDIA_TYPE.into());
        let data = Cow::Owned(data);
        let attachment = Attachment { log_time, create_time: 0, name, media_type, data };
        let done = self.mcap.attach(&attachment);
        done.map_err(|error| self.failed(words(&error)))
    }

    /// Ends the chunk, with its checksum: what was appended survives a crash of this process.
    fn flush(&mut self) -> Result<(), RecordingError> {
        self.chunks += usize::from(std::mem::take(&mut self.open));
        self.mcap.flush().map_err(|error| self.failed(words(&error)))
    }

    fn failed(&self, what: String) -> RecordingError {
        RecordingError::Write { path: self.path.clone(), what }
    }
}

fn begin(
    file: File,
    session: BTreeMap<String, String>,
    channels: impl Iterator<Item = Channel>,
) -> mcap::McapResult<Mcap> {
    // The thread of the target compresses: other threads would cost more than they save.
    let options = WriteOptions::new()
        .profile(PROFILE)
        .chunk_size(None)
        .compression_level(LEVEL)
        .compression_threads(0);
    let mut mcap = options.create(BufWriter::new(file))?;
    mcap.write_metadata(&Metadata { name: SESSION.into(), metadata: session })?;
    for channel in channels {
        let ((id, schema_id), (name, schema)) = (channel.ids(), channel.schema());
        mcap.add_schema_with_id(schema_id, name, SCHEMA_ENCODING, schema.as_bytes())?;
        let (topic, encoding) = (channel.topic(), channel.encoding());
        mcap.add_channel_with_id(id, schema_id, &topic, encoding, &BTreeMap::new())?;
    }
    mcap.flush()?;
    Ok(mcap)
}

/// Returns a message as it stands in a chunk.
fn message(channel: Channel, number: u32, times: (u64, u64), data: &[u8]) -> Vec<u8> {
    let (target_cycles, host_micros) = times;
    let mut record = vec![op::MESSAGE];
    record.extend((MESSAGE_HEAD + data.len() as u64).to_le_bytes());
    record.extend(channel.ids().0.to_le_bytes());
    record.extend(number.to_le_bytes());
    record.extend(nanos(host_micros).to_le_bytes());
    record.extend(target_cycles.to_le_bytes());
    record.extend_from_slice(data);
    record
}

/// Our own types have text keys and finite numbers, which always become JSON.
fn json(value: &impl serde::Serialize) -> Vec<u8> {
    serde_json::to_vec(value).unwrap_or_default()
}

/// Returns the words of an error; a full disk is named as such.
fn words(error: &McapError) -> String {
    match error {
        McapError::Io(io) if io.kind() == ErrorKind::StorageFull => {
            "the disk is full; the moments before are kept".into()
        }
        McapError::Io(io) => format!("{io}; the moments before are kept"),
        other => other.to_string(),
    }
}

fn nanos(micros: u64) -> u64 {
    micros.saturating_mul(1000)
}
