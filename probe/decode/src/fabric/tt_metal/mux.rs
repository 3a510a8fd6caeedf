//! Locations in tt-metal's mux, version 1, from its constants and positional compile-time arguments
//! (`tt_fabric_mux.cpp`).

use super::{MOST_CHANNELS, NO_CONSTANT, UNCOUNTED};
use crate::fabric::builtin::{Names, pair, stream};
use crate::fabric::location::{Formula, Located, Location, Word};
use crate::fabric::mux::{MuxChannelLocations, MuxLayout, MuxLocations};
use layouts::TileKind;

const PRIVATE: &str = "the mux keeps it in private memory of its core";
/// Distance between the connection words of two channels, in bytes.
const CONNECTION_BYTES: u64 = 16;
/// The client's `EDMChannelWorkerLocationInfo`, which the mux has one of for each channel.
const CLIENT_INFO: &str = "EDMChannelWorkerLocationInfo";

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
                policy: Located::Nowhere("tt-metal's mux serves its channels in turn"),
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
                slot_bytes: known("BUFFER_SIZE_BYTES_FULL_SIZE_CHANNEL"),
                header_bytes: Located::or(
                    header.as_ref().map(|header| Formula::Constant(header.bytes)),
                    NO_CONSTANT,
                ),
                channels_address: known("channels_base_l1_address"),
                first_stream: Located::or(
                    streams.first().map(|stream| Formula::Constant(*stream)),
                    NO_CONSTANT,
                ),
            },
            channels: (0..all.min(MOST_CHANNELS))
                .map(|index| self.mux_channel(index, index < full, &streams))
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

    fn mux_channel(self, index: u64, full_size: bool, streams: &[u64]) -> MuxChannelLocations {
        let slots = self.constant(if full_size {
            "NUM_BUFFERS_FULL_SIZE_CHANNEL"
        } else {
            "NUM_BUFFERS_HEADER_ONLY_CHANNEL"
        });
        let free = streams.get(index as usize);
        let free = free.and_then(|id| stream(self.0, TileKind::Tensix, *id)).map(Formula::Word);
        let info = |member: &str| {
            let bytes = self.1.type_named(CLIENT_INFO)?.size()?;
            let first = self.constant("connection_info_base_address")?;
            let at = first.checked_add(index.checked_mul(bytes)?);
            self.member(&format!("{CLIENT_INFO}.{member}"), at)
        };
        let connection =
            self.pointed("connection_handshake_base_address", index * CONNECTION_BYTES);
        let slots = slots.map(Formula::Constant);
        let private = || Located::Nowhere(PRIVATE);
        MuxChannelLocations {
            queued: Located::or(pair(Formula::Difference, slots.clone(), free), NO_CONSTANT),
            slots: Located::or(slots, NO_CONSTANT),
            connection: Located::or(
                connection.map(|found| Location { names: self.connection_names(), ..found }),
                NO_CONSTANT,
            ),
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
