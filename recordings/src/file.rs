//! Reads the undamaged part of a recording's file.

use crate::error::RecordingError;
use crate::format::{FORMAT, MOMENTS, Moment, PROFILE, SESSION, SessionRecord};
use mcap::records::{Record, op};
use mcap::sans_io::linear_reader::{LinearReadEvent, LinearReader, LinearReaderOptions};
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

/// A file attached to a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attachment {
    /// The name of the attachment.
    pub name: String,
    /// Its content.
    pub bytes: Arc<[u8]>,
}

/// The undamaged contents of a file.
#[derive(Debug)]
pub(crate) struct Contents {
    pub(crate) session: SessionRecord,
    pub(crate) moments: Vec<Moment>,
    pub(crate) attachments: Vec<Attachment>,
    /// Messages about the damaged parts.
    pub(crate) problems: Vec<String>,
}

/// The contents read so far. In an undamaged file the session comes first, but the order does not
/// matter.
#[derive(Default)]
struct Gathered {
    session: Option<SessionRecord>,
    channel: Option<u16>,
    moments: Vec<Moment>,
    attachments: Vec<Attachment>,
    problems: Vec<String>,
}

/// Why reading stops.
enum Stop {
    /// The whole file is refused.
    Refuse(RecordingError),
    /// The contents before this point are good.
    Truncated(String),
}

pub(crate) fn read(path: &Path) -> Result<Contents, RecordingError> {
    let bytes = files::read(path, files::Kind::RECORDING).map_err(RecordingError::Unusable)?;
    if !bytes.starts_with(mcap::MAGIC) {
        let found = if bytes.is_empty() { "empty file" } else { "not an MCAP file" };
        return Err(RecordingError::NotARecording { path: path.into(), found: found.into() });
    }
    let mut gathered = Gathered::default();
    let cut = match gather(path, &bytes, &mut gathered) {
        Ok(()) => None,
        Err(Stop::Truncated(reason)) => Some(reason),
        Err(Stop::Refuse(error)) => return Err(error),
    };
    let Gathered { session, moments, attachments, mut problems, .. } = gathered;
    let (Some(session), false) = (session, moments.is_empty()) else {
        let what = cut.unwrap_or_else(|| "it contains no moment".into());
        return Err(RecordingError::Damaged { path: path.into(), what });
    };
    if let Some(reason) = cut {
        problems.push(format!("only the first {} moments are readable ({reason})", moments.len()));
    }
    Ok(Contents { session, moments, attachments, problems })
}

fn gather(path: &Path, bytes: &[u8], gathered: &mut Gathered) -> Result<(), Stop> {
    // Each chunk contains one moment, and is checked as a whole. No length may exceed the file.
    let options = LinearReaderOptions::default()
        .with_prevalidate_chunk_crcs(true)
        .with_record_length_limit(bytes.len());
    let mut reader = LinearReader::new_with_options(options);
    let mut rest = bytes;
    while let Some(event) = reader.next_event() {
        match event.map_err(|error| Stop::Truncated(error.to_string()))? {
            LinearReadEvent::ReadRequest(need) => {
                let want = need.min(rest.len());
                let got = rest
                    .read(reader.insert(want))
                    .map_err(|error| Stop::Truncated(error.to_string()))?;
                reader.notify_read(got);
            }
            LinearReadEvent::Record { opcode, data } => gathered.take(path, opcode, data)?,
        }
    }
    Ok(())
}

impl Gathered {
    fn take(&mut self, path: &Path, opcode: u8, data: &[u8]) -> Result<(), Stop> {
        let wanted = [op::HEADER, op::METADATA, op::CHANNEL, op::MESSAGE, op::ATTACHMENT];
        if !wanted.contains(&opcode) {
            return Ok(());
        }
        if opcode == op::ATTACHMENT {
            self.take_attachment(data);
            return Ok(());
        }
        match mcap::parse_record(opcode, data)
            .map_err(|error| Stop::Truncated(error.to_string()))?
        {
            Record::Header(header) => check_profile(path, &header.profile),
            Record::Metadata(record) if record.name == SESSION && self.session.is_none() => {
                self.session = Some(checked_session(path, &record.metadata)?);
                Ok(())
            }
            Record::Channel(channel) if channel.topic == MOMENTS => {
                self.channel = Some(channel.id);
                Ok(())
            }
            Record::Message { header, data } if Some(header.channel_id) == self.channel => {
                let moment = rmp_serde::from_slice(&data);
                self.moments.push(
                    moment.map_err(|error| Stop::Truncated(format!("damaged moment: {error}")))?,
                );
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// The record's end is known, so a damaged attachment costs only itself.
    fn take_attachment(&mut self, data: &[u8]) {
        let record = attachment_is_whole(data).then(|| mcap::parse_record(op::ATTACHMENT, data));
        match record {
            Some(Ok(Record::Attachment { header, data, .. })) => {
                self.attachments
                    .push(Attachment { name: header.name, bytes: data.as_ref().into() });
            }
            _ => self.problems.push("a damaged attachment was skipped".into()),
        }
    }
}

fn check_profile(path: &Path, profile: &str) -> Result<(), Stop> {
    if profile == PROFILE {
        return Ok(());
    }
    let found = format!("an MCAP file with profile {profile:?}");
    Err(Stop::Refuse(RecordingError::NotARecording { path: path.into(), found }))
}

fn checked_session(
    path: &Path,
    record: &std::collections::BTreeMap<String, String>,
) -> Result<SessionRecord, Stop> {
    if let Some((format, made_by)) = SessionRecord::version(record)
        && format > FORMAT
    {
        let (path, made_by) = (path.into(), made_by.into());
        return Err(Stop::Refuse(RecordingError::Newer { path, format, known: FORMAT, made_by }));
    }
    SessionRecord::from_record(record).map_err(Stop::Truncated)
}

/// Whether the lengths in an attachment record fit into it, which its parser does not check.
fn attachment_is_whole(data: &[u8]) -> bool {
    let word = |at: usize| {
        let bytes = data.get(at..at.checked_add(4)?)?;
        Some(u32::from_le_bytes(bytes.try_into().ok()?) as usize)
    };
    // Two times of 8 bytes, two texts with a length, the 8-byte length of the data, the data, and a
    // checksum of 4 bytes.
    let fixed_end = || {
        let media = 16_usize.checked_add(4)?.checked_add(word(16)?)?;
        media.checked_add(4)?.checked_add(word(media)?)?.checked_add(8 + 4)
    };
    fixed_end().is_some_and(|end| end <= data.len())
}
