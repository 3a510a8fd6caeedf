//! What one collective is on the device: an EDM on each Ethernet tile, workers on compute tiles, and what must come out.
//!
//! The layouts of the kernels' arguments are theirs alone (`edm_args_t`, `ccl_worker_args_t`): what is here is what they mean.

use super::op::{DataType, Op};
use super::transport::Crossing;
use launch::topology::TopologyKind;
use layouts::{ChipId, ChipKind};
use machine::place::Place;

/// A place where pages of tensors lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Bank {
    /// A compute tile (sharded) or a DRAM port (interleaved) of the same chip.
    pub place: Place,
    /// Its first byte in that tile.
    pub address: u32,
}

/// Where the pages of a tensor lie: shard s of `pages_per_shard` pages in bank s mod `banks`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tensor {
    /// Index of its first bank in the worker's list.
    pub first_bank: u32,
    /// How many banks.
    pub banks: u32,
    /// 1 when interleaved.
    pub pages_per_shard: u32,
    /// A multiple of 32.
    pub page_bytes: u32,
    /// From the start of each bank to the first byte.
    pub offset: u32,
}

/// What a command does: `ccl_flags_t`.
pub mod flags {
    /// Reads the source tensor; with [`FROM_CHANNEL`] the sum of both.
    pub const FROM_TENSOR: u16 = 1 << 0;
    /// Takes the next packet of the inbound channel.
    pub const FROM_CHANNEL: u16 = 1 << 1;
    /// Writes the destination tensor.
    pub const TO_TENSOR: u16 = 1 << 2;
    /// Gives a packet to the outbound channel.
    pub const TO_CHANNEL: u16 = 1 << 3;
    /// Waits for the partner's next signal before each packet.
    pub const WAIT: u16 = 1 << 4;
    /// Signals the partner after each packet.
    pub const SIGNAL: u16 = 1 << 5;
    /// Alone: writes the pattern to the destination.
    pub const FILL: u16 = 1 << 6;
    /// Alone: digests the source.
    pub const DIGEST: u16 = 1 << 7;
    /// A socket: the sender waits for room, the receiver tells what it took.
    pub const CREDIT: u16 = 1 << 8;
}

/// One command of a worker; see `ccl_command_t`. `flags` are [`flags`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WorkerCommand {
    /// What it does.
    pub flags: u16,
    /// Tensor that it reads, an index.
    pub source: u8,
    /// Tensor that it writes, an index.
    pub destination: u8,
    /// First page that it reads.
    pub source_page: u32,
    /// First page that it writes.
    pub destination_page: u32,
    /// Fill: the stream of the pattern, `rank` in `ccl_pattern`. A rank's block b of n is stream `rank * n + b`.
    pub rank: u32,
    /// Fill: number of the first element within that stream.
    pub first_element: u32,
}

/// A worker's side of a channel: the channel of that number of the EDM at that place. Over the fabric the buffers are in the L1 of the
/// worker that receives: then `edm` is its tile, and `number` the link that was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Channel {
    /// The Ethernet tile.
    pub edm: Place,
    /// Number of the channel there, the same at both ends of the link.
    pub number: u32,
}

/// Who is signalled when a packet is in its tensor: another worker of the same chip.
pub type Partner = Place;

/// One worker of one launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkerPlan {
    /// The compute tile.
    pub place: Place,
    /// What it is, for people: `sender of link 0`.
    pub role: String,
    /// Pages that each command moves.
    pub pages: u32,
    /// Bytes of the last of them, a multiple of 32.
    pub last_page_bytes: u32,
    /// Pages of a slice.
    pub slice_pages: u32,
    /// Pages of a packet at most.
    pub packet_pages: u32,
    /// Real elements of a stream, that is of a block.
    pub elements: u32,
    /// Room of the socket's far fifo, in bytes; 0 without a socket.
    pub fifo_bytes: u32,
    /// Where tensors lie.
    pub banks: Vec<Bank>,
    /// The tensors, by their index in the commands.
    pub tensors: Vec<Tensor>,
    /// The list.
    pub commands: Vec<WorkerCommand>,
    /// Where packets come from.
    pub inbound: Option<Channel>,
    /// Where packets go.
    pub outbound: Option<Channel>,
    /// Who gets the signals.
    pub partner: Option<Partner>,
}

/// One channel of an EDM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EdmChannel {
    /// It sends over the link.
    pub sends: bool,
    /// Messages in the whole run.
    pub messages: u32,
    /// Who fills or reads its buffers; none in a microbenchmark.
    pub workers: Vec<Place>,
}

/// The EDM of one Ethernet tile. Its peer's has the same channels with the directions turned round.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EdmPlan {
    /// The Ethernet tile.
    pub place: Place,
    /// It begins the handshake: exactly one end of a link does.
    pub handshake_sender: bool,
    /// The channels by number.
    pub channels: Vec<EdmChannel>,
}

/// A worker's result word: digest of a stretch of its chip's output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expected {
    /// The worker, an index into [`Program::checks`].
    pub worker: usize,
    /// Its command.
    pub command: usize,
    /// What its digest must be.
    pub digest: u32,
    /// The same stretch in full, so that wrong elements can be counted: computed only when asked.
    pub stretch: OutputRange,
}

/// A stretch of a chip's output tensor: `pages` pages from `first_page`, and what the host computes for them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputRange {
    /// The chip.
    pub chip: ChipId,
    /// The tensor, by its number in the checking worker's list.
    pub tensor: usize,
    /// Its first page.
    pub first_page: u32,
    /// Number of the first element of the expected data that lies there.
    pub first_element: u64,
    /// Streams of [`Command::rank`] that are added up there: each arm's in its order, then the arms' sums in theirs. Data
    /// that only moved is one arm of one stream.
    pub arms: Vec<Vec<u32>>,
}

/// One collective of one size, ready to be launched: first the fills, then EDMs and workers together, then the checks.
#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    /// The kind of the chips that it is for.
    pub chip_kind: ChipKind,
    /// What it does.
    pub op: Op,
    /// The type of its elements.
    pub data_type: DataType,
    /// How the ranks are joined.
    pub topology: TopologyKind,
    /// Chip of each rank.
    pub ranks: Vec<ChipId>,
    /// Seed of the data.
    pub seed: u32,
    /// Bytes of a buffer of every EDM, a multiple of 32.
    pub buffer_bytes: u32,
    /// Buffers of each channel.
    pub buffers_per_channel: u32,
    /// Channels end when their workers say so, not after a number of messages.
    pub worker_initiated: bool,
    /// So long each message that a worker has read rests in its buffer, in cycles, so that a person can follow.
    pub delay_cycles: u32,
    /// Kernels that put the inputs in place.
    pub fills: Vec<WorkerPlan>,
    /// EDMs of the run; none over the fabric.
    pub edms: Vec<EdmPlan>,
    /// How workers use the fabric, if they do.
    pub crossing: Option<Crossing>,
    /// Workers of the run.
    pub workers: Vec<WorkerPlan>,
    /// Kernels that digest what came out.
    pub checks: Vec<WorkerPlan>,
    /// What they must find.
    pub expected: Vec<Expected>,
    /// nccl-tests' `size`: bytes that bandwidth is computed from.
    pub size_bytes: u64,
    /// nccl-tests' `count`.
    pub count: u64,
    /// busbw / algbw, as nccl-tests' PERFORMANCE.md defines it for the collective.
    pub bus_factor: f64,
}
