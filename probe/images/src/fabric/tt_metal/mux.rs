//! Locations in tt-metal's mux, version 1, from its constants and positional compile-time arguments
//! (`tt_fabric_mux.cpp`).

use super::{MOST_CHANNELS, NO_CONSTANT, UNCOUNTED};
use crate::fabric::builtin::{Names, pair, stream};
use crate::fabric::location::{Formula, Located, Location, Word};
use crate::fabric::mux::{MuxChannelLocations, MuxLayout, MuxLocations};
use layouts::TileKind;

pub(super) const PRIVATE: &str = "the mux keeps it in private memory of its core";
pub(super) const IN_TURN: &str = "tt-metal's mux serves its channels in turn";
/// Distance between the connection words of two channels, in bytes.
const CONNECTION_BYTES: u64 = 16;
/// The client's `EDMChannelWorkerLocationInfo`, which the mux has one of for each channel.
pub(super) const CLIENT_INFO: &str = "EDMChannelWorkerLocationInfo";

impl Names<'_> {
    /// Finds the locations; `None` for an image that is not this mux.
    pub(in crate::fabric) fn tt_metal_mux(self) -> Option<MuxLayout> {
        let full = self.constant("NUM_FULL_SIZE_CHANNELS")?;
        let all = full.checked_add(self.constant("NUM_HEADER_ONLY_CHANNELS")?)?;
        let status = Word { addr: self.constant("status_address")?, size: 4 };
        let known = |name: &str| Located::or(self.known(name), NO_CONSTANT);
        let streams = self.mux_streams(all.min(MOST_CHANNELS));
        let header = self.tt_metal_header();
        let private = || Located::Nowhere(PRIVATE);
        Some(MuxLayout {
            first_word: status,
            facts: MuxLocations {
                policy: Located::Nowhere(IN_TURN),
                status: Located::or(self.named("EDMStatus", Some(status)), NO_CONSTANT),
                termination: Located::or(
                    self.named("TerminationSignal", self.pointed("termination_signal_address", 0)),
                    NO_CONSTANT,
                ),
                passes: Located::Nowhere(UNCOUNTED),
                holder: private(),
                drain_iters: private(),
                abandoned: Located::Nowhere(UNCOUNTED),
                channel_count: Located::At(Formula::Constant(all).into()),
                header_bytes: Located::or(
                    header.as_ref().map(|header| Formula::Constant(header.bytes)),
                    NO_CONSTANT,
                ),
                channels_address: known("channels_base_l1_address"),
                first_stream: Located::or(
                    streams.first().map(|stream| Formula::Constant(*stream)),
                    NO_CONSTANT,
                ),
                ..MuxLocations::default()
            },
            channels: (0..all.min(MOST_CHANNELS))
                .map(|index| self.mux_channel(index, full, &streams))
                .collect(),
            headers: header.into_iter().collect(),
        })
    }

    /// Returns the streams of the channels, full-size ones first.
    fn mux_streams(self, channels: u64) -> Vec<u64> {
        let words = self.words("kernel_compile_time_args");
        let first = self.constant("CHANNEL_STREAM_IDS_START_IDX");
        let streams = words.zip(first).and_then(|(words, first)| {
            let first = usize::try_from(first).ok()?;
            Some(words.get(first..first.checked_add(channels as usize)?)?.to_vec())
        });
        streams.into_iter().flatten().collect()
    }

    fn mux_channel(self, index: u64, full: u64, streams: &[u64]) -> MuxChannelLocations {
        let full_size = index < full;
        let of = |full: &str, other: &str| self.constant(if full_size { full } else { other });
        let slots = of("NUM_BUFFERS_FULL_SIZE_CHANNEL", "NUM_BUFFERS_HEADER_ONLY_CHANNEL");
        let bytes = self.constant("BUFFER_SIZE_BYTES_FULL_SIZE_CHANNEL");
        let header_bytes = self.tt_metal_header().map(|header| header.bytes);
        let slot_bytes = if full_size { bytes } else { header_bytes };
        // Full-size channels come first.
        let slots_address = self.constant("channels_base_l1_address").and_then(|first| {
            let before = |channels: u64, slots: u64, bytes: u64| {
                channels.checked_mul(slots)?.checked_mul(bytes)
            };
            let full_slots = self.constant("NUM_BUFFERS_FULL_SIZE_CHANNEL")?;
            let first = first.checked_add(before(index.min(full), full_slots, bytes?)?)?;
            first.checked_add(before(index.saturating_sub(full), slots?, slot_bytes?)?)
        });
        let free = streams.get(index as usize);
        let free = free.and_then(|id| stream(self.0, TileKind::Tensix, *id)).map(Formula::Word);
        let info = self.constant("connection_info_base_address").and_then(|first| {
            let bytes = self.1.type_named(CLIENT_INFO)?.size()?;
            first.checked_add(index.checked_mul(bytes)?)
        });
        let connection = self.constant("connection_handshake_base_address");
        let slots = slots.map(Formula::Constant);
        self.tt_metal_mux_channel(Channel {
            queued: pair(Formula::Difference, slots.clone(), free),
            slots,
            slot_bytes,
            slots_address,
            connection: connection.and_then(|first| first.checked_add(index * CONNECTION_BYTES)),
            info,
        })
    }

    /// Returns the locations of a channel of either version.
    pub(super) fn tt_metal_mux_channel(self, channel: Channel) -> MuxChannelLocations {
        let info = |member: &str| self.member(&format!("{CLIENT_INFO}.{member}"), channel.info);
        let connection = channel.connection.map(|addr| Location {
            names: self.connection_names(),
            ..Word { addr, size: 4 }.into()
        });
        let private = || Located::Nowhere(PRIVATE);
        let constant = |value: Option<u64>| Located::or(value.map(Formula::Constant), NO_CONSTANT);
        MuxChannelLocations {
            slots: Located::or(channel.slots, NO_CONSTANT),
            slot_bytes: constant(channel.slot_bytes),
            slots_address: constant(channel.slots_address),
            queued: Located::or(channel.queued, NO_CONSTANT),
            connection: Located::or(connection, NO_CONSTANT),
            client: Located::or(
                pair(Formula::Tile, info("worker_xy.x"), info("worker_xy.y")),
                NO_CONSTANT,
            ),
            connected: private(),
            forwarded: private(),
            polls: Located::Nowhere(UNCOUNTED),
            skips: Located::Nowhere(UNCOUNTED),
            longest_wait_cycles: Located::Nowhere(UNCOUNTED),
            closes: Located::Nowhere(UNCOUNTED),
        }
    }
}

/// What the versions of the mux have at different places.
pub(super) struct Channel {
    pub(super) slots: Option<Formula>,
    pub(super) slot_bytes: Option<u64>,
    /// Address of the first slot.
    pub(super) slots_address: Option<u64>,
    pub(super) queued: Option<Location>,
    /// Address of the connection word.
    pub(super) connection: Option<u64>,
    /// Address of the client's `EDMChannelWorkerLocationInfo`.
    pub(super) info: Option<u64>,
}
