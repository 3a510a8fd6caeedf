//! What a run is told, how far it is, and what it brings back.

use launch::task::Progress;
use layouts::ChipId;
use machine::fault::Fault;
use std::fmt;

/// How a program is carried out.
#[derive(Clone, Debug, PartialEq)]
pub struct RunSettings {
    /// Launches before the ones that count.
    pub warmups: u32,
    /// Launches that count; at least one is made.
    pub iterations: u32,
    /// Compare the data of every chip with what the host computes.
    pub check: bool,
    /// What is to go wrong; times count from the first go message of the transfer.
    pub faults: Vec<Fault>,
    /// Patience with a kernel that makes no progress, in cycles of the target's own time.
    pub deadline_cycles: u64,
}

/// Five milliseconds without any progress is longer than any link needs to come up again.
const DEADLINE_CYCLES: u64 = 5_000_000;

impl Default for RunSettings {
    fn default() -> Self {
        Self {
            warmups: 0,
            iterations: 1,
            check: true,
            faults: Vec::new(),
            deadline_cycles: DEADLINE_CYCLES,
        }
    }
}

/// What a run is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stage {
    /// Looks at every tile that it needs, and judges whether they are free.
    Survey,
    /// Firmware of compute tiles boots.
    Boot,
    /// Ethernet tiles are taken over from base firmware.
    TakeOver,
    /// The fabric comes up.
    FabricUp,
    /// The inputs are put in place.
    Fill,
    /// Kernels are written, and wait for their go messages.
    Launch,
    /// The data moves.
    Transfer,
    /// The outputs are digested.
    Check,
    /// A stretch that differs is read in full.
    Compare,
    /// The kernels are stopped before their end.
    Stop,
    /// The fabric goes down.
    FabricDown,
    /// What the run wrote for itself is cleared, and base firmware gets its cores back.
    GiveBack,
}

impl Stage {
    /// For people.
    pub fn words(self) -> &'static str {
        match self {
            Self::Survey => "reads the tiles",
            Self::Boot => "boots compute tiles",
            Self::TakeOver => "takes Ethernet tiles over",
            Self::FabricUp => "brings the fabric up",
            Self::Fill => "fills the inputs",
            Self::Launch => "launches",
            Self::Transfer => "moves data",
            Self::Check => "checks the data",
            Self::Compare => "reads wrong data",
            Self::Stop => "stops the kernels",
            Self::FabricDown => "takes the fabric down",
            Self::GiveBack => "gives the tiles back",
        }
    }

    /// How far it is is counted in bytes, not in steps.
    pub fn counts_bytes(self) -> bool {
        matches!(self, Self::Fill | Self::Transfer | Self::Check)
    }

    /// The data moves now: the part that is worth following.
    pub fn is_transfer(self) -> bool {
        self == Self::Transfer
    }
}

/// Where a run stands. What is done is bytes that were filled, arrived or were checked, else steps. A run that was cancelled has no
/// report.
pub type RunProgress = Progress<Stage, Option<RunReport>>;

/// When a chip's kernels ran, by its own clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChipTimes {
    /// The chip.
    pub chip: ChipId,
    /// Its first worker was entered, in cycles.
    pub started_cycles: u64,
    /// The first of its links was up at both ends, in cycles.
    pub ready_cycles: u64,
    /// Its last worker was done, in cycles.
    pub finished_cycles: u64,
}

impl ChipTimes {
    /// How long its kernels lasted, in cycles: those of a chip that is launched early wait for the others.
    pub fn kernel_cycles(&self) -> u64 {
        self.finished_cycles.saturating_sub(self.started_cycles)
    }

    /// How long it moved data, in cycles.
    pub fn transfer_cycles(&self) -> u64 {
        self.finished_cycles.saturating_sub(self.ready_cycles)
    }
}

/// A stretch of a chip's output that is not what the host computes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrongStretch {
    /// The chip.
    pub chip: ChipId,
    /// Its first page in the output tensor.
    pub first_page: u32,
    /// The first element of the stretch that is wrong.
    pub first_element: u64,
    /// Elements that are wrong.
    pub elements: u64,
}

impl fmt::Display for WrongStretch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { chip, first_page, first_element, elements } = self;
        write!(
            f,
            "chip {chip}: {elements} elements from page {first_page} on are wrong, the first is number {first_element}"
        )
    }
}

/// What came of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunReport {
    /// Transfer time of the chip that was launched last, in cycles; the mean of the iterations.
    pub time_cycles: u64,
    /// How much longer the kernels of the longest chip lasted than that chip's, in cycles; the mean of the iterations.
    pub start_skew_cycles: u64,
    /// Elements that are wrong, over all chips; none if nobody looked.
    pub wrong: Option<u64>,
    /// Where they are.
    pub wrong_stretches: Vec<WrongStretch>,
    /// The chip that was launched last, whose times are quoted.
    pub last: ChipId,
    /// Launches that count.
    pub iterations: u32,
    /// Every chip's times in the last iteration.
    pub chips: Vec<ChipTimes>,
}

impl RunReport {
    /// Of a run that has not begun.
    pub(super) fn new(last: ChipId, settings: &RunSettings) -> Self {
        Self {
            time_cycles: 0,
            start_skew_cycles: 0,
            wrong: None,
            wrong_stretches: Vec::new(),
            last,
            iterations: settings.iterations.max(1),
            chips: Vec::new(),
        }
    }
}
