//! The L1 of a router: where tt-metal's host puts its words and channels
//! (`FabricEriscDatamoverConfig`).

use machine::fabric::FabricTopology;

/// First address that base firmware does not use.
const BASE: u32 = 0x18000;
/// The end of the space for channels.
const END: u32 = 0x3DC00;
/// Bytes of a field, and of the two words of an `eth_channel_sync_t`.
const FIELD: u32 = 16;
/// Bytes of an array of credit counters: words of the most senders of a router, in whole Ethernet
/// words.
const CREDITS: u32 = 48;
/// Bytes of the buffer for measured bandwidth. Without one, a router clears words of base firmware.
const PERF_TELEMETRY: u32 = 32;
/// Bytes of an `EDMChannelWorkerLocationInfo`.
const CONNECTION_INFO: u32 = 64;
/// Bytes of a packet's payload: four tiles of bfloat8_b.
const PAYLOAD: u32 = 4352;
/// Alignment of the channels.
const CHANNEL_ALIGNMENT: u32 = 32;

/// A sender channel's words and slots.
#[derive(Clone, Copy, Debug)]
pub(super) struct SenderL1 {
    /// `EDMChannelWorkerLocationInfo`.
    pub(super) connection_info: u32,
    /// The word by which a client opens and closes its connection.
    pub(super) connection: u32,
    /// `SenderChannelProducerCursor`.
    pub(super) cursor: u32,
    /// The slots.
    pub(super) slots: u32,
}

/// The L1 of a router.
#[derive(Clone, Debug)]
pub(super) struct RouterL1 {
    pub(super) perf_telemetry: u32,
    pub(super) handshake: u32,
    pub(super) termination: u32,
    pub(super) local_sync: u32,
    pub(super) status: u32,
    pub(super) tensix_sync: u32,
    pub(super) senders: Vec<SenderL1>,
    /// The word in which a downstream router confirms the end of a connection, by downstream router.
    pub(super) teardowns: Vec<u32>,
    /// Arrays of counters: credits that have arrived for sender channels, and those for the peer's,
    /// acknowledges before completions.
    pub(super) credits: [u32; 4],
    /// The receiver channel's slots.
    pub(super) receiver: u32,
    pub(super) sender_slots: u32,
    pub(super) receiver_slots: u32,
    /// Bytes of a slot: a packet's header and payload.
    pub(super) slot_bytes: u32,
}

impl RouterL1 {
    /// Returns the layout of a topology's routers.
    pub(super) fn of(topology: FabricTopology) -> Self {
        // A mesh's router has a channel for the worker and one for each other direction. The slots
        // are the most of tt-metal's choices that fit. Headers are `LowLatencyPacketHeaderT<1>` and
        // `HybridMeshPacketHeaderT<36>`.
        let (senders, downstreams, sender_slots, receiver_slots, header_bytes) =
            if topology.is_2d() { (4, 3, 4, 8, 96) } else { (2, 1, 8, 16, 64) };
        let slot_bytes = header_bytes + PAYLOAD;
        let mut next = BASE;
        let mut take = |bytes: u32| {
            let at = next;
            next += bytes;
            at
        };
        let perf_telemetry = take(PERF_TELEMETRY);
        let handshake = take(FIELD);
        // The acknowledgement of each channel of an older protocol.
        take(4 * FIELD);
        let [termination, local_sync, status] = [take(FIELD), take(FIELD), take(FIELD)];
        let words: Vec<_> = (0..senders)
            .map(|_| {
                let [_buffer_index, connection_info] = [take(FIELD), take(CONNECTION_INFO)];
                let [_flow_control, _terminate] = [take(FIELD), take(FIELD)];
                SenderL1 { connection_info, connection: take(FIELD), cursor: take(FIELD), slots: 0 }
            })
            .collect();
        let teardowns = (0..downstreams)
            .map(|_| {
                let [_unused, _flow_control] = [take(FIELD), take(FIELD)];
                take(FIELD)
            })
            .collect();
        let _relay = take(FIELD);
        let tensix_sync = take(FIELD);
        let credits = [(); 4].map(|()| take(CREDITS));
        let mut slots = next.next_multiple_of(CHANNEL_ALIGNMENT);
        let senders = words.into_iter().map(|words| {
            let at = slots;
            slots += sender_slots * slot_bytes;
            SenderL1 { slots: at, ..words }
        });
        let senders = senders.collect();
        let receiver = slots;
        debug_assert!(receiver + receiver_slots * slot_bytes <= END, "channels do not fit");
        Self {
            perf_telemetry,
            handshake,
            termination,
            local_sync,
            status,
            tensix_sync,
            senders,
            teardowns,
            credits,
            receiver,
            sender_slots,
            receiver_slots,
            slot_bytes,
        }
    }

    /// Returns the range of words that a host clears before a launch: address and number of words.
    pub(super) fn cleared(&self) -> (u32, u32) {
        let end = self.senders.first().map_or(BASE, |sender| sender.slots);
        (BASE, (end - BASE) / 4)
    }
}
