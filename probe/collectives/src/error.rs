//! Why a collective cannot be: one sentence for each mistake.

use super::op::{Bidirectional, DataType, Op};
use fabric::FabricError;
use launch::topology::{TopologyError, TopologyKind};
use layouts::{ChipId, EthId};
use std::fmt;

/// Why a collective cannot be compiled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CclError {
    /// The chips form no such ring or line.
    Topology(TopologyError),
    /// No links were asked for.
    NoLinks,
    /// No workers were asked for.
    NoWorkers,
    /// No buffers were asked for.
    NoBuffers,
    /// The size is no whole number of elements for each part.
    SizeDoesNotDivide {
        /// The size.
        bytes: u64,
        /// The type of the elements.
        data_type: DataType,
        /// Parts that it is cut into.
        parts: u64,
    },
    /// Something is not a multiple of 32 bytes.
    Unaligned {
        /// What.
        what: &'static str,
        /// Its size.
        bytes: u32,
    },
    /// A page does not fit into a buffer.
    PageTooLarge {
        /// Bytes of a page.
        page_bytes: u32,
        /// Bytes of a buffer.
        buffer_bytes: u32,
    },
    /// No such rank can be the root.
    RootOutOfRange {
        /// The root that was asked for.
        root: u32,
        /// How many ranks there are.
        ranks: usize,
    },
    /// There is no such rank.
    NoRank(usize),
    /// The operation has no root.
    NoRoot(Op),
    /// The tensors do not fit into memory.
    TooLarge {
        /// Bytes that they need in one bank.
        bytes: u64,
        /// Bytes that a bank has.
        room: u64,
        /// What the banks are.
        banks: &'static str,
    },
    /// More elements than a worker can count.
    TooManyElements(u64),
    /// A chip lacks compute tiles.
    TooFewTiles {
        /// The chip.
        chip: ChipId,
        /// Tiles that are needed.
        wanted: usize,
        /// Tiles that it has.
        tiles: usize,
    },
    /// A worker would get a longer list of commands than it has room for.
    TooManyCommands(usize),
    /// The operation is not done in both directions of this topology in this way.
    Direction {
        /// The operation.
        op: Op,
        /// The topology.
        kind: TopologyKind,
        /// The way.
        way: Bidirectional,
        /// Why not, as the end of a sentence.
        why: &'static str,
    },
    /// The fabric cannot be.
    NoFabric(Box<FabricError>),
    /// More links were asked for than the fabric has planes.
    TooFewPlanes {
        /// Links asked for.
        links: u32,
        /// Planes of the fabric.
        planes: u32,
    },
    /// No way leads over the fabric from one chip to another.
    NoRoute {
        /// From this chip.
        from: ChipId,
        /// To this one.
        to: ChipId,
    },
    /// A way over a line or ring is too long for the header of its packets.
    TooManyHops {
        /// From this chip.
        from: ChipId,
        /// To this one.
        to: ChipId,
        /// Hops.
        hops: usize,
        /// Hops that a header has room for.
        most: usize,
    },
    /// More workers than a mux has channels use one router.
    TooManyClients {
        /// The router.
        router: EthId,
        /// Workers.
        clients: usize,
        /// Channels.
        most: usize,
    },
    /// No Ethernet tile without a link is left for a mux.
    NoIdleTile {
        /// The chip.
        chip: ChipId,
        /// The router that the mux is for.
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
                    "{bytes} bytes are no whole number of {name} elements of {element} bytes"
                )?;
                if *parts > 1 {
                    write!(
                        f,
                        " for each of {parts} ranks: it must be a multiple of {}",
                        element * parts
                    )?;
                }
                Ok(())
            }
            Self::Unaligned { what, bytes } => {
                write!(f, "{what} of {bytes} bytes: it must be a multiple of 32, and not 0")
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
                write!(
                    f,
                    "{elements} elements for a rank are more than the {} that can be counted",
                    u32::MAX
                )
            }
            Self::TooFewTiles { chip, wanted, tiles } => {
                write!(f, "chip {chip} has {tiles} compute tiles, and {wanted} workers are needed")
            }
            Self::TooManyCommands(commands) => {
                write!(f, "a worker would need {commands} commands, more than it has room for")
            }
            Self::Direction { op, kind, way, why } => {
                write!(f, "{} on a {kind} does not go by {}: {why}", op.name(), way.name())
            }
            Self::NoFabric(why) => write!(f, "{why}"),
            Self::TooFewPlanes { links, planes } => {
                let plural = if *planes == 1 { "" } else { "s" };
                write!(
                    f,
                    "{links} links were asked for, and the fabric has {planes} routing plane{plural}"
                )
            }
            Self::NoRoute { from, to } => {
                write!(f, "no way leads over the fabric from chip {from} to chip {to}")
            }
            Self::TooManyHops { from, to, hops, most } => write!(
                f,
                "from chip {from} to chip {to} it is {hops} hops, and a packet of a line or ring has room for {most}"
            ),
            Self::TooManyClients { router, clients, most } => write!(
                f,
                "{clients} workers would share the router of {router}, and the mux in front of it has {most} channels: fewer workers of each link are needed"
            ),
            Self::NoIdleTile { chip, router } => write!(
                f,
                "chip {chip} has no Ethernet tile without a link left for the mux of router {router}"
            ),
        }
    }
}

impl std::error::Error for CclError {}

impl From<TopologyError> for CclError {
    fn from(error: TopologyError) -> Self {
        Self::Topology(error)
    }
}
