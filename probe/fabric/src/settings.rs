//! Settings of a fabric's routers.

/// Settings that all routers of a fabric share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FabricSettings {
    /// Number of the bring-up, the same in the whole fabric and not zero: hosts that each bring up
    /// a part must agree on it. By default the target's time.
    pub run_id: Option<u32>,
    /// Cycles after which a packet at the head of a channel is dropped; 0: never.
    pub packet_timeout_cycles: u32,
    /// Cycles after which packets for a lost link without a fallback are dropped; 0: never.
    pub unrouted_timeout_cycles: u32,
    /// Cycles between two reports of the packet rate; 0: no reports.
    pub rate_interval_cycles: u32,
    /// Entries of each router's status queue in DRAM; 0: no queue.
    pub status_entries: u32,
    /// Passes without progress after which the router calls base firmware.
    pub idle_count: u32,
    /// Passes with progress after which the router calls base firmware.
    pub busy_count: u32,
    /// Parks before this stage: 0 never, 1 handshake, 2 local sync, 3 ready, 4 traffic, 5 teardown.
    /// Parked routers have no deadline.
    pub pause_at_stage: u32,
    /// Cycles of the target's time without progress of any router after which the bring-up fails.
    pub deadline_cycles: u64,
}

/// A millisecond: a link that comes up again within it loses no packets.
const UNROUTED_CYCLES: u32 = 1_000_000;

impl Default for FabricSettings {
    fn default() -> Self {
        Self {
            run_id: None,
            packet_timeout_cycles: 0,
            unrouted_timeout_cycles: UNROUTED_CYCLES,
            rate_interval_cycles: 0,
            status_entries: 1023,
            idle_count: 64,
            busy_count: 256,
            pause_at_stage: 0,
            deadline_cycles: 5_000_000,
        }
    }
}
