//! A machine is a machine: what silicon, simulators, the emulator and recordings have in common.

use crate::snapshot::{AccessError, Plan, Snapshot};
use layouts::{ChipCoord, ChipId, EthId, NocAddr};

/// What a target can do, and what must not be touched on it. Data, never a question for its kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Abilities {
    /// Memory and registers can be written.
    pub write: bool,
    /// Time passes by [`Target::pass`] only, and can be made to pass.
    pub stepped_time: bool,
    /// Ranges that this target must not be asked for, with the reason.
    pub refusals: Vec<Refusal>,
}

/// An address range of a tile kind that a target must not be asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Kind of tile.
    pub kind: layouts::TileKind,
    /// First byte of the range.
    pub start: u64,
    /// First byte after the range.
    pub end: u64,
    /// Why, in one sentence.
    pub reason: String,
}

/// A chip as discovery found it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chip {
    /// Its number here.
    pub id: ChipId,
    /// Where its base firmware says that it stands.
    pub coord: Option<ChipCoord>,
    /// Reachable over PCIe by itself.
    pub pcie: bool,
    /// The 64-bit board id its firmware publishes, in the form of the results block (high, low).
    pub unique_id: Option<u64>,
    /// Name of the board, such as `n300 L`, where the id tells.
    pub board: Option<String>,
    /// The PCIe chip and the Ethernet tiles through which it is reached, if it is remote.
    pub gateway: Option<Vec<EthId>>,
    /// NOC 0 rows of Tensix tiles that are fused off.
    pub harvested_rows: Vec<u8>,
}

/// A link as discovery found it: both ends always together, the lower end first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Link {
    /// One end.
    pub a: EthId,
    /// The other.
    pub b: EthId,
}

/// The mesh as discovery walked it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mesh {
    /// All chips, by id.
    pub chips: Vec<Chip>,
    /// All links, sorted.
    pub links: Vec<Link>,
    /// What discovery could not learn, one sentence each.
    pub problems: Vec<String>,
}

impl Mesh {
    /// The chip with this id.
    pub fn chip(&self, id: ChipId) -> Option<&Chip> {
        self.chips.iter().find(|c| c.id == id)
    }
}

/// A mesh that can be looked at.
pub trait Target: Send {
    /// The words that opened it, such as `emulator:n300`.
    fn name(&self) -> &str;
    /// What can be asked of it.
    fn abilities(&self) -> &Abilities;
    /// The mesh as discovery found it when the target was opened.
    fn mesh(&self) -> &Mesh;
    /// Reads as much of the plan as can be read; the rest are gaps.
    fn read(&mut self, plan: &Plan) -> Snapshot;
    /// Writes memory or registers: a command that a person gave. Writes to one chip arrive in
    /// order, and before anything that is read or any time that passes later.
    ///
    /// # Errors
    /// What kept the bytes from being written.
    fn write(&mut self, addr: NocAddr, bytes: &[u8]) -> Result<(), AccessError>;
    /// The target's own time, in device cycles.
    ///
    /// # Errors
    /// When the device is gone.
    fn now(&mut self) -> Result<u64, AccessError>;
    /// Lets time pass, in device cycles.
    ///
    /// # Errors
    /// When the device is gone.
    fn pass(&mut self, cycles: u64) -> Result<(), AccessError>;
    /// What the machine itself found wrong since it was opened, one sentence each.
    fn remarks(&mut self) -> Vec<String> {
        Vec::new()
    }
}
