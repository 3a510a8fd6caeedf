//! Locations in tt-metal's mux, version 2, from its named compile-time arguments
//! (`tt_fabric_mux_v2.cpp`; tt-metal.md 5.3). BRISC forwards packets; NCRISC, the manager, serves
//! connections. Both are built from the same arguments; the forwarder stands for the mux.

use super::mux::{CLIENT_INFO, Channel};
use super::{EDM_STATUS, MOST_CHANNELS, NO_CONSTANT, UNCOUNTED};
use crate::fabric::builtin::{Names, pair, stream};
use crate::fabric::enumeration::Enumeration;
use crate::fabric::location::{Formula, Located, Location, Word};
use crate::fabric::mux::{MuxChannelLocations, MuxLayout, MuxLocations};
use layouts::TileKind;
use std::sync::Arc;

const NO_SIGNAL: &str = "tt-metal's mux of the second version ends when its clients have closed";
const RING: &str = "FabricMuxV2SharedTridRingHeader";
const CONTROL: &str = "FabricMuxV2SharedControlBlock";

impl Names<'_> {
    /// Finds the locations; `None` for an image that is not this mux.
    pub(in crate::fabric) fn tt_metal_mux_v2(self) -> Option<MuxLayout> {
        let argument = |name: &str| self.constant(&format!("mux_v2::ct_args::{name}"));
        let all = argument("num_channels")?;
        let status = Word { addr: argument("mux_status_address")?, size: 4 };
        let header = self.tt_metal_header();
        let known = |found: Option<u64>| Located::or(found.map(Formula::Constant), NO_CONSTANT);
        let ring = |member: &str| {
            self.member(&format!("{RING}.{member}"), argument("shared_ring_region_base_address"))
        };
        let control = |member: &str| {
            let base = argument("shared_control_region_base_address");
            self.member(&format!("{CONTROL}.{member}"), base)
        };
        let names = Enumeration::named(self.1, "EDMStatus");
        // The forwarder's debug information lacks it: the manager writes the status.
        let names = names.unwrap_or_else(|| Arc::new(Enumeration::new(&EDM_STATUS)));
        let private = || Located::Nowhere(super::mux::PRIVATE);
        Some(MuxLayout {
            first_word: status,
            facts: MuxLocations {
                policy: Located::Nowhere(super::mux::IN_TURN),
                status: Located::At(Location { names: Some(names), ..status.into() }),
                termination: Located::Nowhere(NO_SIGNAL),
                passes: Located::Nowhere(UNCOUNTED),
                holder: private(),
                drain_iters: Located::Nowhere(UNCOUNTED),
                abandoned: Located::Nowhere(UNCOUNTED),
                handed_over: Located::or(ring("write_count"), NO_CONSTANT),
                retired: Located::or(ring("read_count"), NO_CONSTANT),
                drain_initiated: Located::or(control("drain_initiated"), NO_CONSTANT),
                forwarder_done: Located::or(control("forwarder_done"), NO_CONSTANT),
                channel_count: known(Some(all)),
                header_bytes: known(header.as_ref().map(|header| header.bytes)),
                channels_address: known(argument("channel_region_base_address")),
                first_stream: known(Some(0)),
            },
            channels: (0..all.min(MOST_CHANNELS)).map(|it| self.mux_v2_channel(it)).collect(),
            headers: header.into_iter().collect(),
        })
    }

    /// Returns the locations of a channel. The stream with its number counts its free slots.
    fn mux_v2_channel(self, index: u64) -> MuxChannelLocations {
        let argument = |name: &str| self.constant(&format!("mux_v2::ct_args::{name}"));
        let (count, slot_bytes) =
            (argument("num_buffers_per_channel"), argument("channel_buffer_size_bytes"));
        let slots = count.map(Formula::Constant);
        let slots_address = argument("channel_region_base_address").and_then(|first| {
            first.checked_add(index.checked_mul(count?)?.checked_mul(slot_bytes?)?)
        });
        let free = stream(self.0, TileKind::Tensix, index).map(Formula::Word);
        let info = argument("connection_info_region_base_address").and_then(|first| {
            let bytes = self.1.type_named(CLIENT_INFO)?.size()?;
            first.checked_add(index.checked_mul(bytes)?)
        });
        let connection = argument("connection_handshake_region_base_address").and_then(|first| {
            let stride = argument("per_channel_scalar_region_stride_bytes")?;
            first.checked_add(index.checked_mul(stride)?)
        });
        self.tt_metal_mux_channel(Channel {
            queued: pair(Formula::Difference, slots.clone(), free),
            slots,
            slot_bytes,
            slots_address,
            connection,
            info,
        })
    }
}
