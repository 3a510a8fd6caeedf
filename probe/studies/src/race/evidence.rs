//! Evidence of a race: misread sync words, overwritten messages, and stuck kernels.

use layouts::EthId;
use std::fmt;

/// What a kernel waited for when it read a word.
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
    /// Decodes a `link_race_wait_t`.
    pub(super) fn of(wait: u64) -> Option<Self> {
        match wait {
            1 => Some(Self::Handshake),
            2 => Some(Self::Message),
            3 => Some(Self::Credit),
            _ => None,
        }
    }

    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Handshake => "handshake",
            Self::Message => "message",
            Self::Credit => "credit",
        }
    }
}

/// A sync word of another op that a kernel took for its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Misread {
    /// The end of the kernel.
    pub end: EthId,
    /// The op of the kernel, 1 or 2.
    pub op: u64,
    /// Address of the sync word in the L1 of the kernel's tile.
    pub addr: u64,
    /// Its value, by which the wait ended.
    pub bytes_sent: u64,
    /// The op and the message that the word belongs to. Messages count from 1; 0 is the handshake.
    pub of: (u64, u64),
    /// What the kernel took it for.
    pub took: Took,
    /// The number of the message that the kernel waited for.
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

/// The first wrong word of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// The end that read it.
    pub end: EthId,
    /// The op that read it, 1 or 2.
    pub op: u64,
    /// Its address in the L1 of the tile.
    pub addr: u64,
    /// The value that the sender of this op wrote.
    pub expected: u32,
    /// The value that was read.
    pub found: u32,
}

impl Mismatch {
    /// Returns the op whose sender writes such words, by `link_race_pattern`.
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
    /// The end of the kernel.
    pub end: EthId,
    /// Its op, 1 or 2.
    pub op: u64,
    /// What it waits for, if it reports it.
    pub waits_for: Option<Took>,
    /// The channel that it waits on.
    pub channel: u64,
    /// Address of the channel's sync word.
    pub addr: u64,
    /// The value of the sync word.
    pub bytes_sent: u64,
}

impl fmt::Display for Stuck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { end, op, waits_for, channel, addr, bytes_sent } = self;
        let waits_for = waits_for.map_or("word of unknown kind", Took::name);
        write!(
            f,
            "{end}: op {op} waits for a {waits_for} of channel {channel} for ever: bytes_sent at {addr:#x} is {bytes_sent}"
        )
    }
}
