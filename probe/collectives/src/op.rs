//! The operation of a collective, its element type, and its use of link directions.

/// A collective.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum Op {
    /// Every rank receives the data of all.
    AllGather,
    /// Every rank receives one fracture of the sum.
    ReduceScatter,
    /// Every rank receives the whole sum.
    AllReduce,
    /// Every rank receives the root's data.
    Broadcast,
    /// The root receives the sum.
    Reduce,
    /// The root receives the data of all.
    Gather,
    /// Every rank receives one fracture of the root's data.
    Scatter,
    /// Every rank receives one fracture of each other's data.
    AllToAll,
    /// The last rank receives the first rank's data, through a socket.
    SendReceive,
}

impl Op {
    /// All operations.
    pub const ALL: [Self; 9] = [
        Self::AllGather,
        Self::ReduceScatter,
        Self::AllReduce,
        Self::Broadcast,
        Self::Reduce,
        Self::Gather,
        Self::Scatter,
        Self::AllToAll,
        Self::SendReceive,
    ];

    /// Returns the name on the command line.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Whether it adds: nccl-tests' column `redop` is then `sum`, else `none`.
    pub fn reduces(self) -> bool {
        matches!(self, Self::ReduceScatter | Self::AllReduce | Self::Reduce)
    }
}

/// The type of an element.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum DataType {
    /// 32-bit integer.
    #[default]
    Int32,
    /// IEEE single precision.
    Float32,
    /// The upper half of single precision.
    Bfloat16,
}

impl DataType {
    /// Returns the name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Int32 => "int32",
            Self::Float32 => "fp32",
            Self::Bfloat16 => "bfloat16",
        }
    }

    /// Returns the bytes of an element.
    pub fn bytes(self) -> u64 {
        match self {
            Self::Int32 | Self::Float32 => 4,
            Self::Bfloat16 => 2,
        }
    }
}

/// How a ring uses both directions of its links. A line always uses both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum Bidirectional {
    /// One direction: everything goes round in it.
    #[default]
    No,
    /// Half of each tensor goes in each direction, all the way round.
    HalfTensors,
    /// Full tensors go in each direction, half-way round.
    FullTensors,
}

impl Bidirectional {
    /// Returns the name on the command line.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

impl Op {
    /// Whether its `size` is that of as many blocks as there are ranks.
    pub fn cuts(self) -> bool {
        match self {
            Self::AllGather
            | Self::ReduceScatter
            | Self::Gather
            | Self::Scatter
            | Self::AllToAll => true,
            Self::AllReduce | Self::Broadcast | Self::Reduce | Self::SendReceive => false,
        }
    }

    /// Returns busbw / algbw for this number of ranks (nccl-tests, `PERFORMANCE.md`).
    pub(super) fn bus_factor(self, ranks: usize) -> f64 {
        let others = (ranks as f64 - 1.0) / ranks as f64;
        match self {
            Self::AllReduce => 2.0 * others,
            _ if self.cuts() => others,
            _ => 1.0,
        }
    }

    /// Whether it has a root rank.
    pub fn has_root(self) -> bool {
        matches!(self, Self::Broadcast | Self::Reduce | Self::Gather | Self::Scatter)
    }
}
