//! A track of a trace, and how Perfetto knows it.

use super::proto::{CounterDescriptor, ProcessDescriptor, ThreadDescriptor, TrackDescriptor};
use layouts::{ChipId, CoreId};

/// A track.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Track {
    /// One of the whole recording, with its name.
    Recording(&'static str),
    /// A chip: a process.
    Chip(ChipId),
    /// A core, with its waypoints: a thread.
    Core(CoreId),
    /// What else is known of a core, below it.
    OfCore(CoreId, String),
    /// A counter of a chip, with its name and unit.
    Counter(ChipId, String, &'static str),
}

impl Track {
    /// The track below which it is shown.
    pub(super) fn parent(&self) -> Option<Self> {
        match self {
            Self::Recording(_) | Self::Chip(_) => None,
            Self::Core(core) => Some(Self::Chip(core.chip)),
            Self::OfCore(core, _) => Some(Self::Core(*core)),
            Self::Counter(chip, ..) => Some(Self::Chip(*chip)),
        }
    }

    /// Describes it, with its number and its parent's.
    pub(super) fn descriptor(
        &self,
        uuid: u64,
        title: Option<String>,
        parent: Option<u64>,
    ) -> TrackDescriptor {
        let base = TrackDescriptor { uuid: Some(uuid), ..TrackDescriptor::default() };
        let below = TrackDescriptor { parent_uuid: parent, ..base.clone() };
        match self {
            Self::Recording(name) => TrackDescriptor { name: Some((*name).to_owned()), ..base },
            Self::Chip(chip) => TrackDescriptor { process: Some(process(*chip, title)), ..base },
            Self::Core(core) => {
                TrackDescriptor { thread: Some(thread(*core, uuid, title)), ..base }
            }
            Self::OfCore(_, name) => TrackDescriptor { name: Some(name.clone()), ..below },
            Self::Counter(_, name, unit) => {
                let counter = CounterDescriptor { unit_name: Some((*unit).to_owned()) };
                TrackDescriptor { name: Some(name.clone()), counter: Some(counter), ..below }
            }
        }
    }
}

/// Threads have numbers from here on, which no chip has.
const THREADS: i64 = 0x1_0000;

/// Process 0 is the idle one of an operating system.
fn pid(chip: ChipId) -> i32 {
    i32::from(chip.0) + 1
}

fn process(chip: ChipId, title: Option<String>) -> ProcessDescriptor {
    let process_name = title.or_else(|| Some(format!("chip {chip}")));
    ProcessDescriptor { pid: Some(pid(chip)), process_name }
}

fn thread(core: CoreId, uuid: u64, title: Option<String>) -> ThreadDescriptor {
    let thread_name = title.or_else(|| Some(core.to_string()));
    let tid = THREADS.saturating_add_unsigned(uuid);
    ThreadDescriptor { pid: Some(pid(core.chip)), tid: Some(tid), thread_name }
}
