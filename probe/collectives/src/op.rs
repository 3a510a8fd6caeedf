//! What a collective does, to elements of which type, in which directions.

/// A collective.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// Every rank gets the data of all.
    AllGather,
    /// Every rank gets one fracture of the sum.
    ReduceScatter,
    /// Every rank gets the whole sum.
    AllReduce,
    /// Every rank gets the root's data.
    Broadcast,
    /// The root gets the sum.
    Reduce,
    /// The root gets the data of all.
    Gather,
    /// Every rank gets one fracture of the root's data.
    Scatter,
    /// Every rank gets one fracture of each other's data.
    AllToAll,
    /// The last rank gets the first rank's data, through a socket.
    SendReceive,
}

impl Op {
    /// All of them.
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

    /// As the command line spells it.
    pub fn name(self) -> &'static str {
        match self {
            Self::AllGather => "all-gather",
            Self::ReduceScatter => "reduce-scatter",
            Self::AllReduce => "all-reduce",
            Self::Broadcast => "broadcast",
            Self::Reduce => "reduce",
            Self::Gather => "gather",
            Self::Scatter => "scatter",
            Self::AllToAll => "all-to-all",
            Self::SendReceive => "send-receive",
        }
    }

    /// It adds, so that nccl-tests' column `redop` says `sum`, else `none`.
    pub fn reduces(self) -> bool {
        matches!(self, Self::ReduceScatter | Self::AllReduce | Self::Reduce)
    }
}

/// What an element is.
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
    /// As the command line spells it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Int32 => "int32",
            Self::Float32 => "fp32",
            Self::Bfloat16 => "bfloat16",
        }
    }

    /// Bytes of an element.
    pub fn bytes(self) -> u64 {
        match self {
            Self::Int32 | Self::Float32 => 4,
            Self::Bfloat16 => 2,
        }
    }
}

/// How a ring uses both directions of its links. A line always uses both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Bidirectional {
    /// It does not: everything goes the same way round.
    #[default]
    No,
    /// Half of each tensor goes each way, all the way round.
    HalfTensors,
    /// Full tensors go each way, half-way round.
    FullTensors,
}

impl Bidirectional {
    /// As the command line spells it.
    pub fn name(self) -> &'static str {
        match self {
            Self::No => "no",
            Self::HalfTensors => "half-tensors",
            Self::FullTensors => "full-tensors",
        }
    }
}

impl Op {
    /// Its `size` is that of as many blocks as there are ranks.
    pub(super) fn cuts(self) -> bool {
        match self {
            Self::AllGather
            | Self::ReduceScatter
            | Self::Gather
            | Self::Scatter
            | Self::AllToAll => true,
            Self::AllReduce | Self::Broadcast | Self::Reduce | Self::SendReceive => false,
        }
    }

    /// busbw / algbw of so many ranks (nccl-tests, `PERFORMANCE.md`).
    pub(super) fn bus_factor(self, ranks: usize) -> f64 {
        let others = (ranks as f64 - 1.0) / ranks as f64;
        match self {
            Self::AllReduce => 2.0 * others,
            _ if self.cuts() => others,
            _ => 1.0,
        }
    }

    /// One rank is special.
    pub fn has_root(self) -> bool {
        matches!(self, Self::Broadcast | Self::Reduce | Self::Gather | Self::Scatter)
    }
}
