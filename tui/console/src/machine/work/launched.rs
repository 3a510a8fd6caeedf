//! `:launch`: a person's own kernel, started, watched and taken away between snapshots.

use super::{MachineTask, Work};
use crate::exit::Failure;
use crate::launching::{Launch, LaunchedTile, Order};
use crate::words;
use launch::outcome::RunError;
use machine::target::Target;
use probe::session::Session;

impl Work {
    /// Launches a kernel, unless something runs already.
    pub(super) fn launch(&mut self, order: Order, session: &mut Session) -> Result<(), Failure> {
        self.check_idle()?;
        self.task = MachineTask::Launch(Box::new(Launched::begin(order, session)?));
        Ok(())
    }
}

/// A launch in progress.
pub(super) struct Launched {
    launch: Launch,
    order: Order,
    stage: Stage,
    /// What is said at the end, before what is left.
    because: Option<String>,
}

/// What is being done.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// The kernel is being started.
    Starts,
    /// It runs, since this time of the target.
    Runs(u64),
    /// It is being taken away, or has returned.
    Ends,
}

impl Launched {
    /// Checks everything that can be checked before something is written.
    ///
    /// # Errors
    /// As the verb `launch`.
    pub(super) fn begin(order: Order, session: &mut Session) -> Result<Self, Failure> {
        let elf = order.open()?;
        let prepared = Launch::prepare(session, &order, elf.as_ref());
        let launch = prepared.map_err(|error| failure(session.target(), &error))?;
        let mut launched = Self { launch, order, stage: Stage::Starts, because: None };
        if launched.order.elf.is_some() {
            let queued = launched.launch.start(session.images());
            queued.map_err(|error| failure(session.target(), &error.into()))?;
        } else {
            launched.end(true);
        }
        Ok(launched)
    }

    /// Whether the kernel runs: only its go message is read, and time passes as it did before.
    pub(super) fn is_watched(&self) -> bool {
        matches!(self.stage, Stage::Runs(_))
    }

    /// Takes the kernel away; returns a notice.
    pub(super) fn cancel(&mut self) -> String {
        let kernel = &self.launch.kernel.image;
        if self.stage == Stage::Ends {
            return format!("{kernel} is being taken away already");
        }
        let notice = format!("takes {kernel} away");
        self.end(true);
        notice
    }

    fn end(&mut self, takes_away: bool) {
        self.stage = Stage::Ends;
        self.launch.finish(takes_away);
    }

    /// Continues; returns a notice if there is a new one, and whether this was the end.
    pub(super) fn poll(&mut self, session: &mut Session) -> (Option<String>, bool) {
        match self.turn(session) {
            Ok(turn) => turn,
            // Also a kernel that could not be started, or cannot be watched, is taken away.
            Err(error) if self.stage != Stage::Ends => {
                self.because = Some(failure(session.target(), &error).to_string());
                self.end(true);
                (None, false)
            }
            Err(error) => (Some(failure(session.target(), &error).to_string()), true),
        }
    }

    fn turn(&mut self, session: &mut Session) -> Result<(Option<String>, bool), RunError> {
        if !self.is_watched() && !self.launch.poll(session)? {
            return Ok((None, false));
        }
        match self.stage {
            Stage::Starts => {
                self.stage = Stage::Runs(session.target().now()?);
                Ok((Some(format!("{}; :stop takes it away", self.launch.begun())), false))
            }
            Stage::Runs(since) => {
                let returned = self.launch.watch(session)?;
                let now = session.target().now()?;
                let over = self.order.over_cycles.filter(|over| now >= since + over);
                if !returned && over.is_none() {
                    return Ok((None, false));
                }
                let over = over.filter(|_| !returned && self.order.wait);
                self.because = over.map(|over| self.not_within(over));
                self.end(!returned);
                Ok((None, false))
            }
            // The first reason is the one that is reported.
            Stage::Ends => match self.launch.failed().filter(|_| self.because.is_none()) {
                Some(error) => Err(error),
                None => Ok((Some(self.ended()), true)),
            },
        }
    }

    fn not_within(&self, over: u64) -> String {
        format!("{} has not returned within {}", self.launch.kernel.image, words::cycles(over))
    }

    /// What became of the kernel.
    fn ended(&self) -> String {
        let kernel = &self.launch.kernel.image;
        let returned = self.launch.tiles.iter().filter(|tile| tile.returned);
        let returned: Vec<_> = returned.map(|tile| tile.core.to_string()).collect();
        let returned = (!returned.is_empty())
            .then(|| format!("{kernel} has returned on {}", returned.join(", ")));
        let left = self.launch.tiles.iter().filter_map(LaunchedTile::remark);
        let all = self.because.iter().cloned().chain(returned).chain(left);
        all.collect::<Vec<_>>().join("; ")
    }
}

fn failure(target: &dyn Target, error: &RunError) -> Failure {
    Failure::of_run(target.name(), target.mesh().layout(), error)
}
