//! A pause of the kernels of a mesh, as the live view and the verbs use it: asked, at rest with its
//! credits counted, released.

use crate::exit::Failure;
use collectives::{Park, Stage};
use launch::outcome::RunError;
use launch::pause::{Kernels, Pause, Paused, Rest, resume};
use machine::words::counted;
use probe::session::{Balance, Session};

/// Cycles between two polls of a pause.
pub(super) const STEP_CYCLES: u64 = 20_000;

/// When a run is to be paused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PauseAt {
    /// As soon as kernels of this stage work.
    Stage(Stage),
    /// Before the handshake of the EDMs, or of the routers of a fabric that is brought up.
    Handshake,
    /// Before the teardown of the EDMs, and before workers on a fabric close their connections.
    Teardown,
    /// When this share of the data was transferred, in percent.
    Percent(u64),
}

/// Names of stages in which kernels work.
const STAGES: [(&str, Stage); 3] =
    [("fill", Stage::Fill), ("transfer", Stage::Transfer), ("check", Stage::Check)];

impl PauseAt {
    /// Parses a stage, or a share of the transfer such as 50%.
    pub fn parse(text: &str) -> Result<Self, String> {
        let share = text.strip_suffix('%').and_then(|number| number.parse().ok());
        if let Some(percent) = share.filter(|percent| *percent < 100) {
            return Ok(Self::Percent(percent));
        }
        match text {
            "handshake" => return Ok(Self::Handshake),
            "teardown" => return Ok(Self::Teardown),
            _ => {}
        }
        let stage = STAGES.iter().find(|(name, _)| *name == text);
        stage.map(|(_, stage)| Self::Stage(*stage)).ok_or_else(|| {
            format!(
                "--pause-at: '{text}' is no stage in which kernels work: fill, handshake, transfer, teardown, check, or a share of the transfer such as 50%"
            )
        })
    }

    /// Where the kernels are launched to park.
    pub fn park(self) -> Option<Park> {
        match self {
            Self::Stage(stage) => Some(Park::Workers(stage)),
            Self::Handshake => Some(Park::Handshake),
            Self::Teardown => Some(Park::Teardown),
            Self::Percent(percent) => Some(Park::Share(percent)),
        }
    }

    /// Whether a run has come so far that in this stage this share is done.
    pub fn is_reached(self, stage: Stage, done: u64, of: u64) -> bool {
        match self {
            Self::Stage(wanted) => stage == wanted,
            Self::Handshake => stage.is_transfer() || stage == Stage::FabricUp,
            Self::Teardown => stage.is_transfer() && done == of,
            Self::Percent(percent) => stage.is_transfer() && done * 100 >= percent * of,
        }
    }
}

/// A mesh at rest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AtRest {
    /// What each kernel did.
    pub paused: Paused,
    /// What was counted.
    pub balance: Balance,
}

impl AtRest {
    /// What stands, and whether the credits add up, in one sentence.
    pub fn sentence(&self) -> String {
        let Self { paused, balance } = self;
        let kernels = |count: usize| counted(count as u64, "kernel", "kernels");
        let mut parts = vec![format!("{} parked", kernels(paused.count(Rest::Parked)))];
        for (rest, does) in [(Rest::Waits, "wait"), (Rest::Returned, "have returned")] {
            let count = paused.count(rest);
            if count > 0 {
                parts.push(format!("{count} {does}"));
            }
        }
        if paused.routers > 0 {
            let routers = counted(paused.routers as u64, "router", "routers");
            parts.push(format!("the packets of {routers} stand"));
        }
        let parts = parts.join(", ");
        let counts = balance.counts();
        let adds_up = match balance.miscounts.as_slice() {
            [] if counts == 0 => "no credits are known".to_owned(),
            [] => {
                let counts = counted(counts as u64, "count adds up", "counts add up");
                format!("{counts}, {} in flight", balance.in_flight)
            }
            [first, rest @ ..] => {
                let all = counted(1 + rest.len() as u64, "count does", "counts do");
                format!("{all} not add up, first {first}")
            }
        };
        format!("paused: {parts}; {adds_up}")
    }
}

pub(super) fn failed(session: &mut Session, error: &RunError) -> Failure {
    let target = session.target();
    Failure::of_run(target.name(), target.mesh().layout(), error)
}

/// Begins to pause the kernels that run.
///
/// # Errors
/// `Refused` or `Usage` if there is nothing to pause.
pub fn begin(session: &mut Session, kernels: Kernels) -> Result<Pause, Failure> {
    Pause::new(session.target(), kernels).map_err(|error| failed(session, &error))
}

/// Continues a pause until time has to pass; returns the mesh once it is at rest.
///
/// # Errors
/// When a kernel works on, or the machine does not answer.
pub fn poll(session: &mut Session, pause: &mut Pause) -> Result<Option<AtRest>, Failure> {
    let polled = pause.poll(session.target());
    let Some(paused) = polled.map_err(|error| failed(session, &error))? else { return Ok(None) };
    let balance = session.balance();
    let name = session.target().name().to_owned();
    let balance = balance.map_err(|error| Failure::of_control(&name, &error))?;
    Ok(Some(AtRest { paused, balance }))
}

/// Pauses the mesh and lets time pass meanwhile: for verbs.
///
/// # Errors
/// As [`begin`] and [`poll`].
pub fn settle(session: &mut Session) -> Result<AtRest, Failure> {
    let kernels = session.running_kernels();
    let mut pause = begin(session, kernels)?;
    loop {
        if let Some(rest) = poll(session, &mut pause)? {
            return Ok(rest);
        }
        let passed = session.pass(STEP_CYCLES);
        passed.map_err(|error| Failure::of_access(session.target().name(), &error))?;
    }
}

/// Lets every paused kernel run on; returns their number.
///
/// # Errors
/// `Usage` if none is paused.
pub fn release(session: &mut Session) -> Result<usize, Failure> {
    let kernels = session.running_kernels();
    session.target().commanded_by("resume");
    let (mut operations, count) =
        resume(session.target(), &kernels).map_err(|error| failed(session, &error))?;
    let name = session.target().name().to_owned();
    // They are writes only.
    while !operations.poll(session.target()).map_err(|e| Failure::of_control(&name, &e))? {}
    Ok(count)
}
