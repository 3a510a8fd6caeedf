//! Writes moments of a target to a file, each complete on disk before the next.

use crate::error::RecordingError;
use crate::format::{
    ELF_MEDIA_TYPE, ENCODING, FORMAT, MOMENTS, Moment, PROFILE, SESSION, SessionRecord,
};
use machine::snapshot::Snapshot;
use machine::target::Target;
use mcap::records::{MessageHeader, Metadata};
use mcap::{Attachment, WriteOptions};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

/// A recording in progress.
pub struct Writer {
    path: PathBuf,
    mcap: mcap::Writer<BufWriter<File>>,
    channel: u16,
    moments: u32,
    cycles: u64,
    host_micros: u64,
}

impl Writer {
    /// Starts a recording of `target`; replaces an existing file.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn create(path: &Path, target: &dyn Target) -> Result<Self, RecordingError> {
        let file =
            File::create(path).map_err(|error| RecordingError::Io { path: path.into(), error })?;
        let session = SessionRecord {
            made_by: env!("CARGO_PKG_VERSION").into(),
            format: FORMAT,
            target: target.name().into(),
            mesh: target.mesh().clone(),
            abilities: target.abilities().clone(),
        };
        let failed = |what: String| RecordingError::Write { path: path.into(), what };
        let record = session.to_record().map_err(|error| failed(error.to_string()))?;
        let (mcap, channel) = begin(file, record).map_err(|error| failed(error.to_string()))?;
        Ok(Self { path: path.into(), mcap, channel, moments: 0, cycles: 0, host_micros: 0 })
    }

    /// Attaches an ELF image under a name, so that the recording can be decoded on any host.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn attach_elf(&mut self, name: &str, bytes: &[u8]) -> Result<(), RecordingError> {
        let attachment = Attachment {
            log_time: nanos(self.host_micros),
            create_time: 0,
            name: name.into(),
            media_type: ELF_MEDIA_TYPE.into(),
            data: Cow::Borrowed(bytes),
        };
        let done = self.mcap.attach(&attachment).and_then(|()| self.mcap.flush());
        done.map_err(|error| self.failed(&error))
    }

    /// Appends a moment. Its time is that of its newest piece; without pieces, that of the moment
    /// before.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn append(&mut self, snapshot: &Snapshot) -> Result<(), RecordingError> {
        let newest =
            |time: fn(&machine::snapshot::Piece) -> u64| snapshot.pieces.iter().map(time).max();
        self.cycles = newest(|piece| piece.target_cycles).unwrap_or(self.cycles).max(self.cycles);
        self.host_micros = newest(|piece| piece.host_micros).unwrap_or(self.host_micros);
        let moment = Moment::new(snapshot, self.cycles);
        // Named keys: other tools can read the message, and new keys do not shift old ones.
        let bytes = rmp_serde::to_vec_named(&moment).map_err(|error| RecordingError::Write {
            path: self.path.clone(),
            what: error.to_string(),
        })?;
        let header = MessageHeader {
            channel_id: self.channel,
            sequence: self.moments,
            log_time: nanos(self.host_micros),
            publish_time: self.cycles,
        };
        // The flush ends a chunk, with its checksum: appended moments survive a crash of this
        // process.
        let written = self.mcap.write_to_known_channel(&header, &bytes);
        written.and_then(|()| self.mcap.flush()).map_err(|error| self.failed(&error))?;
        self.moments += 1;
        Ok(())
    }

    /// Returns the number of moments appended.
    pub fn moments(&self) -> u32 {
        self.moments
    }

    /// Writes the index and closes the file.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn finish(mut self) -> Result<(), RecordingError> {
        self.mcap.finish().map(|_| ()).map_err(|error| self.failed(&error))
    }

    fn failed(&self, error: &mcap::McapError) -> RecordingError {
        RecordingError::Write { path: self.path.clone(), what: error.to_string() }
    }
}

fn begin(
    file: File,
    session: BTreeMap<String, String>,
) -> mcap::McapResult<(mcap::Writer<BufWriter<File>>, u16)> {
    let options = WriteOptions::new().compression(None).profile(PROFILE);
    let mut mcap = options.create(BufWriter::new(file))?;
    mcap.write_metadata(&Metadata { name: SESSION.into(), metadata: session })?;
    let channel = mcap.add_channel(0, MOMENTS, ENCODING, &BTreeMap::new())?;
    mcap.flush()?;
    Ok((mcap, channel))
}

fn nanos(micros: u64) -> u64 {
    micros.saturating_mul(1000)
}
