//! The past of a machine that keeps it: what one asks of it, and what it answers.

use crate::snapshot::AccessError;
use layouts::{ChipId, CoreKind, NocXy};
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// What a mesh that this process emulates keeps of its past.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Keeps {
    /// Nothing.
    #[default]
    Nothing,
    /// Its run from power-on, for a recording: what the host does.
    Run,
    /// Its run, and what shows any moment again soon. It costs about a tenth of the speed.
    Past,
}

/// How much of its past a machine keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeptPast {
    /// The first cycle that can be shown again.
    pub first_cycles: u64,
    /// The present.
    pub last_cycles: u64,
    /// The memory of all its parts, in bytes.
    pub bytes: u64,
    /// Its limit.
    pub most_bytes: u64,
}

/// How far a machine of the past has run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PastProgress {
    /// First cycle of the piece of the past that runs again. A search goes back piece by piece.
    pub from_cycles: u64,
    /// Its last cycle.
    pub to_cycles: u64,
    /// The cycle that is reached.
    pub at_cycles: u64,
}

/// Receives progress and returns whether to go on.
pub type PastWatcher<'a> = dyn FnMut(PastProgress) -> bool + 'a;

/// What a search for the last write looks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriteSearch {
    /// Only writes in cycles before this one count.
    pub before_cycles: u64,
    /// Whether writes count that replace bytes by the same.
    pub unchanged: bool,
}

/// Who wrote to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PastWriter {
    /// A core of the tile, by the instruction at this address.
    Core(CoreKind, u32),
    /// A debugger, by a core of the tile that it had paused.
    Debugger(CoreKind),
    /// A NoC packet.
    Noc {
        /// The tile whose NIU sent it.
        from: NocXy,
        /// 0 or 1.
        noc: u8,
        /// What it was, such as `write`.
        packet: &'static str,
    },
    /// A packet of the Ethernet peer: its chip and channel, if they are known.
    Link(Option<(ChipId, u8)>),
    /// The mover of the tile.
    Mover,
    /// The host, over a PCIe device.
    Host(u8),
    /// The DMA engine of a PCIe device.
    Dma(u8),
    /// A reset of the chip, which loads its images again.
    Reset,
}

/// A write to memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PastWrite {
    /// The cycle in which it happened.
    pub at_cycles: u64,
    /// Tile-local address of its first byte in the range.
    pub offset: u64,
    /// The bytes in the range that it replaced.
    pub old: Vec<u8>,
    /// The bytes that it wrote there.
    pub new: Vec<u8>,
    /// Who wrote.
    pub by: PastWriter,
}

/// A packet of an Ethernet link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PastPacket {
    /// Chip and Ethernet channel that send it.
    pub from: (ChipId, u8),
    /// Those that receive it.
    pub to: (ChipId, u8),
    /// The cycle at which a transmit queue begins to send it.
    pub sent_cycles: u64,
    /// The cycle at which it arrives whole.
    pub arrives_cycles: u64,
    /// What it is in words, such as `TXQ 0: 64 B to L1 0x1100`.
    pub what: String,
}

/// Changes of ranges of memory in one piece of the past.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PastChanges {
    /// The first cycle whose changes are complete: those before it are asked for next.
    pub from_cycles: u64,
    /// The changes since, the oldest first, each with the number of its range.
    pub changes: Vec<(usize, PastWrite)>,
    /// The bytes of each range after the last of them.
    pub bytes: Vec<Vec<u8>>,
}

/// A run of a machine from its start, which another one that starts alike can execute again.
/// Recordings keep it in this form: new fields need a default.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedRun {
    /// The words that open such a machine.
    pub target: String,
    /// The cycle at which it ends.
    pub end_cycles: u64,
    /// A checksum of the machine's L1 there.
    pub checksum: u32,
    /// The actions of the host, in the machine's own form.
    #[serde(with = "serde_bytes")]
    pub journal: Vec<u8>,
    /// What the host's memory answered devices, in the machine's own form.
    #[serde(default, with = "serde_bytes")]
    pub host_answers: Vec<u8>,
}

impl RecordedRun {
    /// Returns the number of bytes of what the host did and its memory answered.
    pub fn bytes(&self) -> usize {
        self.journal.len() + self.host_answers.len()
    }
}

/// Why the past gives no answer.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PastError {
    /// The cycle is not among those that the machine keeps: first and last.
    #[error("the past of the mesh is kept from cycle {first_cycles} to cycle {last_cycles}")]
    Outside {
        /// The first.
        first_cycles: u64,
        /// The last.
        last_cycles: u64,
    },
    /// There is no such memory.
    #[error("there is no L1 or DRAM")]
    NoMemory,
    /// The caller did not want to go on.
    #[error("cancelled")]
    Cancelled,
    /// The actions of the host cannot be read.
    #[error("{0}")]
    Unreadable(String),
    /// Executed again, the machine did not end as it was recorded.
    #[error(
        "executed again, the mesh does not end as it was recorded: another version of \
                 meshscope or other images recorded it"
    )]
    Differs,
}

/// Returns why a machine has no past to ask.
pub fn not_kept() -> AccessError {
    AccessError::Refused("only a mesh that this process emulates keeps its past".to_owned())
}
