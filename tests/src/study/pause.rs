//! A collective paused at a random moment: what is at rest, whether its credits add up, and whether
//! the data are right after it was resumed.

mod table;

use collectives::{
    FabricOptions, Op, Program, Request, Run, RunProgress, RunReport, RunSettings, Stage,
    Transport, compile_over,
};
use fabric::{Fabric, FabricPlan, FabricSettings};
use images::ImageMap;
use launch::dice::Random;
use launch::outcome::RunError;
use launch::pause::{Pause, Rest, resume};
use probe::session::{Balance, Session};
use std::fmt;
pub use table::STUDY;
use workloads::scene::{Scene, Workload};

/// Cycles between two polls of a run.
const STEP_CYCLES: u64 = 5_000;

/// Bytes of a message.
const PAGE_BYTES: u32 = 1024;
/// Time for which a message stays in its buffer, in cycles.
const DELAY_CYCLES: u32 = 20_000;

/// What is paused.
#[derive(Clone, Debug)]
pub struct PauseStudy {
    /// The mesh and its fabric.
    pub scene: Scene,
    /// Whether packets travel over the fabric; else over links with EDMs.
    pub over_fabric: bool,
    /// Bytes of the all-gather.
    pub bytes: u64,
    /// The first seed: the moment of the pause.
    pub seed: u64,
    /// Number of seeds.
    pub seeds: u64,
}

/// A run that was paused once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PauseRound {
    /// The seed.
    pub seed: u64,
    /// When it was paused, in cycles since its kernels were launched.
    pub at_cycles: u64,
    /// Time until everything was at rest, in cycles.
    pub took_cycles: u64,
    /// Kernels that were parked.
    pub parked: usize,
    /// Kernels that waited for others.
    pub waited: usize,
    /// What was counted at rest.
    pub balance: Balance,
    /// Elements of the result that are wrong.
    pub wrong: u64,
}

impl PauseRound {
    /// Whether all credits added up, and all data are right.
    pub fn is_right(&self) -> bool {
        self.balance.miscounts.is_empty() && self.wrong == 0
    }
}

/// Why a study did not end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PauseError {
    /// The mesh, its fabric or the all-gather cannot be made; one sentence.
    Setup(String),
    /// A run or a pause did not end; one sentence.
    Run(String),
}

impl fmt::Display for PauseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Setup(why) | Self::Run(why) => f.write_str(why),
        }
    }
}

/// Runs all-gathers, pauses each at a random moment of its transfer, counts, and resumes it.
/// `report` is called with each round.
///
/// # Errors
/// When the mesh cannot be built, or a run or a pause does not end.
pub fn study(
    setup: &PauseStudy,
    report: &mut dyn FnMut(&PauseRound),
) -> Result<Vec<PauseRound>, PauseError> {
    let (mut images, _) = ImageMap::firmware();
    let scene = Scene { run: Some(Workload::Idle), seed: setup.seed, ..setup.scene.clone() };
    let target = scene.build(&mut images).map_err(|error| PauseError::Setup(error.to_string()))?;
    rounds(&mut Session::with_target(Box::new(target), images), setup, report)
}

/// Does so on an open mesh on which nothing runs; that of the setup says only what its fabric is.
///
/// # Errors
/// As [`study`].
pub fn rounds(
    session: &mut Session,
    setup: &PauseStudy,
    report: &mut dyn FnMut(&PauseRound),
) -> Result<Vec<PauseRound>, PauseError> {
    let program = bring_up(session, setup).map_err(PauseError::Setup)?;
    let mut run = PausedRun::new(session, &program);
    let cycles = run.measure().map_err(PauseError::Run)?;
    let mut rounds = Vec::new();
    for seed in setup.seed..setup.seed + setup.seeds {
        // Other runs can be a little shorter.
        let at_cycles = Random(seed).below((cycles * 9 / 10).max(1));
        let mut run = PausedRun::new(session, &program);
        let failed = |error| PauseError::Run(format!("seed {seed}: {error}"));
        let round = run.round(at_cycles).map_err(failed)?;
        let round = PauseRound { seed, ..round };
        report(&round);
        rounds.push(round);
    }
    Ok(rounds)
}

/// Brings the fabric up if packets travel over it, and compiles the all-gather.
fn bring_up(session: &mut Session, setup: &PauseStudy) -> Result<Program, String> {
    let (target, images) = session.parts();
    // Small messages, so that the transfer takes longer than the launch.
    let page_bytes = Some(PAGE_BYTES);
    let request = Request::new(Op::AllGather, setup.bytes);
    let mut request =
        Request { buffer_bytes: PAGE_BYTES, page_bytes, delay_cycles: DELAY_CYCLES, ..request };
    let mut plan = None;
    if setup.over_fabric {
        let planned = FabricPlan::new(target.mesh(), &setup.scene.fabric);
        let planned = planned.map_err(|error| error.to_string())?;
        let mut fabric = Fabric::new(planned.clone(), FabricSettings::default());
        let up = fabric.finish(target, images, STEP_CYCLES);
        up.map_err(|error| error.sentence(target.mesh().layout()))?;
        let topology = Some(planned.topology);
        request.transport =
            Transport::Fabric(FabricOptions { topology, ..FabricOptions::default() });
        plan = Some(planned);
    }
    compile_over(target.mesh(), &request, plan.as_ref()).map_err(|error| error.to_string())
}

/// A run that is polled.
struct PausedRun<'a> {
    session: &'a mut Session,
    run: Run,
    /// Whether its kernels move data.
    moves: bool,
}

impl<'a> PausedRun<'a> {
    fn new(session: &'a mut Session, program: &Program) -> Self {
        let run = Run::new(program.clone(), RunSettings::default());
        Self { session, run, moves: false }
    }

    fn failed(&mut self, error: &RunError) -> String {
        error.sentence(self.session.target().mesh().layout())
    }

    /// Polls once and lets time pass; returns the report at the end.
    fn poll(&mut self) -> Result<Option<RunReport>, String> {
        let (target, images) = self.session.parts();
        let progress = self.run.poll(target, images).map_err(|error| self.failed(&error))?;
        match progress {
            RunProgress::Running { stage, .. } => {
                self.moves = stage == Stage::Transfer && self.run.is_watching();
                self.session.pass(STEP_CYCLES).map_err(|error| error.to_string())?;
                Ok(None)
            }
            RunProgress::Finished(None) => Err("the run was cancelled".to_owned()),
            RunProgress::Finished(report) => Ok(report),
        }
    }

    fn now(&mut self) -> Result<u64, String> {
        self.session.target().now().map_err(|error| error.to_string())
    }

    /// Runs to the end; returns how long data moved, in cycles.
    fn measure(&mut self) -> Result<u64, String> {
        self.await_transfer()?;
        let since = self.now()?;
        let mut cycles = 0;
        while self.moves {
            cycles = self.now()? - since;
            self.poll()?;
        }
        self.end(PauseRound::default())?;
        Ok(cycles)
    }

    /// Polls until the kernels move data.
    fn await_transfer(&mut self) -> Result<(), String> {
        while !self.moves {
            if self.poll()?.is_some() {
                return Err("the run ended before it was seen to move data".to_owned());
            }
        }
        Ok(())
    }

    /// Pauses the run at this time of its transfer, counts, and lets it end.
    fn round(&mut self, at_cycles: u64) -> Result<PauseRound, String> {
        self.await_transfer()?;
        self.session.pass(at_cycles).map_err(|error| error.to_string())?;
        let kernels = self.session.running_kernels();
        let began = self.now()?;
        let mut round = PauseRound { at_cycles, ..PauseRound::default() };
        if !kernels.can_pause() {
            // Its kernels have just returned.
            return self.end(round);
        }
        let target = self.session.target();
        let mut pause = Pause::new(target, kernels.clone()).map_err(|error| self.failed(&error))?;
        let paused = loop {
            let polled = pause.poll(self.session.target());
            if let Some(paused) = polled.map_err(|error| self.failed(&error))? {
                break paused;
            }
            self.session.pass(STEP_CYCLES).map_err(|error| error.to_string())?;
        };
        round.took_cycles = self.now()? - began;
        (round.parked, round.waited) = (paused.count(Rest::Parked), paused.count(Rest::Waits));
        round.balance = self.session.balance().map_err(|error| error.to_string())?;
        let (mut operations, _) =
            resume(self.session.target(), &kernels).map_err(|error| self.failed(&error))?;
        let done = operations.poll(self.session.target()).map_err(|error| error.to_string())?;
        if !done {
            return Err("the kernels were not resumed".to_owned());
        }
        self.run.resumed(self.session.target()).map_err(|error| self.failed(&error))?;
        self.end(round)
    }

    fn end(&mut self, round: PauseRound) -> Result<PauseRound, String> {
        loop {
            if let Some(report) = self.poll()? {
                let wrong = report.wrong.ok_or("the all-gather was not checked")?;
                return Ok(PauseRound { wrong, ..round });
            }
        }
    }
}
