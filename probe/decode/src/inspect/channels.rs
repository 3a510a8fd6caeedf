//! The meaning of `eth_channel_sync_t` at both ends of a link (tt-metal.md 3.2).

use super::Inspection;
use crate::state::{ChannelMeaning, ChannelState};
use images::ChannelSync;
use layouts::{CoreId, CoreKind, EthId};

impl Inspection<'_> {
    /// Returns the application's channels.
    pub(super) fn channels(&self, id: CoreId) -> Vec<ChannelState> {
        let own = self.channel_words(id);
        let channel = self.layout().tile_at(id.tile).and_then(|tile| tile.channel);
        let end = channel.map(|channel| EthId { chip: id.chip, channel });
        let peer =
            end.filter(|_| !own.is_empty()).and_then(|end| super::fabric::peer(self.mesh, end));
        let peer = peer.map_or_else(Vec::new, |end| self.words_at(end));
        let state = |&(index, words): &(u8, ChannelSync)| {
            let ChannelSync { bytes_sent, receiver_ack, src_id } = words;
            let meaning = meaning(words, of(&peer, index));
            ChannelState { index, bytes_sent, receiver_ack, src_id, meaning }
        };
        own.iter().map(state).collect()
    }

    /// Returns the channel words of a link's end.
    pub(super) fn words_at(&self, end: EthId) -> Vec<(u8, ChannelSync)> {
        self.erisc(end).map_or_else(Vec::new, |core| self.channel_words(core))
    }

    /// Returns the words of the application's channels, the live ones of a running kernel. After a
    /// kernel has ended, other data can be at their addresses.
    fn channel_words(&self, id: CoreId) -> Vec<(u8, ChannelSync)> {
        if id.core != CoreKind::Erisc {
            return Vec::new();
        }
        let mailbox = self.mailbox(id);
        let Some(channels) = mailbox.and_then(|(mailbox, _)| mailbox.channels.as_ref()) else {
            return Vec::new();
        };
        let places = if self.has_go(id) { self.images.channel_places(id) } else { &[] };
        let read = |at: u64| {
            self.snapshot.bytes(Self::at(id.chip, id.tile, at), channels.bytes as u32).ok()
        };
        let decoded = |index: u8| {
            // The live words, if the kernel's table has their address and they were read.
            let live = places.get(usize::from(index)).and_then(|(_, live)| read((*live)?));
            let bytes = live.or_else(|| read(channels.of(index.into())))?;
            // Other words are of no channel: no end sends more bytes than L1 has.
            let most = self.layout().eth.l1_bytes;
            let words = channels.read(bytes).filter(|it| u64::from(it.bytes_sent) <= most)?;
            Some((index, words))
        };
        (0..u8::try_from(channels.count).unwrap_or(u8::MAX)).filter_map(decoded).collect()
    }
}

/// Returns the words of a channel.
pub(super) fn of(words: &[(u8, ChannelSync)], index: u8) -> Option<ChannelSync> {
    words.iter().find(|(at, _)| *at == index).map(|(_, words)| *words)
}

/// Returns the meaning of both ends' words. The sender's count is cleared last; while both counts
/// are set, the acknowledge is at the sender. Thus the table needs no direction.
fn meaning(one: ChannelSync, other: Option<ChannelSync>) -> ChannelMeaning {
    let Some(other) = other else {
        return match (one.bytes_sent, one.receiver_ack) {
            (0, _) => ChannelMeaning::Idle,
            (_, 0) => ChannelMeaning::SentUnacknowledged,
            _ => ChannelMeaning::AcknowledgedNotDone,
        };
    };
    let acknowledged = |words: ChannelSync| words.bytes_sent != 0 && words.receiver_ack != 0;
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

    fn words(bytes_sent: u32, receiver_ack: u32) -> ChannelSync {
        ChannelSync { bytes_sent, receiver_ack, src_id: 0 }
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
