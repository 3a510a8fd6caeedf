//! A pause of the kernels of a mesh, as the live view and the verbs use it: asked, at rest with its
//! credits counted, released.

use crate::exit::Failure;
use crate::words;
use collectives::Stage;
use decode::inspect::ReadSet;
use decode::state::CoreState;
use launch::outcome::RunError;
use launch::pause::{Kernels, Pause, Paused, Rest, resume};
use layouts::CoreId;
use machine::words::counted;
use probe::session::{Balance, Session};
use std::collections::BTreeMap;

/// Cycles between two polls of a pause.
const STEP_CYCLES: u64 = 20_000;

/// When a run is to be paused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PauseAt {
    /// As soon as kernels of this stage work.
    Stage(Stage),
    /// When this share of the data was transferred, in percent.
    Percent(u64),
}

/// Names of stages in which kernels work.
const STAGES: [(&str, Stage); 3] =
    [("fill", Stage::Fill), ("transfer", Stage::Transfer), ("check", Stage::Check)];

impl PauseAt {
    /// Parses a stage, or a share of the transfer such as 50%.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let share = text.strip_suffix('%').and_then(|number| number.parse().ok());
        if let Some(percent) = share.filter(|percent| *percent < 100) {
            return Ok(Self::Percent(percent));
        }
        let stage = STAGES.iter().find(|(name, _)| *name == text);
        stage.map(|(_, stage)| Self::Stage(*stage)).ok_or_else(|| {
            format!(
                "--pause-at: '{text}' is no stage in which kernels work: fill, transfer, check, or a share of the transfer such as 50%"
            )
        })
    }

    /// The stage whose workers park before their first packet.
    pub(crate) fn stage(self) -> Option<Stage> {
        match self {
            Self::Stage(stage) => Some(stage),
            Self::Percent(_) => None,
        }
    }

    /// Whether a run has come so far that in this stage this share is done.
    pub(crate) fn is_reached(self, stage: Stage, done: u64, of: u64) -> bool {
        match self {
            Self::Stage(wanted) => stage == wanted,
            Self::Percent(percent) => stage.is_transfer() && done * 100 >= percent * of,
        }
    }
}

/// A mesh at rest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AtRest {
    /// What each kernel did.
    pub(crate) paused: Paused,
    /// What was counted.
    pub(crate) balance: Balance,
}

impl AtRest {
    /// What stands, and whether the credits add up, in one sentence.
    pub(crate) fn sentence(&self) -> String {
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

fn failed(session: &mut Session, error: &RunError) -> Failure {
    let target = session.target();
    Failure::of_run(target.name(), target.mesh().layout(), error)
}

/// Finds the kernels that run, and begins to pause them.
///
/// # Errors
/// `Refused` or `Usage` if there is nothing to pause.
pub(crate) fn begin(session: &mut Session) -> Result<Pause, Failure> {
    let kernels = session.running_kernels();
    Pause::new(session.target(), kernels).map_err(|error| failed(session, &error))
}

/// Continues a pause until time has to pass; returns the mesh once it is at rest.
///
/// # Errors
/// When a kernel works on, or the machine does not answer.
pub(crate) fn poll(session: &mut Session, pause: &mut Pause) -> Result<Option<AtRest>, Failure> {
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
pub(crate) fn settle(session: &mut Session) -> Result<AtRest, Failure> {
    let mut pause = begin(session)?;
    loop {
        if let Some(rest) = poll(session, &mut pause)? {
            return Ok(rest);
        }
        let passed = session.pass(STEP_CYCLES);
        passed.map_err(|error| Failure::of_access(session.target().name(), &error))?;
    }
}

/// A kernel before and after a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SteppedKernel {
    /// Its core.
    pub(crate) core: CoreId,
    /// Its name.
    pub(crate) kernel: String,
    /// What it does now.
    pub(crate) rest: Rest,
    /// Its waypoint, if it is known.
    pub(crate) waypoint: Option<String>,
    /// The source line of the waypoint, if it is known.
    pub(crate) line: Option<String>,
    /// Progress words that changed, with both values.
    pub(crate) changed: Vec<(String, u64, u64)>,
}

impl SteppedKernel {
    /// Its stages begun before and after, if the step has changed their number.
    pub(crate) fn stages(&self) -> Option<(u64, u64)> {
        let stage = self.changed.iter().find(|(name, ..)| name.ends_with(".control.stage"));
        stage.map(|(_, before, after)| (*before, *after))
    }
}

/// Begins to let paused kernels begin their next stage: those of these cores, or all.
///
/// # Errors
/// `Usage` if one is not paused.
pub(crate) fn begin_step(session: &mut Session, cores: &[CoreId]) -> Result<Pause, Failure> {
    let kernels = session.running_kernels();
    Pause::step(session.target(), kernels, cores).map_err(|error| failed(session, &error))
}

/// Lets paused kernels begin their next stage, to the end: those of these cores, or all.
///
/// # Errors
/// `Usage` if one is not paused.
pub(crate) fn step(session: &mut Session, cores: &[CoreId]) -> Result<Vec<SteppedKernel>, Failure> {
    let read_set = ReadSet::everything(session.target().mesh());
    let before = session.inspect(&read_set).state;
    let kernels = Kernels::find(&before, session.images());
    let step = Pause::step(session.target(), kernels, cores);
    let mut step = step.map_err(|error| failed(session, &error))?;
    let paused = loop {
        let polled = step.poll(session.target());
        if let Some(paused) = polled.map_err(|error| failed(session, &error))? {
            break paused;
        }
        let passed = session.pass(STEP_CYCLES);
        passed.map_err(|error| Failure::of_access(session.target().name(), &error))?;
    };
    let after = session.inspect(&read_set).state;
    let kernels = paused.rest.into_iter().map(|(core, (kernel, rest))| {
        let state = after.core(core);
        let line = state.and_then(|state| state.location.first());
        SteppedKernel {
            core,
            kernel,
            rest,
            waypoint: state.and_then(|state| state.waypoint.known().cloned()),
            line: line.map(words::source),
            changed: changed(before.core(core), state),
        }
    });
    Ok(kernels.collect())
}

/// The words of a core that differ.
fn changed(before: Option<&CoreState>, after: Option<&CoreState>) -> Vec<(String, u64, u64)> {
    let words = |core: Option<&CoreState>| -> BTreeMap<(u64, String), u64> {
        let words = core.into_iter().flat_map(|core| &core.words);
        let known = words.filter_map(|it| Some((it, *it.value.known()?)));
        known.map(|(it, value)| ((it.addr, it.name.clone()), value)).collect()
    };
    let old = words(before);
    let differing = words(after).into_iter().filter_map(|(at, now)| {
        let before = *old.get(&at).filter(|before| **before != now)?;
        Some((at.1, before, now))
    });
    differing.collect()
}

/// Lets every paused kernel run on; returns their number.
///
/// # Errors
/// `Usage` if none is paused.
pub(crate) fn release(session: &mut Session) -> Result<usize, Failure> {
    let kernels = session.running_kernels();
    session.target().commanded_by("resume");
    let (mut operations, count) =
        resume(session.target(), &kernels).map_err(|error| failed(session, &error))?;
    let name = session.target().name().to_owned();
    // They are writes only.
    while !operations.poll(session.target()).map_err(|e| Failure::of_control(&name, &e))? {}
    Ok(count)
}
