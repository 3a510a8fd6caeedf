//! The settings of a run, its progress, and its report.

use launch::task::Progress;
use layouts::ChipId;
use machine::fault::Fault;
use std::fmt;

/// How to run a program.
#[derive(Clone, Debug, PartialEq)]
pub struct RunSettings {
    /// Launches before the measured launches.
    pub warmups: u32,
    /// Measured launches; at least one is made.
    pub iterations: u32,
    /// Whether to compare the data of every chip with those that the host computes.
    pub check: bool,
    /// Faults to inject; their times count from the first go message of the transfer.
    pub faults: Vec<Fault>,
    /// Where kernels of the first launch concerned park, until they are resumed.
    pub park: Option<Park>,
    /// Deadline for a kernel without progress, in cycles of the target's own time.
    pub deadline_cycles: u64,
}

/// The moment at which kernels of a run park.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Park {
    /// The workers of this stage (fill, transfer or check) before their first packet.
    Workers(Stage),
    /// Each worker of the transfer when it has begun this share of its packets, in percent.
    Share(u64),
    /// The EDMs, or the routers of a fabric that the run brings up, before their handshake.
    Handshake,
    /// The EDMs before their teardown, and workers on a fabric before they close their connections.
    Teardown,
}

impl Park {
    /// The stage in whose launch kernels park.
    pub(super) fn stage(self) -> Stage {
        match self {
            Self::Workers(stage) => stage,
            Self::Share(_) | Self::Handshake | Self::Teardown => Stage::Transfer,
        }
    }
}

/// Five milliseconds: longer than any link needs to come up again.
const DEADLINE_CYCLES: u64 = 5_000_000;

impl Default for RunSettings {
    fn default() -> Self {
        Self {
            warmups: 0,
            iterations: 1,
            check: true,
            faults: Vec::new(),
            park: None,
            deadline_cycles: DEADLINE_CYCLES,
        }
    }
}

/// The stage of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stage {
    /// Reads the state of every tile that it needs, and checks that the tiles are free.
    Survey,
    /// Boots the firmware of compute tiles.
    Boot,
    /// Takes Ethernet tiles over from base firmware.
    TakeOver,
    /// Brings the fabric up.
    FabricUp,
    /// Writes the inputs.
    Fill,
    /// Writes kernels, which wait for their go messages.
    Launch,
    /// Moves data.
    Transfer,
    /// Digests the outputs.
    Check,
    /// Reads a range that differs in full.
    Compare,
    /// Stops the kernels before their end.
    Stop,
    /// Takes the fabric down.
    FabricDown,
    /// Clears what the run wrote for itself, and returns cores to base firmware.
    GiveBack,
}

impl Stage {
    /// Returns the stage in words, for display.
    pub fn words(self) -> &'static str {
        match self {
            Self::Survey => "surveys the tiles",
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

    /// Whether its progress is counted in bytes, not in steps.
    pub fn counts_bytes(self) -> bool {
        matches!(self, Self::Fill | Self::Transfer | Self::Check)
    }

    /// Whether the data move in this stage, the one worth following on screen.
    pub fn is_transfer(self) -> bool {
        self == Self::Transfer
    }
}

/// The progress of a run: bytes filled, received or checked, else steps. A cancelled run has no
/// report.
pub type RunProgress = Progress<Stage, Option<RunReport>>;

/// The times of a chip's kernels, by its own clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChipTimes {
    /// The chip.
    pub chip: ChipId,
    /// When its first worker was entered, in cycles.
    pub started_cycles: u64,
    /// When the first link of the chip launched last was up at both ends, in cycles: on other chips
    /// as far as the times of the go messages tell.
    pub ready_cycles: u64,
    /// When its last worker was done, in cycles.
    pub finished_cycles: u64,
}

impl ChipTimes {
    /// Returns the duration of its kernels, in cycles. Kernels of a chip that is launched early
    /// wait for the others.
    pub fn kernel_cycles(&self) -> u64 {
        self.finished_cycles.saturating_sub(self.started_cycles)
    }

    /// Returns the duration of its data transfer since the chip launched last is ready, in cycles.
    pub fn transfer_cycles(&self) -> u64 {
        self.finished_cycles.saturating_sub(self.ready_cycles)
    }
}

/// A range of a chip's output that differs from what the host computes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrongRange {
    /// The chip.
    pub chip: ChipId,
    /// Its first page in the output tensor.
    pub first_page: u32,
    /// The first wrong element of the range.
    pub first_element: u64,
    /// Number of wrong elements.
    pub elements: u64,
}

impl fmt::Display for WrongRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { chip, first_page, first_element, elements } = self;
        write!(
            f,
            "chip {chip}: {elements} elements from page {first_page} on are wrong, the first is number {first_element}"
        )
    }
}

/// The result of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunReport {
    /// Transfer time of the slowest chip, in cycles; the mean of the iterations.
    pub time_cycles: u64,
    /// Kernel time of the slowest chip minus that of the chip launched last, in cycles; the mean of
    /// the iterations.
    pub start_skew_cycles: u64,
    /// Number of wrong elements, over all chips; `None` if the data were not checked.
    pub wrong: Option<u64>,
    /// The ranges with wrong elements.
    pub wrong_ranges: Vec<WrongRange>,
    /// The chip launched last, from whose start the times count.
    pub last: ChipId,
    /// Measured launches.
    pub iterations: u32,
    /// The times of every chip in the last iteration.
    pub chips: Vec<ChipTimes>,
}

impl RunReport {
    /// Creates the report of a run that has not begun.
    pub(super) fn new(last: ChipId, settings: &RunSettings) -> Self {
        Self {
            time_cycles: 0,
            start_skew_cycles: 0,
            wrong: None,
            wrong_ranges: Vec::new(),
            last,
            iterations: settings.iterations.max(1),
            chips: Vec::new(),
        }
    }
}
