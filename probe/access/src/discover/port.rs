//! The state that an Ethernet tile's firmware publishes about itself, its link and its peer
//! (wormhole.md 5.3).

use crate::eth_firmware::eth;
use layouts::ChipCoord;
use std::collections::BTreeMap;
use std::fmt;

/// Channels of a chip.
pub(super) const CHANNELS: u8 = 16;
/// Train status while training.
const TRAINING: u32 = 0;
/// Train status of a port that is not connected.
const NOT_CONNECTED: u32 = 3;

/// The state that an Ethernet tile's firmware publishes about itself and its peer.
#[derive(Clone, Debug, Default)]
pub(super) struct Port {
    /// Whether firmware has run: it has beaten once and published a version.
    pub(super) alive: bool,
    pub(super) routing_off: bool,
    pub(super) train: u32,
    pub(super) link_error: u32,
    pub(super) coord: PortPlace,
    pub(super) own_id: u64,
    pub(super) peer: Peer,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct PortPlace {
    pub(super) x: u8,
    pub(super) y: u8,
    pub(super) rack: u8,
    pub(super) shelf: u8,
}

impl From<PortPlace> for ChipCoord {
    fn from(c: PortPlace) -> Self {
        Self { x: c.x, y: c.y, rack: c.rack, shelf: c.shelf }
    }
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Peer {
    pub(super) id: u64,
    pub(super) channel: u8,
    pub(super) coord: PortPlace,
}

impl fmt::Display for PortPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { x, y, rack, shelf } = self;
        write!(f, "x {x} y {y}")?;
        if (*rack, *shelf) == (0, 0) { Ok(()) } else { write!(f, " rack {rack} shelf {shelf}") }
    }
}

/// Returns the pieces that show whether firmware has run.
pub(super) fn beat_pieces() -> [(u64, u32); 2] {
    let l1 = &eth().l1;
    [(l1.heartbeat.at, 4), (l1.firmware_version.at, 4)]
}

/// Returns the pieces that show whether a tile's link is training.
pub(super) fn training_pieces() -> [(u64, u32); 4] {
    let l1 = &eth().l1;
    let [heartbeat, version] = beat_pieces();
    [heartbeat, version, (l1.train_status.at, 4), (l1.link_error.at, 4)]
}

/// Returns the pieces of L1 of a near port, where a word costs next to nothing.
pub(super) fn near_pieces() -> [(u64, u32); 6] {
    let l1 = &eth().l1;
    let span = |first: u64, end: u64| (first, (end - first) as u32);
    [
        (l1.heartbeat.at, 4),
        (l1.firmware_version.at, 4),
        (l1.routing_disabled.at, 4),
        span(l1.train_status.at, l1.remote_rack.end()),
        (l1.link_error.at, 4),
        span(l1.local_board_id_low.at, l1.remote_channel.end()),
    ]
}

impl Port {
    /// Decodes a port; words that were not read count as 0.
    pub(super) fn decode(words: &PortWords) -> Self {
        let l1 = &eth().l1;
        let pair = |low: u64, high: u64| u64::from(words.at(high)) << 32 | u64::from(words.at(low));
        let (local, place, rack) = (
            words.at(l1.local_coord.at),
            words.at(l1.remote_coord.at),
            words.at(l1.remote_rack.at),
        );
        let heartbeat = words.at(l1.heartbeat.at);
        let version = words.at(l1.firmware_version.at);
        Self {
            alive: ![0, u32::MAX].contains(&heartbeat) && ![0, u32::MAX].contains(&version),
            routing_off: words.at(l1.routing_disabled.at) != 0,
            train: words.at(l1.train_status.at),
            link_error: words.at(l1.link_error.at),
            coord: PortPlace {
                rack: local as u8,
                shelf: (local >> 8) as u8,
                x: (local >> 16) as u8,
                y: (local >> 24) as u8,
            },
            own_id: pair(l1.local_board_id_low.at, l1.local_board_id_high.at),
            peer: Peer {
                id: pair(l1.remote_board_id_low.at, l1.remote_board_id_high.at),
                // No chip has a channel 255: it names no peer.
                channel: u8::try_from(words.at(l1.remote_channel.at)).unwrap_or(u8::MAX),
                coord: PortPlace {
                    x: (place >> 16 & 0x3F) as u8,
                    y: (place >> 22 & 0x3F) as u8,
                    rack: rack as u8,
                    shelf: (rack >> 8) as u8,
                },
            },
        }
    }

    pub(super) fn is_up(&self) -> bool {
        self.alive && self.train == eth().values.train_up && self.peer.channel < CHANNELS
    }

    /// Whether the train status is up, but the words about the peer are invalid.
    pub(super) fn names_no_peer(&self) -> bool {
        let up = self.alive && self.train == eth().values.train_up;
        up && self.peer.channel >= CHANNELS
    }

    pub(super) fn is_training(&self) -> bool {
        self.alive
            && self.train == TRAINING
            && self.link_error < eth().values.first_unused_port_error
    }

    /// Whether the link is down, but the words still name the peer.
    pub(super) fn has_lost_its_peer(&self) -> bool {
        self.alive
            && !self.is_up()
            && self.train < NOT_CONNECTED
            && self.peer.id != 0
            && self.peer.channel < CHANNELS
    }
}

/// Whether the train status leaves open that a port has a peer.
pub(super) fn can_have_a_peer(train: u32) -> bool {
    train < NOT_CONNECTED
}

/// The words read from a tile, by address.
#[derive(Default)]
pub(super) struct PortWords(BTreeMap<u64, Vec<u8>>);

impl PortWords {
    pub(super) fn add(&mut self, at: u64, bytes: Vec<u8>) {
        self.0.insert(at, bytes);
    }

    /// Returns the word at this address; 0 if it was not read.
    pub(super) fn at(&self, address: u64) -> u32 {
        let piece = self.0.range(..=address).next_back();
        let rest = piece.and_then(|(start, bytes)| bytes.get((address - start) as usize..));
        rest.and_then(|rest| rest.first_chunk()).map_or(0, |word| u32::from_le_bytes(*word))
    }
}
