//! The past of a machine as its bus shows it.

use super::Bar;
use crate::fault::ChipAddress;
use crate::past::{
    PastChanges, PastError, PastPacket, PastWatcher, PastWrite, RecordedRun, WriteSearch,
};
use layouts::NocXy;

/// A range of the memory of one tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TileBytes {
    /// The chip.
    pub chip: ChipAddress,
    /// The tile.
    pub tile: NocXy,
    /// Tile-local address of the first byte.
    pub offset: u64,
    /// Number of bytes.
    pub len: u32,
}

/// The past of a machine, up to the moment when its bus returned it.
pub trait BarPast: Send + Sync {
    /// Returns the first cycle and the last that can be shown again.
    fn cycles(&self) -> (u64, u64);

    /// Returns a copy of the machine as it was at a cycle. What is done with the copy has no effect
    /// on the machine.
    ///
    /// # Errors
    /// The cycle is not kept, or `watcher` returned false.
    fn at(&self, cycles: u64, watcher: &mut PastWatcher<'_>) -> Result<Box<dyn Bar>, PastError>;

    /// Returns the last write to a range; `None` if there was none in the past that is kept.
    ///
    /// # Errors
    /// There is no such memory, or `watcher` returned false.
    fn last_write(
        &self,
        range: &TileBytes,
        search: WriteSearch,
        watcher: &mut PastWatcher<'_>,
    ) -> Result<Option<PastWrite<ChipAddress>>, PastError>;

    /// Returns the last changes of ranges in cycles before one; as far back as one piece of the past
    /// goes.
    ///
    /// # Errors
    /// As [`BarPast::last_write`].
    fn last_changes(
        &self,
        ranges: &[TileBytes],
        before_cycles: u64,
        watcher: &mut PastWatcher<'_>,
    ) -> Result<PastChanges<ChipAddress>, PastError>;

    /// Returns the packets that were sent over Ethernet links from one cycle to another, in the order in
    /// which they were sent.
    ///
    /// # Errors
    /// The cycles are not kept, or `watcher` returned false.
    fn eth_packets(
        &self,
        cycles: (u64, u64),
        watcher: &mut PastWatcher<'_>,
    ) -> Result<Vec<PastPacket<ChipAddress>>, PastError>;

    /// Returns the past of a machine that starts as this one did and executes a recorded run.
    ///
    /// # Errors
    /// It cannot be read, or ends otherwise; or `watcher` returned false.
    fn rerun(
        &self,
        run: &RecordedRun,
        watcher: &mut PastWatcher<'_>,
    ) -> Result<Box<dyn BarPast>, PastError>;
}
