//! Sampled program counters: where cores were at some moments, without having been halted.

use crate::snapshot::AccessError;
use layouts::CoreId;

/// How many program counters to sample of each core, and how far apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SampleOrder {
    /// Number of samples of each core.
    pub count: u32,
    /// Mean time between two samples, in device cycles. The time of each is drawn between half of
    /// it and one and a half: a loop whose period divides it would be seen at one place only.
    pub apart_cycles: u64,
}

/// A program counter at a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PcSample {
    /// The target's time of the read, in device cycles.
    pub cycles: u64,
    /// The program counter.
    pub pc: u32,
    /// Whether it is certainly that of an instruction in flight; otherwise it is a recent one.
    pub certain: bool,
}

/// The samples of one core.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CoreSamples {
    /// The core.
    pub core: CoreId,
    /// The samples, oldest first.
    pub samples: Vec<PcSample>,
    /// Whether the samples may have come through this core: an ERISC of a chip without PCIe that has
    /// a link. The one that relays a sample is seen relaying it.
    pub relays: bool,
    /// Why there are fewer than ordered.
    pub missing: Option<AccessError>,
}

/// The samples of some cores.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Samples {
    /// Each core once, in the order of their ids.
    pub cores: Vec<CoreSamples>,
    /// What went wrong afterwards, one sentence each: a debug bus that could not be put back.
    pub problems: Vec<String>,
}

impl Samples {
    /// Returns the samples of a core.
    pub fn of(&self, core: CoreId) -> Option<&CoreSamples> {
        self.cores.iter().find(|samples| samples.core == core)
    }
}
