//! The channels of a recording, with their numbers, which are the same in every file of a format.

use super::{chip, moment, notes};
use layouts::ChipId;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Channel {
    /// The snapshots, without their bytes.
    Moments,
    /// The marks.
    Marks,
    /// The commands.
    Commands,
    /// The lines of the audit log.
    Audit,
    /// The messages of status queues.
    Status,
    /// The bytes of a chip.
    Chip(u16),
}

/// The number of chip 0's channel.
const CHIPS: u16 = 16;

impl Channel {
    /// Returns the number of its channel and of its schema in the file.
    pub(crate) fn ids(self) -> (u16, u16) {
        match self {
            Self::Moments => (1, 1),
            Self::Marks => (2, 2),
            Self::Commands => (3, 3),
            Self::Audit => (4, 5),
            Self::Status => (5, 6),
            Self::Chip(chip) => (CHIPS.saturating_add(chip), 4),
        }
    }

    /// Returns the channel of a number.
    pub(crate) fn of(id: u16) -> Option<Self> {
        match id {
            1 => Some(Self::Moments),
            2 => Some(Self::Marks),
            3 => Some(Self::Commands),
            4 => Some(Self::Audit),
            5 => Some(Self::Status),
            _ => id.checked_sub(CHIPS).map(Self::Chip),
        }
    }

    /// Whether its messages are notes.
    pub(crate) fn has_notes(self) -> bool {
        matches!(self, Self::Commands | Self::Audit | Self::Status)
    }

    pub(crate) fn topic(self) -> String {
        match self {
            Self::Moments => "/moments".into(),
            Self::Marks => "/marks".into(),
            Self::Commands => "/commands".into(),
            Self::Audit => "/audit".into(),
            Self::Status => "/status".into(),
            Self::Chip(chip) => format!("/chips/{chip}"),
        }
    }

    /// Returns the encoding of its messages, as MCAP's registry names it.
    pub(crate) fn encoding(self) -> &'static str {
        match self {
            Self::Chip(_) => "msgpack",
            _ => "json",
        }
    }

    /// Returns the name and the JSON schema of its messages.
    pub(crate) fn schema(self) -> (&'static str, &'static str) {
        match self {
            Self::Moments => ("meshscope.Moment", moment::SCHEMA),
            Self::Marks => ("meshscope.Mark", notes::MARK_SCHEMA),
            Self::Commands => ("meshscope.Command", notes::COMMAND_SCHEMA),
            Self::Audit => ("meshscope.AuditLine", notes::AUDIT_SCHEMA),
            Self::Status => ("meshscope.StatusMessage", notes::STATUS_SCHEMA),
            Self::Chip(_) => ("meshscope.Chip", chip::SCHEMA),
        }
    }
}

/// Returns the channels of a mesh with these chips.
pub(crate) fn channels(chips: impl Iterator<Item = ChipId>) -> impl Iterator<Item = Channel> {
    let of_chips = chips.map(|chip| Channel::Chip(chip.0));
    let notes = [Channel::Marks, Channel::Commands, Channel::Audit, Channel::Status];
    [Channel::Moments].into_iter().chain(notes).chain(of_chips)
}
