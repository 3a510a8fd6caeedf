//! What was done and reported while a target was watched. Recordings keep these types: new fields need
//! a default.

use layouts::{ChipId, EthId, NocAddr, NocXy};
use serde::{Deserialize, Serialize};
use std::fmt;

/// A command, a line of the audit log, or a message of a status queue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, strum::IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
#[serde(rename_all = "lowercase")]
pub enum Note {
    /// A command that was given.
    Command(Command),
    /// A line of the audit log.
    Audit(AuditLine),
    /// A message of a router's status queue.
    Status(StatusMessage),
}

/// A command that changed the mesh.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Command {
    /// The target's own time, in device cycles.
    pub target_cycles: u64,
    /// Host time, in microseconds since the Unix epoch.
    pub host_micros: u64,
    /// The command's words.
    pub text: String,
}

/// A line of the audit log. Bytes are hexadecimal, in the order of memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum AuditLine {
    /// The line that begins a command.
    Begins {
        /// Host time, in microseconds since the Unix epoch.
        time_micros: u64,
        /// The process.
        pid: u32,
        /// Who gave it; none if the line before says so.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        user: Option<String>,
        /// The words that opened the target; none if a line before says so.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        target: Option<String>,
        /// The command.
        command: String,
    },
    /// A write, before it is made.
    Write {
        /// Host time, in microseconds since the Unix epoch.
        time_micros: u64,
        /// The process.
        pid: u32,
        /// Where it begins.
        #[serde(flatten)]
        place: WrittenPlace,
        /// The first bytes before; none if they are unknown.
        old: Option<String>,
        /// Why they are unknown.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        old_missing: Option<String>,
        /// The first bytes that are written.
        new: String,
        /// Number of bytes, if not all are in the line.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        bytes: Option<usize>,
        /// CRC-32 of all bytes before, if not all are in the line.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        old_crc32: Option<u32>,
        /// CRC-32 of all bytes that are written, if not all are in the line.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        new_crc32: Option<u32>,
    },
    /// The second line of a write that failed.
    Failed {
        /// Host time, in microseconds since the Unix epoch.
        time_micros: u64,
        /// The process.
        pid: u32,
        /// Where it begins.
        #[serde(flatten)]
        place: WrittenPlace,
        /// Why it failed.
        failed: String,
    },
}

/// Where a write begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WrittenPlace {
    /// The chip.
    pub chip: u16,
    /// NOC 0 x and y of the tile.
    pub tile: [u8; 2],
    /// Byte offset in the tile.
    pub addr: u64,
}

/// A message of a router's status queue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatusMessage {
    /// Host time at which it was read, in microseconds since the Unix epoch.
    pub host_micros: u64,
    /// The router's chip.
    pub chip: u16,
    /// The router's Ethernet channel.
    pub channel: u8,
    /// Number of the fabric's bring-up.
    pub run_id: u32,
    /// Number of the entry, counted by the router from 0.
    pub number: u32,
    /// Wall clock of the router's chip when it wrote the entry, in cycles.
    pub wall_clock_cycles: u64,
    /// Name of the event.
    pub event: String,
    /// Details of the event.
    pub detail: [u32; 4],
    /// The details in words.
    pub text: String,
}

impl Note {
    /// Returns its host time, in microseconds since the Unix epoch.
    pub fn host_micros(&self) -> u64 {
        match self {
            Self::Command(command) => command.host_micros,
            Self::Audit(line) => line.time_micros(),
            Self::Status(message) => message.host_micros,
        }
    }

    /// Returns about how much memory it takes, in bytes.
    pub fn memory_bytes(&self) -> usize {
        std::mem::size_of::<Self>()
            + match self {
                Self::Command(command) => command.text.len(),
                Self::Audit(AuditLine::Begins { command, .. }) => command.len(),
                Self::Audit(AuditLine::Write { old, new, .. }) => {
                    new.len() + old.as_ref().map_or(0, String::len)
                }
                Self::Audit(AuditLine::Failed { failed, .. }) => failed.len(),
                Self::Status(message) => message.event.len() + message.text.len(),
            }
    }

    /// What kind of note it is, in one word.
    pub fn kind(&self) -> &'static str {
        self.into()
    }
}

impl AuditLine {
    /// Returns its host time, in microseconds since the Unix epoch.
    pub fn time_micros(&self) -> u64 {
        let (Self::Begins { time_micros, .. }
        | Self::Write { time_micros, .. }
        | Self::Failed { time_micros, .. }) = self;
        *time_micros
    }
}

impl From<NocAddr> for WrittenPlace {
    fn from(addr: NocAddr) -> Self {
        let NocAddr { chip, tile, offset } = addr;
        Self { chip: chip.0, tile: [tile.x, tile.y], addr: offset }
    }
}

impl From<WrittenPlace> for NocAddr {
    fn from(place: WrittenPlace) -> Self {
        let [x, y] = place.tile;
        Self { chip: ChipId(place.chip), tile: NocXy { x, y }, offset: place.addr }
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Command(command) => f.write_str(&command.text),
            Self::Audit(line) => line.fmt(f),
            Self::Status(message) => {
                let StatusMessage { chip, channel, number, event, text, .. } = message;
                let router = EthId { chip: ChipId(*chip), channel: *channel };
                write!(f, "{router} #{number} {event} {text}")
            }
        }
    }
}

impl fmt::Display for AuditLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        /// Digits of the bytes that are shown.
        const SHOWN: usize = 16;
        let place = |place: &WrittenPlace| NocAddr::from(*place);
        match self {
            Self::Begins { command, .. } => f.write_str(command),
            Self::Write { place: at, new, bytes, .. } => {
                let bytes = bytes.unwrap_or(new.len() / 2);
                let shown = new.get(..SHOWN).unwrap_or(new);
                let more = if bytes * 2 > shown.len() { "..." } else { "" };
                write!(f, "write {} B at {}: {shown}{more}", bytes, place(at))
            }
            Self::Failed { place: at, failed, .. } => {
                write!(f, "the write at {} failed: {failed}", place(at))
            }
        }
    }
}
