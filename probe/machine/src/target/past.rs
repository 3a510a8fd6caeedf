//! The past of a target.

use super::Target;
use crate::past::{
    PastChanges, PastError, PastPacket, PastWatcher, PastWrite, RecordedRun, WriteSearch,
};
use crate::snapshot::Span;

/// The past of a target, up to the moment when the target returned it. To look at it never changes
/// the target.
pub trait Past: Send + Sync {
    /// Returns the first cycle and the last that can be shown again.
    fn cycles(&self) -> (u64, u64);

    /// Returns the target as it was at a cycle: a copy, to be read like any target.
    ///
    /// # Errors
    /// The cycle is not kept, or `watcher` returned false.
    fn at(&self, cycles: u64, watcher: &mut PastWatcher<'_>) -> Result<Box<dyn Target>, PastError>;

    /// Returns the last write to a range; `None` if there was none in the past that is kept.
    ///
    /// # Errors
    /// There is no such memory, or `watcher` returned false.
    fn last_write(
        &self,
        span: Span,
        search: WriteSearch,
        watcher: &mut PastWatcher<'_>,
    ) -> Result<Option<PastWrite>, PastError>;

    /// Returns the last changes of ranges in cycles before one; as far back as one piece of the past
    /// goes.
    ///
    /// # Errors
    /// As [`Past::last_write`].
    fn last_changes(
        &self,
        spans: &[Span],
        before_cycles: u64,
        watcher: &mut PastWatcher<'_>,
    ) -> Result<PastChanges, PastError>;

    /// Returns the packets that were sent over Ethernet links from one cycle to another, in the order in
    /// which they were sent.
    ///
    /// # Errors
    /// The cycles are not kept, or `watcher` returned false.
    fn eth_packets(
        &self,
        cycles: (u64, u64),
        watcher: &mut PastWatcher<'_>,
    ) -> Result<Vec<PastPacket>, PastError>;

    /// Returns the past of a machine that starts as this one did and executes a recorded run.
    ///
    /// # Errors
    /// It cannot be read, or ends otherwise; or `watcher` returned false.
    fn rerun(
        &self,
        run: &RecordedRun,
        watcher: &mut PastWatcher<'_>,
    ) -> Result<Box<dyn Past>, PastError>;
}
