//! Why something that was launched cannot be, or was not finished: what is known of it, without sentences.

use crate::ControlError;
use layouts::{ChipId, EthId, Writing};
use machine::bar::Holder;
use machine::fault::FaultError;
use machine::place::Place;
use machine::snapshot::AccessError;
use std::ops::{Deref, DerefMut};

/// Why a run cannot be made, or was not finished. [`RunError::sentence`] puts it in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunError(Box<Facts>);

/// What is known of a failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    /// What ended it.
    pub cause: Cause,
    /// The tile whose core is to blame, if one is.
    pub core: Option<Place>,
    /// Where that core is.
    pub waypoint: Option<Waypoint>,
    /// What that core waits for, in words.
    pub waiting_for: Option<String>,
    /// When it last got further, in cycles of the target's own time.
    pub since_cycles: Option<u64>,
    /// What else is known, one sentence each.
    pub notes: Vec<String>,
}

/// The waypoint of a core.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Waypoint {
    /// Its code, and where the source sets it.
    At(String, Option<String>),
    /// Why it cannot be read.
    Unread(String),
}

/// What ended a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Somebody uses the mesh; nothing was written.
    InUse(User),
    /// The target does not allow what the run needs.
    NotAllowed(Forbidden),
    /// The program cannot be put on the mesh.
    Program(Misfit),
    /// A kernel ended before its time.
    Kernel(Ended),
    /// A kernel did not end.
    TookTooLong(Stuck),
    /// Nothing but that something could not be cleared away: the notes say what.
    Left,
    /// A step of it failed.
    Control(ControlError),
    /// The machine did not answer.
    Access(AccessError),
}

/// Who uses a mesh.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum User {
    /// A process has a chip's device open.
    Process(ChipId, Holder),
    /// A kernel runs on the tile, by its name if it is known.
    Kernel(Option<String>),
    /// An application that is not ours has the tile's core.
    Application,
    /// The channel of a router is open for the client on this tile.
    Client(EthId, Place),
}

/// What a target, by its name, does not allow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Forbidden {
    /// It can never be changed, and why.
    Ever(String, String),
    /// Nobody has allowed what the run needs.
    SoFar {
        /// The target.
        target: String,
        /// What needs it.
        what: &'static str,
        /// What is missing.
        needs: Vec<Writing>,
    },
}

/// What does not fit a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Misfit {
    /// Two workers would be on the tile at once.
    TwoWorkers,
    /// The mesh has no such chip.
    NoChip(ChipId),
    /// No kernel runs on such a tile.
    NoKernels,
    /// The mesh has no such link.
    NoLink(EthId, EthId),
    /// The mesh cannot have this fault.
    Fault(FaultError),
    /// The program has no output stretch of this number.
    NoStretch(usize),
    /// No worker checks a stretch of this chip.
    Unchecked(ChipId),
}

/// How a kernel ended before its time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// It refused its arguments; what it is for.
    Refused(Option<String>),
    /// Somebody stopped it; what it is for.
    Stopped(String),
    /// A router was terminated before it was up.
    RouterTerminated(String),
    /// A router refused to come up, and why.
    RouterRefused(String, String),
}

/// Who did not come to an end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stuck {
    /// A kernel.
    Kernel {
        /// Its name.
        kernel: &'static str,
        /// What it is for, where its name does not say so.
        role: Option<String>,
        /// How long nothing moved, in cycles.
        waited_cycles: u64,
        /// What shows that its core stands still, if it does.
        stands_still: Option<String>,
    },
    /// Routers that come up; the first of them is to blame.
    Routers {
        /// What the fabric does.
        stage: &'static str,
        /// How many did not get further.
        count: usize,
        /// Of how many.
        of: usize,
        /// How long none did, in cycles.
        waited_cycles: u64,
        /// Who is to blame.
        router: String,
        /// Its status.
        status: String,
    },
    /// A mux in front of a router does not answer, and has so many clients.
    Mux(EthId, usize),
    /// A client of these muxes, each in front of a router, or of the fabric itself, does not answer; what it is for.
    Client(Vec<(Place, EthId)>, String),
    /// A router stands still.
    Router,
    /// The fabric dropped so many packets of a worker.
    Dropped(u32),
}

impl RunError {
    /// With what ended it; no more is known.
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

    /// The same of a tile.
    #[must_use]
    pub fn at(mut self, core: Place) -> Self {
        self.core = Some(core);
        self
    }

    /// The same, with more to say; nothing is said twice.
    #[must_use]
    pub fn and(mut self, notes: impl IntoIterator<Item = String>) -> Self {
        for note in notes {
            if !self.notes.contains(&note) {
                self.notes.push(note);
            }
        }
        self
    }

    /// It was refused because somebody uses the mesh; nothing was written.
    pub fn is_in_use(&self) -> bool {
        matches!(self.cause, Cause::InUse(_))
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

impl From<AccessError> for RunError {
    fn from(error: AccessError) -> Self {
        Self::new(Cause::Access(error))
    }
}
