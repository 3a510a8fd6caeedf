//! The emulated Wormhole mesh as the bus sees it.
//!
//! [`Mesh`] is built from a [`MeshConfig`] and driven through PCI config space and BARs, like
//! silicon. It has no clock of its own: cycles (1 GHz, so nanoseconds) pass in [`Mesh::clock`] and,
//! by fixed amounts, in host accesses. The same configuration and the same host actions at the same
//! cycles yield the same bytes, however `clock` calls are split, whichever harts sleep, and on any
//! number of host threads. A [`Journal`] records the host actions; from it and from checkpoints any
//! cycle of the past comes back, byte for byte.
//!
//! # How it advances
//!
//! Each interaction between tiles is an event with a cycle, a source and the source's own count,
//! which orders equal cycles. A NoC packet needs at least `2 * niu_router + noc_hop` cycles
//! ([`Timing`]), so each tile may run alone that long past the first cycle at which any other could
//! send. Chips meet only through links, so a chip may run ahead by the least link latency. Tiles
//! without due harts and events cost nothing. At a cycle T everything before T has happened; a host
//! access at T comes before the events of T, and those before the instructions of T.
//!
//! # The modules, each on those before it
//!
//! `memory`, `hart`, `noc`, `devices` (blocks of a tile, tiles without cores), `chip`, `past` (what is
//! kept), `mesh` (with the host's side: BARs, DMA), `travel` (the past run again).
//!
//! # The past
//!
//! [`Mesh::keep_history`] keeps [`Checkpoint`]s and the journal. From a [`History`] any cycle comes
//! back as a mesh of its own ([`History::at`]), the last write to a range is found
//! ([`History::last_write`]), or all changes of some ([`History::last_changes`]), and the last instruction of a hart
//! ([`History::previous_instruction`]). Not kept: decoded instructions and which harts sleep, which
//! have no effect on results. What host memory answered a device is kept without a limit.
//!
//! # What is modelled
//!
//! * PCI: config 0x00-0x3C; BAR0: 186 windows (NoC 0 and 1, multicast, read-back of entries;
//!   ordering 3 and linked are refused), PCIe NIU counters, ARC; BAR4 as its alias; BAR2: 16
//!   outbound regions, DMA channel 0 in both directions.
//! * Host: memory behind the PCIe tile, as a [`HostMemory`] provides it.
//! * NIU, both NoCs: command buffers (read, write, byte-enable write, inline write, atomics
//!   1/3/4/6/7, multicast with wrap and path reserve, split above 8192 B), NODE_ID, ENDPOINT_ID,
//!   busy word, outstanding clear, CFG and translation tables, NOC_ID_LOGICAL, all counters.
//! * Streams: registers 0, 3, 4, 5, 12, 34, 64-95, 248-253 of 64 (Tensix) or 32 (Ethernet) streams.
//! * 0xFFB12000: wall clock F0/F4/F8, SOFT_RESET_0 with all five cores, debug bus (pcs of the harts
//!   in groups A and B, self-test; other signals are refused), the RISC debug interface 80-8C, clock
//!   gating words as plain storage.
//! * Tensix: TDMA mover (L1, NCRISC IRAM, backend configuration), reset pcs in backend
//!   configuration, register file and semaphores as storage, the coprocessor instructions that
//!   firmware pushes while it starts (without effect).
//! * Ethernet: TXQ 0/1: CMD 1, 2, 4 (queue 0), 8, latch and fetch delays, split at MAX_PKT,
//!   backlog, counters, resend count; RXQ 0/1 counters and raw buffer; ETH_CTRL 0x98 (IRAM load);
//!   MAC words 0xFFBA0000/4; two words of the emulator's own that only the ERISC may read:
//!   0xFFBB0000 (bit 0: link up) and 0xFFBB0004 (packets that arrived corrupt).
//! * ARC: shared memory, scratch 0-7, reference clock, messages by interrupt, telemetry table with
//!   a heartbeat, the words of the legacy table that have a tag, both NIUs; message 0x56 resets the
//!   chip.
//! * DRAM: 6 x 2 GiB, three ports each, NIU copies.
//!
//! # What is not modelled
//!
//! Any other access is a [`Condition`] with a citable name. A hart that makes such an access stops;
//! a host read returns all ones after a long time. An access that silicon would never answer
//! (wormhole.md 1.7) disables the tile until [`Mesh::reset_chip`], and also the PCIe side of the
//! chip if the host made the access. Named and not modelled: how an ERISC with a link goes on after a
//! pause, inbound translation and the DBI of the PCIe tile, the coprocessor, mailboxes and PC buffers, the L1
//! capture of the debug bus, the PIC, watchdogs, streams as streams. NoC routers have no contention
//! of their own: packets queue at the NIUs only. Host accesses do not count in NIU counters.
#![forbid(unsafe_code)]

mod chip;
mod condition;
mod config;
mod decode;
mod devices;
mod disruption;
mod elf;
pub mod hart;
mod heap;
pub mod memory;
mod mesh;
mod noc;
mod past;
mod preset;
pub mod timing;
mod travel;
mod varint;
mod watch;

pub use condition::{Actor, Condition};
pub use config::{
    ChipConfig, ConfigError, GRID_HEIGHT, GRID_WIDTH, LinkConfig, LoadImage, MeshConfig, PowerOn,
    PowerOnError, TileConfig, TileKind,
};
pub use devices::endpoint::HostMemory;
pub use devices::tape::HostTape;
pub use disruption::{Disruption, HartId, StreamId};
pub use mesh::Mesh;
pub use mesh::packets::{EthPacket, EthPacketKind};
pub use mesh::view::{HartView, Unrest};
pub use mesh::watched::TileRange;
pub use past::checkpoint::Checkpoint;
pub use past::journal::{HostAction, Journal, JournalEntry};
pub use past::{History, HistoryLimits, HistorySize};
pub use timing::Timing;
pub use travel::rerun::RunLost;
pub use travel::{LastChanges, Progress, TravelError, Watcher};
pub use varint::JournalError;
pub use watch::{Counts, NocWrite, Write, Writer};
