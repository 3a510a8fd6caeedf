//! The meaning of `eth_channel_sync_t` at both ends of a link (tt-metal.md 3.2).

use crate::state::{ChannelMeaning, ChannelState};
use images::ChannelSync;
use layouts::ChipLayout;

/// Decodes the words of one end; the meaning is that of this end alone. None if they are not
/// channel words: no end sends more bytes than L1 has.
pub(super) fn decode(layout: &ChipLayout, index: u8, words: ChannelSync) -> Option<ChannelState> {
    let ChannelSync { bytes_sent, receiver_ack, src_id } = words;
    if u64::from(bytes_sent) > layout.eth.l1_bytes {
        return None;
    }
    let alone = FlowWords { bytes_sent, receiver_ack };
    Some(ChannelState { index, bytes_sent, receiver_ack, src_id, meaning: meaning(alone, None) })
}

/// The two flow-control words of an end.
#[derive(Clone, Copy, Debug)]
pub(super) struct FlowWords {
    pub(super) bytes_sent: u32,
    pub(super) receiver_ack: u32,
}

impl From<&ChannelState> for FlowWords {
    fn from(channel: &ChannelState) -> Self {
        Self { bytes_sent: channel.bytes_sent, receiver_ack: channel.receiver_ack }
    }
}

/// Returns the meaning of both ends' words. The sender's count is cleared last; while both counts
/// are set, the acknowledge is at the sender. Thus the table needs no direction.
pub(super) fn meaning(one: FlowWords, other: Option<FlowWords>) -> ChannelMeaning {
    let Some(other) = other else {
        return match (one.bytes_sent, one.receiver_ack) {
            (0, _) => ChannelMeaning::Idle,
            (_, 0) => ChannelMeaning::SentUnacknowledged,
            _ => ChannelMeaning::AcknowledgedNotDone,
        };
    };
    let acknowledged = |words: FlowWords| words.bytes_sent != 0 && words.receiver_ack != 0;
    match (one.bytes_sent != 0, other.bytes_sent != 0) {
        (false, false) => ChannelMeaning::Idle,
        (true, true) if acknowledged(one) || acknowledged(other) => {
            ChannelMeaning::AcknowledgedNotDone
        }
        (true, true) => ChannelMeaning::ArrivedUnserviced,
        _ if acknowledged(one) || acknowledged(other) => ChannelMeaning::CompletionUnderway,
        _ => ChannelMeaning::SentUnacknowledged,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(bytes_sent: u32, receiver_ack: u32) -> FlowWords {
        FlowWords { bytes_sent, receiver_ack }
    }

    #[test]
    fn the_table_of_the_reference_from_either_side() {
        use ChannelMeaning::{
            AcknowledgedNotDone, ArrivedUnserviced, CompletionUnderway, Idle, SentUnacknowledged,
        };
        let table = [
            (words(0, 0), words(0, 0), Idle),
            (words(64, 0), words(0, 0), SentUnacknowledged),
            (words(64, 0), words(64, 0), ArrivedUnserviced),
            (words(64, 1), words(64, 0), AcknowledgedNotDone),
            (words(64, 1), words(0, 0), CompletionUnderway),
        ];
        for (sender, receiver, expected) in table {
            assert_eq!(meaning(sender, Some(receiver)), expected);
            assert_eq!(meaning(receiver, Some(sender)), expected);
        }
        assert_eq!(meaning(words(64, 0), None), SentUnacknowledged);
        assert_eq!(meaning(words(64, 1), None), AcknowledgedNotDone);
    }
}
