//! Why a collective cannot be compiled: one sentence per error.

use super::op::{Bidirectional, DataType, Op};
use fabric::FabricError;
use launch::topology::{TopologyError, TopologyKind};
use layouts::{ChipId, EthId};
use thiserror::Error;

/// Why a collective cannot be compiled.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CclError {
    /// The chips do not form the ring or line.
    #[error("{0}")]
    Topology(#[from] TopologyError),
    /// The number of links is 0.
    #[error("links: a collective needs one or more")]
    NoLinks,
    /// The number of workers is 0.
    #[error("workers: a direction needs one or more")]
    NoWorkers,
    /// The number of buffers is 0.
    #[error("buffers: a channel needs one or more")]
    NoBuffers,
    /// The size is not a whole number of elements for each part.
    #[error("{bytes} bytes are not a whole number of {} elements of {} bytes{}", .data_type.name(), .data_type.bytes(), of_parts(*.data_type, *.parts))]
    SizeDoesNotDivide {
        /// The size.
        bytes: u64,
        /// The type of the elements.
        data_type: DataType,
        /// Number of parts.
        parts: u64,
    },
    /// A size is not a multiple of 32 bytes.
    #[error("{what} of {bytes} bytes: must be a nonzero multiple of 32")]
    Unaligned {
        /// What has the size.
        what: &'static str,
        /// The size.
        bytes: u32,
    },
    /// A page does not fit into a buffer.
    #[error("a page of {page_bytes} bytes does not fit an EDM buffer of {buffer_bytes} bytes")]
    PageTooLarge {
        /// Bytes of a page.
        page_bytes: u32,
        /// Bytes of a buffer.
        buffer_bytes: u32,
    },
    /// The root is not a rank.
    #[error("root {root}: the ranks are 0 to {}", .ranks.saturating_sub(1))]
    RootOutOfRange {
        /// The requested root.
        root: u32,
        /// The number of ranks.
        ranks: usize,
    },
    /// The rank does not exist.
    #[error("there is no rank {0}")]
    NoRank(usize),
    /// The operation has no root.
    #[error("{} has no root", .0.name())]
    NoRoot(Op),
    /// The tensors do not fit into memory.
    #[error("the tensors need {bytes} bytes in each of the {banks}, which have {room}")]
    TooLarge {
        /// Bytes needed in one bank.
        bytes: u64,
        /// Bytes available in a bank.
        room: u64,
        /// The kind of the banks.
        banks: &'static str,
    },
    /// More elements than a worker can count.
    #[error("{} elements per rank: at most {}", .0, u32::MAX)]
    TooManyElements(u64),
    /// A chip has too few compute tiles.
    #[error("chip {chip} has {tiles} compute tiles for {wanted} workers")]
    TooFewTiles {
        /// The chip.
        chip: ChipId,
        /// Tiles needed.
        wanted: usize,
        /// Tiles of the chip.
        tiles: usize,
    },
    /// The list of commands exceeds the room in a worker's L1.
    #[error("a worker needs {0} commands, more than its list holds")]
    TooManyCommands(usize),
    /// The operation does not support this use of both directions on this topology.
    #[error("{} on a {kind} does not support {}: {why}", .op.name(), .way.name())]
    Direction {
        /// The operation.
        op: Op,
        /// The topology.
        kind: TopologyKind,
        /// The use of the directions.
        way: Bidirectional,
        /// The reason, as the end of a sentence.
        why: &'static str,
    },
    /// The fabric cannot be planned.
    #[error("{0}")]
    NoFabric(Box<FabricError>),
    /// More links are requested than the fabric has planes.
    #[error("{links} links requested, but the fabric has {planes} routing plane{}", if *.planes == 1 { "" } else { "s" })]
    TooFewPlanes {
        /// Links requested.
        links: u32,
        /// Planes of the fabric.
        planes: u32,
    },
    /// The fabric has no route from one chip to another.
    #[error("the fabric has no route from chip {from} to chip {to}")]
    NoRoute {
        /// The source chip.
        from: ChipId,
        /// The target chip.
        to: ChipId,
    },
    /// A route over a line or ring is too long for the packet header.
    #[error(
        "chip {from} to chip {to}: {hops} hops, but the packet header of a line or ring holds at most {most}"
    )]
    TooManyHops {
        /// The source chip.
        from: ChipId,
        /// The target chip.
        to: ChipId,
        /// Hops of the route.
        hops: usize,
        /// Maximum number of hops in a header.
        most: usize,
    },
    /// More workers use one router than its mux has channels.
    #[error(
        "{clients} workers share the router of {router}, but its mux has {most} channels: use fewer workers per link"
    )]
    TooManyClients {
        /// The router.
        router: EthId,
        /// Number of workers.
        clients: usize,
        /// Number of channels.
        most: usize,
    },
    /// No Ethernet tile without a link is free for a mux.
    #[error("chip {chip} has no free Ethernet tile for the mux of router {router}")]
    NoIdleTile {
        /// The chip.
        chip: ChipId,
        /// The router of the mux.
        router: EthId,
    },
}

fn of_parts(data_type: DataType, parts: u64) -> String {
    let multiple = data_type.bytes() * parts;
    if parts > 1 {
        format!(" for each of {parts} ranks: must be a multiple of {multiple}")
    } else {
        String::new()
    }
}
