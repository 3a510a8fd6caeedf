//! A client's connection to a channel of a router or mux.

use layouts::NocXy;
use machine::place::Place;

/// `fabric_connection_info_t`: all addresses are in the L1 of the router's or mux's tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Connection {
    /// The router or mux, on the client's chip.
    pub place: Place,
    /// `eth_chan_directions`.
    pub direction: u32,
    /// Address of the channel's first slot.
    pub buffers: u32,
    /// Bytes of a slot: header and payload.
    pub buffer_bytes: u32,
    /// Number of slots.
    pub buffer_count: u32,
    /// Address of the connection semaphore.
    pub handshake: u32,
    /// Address of `EDMChannelWorkerLocationInfo`.
    pub location_info: u32,
    /// Address of `SenderChannelProducerCursor`.
    pub buffer_index: u32,
    /// The stream of the channel's free slots.
    pub stream: u32,
    /// Address of `EDMStatus`.
    pub status: u32,
}

impl Connection {
    /// Returns the members of the `fabric_connection_info_t` at a path.
    pub fn values(&self, path: &str) -> Vec<(String, u32)> {
        let NocXy { x, y } = self.place.tile;
        [
            ("edm_buffer_base_addr", self.buffers),
            ("edm_connection_handshake_addr", self.handshake),
            ("edm_worker_location_info_addr", self.location_info),
            ("buffer_index_addr", self.buffer_index),
            ("buffer_size_bytes", self.buffer_bytes),
            ("edm_direction", self.direction),
            ("edm_noc_x", x.into()),
            ("edm_noc_y", y.into()),
            ("num_buffers_per_channel", self.buffer_count),
            ("worker_free_slots_stream_id", self.stream),
            ("edm_status_addr", self.status),
        ]
        .map(|(member, value)| (format!("{path}.{member}"), value))
        .to_vec()
    }
}
