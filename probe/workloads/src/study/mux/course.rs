//! One run after the other on the mesh of a study: launched, congested, watched, mended.

use super::bench::{Bench, POLL_CYCLES, STEP_CYCLES, erisc, stands};
use super::case::{Ailment, Case, Congestion};
use super::cast::Cast;
use super::chain::chain;
use super::figures::{Figures, figures};
use super::{HostSeen, MuxWait};
use crate::scene::SceneError;
use launch::{ControlError, HostPatience, HostView, HostWait, Operation};
use machine::fault::{CoreFault, LinkFault, What};
use machine::target::Target;

/// Looks at a receiver until its packets are there; and after how many nothing more comes of a mux that has left packets behind.
const POLLS: u64 = 2_000;
const LAST_POLLS: u64 = 100;

/// What was seen of a run.
#[derive(Clone, Debug, Default)]
pub(super) struct Observed {
    /// From the dispatcher's start to its event, by its clock; of one that was given up until then.
    pub(super) cycles: u64,
    /// It was over in time.
    pub(super) over: bool,
    /// It came to its end at last, so that the bench can be used again.
    pub(super) settled: bool,
    /// Cores that have not told the dispatcher.
    pub(super) undone: u32,
    pub(super) figures: Figures,
    pub(super) chain: Vec<String>,
}

impl Bench {
    /// Runs a case until it is over or has taken so long. One that has not settled leaves a bench that nobody can use.
    pub(super) fn run(
        &mut self,
        case: &Case,
        route: MuxWait,
        ails: Option<&Congestion>,
        never_cycles: u64,
    ) -> Result<Observed, SceneError> {
        let cast = self.start(case, route)?;
        let start = self.target.now()?;
        self.ail(case, ails, start)?;
        let mut observed = Observed::default();
        // Who waits for whom is seen best right before the congestion ends.
        let ends = ails.and_then(|ails| Some(ails.from_cycles + ails.cycles?));
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
        self.mend(ails, start)?;
        let again = self.target.now()? + never_cycles;
        observed.settled = self.watch(again)?.written != 0;
        observed.figures = figures(self, &cast)?;
        if observed.settled {
            observed.settled = self.receive(&cast, &mut observed)?;
        }
        Ok(observed)
    }

    /// Lets a case run into its congestion, and waits for it as a host does: until there is an event, or nothing has moved for too long.
    pub(super) fn wait_as_host(
        &mut self,
        case: &Case,
        route: MuxWait,
        ails: &Congestion,
        patience: HostPatience,
        seed: u64,
    ) -> Result<HostSeen, SceneError> {
        let cast = self.start(case, route)?;
        let start = self.target.now()?;
        self.ail(case, Some(ails), start)?;
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
        Ok(HostSeen {
            seed,
            wait: route,
            polls: host.polls,
            progress: report.progress,
            commands: cast.commands,
            done: report.done,
            wait_count: report.wait_count,
            gave_up_cycles: (view == HostView::GaveUp).then_some(waited),
            chain: chain(self, case, &cast)?,
        })
    }

    /// Places everything, slows the lines down, and lets the dispatcher go.
    fn start(&mut self, case: &Case, route: MuxWait) -> Result<Cast, SceneError> {
        self.run_id += 1;
        let mut cast = Cast::new(self, case, route)?;
        let [place, go] = cast.launch(self, self.run_id)?;
        Operation::finish_all(place, &mut self.target)?;
        let now = self.target.now()?;
        for post in self.posts.clone() {
            let fault = LinkFault::Slow { factor: case.line_factor };
            self.disrupt(What::Link(post.router.eth, fault), now, None)?;
        }
        Operation::finish_all(go, &mut self.target)?;
        Ok(cast)
    }

    /// A late acknowledge is one of the other end; a slower line is slower than the case's own.
    fn ail(
        &mut self,
        case: &Case,
        ails: Option<&Congestion>,
        start: u64,
    ) -> Result<(), SceneError> {
        let Some(ails) = ails else { return Ok(()) };
        let from = start + ails.from_cycles;
        let until = ails.cycles.map(|cycles| from + cycles);
        for post in self.posts.iter().take(ails.links).cloned().collect::<Vec<_>>() {
            let router = post.router;
            let what = match ails.ailment {
                Ailment::LateCredits { delay_cycles } => {
                    What::Link(router.peer, LinkFault::SlowAck { delay_cycles })
                }
                Ailment::SlowLink { factor } => {
                    let factor = factor * case.line_factor;
                    What::Link(router.eth, LinkFault::Slow { factor })
                }
                Ailment::PeerStands => stands(router.peer_place),
                Ailment::RouterStands => stands(router.place),
            };
            self.disrupt(what, from, until)?;
        }
        Ok(())
    }

    /// Nothing ails the links and routers any more; what was to begin later has begun before.
    fn mend(&mut self, ails: Option<&Congestion>, start: u64) -> Result<(), SceneError> {
        let begun = start + ails.map_or(0, |ails| ails.from_cycles + 1);
        let now = self.target.now()?;
        self.target.pass(begun.saturating_sub(now))?;
        let now = self.target.now()?;
        for post in self.posts.clone() {
            self.disrupt(What::Link(post.router.eth, LinkFault::Up), now, None)?;
            for place in [post.router.place, post.router.peer_place] {
                self.disrupt(What::Core(erisc(place), CoreFault::Released), now, None)?;
            }
        }
        Ok(())
    }

    /// The far chip can be asked only when its links are well again, and not at once then: has everything arrived? What the muxes
    /// left behind never does.
    fn receive(&mut self, cast: &Cast, observed: &mut Observed) -> Result<bool, SceneError> {
        for id in cast.receivers.iter().copied() {
            let mut last = None;
            for look in 0..POLLS {
                last = match cast.traffic.outcome(&mut self.target, &self.images, id) {
                    Ok(outcome) => Some(outcome),
                    Err(ControlError::Access { .. }) => last,
                    Err(error) => return Err(error.into()),
                };
                if last.is_some_and(|outcome| outcome.is_over()) {
                    break;
                }
                if observed.figures.abandoned > 0 && look == LAST_POLLS {
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
