//! Why a collective cannot be compiled: one sentence per error.

use super::op::{Bidirectional, DataType, Op};
use fabric::FabricError;
use launch::topology::{TopologyError, TopologyKind};
use layouts::{ChipId, EthId};
use std::fmt;

/// Why a collective cannot be compiled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CclError {
    /// The chips do not form the ring or line.
    Topology(TopologyError),
    /// The number of links is 0.
    NoLinks,
    /// The number of workers is 0.
    NoWorkers,
    /// The number of buffers is 0.
    NoBuffers,
    /// The size is not a whole number of elements for each part.
    SizeDoesNotDivide {
        /// The size.
        bytes: u64,
        /// The type of the elements.
        data_type: DataType,
        /// Number of parts.
        parts: u64,
    },
    /// A size is not a multiple of 32 bytes.
    Unaligned {
        /// What has the size.
        what: &'static str,
        /// The size.
        bytes: u32,
    },
    /// A page does not fit into a buffer.
    PageTooLarge {
        /// Bytes of a page.
        page_bytes: u32,
        /// Bytes of a buffer.
        buffer_bytes: u32,
    },
    /// The root is not a rank.
    RootOutOfRange {
        /// The requested root.
        root: u32,
        /// The number of ranks.
        ranks: usize,
    },
    /// The rank does not exist.
    NoRank(usize),
    /// The operation has no root.
    NoRoot(Op),
    /// The tensors do not fit into memory.
    TooLarge {
        /// Bytes needed in one bank.
        bytes: u64,
        /// Bytes available in a bank.
        room: u64,
        /// The kind of the banks.
        banks: &'static str,
    },
    /// More elements than a worker can count.
    TooManyElements(u64),
    /// A chip has too few compute tiles.
    TooFewTiles {
        /// The chip.
        chip: ChipId,
        /// Tiles needed.
        wanted: usize,
        /// Tiles of the chip.
        tiles: usize,
    },
    /// The list of commands exceeds the room in a worker's L1.
    TooManyCommands(usize),
    /// The operation does not support this use of both directions on this topology.
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
    NoFabric(Box<FabricError>),
    /// More links are requested than the fabric has planes.
    TooFewPlanes {
        /// Links requested.
        links: u32,
        /// Planes of the fabric.
        planes: u32,
    },
    /// The fabric has no route from one chip to another.
    NoRoute {
        /// The source chip.
        from: ChipId,
        /// The target chip.
        to: ChipId,
    },
    /// A route over a line or ring is too long for the packet header.
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
    TooManyClients {
        /// The router.
        router: EthId,
        /// Number of workers.
        clients: usize,
        /// Number of channels.
        most: usize,
    },
    /// No Ethernet tile without a link is free for a mux.
    NoIdleTile {
        /// The chip.
        chip: ChipId,
        /// The router of the mux.
        router: EthId,
    },
}

impl fmt::Display for CclError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Topology(error) => write!(f, "{error}"),
            Self::NoLinks => f.write_str("links: a collective needs one or more"),
            Self::NoWorkers => f.write_str("workers: a direction needs one or more"),
            Self::NoBuffers => f.write_str("buffers: a channel needs one or more"),
            Self::SizeDoesNotDivide { bytes, data_type, parts } => {
                let (name, element) = (data_type.name(), data_type.bytes());
                write!(
                    f,
                    "{bytes} bytes are not a whole number of {name} elements of {element} bytes"
                )?;
                if *parts > 1 {
                    write!(
                        f,
                        " for each of {parts} ranks: must be a multiple of {}",
                        element * parts
                    )?;
                }
                Ok(())
            }
            Self::Unaligned { what, bytes } => {
                write!(f, "{what} of {bytes} bytes: must be a nonzero multiple of 32")
            }
            Self::PageTooLarge { page_bytes, buffer_bytes } => {
                write!(
                    f,
                    "a page of {page_bytes} bytes does not fit an EDM buffer of {buffer_bytes} bytes"
                )
            }
            Self::RootOutOfRange { root, ranks } => {
                write!(f, "root {root}: the ranks are 0 to {}", ranks.saturating_sub(1))
            }
            Self::NoRank(rank) => write!(f, "there is no rank {rank}"),
            Self::NoRoot(op) => write!(f, "{} has no root", op.name()),
            Self::TooLarge { bytes, room, banks } => {
                write!(
                    f,
                    "the tensors need {bytes} bytes in each of the {banks}, which have {room}"
                )
            }
            Self::TooManyElements(elements) => {
                write!(f, "{elements} elements per rank: at most {}", u32::MAX)
            }
            Self::TooFewTiles { chip, wanted, tiles } => {
                write!(f, "chip {chip} has {tiles} compute tiles for {wanted} workers")
            }
            Self::TooManyCommands(commands) => {
                write!(f, "a worker needs {commands} commands, more than its list holds")
            }
            Self::Direction { op, kind, way, why } => {
                write!(f, "{} on a {kind} does not support {}: {why}", op.name(), way.name())
            }
            Self::NoFabric(why) => write!(f, "{why}"),
            Self::TooFewPlanes { links, planes } => {
                let plural = if *planes == 1 { "" } else { "s" };
                write!(
                    f,
                    "{links} links requested, but the fabric has {planes} routing plane{plural}"
                )
            }
            Self::NoRoute { from, to } => {
                write!(f, "the fabric has no route from chip {from} to chip {to}")
            }
            Self::TooManyHops { from, to, hops, most } => write!(
                f,
                "chip {from} to chip {to}: {hops} hops, but the packet header of a line or ring holds at most {most}"
            ),
            Self::TooManyClients { router, clients, most } => write!(
                f,
                "{clients} workers share the router of {router}, but its mux has {most} channels: use fewer workers per link"
            ),
            Self::NoIdleTile { chip, router } => {
                write!(f, "chip {chip} has no free Ethernet tile for the mux of router {router}")
            }
        }
    }
}

impl std::error::Error for CclError {}

impl From<TopologyError> for CclError {
    fn from(error: TopologyError) -> Self {
        Self::Topology(error)
    }
}
