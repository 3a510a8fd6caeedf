//! A compiled collective: an EDM on each Ethernet tile, workers on compute tiles, and the expected
//! data.
//!
//! The layouts of the kernels' arguments are defined by the kernels (`edm_args_t`,
//! `ccl_worker_args_t`); this module holds their meaning.

use super::op::{DataType, Op};
use super::transport::Crossing;
use launch::topology::TopologyKind;
use layouts::{ChipId, ChipKind};
use machine::place::Place;
use std::collections::BTreeSet;

/// A bank: memory that holds pages of tensors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Bank {
    /// A compute tile (sharded) or a DRAM port (interleaved) of the same chip.
    pub place: Place,
    /// Its first byte in that tile.
    pub address: u32,
}

/// The location of a tensor's pages: shard s of `pages_per_shard` pages in bank s mod `banks`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tensor {
    /// Index of its first bank in the worker's list.
    pub first_bank: u32,
    /// Number of banks.
    pub banks: u32,
    /// Pages of a shard; 1 if interleaved.
    pub pages_per_shard: u32,
    /// Bytes of a page, a multiple of 32.
    pub page_bytes: u32,
    /// Offset of the first byte from the start of each bank.
    pub offset: u32,
}

/// The flags of a command: `ccl_flags_t`.
pub mod flags {
    /// Reads the source tensor; with [`FROM_CHANNEL`], the sum of both.
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
    /// A socket: the sender waits for room, the receiver returns credits.
    pub const CREDIT: u16 = 1 << 8;
}

/// One command of a worker; see `ccl_command_t`. `flags` are [`flags`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WorkerCommand {
    /// Its flags.
    pub flags: u16,
    /// Index of the tensor to read.
    pub source: u8,
    /// Index of the tensor to write.
    pub destination: u8,
    /// First page to read.
    pub source_page: u32,
    /// First page to write.
    pub destination_page: u32,
    /// Fill: the stream of the pattern, `rank` in `ccl_pattern`. A rank's block b of n is stream
    /// `rank * n + b`.
    pub rank: u32,
    /// Fill: index of the first element within that stream.
    pub first_element: u32,
}

/// A worker's side of a channel: channel `number` of the EDM at `edm`. Over the fabric the buffers
/// are in the L1 of the receiving worker; `edm` is then its tile, and `number` the requested link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Channel {
    /// The Ethernet tile.
    pub edm: Place,
    /// Number of the channel there, the same at both ends of the link.
    pub number: u32,
}

/// The worker of the same chip that is signalled when a packet is in its tensor.
pub type Partner = Place;

/// One worker of one launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkerPlan {
    /// The compute tile.
    pub place: Place,
    /// Its role, for display: `sender of link 0`.
    pub role: String,
    /// Pages that each command moves.
    pub pages: u32,
    /// Bytes of the last page, a multiple of 32.
    pub last_page_bytes: u32,
    /// Pages of a slice.
    pub slice_pages: u32,
    /// Maximum number of pages of a packet.
    pub packet_pages: u32,
    /// Elements of a stream, that is of a block, without padding.
    pub elements: u32,
    /// Bytes of the socket's far fifo; 0 without a socket.
    pub fifo_bytes: u32,
    /// The banks of the tensors.
    pub banks: Vec<Bank>,
    /// The tensors, by their index in the commands.
    pub tensors: Vec<Tensor>,
    /// The commands, in order.
    pub commands: Vec<WorkerCommand>,
    /// The channel of its incoming packets.
    pub inbound: Option<Channel>,
    /// The channel of its outgoing packets.
    pub outbound: Option<Channel>,
    /// The worker that receives its signals.
    pub partner: Option<Partner>,
}

impl WorkerPlan {
    /// Returns the number of packets, its kernel's first stages.
    pub fn packets(&self) -> u64 {
        let of = |pages: u32| u64::from(pages.div_ceil(self.packet_pages.max(1)));
        let slice = self.slice_pages.max(1);
        let each = u64::from(self.pages / slice) * of(slice) + of(self.pages % slice);
        self.commands.len() as u64 * each
    }
}

/// One channel of an EDM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EdmChannel {
    /// Whether it sends over the link.
    pub sends: bool,
    /// Messages in the whole run.
    pub messages: u32,
    /// The workers that fill or read its buffers; none in a microbenchmark.
    pub workers: Vec<Place>,
}

/// The EDM of one Ethernet tile. The peer EDM has the same channels with reversed directions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EdmPlan {
    /// The Ethernet tile.
    pub place: Place,
    /// Whether it begins the handshake, as exactly one end of a link does.
    pub handshake_sender: bool,
    /// The channels, by number.
    pub channels: Vec<EdmChannel>,
}

/// A worker's expected result word: the digest of a range of its chip's output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expected {
    /// The worker, an index into [`Program::checks`].
    pub worker: usize,
    /// Index of its command.
    pub command: usize,
    /// The expected digest.
    pub digest: u32,
    /// The same range, from which the full data can be computed to count wrong elements.
    pub stretch: OutputRange,
}

/// A range of a chip's output tensor from `first_page`, and the data that the host computes for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputRange {
    /// The chip.
    pub chip: ChipId,
    /// Index of the tensor in the checking worker's list.
    pub tensor: usize,
    /// Its first page.
    pub first_page: u32,
    /// Index of the first element of the expected data in the range.
    pub first_element: u64,
    /// Streams of [`WorkerCommand::rank`] that are summed in the range: each arm in its order, then
    /// the arms' sums in theirs. Data that were only moved are one arm of one stream.
    pub arms: Vec<Vec<u32>>,
}

/// One collective of one size, ready to launch: first the fills, then EDMs and workers together,
/// then the checks.
#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    /// The kind of the chips that it is for.
    pub chip_kind: ChipKind,
    /// What it does.
    pub op: Op,
    /// The type of its elements.
    pub data_type: DataType,
    /// The topology of the ranks.
    pub topology: TopologyKind,
    /// Chip of each rank.
    pub ranks: Vec<ChipId>,
    /// Seed of the data.
    pub seed: u32,
    /// Bytes of a buffer of every EDM, a multiple of 32.
    pub buffer_bytes: u32,
    /// Buffers of each channel.
    pub buffers_per_channel: u32,
    /// Whether channels end when their workers signal it, rather than after a number of messages.
    pub worker_initiated: bool,
    /// Cycles for which a message stays in its buffer after a worker has read it, so that the run
    /// can be followed on screen.
    pub delay_cycles: u32,
    /// Kernels that write the inputs.
    pub fills: Vec<WorkerPlan>,
    /// EDMs of the run; none over the fabric.
    pub edms: Vec<EdmPlan>,
    /// The use of the fabric, if any.
    pub crossing: Option<Crossing>,
    /// Workers of the run.
    pub workers: Vec<WorkerPlan>,
    /// Kernels that digest the outputs.
    pub checks: Vec<WorkerPlan>,
    /// The expected digests.
    pub expected: Vec<Expected>,
    /// nccl-tests' `size`: the bytes for the bandwidth.
    pub size_bytes: u64,
    /// nccl-tests' `count`.
    pub count: u64,
    /// busbw / algbw, as nccl-tests' PERFORMANCE.md defines it for the collective.
    pub bus_factor: f64,
}

impl Program {
    /// Returns the bytes per cycle of all links over which a chip receives: of the chip that has the
    /// most. No bus bandwidth is above it.
    pub fn link_rate(&self) -> f64 {
        let ends: BTreeSet<Place> = if let Some(crossing) = &self.crossing {
            crossing.plan.routers.iter().map(|router| router.place).collect()
        } else {
            let receives = |edm: &&EdmPlan| edm.channels.iter().any(|channel| !channel.sends);
            self.edms.iter().filter(receives).map(|edm| edm.place).collect()
        };
        let of = |chip: &ChipId| ends.iter().filter(|end| end.chip == *chip).count();
        let most = self.ranks.iter().map(of).max().unwrap_or(0);
        most as f64 * self.chip_kind.layout().eth.link_bytes_per_cycle
    }
}
