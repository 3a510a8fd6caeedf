//! Runs on a mesh, one after the other: each is launched, congested, watched and
//! repaired.

use super::MuxWait;
use super::bench::{Bench, POLL_CYCLES, STEP_CYCLES, erisc, stuck};
use super::case::{Case, Congestion, CongestionFault};
use super::cast::Cast;
use super::chain::chain;
use super::figures::{Figures, figures};
use crate::scene::SceneError;
use launch::{ControlError, HostTimeout, HostView, HostWait, Operation};
use machine::fault::{CoreFault, FaultKind, LinkFault};
use machine::target::Target;

/// Most polls of a receiver.
const POLLS: u64 = 2_000;
/// Polls of a receiver whose mux has abandoned packets, after which it is stopped.
const LAST_POLLS: u64 = 100;

/// Observations of a run.
#[derive(Clone, Debug, Default)]
pub struct Observed {
    /// Time from the dispatcher's start to its event, by its clock; without an event, until the
    /// time-out.
    pub cycles: u64,
    /// Whether it ended in time.
    pub over: bool,
    /// Whether it ended at all, so that the bench can be used again.
    pub settled: bool,
    /// Cores that have not reported to the dispatcher.
    pub undone: u32,
    /// Measurements of the device.
    pub figures: Figures,
    /// The chain of waits, one sentence each.
    pub chain: Vec<String>,
}

/// Observations of a host that waited for a run that never ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostReport {
    /// The seed.
    pub seed: u64,
    /// How the muxes wait.
    pub wait: MuxWait,
    /// Polls of the dispatcher.
    pub polls: u64,
    /// `DISPATCH_PROGRESS`, which stood still.
    pub progress: u32,
    /// Commands of the dispatcher.
    pub commands: u32,
    /// Cores that have reported to the dispatcher.
    pub done: u32,
    /// Cores that the dispatcher waits for.
    pub wait_count: u32,
    /// When the host timed out, in cycles after the go message; `None`: the run ended before.
    pub gave_up_cycles: Option<u64>,
    /// The chain of waits at that time, one sentence each.
    pub chain: Vec<String>,
}

impl Bench {
    /// Runs a case until it ends or times out. A run that has not settled leaves the bench
    /// unusable.
    ///
    /// # Errors
    /// When the mesh does not answer.
    pub fn run(
        &mut self,
        case: &Case,
        wait: MuxWait,
        congestion: Option<&Congestion>,
        never_cycles: u64,
    ) -> Result<Observed, SceneError> {
        let cast = self.start(case, wait)?;
        let start = self.target.now()?;
        self.congest(case, congestion, start)?;
        let mut observed = Observed::default();
        // The chain of waits is complete right before the congestion ends.
        let ends =
            congestion.and_then(|congestion| Some(congestion.from_cycles + congestion.cycles?));
        let last = ends.map_or(never_cycles, |ends| ends.saturating_sub(POLL_CYCLES));
        let mut report = self.watch(start + last.min(never_cycles))?;
        if report.written == 0 {
            observed.chain = chain(self, case, &cast)?;
            report = self.watch(start + never_cycles)?;
        }
        observed.over = report.written != 0;
        observed.undone =
            if observed.over { 0 } else { report.wait_count.saturating_sub(report.done) };
        observed.cycles = if observed.over {
            report.event_cycles - report.started_cycles
        } else {
            self.target.now()? - start
        };
        self.repair(congestion, start)?;
        let deadline = self.target.now()? + never_cycles;
        observed.settled = self.watch(deadline)?.written != 0;
        observed.figures = figures(self, &cast)?;
        if observed.settled {
            observed.settled = self.receive(&cast, &mut observed)?;
        }
        Ok(observed)
    }

    /// Lets a case run into its congestion and waits for it as a host does: until there is an event
    /// or no progress for too long.
    ///
    /// # Errors
    /// When the mesh does not answer.
    pub fn wait_as_host(
        &mut self,
        case: &Case,
        wait: MuxWait,
        congestion: &Congestion,
        patience: HostTimeout,
        seed: u64,
    ) -> Result<HostReport, SceneError> {
        let cast = self.start(case, wait)?;
        let start = self.target.now()?;
        self.congest(case, Some(congestion), start)?;
        let mut host = HostWait::new(patience, start, 0);
        let (report, view) = loop {
            self.target.pass(patience.poll_cycles)?;
            let report = self.report()?;
            match host.poll(self.target.now()?, &report) {
                HostView::Waits => {}
                view => break (report, view),
            }
        };
        let waited = self.target.now()? - start;
        Ok(HostReport {
            seed,
            wait,
            polls: host.polls,
            progress: report.progress,
            commands: cast.commands,
            done: report.done,
            wait_count: report.wait_count,
            gave_up_cycles: (view == HostView::GaveUp).then_some(waited),
            chain: chain(self, case, &cast)?,
        })
    }

    /// Places all kernels, slows the lines down, and starts the dispatcher.
    pub(super) fn start(&mut self, case: &Case, wait: MuxWait) -> Result<Cast, SceneError> {
        self.run_id += 1;
        let mut cast = Cast::new(self, case, wait)?;
        let [place, go] = cast.launch(self, self.run_id)?;
        Operation::finish_all(place, &mut self.target)?;
        let now = self.target.now()?;
        for post in self.posts.clone() {
            let fault = LinkFault::Slow { factor: case.line_factor };
            self.disrupt(FaultKind::Link(post.router.eth, fault), now, None)?;
        }
        Operation::finish_all(go, &mut self.target)?;
        Ok(cast)
    }

    /// Congests the routers. Late acknowledgements are a fault of the peer; a slow link multiplies
    /// the case's line factor.
    pub(super) fn congest(
        &mut self,
        case: &Case,
        congestion: Option<&Congestion>,
        start: u64,
    ) -> Result<(), SceneError> {
        let Some(congestion) = congestion else { return Ok(()) };
        let from = start + congestion.from_cycles;
        let until = congestion.cycles.map(|cycles| from + cycles);
        for post in self.posts.iter().take(congestion.links).cloned().collect::<Vec<_>>() {
            let router = post.router;
            let what = match congestion.fault {
                CongestionFault::LateCredits { delay_cycles } => {
                    FaultKind::Link(router.peer, LinkFault::SlowAck { delay_cycles })
                }
                CongestionFault::SlowLink { factor } => {
                    let factor = factor * case.line_factor;
                    FaultKind::Link(router.eth, LinkFault::Slow { factor })
                }
                CongestionFault::PeerStuck => stuck(router.peer_place),
                CongestionFault::RouterStuck => stuck(router.place),
            };
            self.disrupt(what, from, until)?;
        }
        Ok(())
    }

    /// Repairs links and routers, after the congestion has begun: a later beginning would undo the
    /// repair.
    fn repair(&mut self, congestion: Option<&Congestion>, start: u64) -> Result<(), SceneError> {
        let begun = start + congestion.map_or(0, |congestion| congestion.from_cycles + 1);
        let now = self.target.now()?;
        self.target.pass(begun.saturating_sub(now))?;
        let now = self.target.now()?;
        for post in self.posts.clone() {
            self.disrupt(FaultKind::Link(post.router.eth, LinkFault::Up), now, None)?;
            for place in [post.router.place, post.router.peer_place] {
                self.disrupt(FaultKind::Core(erisc(place), CoreFault::Released), now, None)?;
            }
        }
        Ok(())
    }

    /// Waits until all packets have arrived, except those that the muxes abandoned. The far chip
    /// answers only some time after its links are repaired.
    fn receive(&mut self, cast: &Cast, observed: &mut Observed) -> Result<bool, SceneError> {
        for id in cast.receivers.iter().copied() {
            let mut last = None;
            for poll in 0..POLLS {
                last = match cast.traffic.outcome(&mut self.target, &self.images, id) {
                    Ok(outcome) => Some(outcome),
                    Err(ControlError::Access { .. }) => last,
                    Err(error) => return Err(error.into()),
                };
                if last.is_some_and(|outcome| outcome.is_over()) {
                    break;
                }
                if observed.figures.abandoned > 0 && poll == LAST_POLLS {
                    cast.stop(self, id)?;
                }
                self.target.pass(STEP_CYCLES)?;
            }
            let Some(last) = last else {
                observed.chain.push("the far worker cannot be read".to_owned());
                return Ok(false);
            };
            observed.figures.missing += u64::from(last.missing);
            if !last.is_over() || last.wrong_words != 0 {
                let (arrived, wrong) = (last.arrived, last.wrong_words);
                observed.chain.push(format!(
                    "the far worker has {arrived} packets with {wrong} wrong words and waits for the rest"
                ));
                return Ok(false);
            }
        }
        Ok(true)
    }
}
