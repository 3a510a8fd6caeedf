//! Durations in cycles of the 1 GHz clock, each with its source.

/// Latency of an Ethernet link in one direction, without serialisation: subsystem and wire, about
/// 500 ns of the 530-620 ns that the vendor measured for a small packet (Basic Ethernet guide,
/// wormhole.md 5.2).
pub const LINK_LATENCY_CYCLES: u64 = 500;

/// Payload and overhead bytes that a 100 Gb/s link carries in `LINK_RATE_CYCLES` cycles of 1 ns:
/// 12.5 bytes per cycle.
pub const LINK_RATE_BYTES: u64 = 25;
/// The cycles in which a link carries [`LINK_RATE_BYTES`].
pub const LINK_RATE_CYCLES: u64 = 2;

/// Durations in the machine outside its harts, in cycles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timing {
    /// Host read, per 64 bytes or part: a PCIe read costs 671-781 ns (ISA documentation,
    /// wormhole.md 1.4).
    pub host_read: u64,
    /// Host write, per 64 bytes or part: posted writes run at about 7 GB/s uncached
    /// (wormhole.md 1.4).
    pub host_write: u64,
    /// Read of PCI config space.
    pub host_config_read: u64,
    /// Bytes that the DMA engine moves per cycle, set-up included. An estimate: PCIe 4.0 x16 has 32
    /// GB/s.
    pub dma_bytes_per_cycle: u64,
    /// A read that is never answered: the PCIe controller times out after about 700 ms on silicon
    /// (wormhole.md 1.6). Scaled down to 0.7 ms to keep tests short.
    pub host_dead_read: u64,
    /// From the store to CMD_CTRL until the virtual channel is assigned and CMD_CTRL reads 0. No
    /// source states it.
    pub niu_issue: u64,
    /// Between NIU and router, in either direction (NoC README of the ISA documentation: about 5).
    pub niu_router: u64,
    /// From router to router (same source: 9).
    pub noc_hop: u64,
    /// From the arrival of a read at an L1 until the response enters the NIU (L1 load latency, same
    /// documentation: 8).
    pub l1_access: u64,
    /// From the arrival of a read at DRAM until the response enters the NIU: 24 GB/s GDDR6 behind
    /// an AXI clock crossing; the latency is an estimate.
    pub dram_access: u64,
    /// Added delay of a multicast that reserves its tree first. An estimate: one round through the
    /// tree.
    pub path_reserve: u64,
    /// From a store to a TXQ's CMD until its metadata is latched and CMD reads 0. No source states
    /// it.
    pub txq_latch: u64,
    /// From the latch until the payload is fetched from L1, if the queue is otherwise idle. No
    /// source states it. It makes reuse of the source before an acknowledgement visible
    /// (wormhole.md 5.2).
    pub txq_fetch: u64,
    /// Bytes that each Ethernet packet carries in addition to its payload (wormhole.md 5.2: about
    /// 50).
    pub packet_overhead: u64,
    /// Payload bytes that a TXQ holds before CMD stays nonzero: the backlog of a link that is slow
    /// or down. An estimate.
    pub txq_backlog: u64,
    /// Mover: cycles per 16 bytes copied, times 8 (ISA documentation: eight 16-byte units in 11
    /// cycles).
    pub mover_eighths: u64,
    /// ARC: from raising the interrupt until a message is answered. An estimate.
    pub arc_message: u64,
    /// Debug daisy chain: cycles until the data follow a new selection (ISA documentation: at least
    /// 5).
    pub debug_bus: u64,
}

impl Default for Timing {
    fn default() -> Self {
        Self {
            host_read: 700,
            host_write: 10,
            host_config_read: 700,
            dma_bytes_per_cycle: 20,
            host_dead_read: 700_000,
            niu_issue: 5,
            niu_router: 5,
            noc_hop: 9,
            l1_access: 8,
            dram_access: 100,
            path_reserve: 60,
            txq_latch: 8,
            txq_fetch: 20,
            packet_overhead: 50,
            txq_backlog: 4096,
            mover_eighths: 11,
            arc_message: 2000,
            debug_bus: 5,
        }
    }
}

impl Timing {
    /// Raises durations to the minimum that keeps events after their causes.
    pub(crate) fn causal(mut self) -> Self {
        for time in [&mut self.niu_issue, &mut self.txq_latch, &mut self.txq_fetch] {
            *time = (*time).max(1);
        }
        self
    }

    /// Returns the minimum time from any action of a tile until another tile can notice it: its
    /// NIU, one hop, the other NIU.
    pub(crate) fn noc_lookahead(&self) -> u64 {
        (2 * self.niu_router + self.noc_hop).max(1)
    }
}
