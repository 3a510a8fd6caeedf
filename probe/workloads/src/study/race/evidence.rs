//! What a race leaves to be seen: words that were taken for one's own, messages that were overwritten, kernels that wait for ever.

use layouts::EthId;
use std::fmt;

/// What a kernel took a word for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Took {
    /// The word of a handshake.
    Handshake,
    /// A message of its op.
    Message,
    /// The credit of a message of its op.
    Credit,
}

impl Took {
    /// By `link_race_wait_t`.
    pub(super) fn of(wait: u64) -> Option<Self> {
        match wait {
            1 => Some(Self::Handshake),
            2 => Some(Self::Message),
            3 => Some(Self::Credit),
            _ => None,
        }
    }

    /// In one word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Handshake => "handshake",
            Self::Message => "message",
            Self::Credit => "credit",
        }
    }
}

/// A sync word that was taken for one's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Misread {
    /// Whose kernel took it.
    pub end: EthId,
    /// The op of that kernel, 1 or 2.
    pub op: u64,
    /// Address of the sync word in the L1 of that tile.
    pub addr: u64,
    /// Its value: what the wait looked at.
    pub bytes_sent: u64,
    /// The op and the message, from 1, that it belongs to; message 0 is the handshake.
    pub of: (u64, u64),
    /// What it was taken for, and of which message.
    pub took: Took,
    /// See `took`.
    pub wanted: u64,
}

impl fmt::Display for Misread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { end, op, addr, bytes_sent, of: (from, number), took, wanted } = self;
        let whose = match number {
            0 => format!("the handshake of op {from}"),
            number => format!("message {number} of op {from}"),
        };
        let wanted = match took {
            Took::Handshake if *bytes_sent == 0 => "the answer to its handshake".to_owned(),
            Took::Handshake => "the handshake of its op".to_owned(),
            Took::Message => format!("message {wanted}"),
            Took::Credit => format!("the credit of message {wanted}"),
        };
        write!(
            f,
            "{end}: op {op} took the sync word at {addr:#x} (bytes_sent {bytes_sent}) for {wanted}; it is that of {whose}"
        )
    }
}

/// The first word of a message that was not what its sender had written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// Where it was read.
    pub end: EthId,
    /// The op that read it, 1 or 2.
    pub op: u64,
    /// Its address in the L1 of that tile.
    pub addr: u64,
    /// What the sender of this op wrote.
    pub expected: u32,
    /// What stood there.
    pub found: u32,
}

impl Mismatch {
    /// The op whose sender writes such words, by `link_race_pattern`.
    pub fn written_by(&self) -> u32 {
        self.found >> 24
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { end, op, addr, expected, found } = self;
        write!(
            f,
            "{end}: op {op} read {found:#010x} at {addr:#x}, where {expected:#010x} was sent"
        )?;
        match self.written_by() {
            0 => Ok(()),
            writer => write!(f, ": op {writer} wrote it"),
        }
    }
}

/// A kernel that did not end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stuck {
    /// Where.
    pub end: EthId,
    /// Its op, 1 or 2.
    pub op: u64,
    /// What it waits for, where it says so.
    pub waits_for: Option<Took>,
    /// On which channel.
    pub channel: u64,
    /// Its sync word of that channel.
    pub addr: u64,
    /// The value of that.
    pub bytes_sent: u64,
}

impl fmt::Display for Stuck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { end, op, waits_for, channel, addr, bytes_sent } = self;
        let waits_for = waits_for.map_or("nothing that it tells", Took::name);
        write!(
            f,
            "{end}: op {op} waits for a {waits_for} of channel {channel} for ever: bytes_sent at {addr:#x} is {bytes_sent}"
        )
    }
}
