//! What happens while a target is opened and read, told to whoever waits for it.

use std::fmt;
use std::sync::Arc;

/// A stage of opening or reading a target, as far as it has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum Progress {
    /// What stands behind the BAR is started; its name, in words.
    Start(&'static str),
    /// Chips are searched for, over PCIe and then over links.
    Discovery {
        /// Chips found.
        chips: usize,
        /// Chips found, and those that the links read so far lead to.
        named: usize,
        /// Links of the found chips that are up, counted at each end.
        link_ends: usize,
    },
    /// The routing queues, which lead to remote chips, had to be waited for.
    #[strum(serialize = "routing queues")]
    Queues {
        /// The process that uses them; none once it is this one.
        used_by: Option<u32>,
    },
    /// Firmware boots and the workload is launched.
    Boot {
        /// The target's own time, in cycles.
        cycles: u64,
        /// The time up to which it runs, once that is known.
        until_cycles: Option<u64>,
    },
    /// What verifies the running images is read.
    Images(ChipCount),
    /// The words of a snapshot are read.
    Snapshot(ChipCount),
    /// The snapshots of a verdict are taken.
    Verdict {
        /// The number of the one that is read, from 1.
        snapshot: u64,
        /// The number of the last one.
        of: u64,
        /// The chips of it that were read.
        chips: ChipCount,
    },
}

/// The chips of a read that have answered, or were given up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ChipCount {
    /// Their number.
    pub done: usize,
    /// The number of all chips that are read.
    pub of: usize,
}

/// Whoever waits for a target; by default nobody.
#[derive(Clone, Default)]
pub struct Listener(Option<Arc<dyn Fn(Progress) + Send + Sync>>);

impl Listener {
    /// Makes a listener that is called at each step.
    pub fn new(hear: impl Fn(Progress) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(hear)))
    }

    /// Tells it about a step.
    pub fn tell(&self, progress: Progress) {
        if let Some(hear) = &self.0 {
            hear(progress);
        }
    }

    /// Whether anybody listens.
    pub fn listens(&self) -> bool {
        self.0.is_some()
    }
}

impl fmt::Debug for Listener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.listens() { "a listener" } else { "nobody" })
    }
}
