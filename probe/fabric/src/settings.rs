//! How the routers of a fabric are run.

/// What all routers of a fabric share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FabricSettings {
    /// Number of the bring-up, the same in the whole fabric and not zero: several hosts that bring up their parts agree on one.
    /// By the target's time if not told.
    pub run_id: Option<u32>,
    /// A packet that stands so long at the head of a channel is dropped, in cycles; 0: it may stand for ever.
    pub packet_timeout_cycles: u32,
    /// So long packets wait for a link that is lost and has none beside it before they are dropped, in cycles; 0: for ever.
    pub unrouted_timeout_cycles: u32,
    /// Cycles between two reports of its rate; 0: none.
    pub rate_interval_cycles: u32,
    /// Entries of each router's status queue in DRAM; 0: it has none.
    pub status_entries: u32,
    /// Passes without progress before base firmware gets its turn.
    pub idle_count: u32,
    /// Passes after which it gets its turn though there is progress.
    pub busy_count: u32,
    /// Park before this stage: 0 never, 1 handshake, 2 local sync, 3 ready, 4 traffic, 5 teardown. Who parks is waited for.
    pub pause_at_stage: u32,
    /// Patience with routers of which none gets any further, in cycles of the target's own time.
    pub deadline_cycles: u64,
}

/// A millisecond: a link that comes up again at once loses nothing.
const UNROUTED_CYCLES: u32 = 1_000_000;

impl Default for FabricSettings {
    fn default() -> Self {
        Self {
            run_id: None,
            packet_timeout_cycles: 0,
            unrouted_timeout_cycles: UNROUTED_CYCLES,
            rate_interval_cycles: 0,
            status_entries: 63,
            idle_count: 64,
            busy_count: 256,
            pause_at_stage: 0,
            deadline_cycles: 5_000_000,
        }
    }
}
