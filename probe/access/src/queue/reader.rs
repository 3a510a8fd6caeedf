//! Many reads of one far chip, through all its gateways, as many under way as each may have.
//!
//! One batch carries the blocks that landed, the next commands with one doorbell per gateway, the
//! time that they take, and the look for their answers. Answers of one gateway come in its order;
//! what a gateway fails to answer in time, or refuses, is asked again through another.

mod judge;
mod refusals;

use super::active::{ActiveQueue, CommandOutcome, Stage};
use super::{Command, Patience, Queue, Stamped};
use crate::bus::Bus;
use crate::eth_firmware::routing;
use layouts::NocXy;
use machine::snapshot::AccessError;
use refusals::Refusals;
use std::collections::VecDeque;
use std::time::Instant;

/// A command that so many gateways did not answer in time is not asked for any more, and a chip
/// that so many in a row had no answer from is given up.
const STRIKES: u8 = 2;

/// A queue that leads to the chip.
pub(crate) struct Gateway {
    pub(crate) queue: Queue,
    /// Has the tile a link to the chip itself? Such ones are used together, the others alone.
    pub(crate) direct: bool,
    /// Most commands under way.
    pub(crate) depth: usize,
}

struct Reader<'a> {
    bus: &'a mut Bus,
    patience: Patience,
    commands: &'a [Command],
    active: Vec<ActiveQueue<'a>>,
    waiting: VecDeque<usize>,
    results: Vec<Option<Result<Stamped, AccessError>>>,
    tries: Vec<u8>,
    strikes: Vec<u8>,
    refusals: Refusals,
    /// Tiles that could not be reached since anything last could, and how many commands were refused of each.
    unreachable: Vec<(NocXy, usize)>,
    /// The target's time when the last batch came back.
    now: u64,
    /// When the far side last answered, by our clock.
    heard: Instant,
    /// Gateways that gave no answer in time since then.
    quiet: u8,
    /// The target's time when the first batch came back.
    began: Option<u64>,
    /// Why the chip itself seems not to answer.
    silent: Option<AccessError>,
    /// Why the last gateway was given up.
    last_error: AccessError,
}

/// What came of many reads.
pub(crate) struct Results {
    /// One for each, in their order.
    pub(crate) reads: Vec<Result<Stamped, AccessError>>,
    /// Why the chip itself seems not to answer, if so: nothing more should be asked of it.
    pub(crate) silent: Option<AccessError>,
    /// Gateways that refused what another one answered, and what they said.
    pub(crate) convicted: Vec<(NocXy, AccessError)>,
}

impl Results {
    /// The same error for all of them.
    pub(crate) fn failed(error: &AccessError, count: usize) -> Self {
        Self { reads: vec![Err(error.clone()); count], silent: None, convicted: Vec::new() }
    }
}

/// Carries the reads out.
pub(crate) fn read_all(
    bus: &mut Bus,
    patience: Patience,
    gateways: &mut [Gateway],
    commands: &[Command],
) -> Results {
    let all_active = gateways.iter_mut();
    let mut reader = Reader {
        bus,
        patience,
        commands,
        active: all_active
            .map(|route| ActiveQueue::new(&mut route.queue, route.direct, route.depth))
            .collect(),
        waiting: (0..commands.len()).collect(),
        results: vec![None; commands.len()],
        tries: vec![0; commands.len()],
        strikes: vec![0; commands.len()],
        refusals: Refusals::default(),
        unreachable: Vec::new(),
        now: 0,
        heard: Instant::now(),
        quiet: 0,
        began: None,
        silent: None,
        last_error: AccessError::Unreachable("no Ethernet tile leads there".into()),
    };
    let error = match reader.all() {
        Ok(()) => reader.last_error.clone(),
        Err(error) => {
            reader.active.iter_mut().for_each(|active| drop(active.give_up()));
            if matches!(error, AccessError::DeviceGone(_)) {
                reader.silent.get_or_insert_with(|| error.clone());
            }
            error
        }
    };
    let Reader { results, silent, refusals, .. } = reader;
    let reads = results.into_iter().map(|result| result.unwrap_or_else(|| Err(error.clone())));
    let reads: Vec<Result<Stamped, AccessError>> = reads.collect();
    // Nothing at all could be reached: then it is the chip, whatever tiles were asked.
    let none = reads.iter().all(|read| read.as_ref().is_err_and(is_refusal));
    let first = || reads.first().and_then(|read| read.as_ref().err()).filter(|_| none).cloned();
    let silent = silent.or_else(first);
    Results { reads, silent, convicted: refusals.convicted }
}

/// Did the firmware find no way there, or no room on it?
fn is_refusal(error: &AccessError) -> bool {
    let refused = routing().unreachable | routing().block_unavailable;
    matches!(error, AccessError::QueueError { flags } if flags & refused != 0)
}

impl Reader<'_> {
    fn all(&mut self) -> Result<(), AccessError> {
        self.open_direct()?;
        while !self.waiting.is_empty() || self.active.iter().any(ActiveQueue::is_busy) {
            self.open_next()?;
            match self.round() {
                Ok(()) => self.judge_times()?,
                Err(gone @ AccessError::DeviceGone(_)) => return Err(gone),
                Err(error) => self.blame(&error),
            }
        }
        Ok(())
    }

    /// Takes all gateways with a link to the chip itself into use that are in order at first sight.
    fn open_direct(&mut self) -> Result<(), AccessError> {
        for active in self.active.iter_mut().filter(|active| active.direct) {
            match active.queue.glance(self.bus) {
                Ok(settled) => {
                    active.stage = if settled { Stage::Active } else { Stage::Reserve };
                }
                Err(gone @ AccessError::DeviceGone(_)) => return Err(gone),
                Err(error) => {
                    active.stage = Stage::Dead;
                    self.last_error = error;
                }
            }
        }
        Ok(())
    }

    /// With no gateway in use, or none for what waits, takes the next into use: one in doubt only when there is no other.
    fn open_next(&mut self) -> Result<(), AccessError> {
        self.end_refused();
        while self.lacks_gateway() {
            let reserve = self.active.iter_mut().filter(|active| active.stage == Stage::Reserve);
            let Some(active) = reserve.min_by_key(|active| active.queue.is_suspect()) else {
                self.silent = Some(self.last_error.clone());
                return Err(self.last_error.clone());
            };
            match active.queue.ready(self.bus) {
                Ok(()) => active.stage = Stage::Active,
                Err(gone @ AccessError::DeviceGone(_)) => return Err(gone),
                Err(error) => {
                    active.stage = Stage::Dead;
                    self.quiet += u8::from(error == self.patience.timed_out());
                    self.last_error = error;
                }
            }
            self.judge_silence()?;
            self.end_refused();
        }
        Ok(())
    }

    /// One batch to the machine, and what came of it.
    fn round(&mut self) -> Result<(), AccessError> {
        let (commands, now) = (self.commands, self.now);
        let held = self.refusals.held(&self.active);
        let used = self.active.iter_mut().enumerate().filter(|(_, active)| active.is_used());
        let mut all_active: Vec<(usize, &mut ActiveQueue<'_>)> = used.collect();
        let mut batch = self.bus.batch().now();
        let open = all_active.iter().filter(|(_, active)| active.room() > 0).count();
        let share = self.waiting.len().div_ceil(open.max(1));
        for (at, active) in &mut all_active {
            batch = active.fetch(batch);
            let count = active.room().min(share).min(self.waiting.len());
            let numbers = self.refusals.draw(&mut self.waiting, (*at, held), count);
            batch = active.post(batch, commands, &numbers);
        }
        let wait = |(_, active): &(usize, &mut ActiveQueue<'_>)| active.wait(now, commands);
        let waits: Vec<Option<u64>> = all_active.iter().map(wait).collect();
        let soonest = waits.iter().flatten().min().copied();
        if let Some(cycles) = soonest {
            // A look at another gateway that is nearly due costs less than a batch of its own.
            let reach = cycles + cycles / 8;
            batch = batch.pass(cycles).now();
            for ((_, active), wait) in all_active.iter_mut().zip(&waits) {
                if wait.is_some_and(|wait| wait <= reach) {
                    batch = active.ask(batch);
                }
            }
        }
        let mut answer = batch.run();
        let mut done = Vec::new();
        let before = answer.cycles()?;
        self.now = before;
        self.began.get_or_insert(before);
        let mut looked = all_active.iter_mut().try_for_each(|(at, active)| {
            of_queue(*at, &mut done, |own| active.fetched(&mut answer, own))
        });
        if looked.is_ok() && soonest.is_some() {
            looked = answer.cycles().and_then(|now| {
                self.now = now;
                let times = (before, now);
                all_active.iter_mut().try_for_each(|(at, active)| {
                    of_queue(*at, &mut done, |own| active.take(&mut answer, times, commands, own))
                })
            });
        }
        self.settle(done);
        looked
    }
}

/// Adds what came of a gateway's commands, with its number, also where it ends in an error.
fn of_queue(
    at: usize,
    done: &mut Vec<(usize, CommandOutcome)>,
    act: impl FnOnce(&mut Vec<CommandOutcome>) -> Result<(), AccessError>,
) -> Result<(), AccessError> {
    let mut own = Vec::new();
    let result = act(&mut own);
    done.extend(own.into_iter().map(|outcome| (at, outcome)));
    result
}
