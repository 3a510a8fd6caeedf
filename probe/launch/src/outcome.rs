//! Why a run cannot be made or was not finished, as facts; `sentence` puts them in words.

use crate::ControlError;
use crate::undebuggable::Undebuggable;
use layouts::{ChipId, EthId, WritePermission};
use machine::clients::Holder;
use machine::fault::FaultError;
use machine::place::Place;
use machine::snapshot::AccessError;
use std::ops::{Deref, DerefMut};

/// Why a run cannot be made or was not finished. [`RunError::sentence`] puts it in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunError(Box<Facts>);

/// What is known of a failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    /// What ended it.
    pub cause: Cause,
    /// The tile whose core caused it, if known.
    pub core: Option<Place>,
    /// The waypoint of that core.
    pub waypoint: Option<Waypoint>,
    /// What that core waits for, in words.
    pub waiting_for: Option<String>,
    /// When it last made progress, in cycles of the target's own time.
    pub since_cycles: Option<u64>,
    /// Further facts, one sentence each.
    pub notes: Vec<String>,
}

/// The waypoint of a core.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Waypoint {
    /// Its code.
    At(String),
    /// Why it cannot be read.
    Unread(String),
}

/// What ended a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The mesh is in use; nothing was written.
    InUse(User),
    /// The target does not allow what the run needs.
    NotAllowed(Forbidden),
    /// The program cannot be put on the mesh.
    Program(Misfit),
    /// A kernel ended early.
    Kernel(Ended),
    /// A kernel did not end.
    TookTooLong(Stuck),
    /// A core cannot be debugged.
    Undebuggable(Undebuggable),
    /// Only the cleanup failed; the notes name what is left.
    CleanupFailed,
    /// A step of the run failed.
    Control(ControlError),
    /// The machine did not answer.
    Access(AccessError),
}

/// The user of a mesh that is in use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum User {
    /// A process has a chip's device open.
    Process(ChipId, Holder),
    /// A kernel runs on the tile; its name, if known.
    Kernel(Option<String>),
    /// A router of a fabric runs on the tile; its name.
    Router(String),
    /// An unknown application runs on the tile's core.
    Application,
    /// The channel of a router is open for the client on this tile.
    Client(EthId, Place),
}

/// What a target does not allow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Forbidden {
    /// The target can never be changed: its name, and why.
    Ever(String, String),
    /// The user has not allowed what the run needs.
    SoFar {
        /// The target.
        target: String,
        /// What the permission is for.
        what: &'static str,
        /// The missing permissions.
        needs: Vec<WritePermission>,
    },
}

/// Why a program cannot be put on the mesh.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Misfit {
    /// Two workers would be on the tile.
    TwoWorkers,
    /// The mesh has no such chip.
    NoChip(ChipId),
    /// The tile runs no kernels.
    NoKernels,
    /// The mesh has no such link.
    NoLink(EthId, EthId),
    /// The mesh cannot have this fault.
    Fault(FaultError),
    /// The program has no output range of this number.
    NoOutputRange(usize),
    /// No worker checks an output range of this chip.
    Unchecked(ChipId),
}

/// How a kernel ended early.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// It refused its arguments; its role.
    Refused(Option<String>),
    /// It was stopped; its role.
    Stopped(String),
    /// A router was terminated before it was up.
    RouterTerminated(String),
    /// A router refused to come up, and why.
    RouterRefused(String, String),
}

/// What made no progress.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stuck {
    /// Kernels of a launch.
    Kernels {
        /// Those that have not finished: each with its tile, its name and its role.
        left: Vec<(Place, String)>,
        /// Number of all kernels of the launch.
        of: usize,
        /// How long they made no progress, in cycles.
        waited_cycles: u64,
    },
    /// Routers that are coming up.
    Routers {
        /// What the fabric does.
        stage: &'static str,
        /// Number of routers without progress.
        count: usize,
        /// Number of all routers.
        of: usize,
        /// How long they made no progress, in cycles.
        waited_cycles: u64,
        /// The first of them.
        router: String,
        /// Its status.
        status: String,
    },
    /// A mux in front of this router does not answer; the number of its clients.
    Mux(EthId, usize),
    /// A client of these muxes (each with its router), or of the fabric itself if there are none,
    /// does not answer; its role.
    Client(Vec<(Place, EthId)>, String),
    /// The fabric dropped this many packets of a worker.
    Dropped(u32),
}

impl RunError {
    /// Returns whether something took too long or does not answer, so that the mesh may stand still.
    pub fn is_standstill(&self) -> bool {
        matches!(
            self.cause,
            Cause::TookTooLong(_)
                | Cause::Access(_)
                | Cause::Control(ControlError::TookTooLong { .. } | ControlError::Access { .. })
        )
    }

    /// Makes an error of a cause alone.
    pub fn new(cause: Cause) -> Self {
        Self(Box::new(Facts {
            cause,
            core: None,
            waypoint: None,
            waiting_for: None,
            since_cycles: None,
            notes: Vec::new(),
        }))
    }

    /// Sets the tile.
    #[must_use]
    pub fn at(mut self, core: Place) -> Self {
        self.core = Some(core);
        self
    }

    /// Adds notes, except those that it already has.
    #[must_use]
    pub fn and(mut self, notes: impl IntoIterator<Item = String>) -> Self {
        for note in notes {
            if !self.notes.contains(&note) {
                self.notes.push(note);
            }
        }
        self
    }
}

impl Deref for RunError {
    type Target = Facts;

    fn deref(&self) -> &Facts {
        &self.0
    }
}

impl DerefMut for RunError {
    fn deref_mut(&mut self) -> &mut Facts {
        &mut self.0
    }
}

impl From<ControlError> for RunError {
    fn from(error: ControlError) -> Self {
        let mut facts = Self::new(Cause::Control(error.clone()));
        match error {
            ControlError::Access { addr, .. } => facts.at(addr.into()),
            ControlError::TookTooLong { what, addr, since_cycles, .. } => {
                facts.waiting_for = Some(what);
                facts.since_cycles = Some(since_cycles);
                facts.at(addr.into())
            }
            _ => facts,
        }
    }
}

impl From<Undebuggable> for RunError {
    fn from(why: Undebuggable) -> Self {
        Self::new(Cause::Undebuggable(why))
    }
}

impl From<AccessError> for RunError {
    fn from(error: AccessError) -> Self {
        Self::new(Cause::Access(error))
    }
}
