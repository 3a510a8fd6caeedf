//! Reads from one far chip through all its gateways, with as many commands in flight as each may
//! have.
//!
//! One batch carries the reads of landed blocks, the next commands with one doorbell per gateway,
//! the wait for them, and the poll for their answers. Answers of one gateway come in its order.
//! Commands that a gateway refuses or does not answer in time are requested again through another.

mod judge;
mod refusals;

use super::active::{ActiveQueue, CommandOutcome, Stage};
use super::{Command, Deadlines, Queue, Stamped};
use crate::bus::Bus;
use crate::eth_firmware::routing;
use layouts::NocXy;
use machine::snapshot::AccessError;
use refusals::Refusals;
use std::collections::VecDeque;
use std::time::Instant;

/// A command that this number of gateways did not answer in time is given up, and so is a chip that
/// this number of gateways in a row had no answer from.
const STRIKES: u8 = 2;

/// A queue that leads to the chip.
pub(crate) struct Gateway {
    pub(crate) queue: Queue,
    /// Whether the tile has a link to the chip itself. Such gateways are used in parallel, the
    /// others one at a time.
    pub(crate) direct: bool,
    /// Most commands in flight.
    pub(crate) depth: usize,
}

struct QueueReader<'a> {
    bus: &'a mut Bus,
    patience: Deadlines,
    commands: &'a [Command],
    active: Vec<ActiveQueue<'a>>,
    waiting: VecDeque<usize>,
    results: Vec<Option<Result<Stamped, AccessError>>>,
    tries: Vec<u8>,
    strikes: Vec<u8>,
    refusals: Refusals,
    /// Tiles that could not be reached since the last success, and the number of refused commands
    /// of each.
    unreachable: Vec<(NocXy, usize)>,
    /// The target's time when the last batch returned.
    now: u64,
    /// The host's time when the far side last answered.
    answered: Instant,
    /// The target's time when a command was last carried out, or when the first batch returned.
    heard: Option<u64>,
    /// Gateways that did not answer in time since then.
    quiet: u8,
    /// The target's time when the first batch returned.
    began: Option<u64>,
    /// Why the chip itself seems not to answer.
    silent: Option<AccessError>,
    /// Why the last command was refused, if it was.
    last_refusal: Option<AccessError>,
    /// Why the last gateway was given up.
    last_error: AccessError,
}

/// The results of many reads.
pub(crate) struct Results {
    /// One result for each read, in order.
    pub(crate) reads: Vec<Result<Stamped, AccessError>>,
    /// Why the chip itself seems not to answer, if so; it should not be read again.
    pub(crate) silent: Option<AccessError>,
    /// Gateways that refused a command which another one answered, with their errors.
    pub(crate) convicted: Vec<(NocXy, AccessError)>,
}

impl Results {
    /// Returns the same error for all reads.
    pub(crate) fn failed(error: &AccessError, count: usize) -> Self {
        Self { reads: vec![Err(error.clone()); count], silent: None, convicted: Vec::new() }
    }
}

/// Carries out the reads.
pub(crate) fn read_all(
    bus: &mut Bus,
    patience: Deadlines,
    gateways: &mut [Gateway],
    commands: &[Command],
) -> Results {
    let all_active = gateways.iter_mut();
    let mut reader = QueueReader {
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
        answered: Instant::now(),
        heard: None,
        quiet: 0,
        began: None,
        silent: None,
        last_refusal: None,
        last_error: AccessError::Unreachable("no Ethernet tile leads to the chip".into()),
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
    let QueueReader { results, silent, refusals, .. } = reader;
    let reads = results.into_iter().map(|result| result.unwrap_or_else(|| Err(error.clone())));
    let reads: Vec<Result<Stamped, AccessError>> = reads.collect();
    // If nothing could be reached, the chip is at fault, whatever tiles were read.
    let none_reached = reads.iter().all(|read| read.as_ref().is_err_and(is_refusal));
    let first =
        || reads.first().and_then(|read| read.as_ref().err()).filter(|_| none_reached).cloned();
    let silent = silent.or_else(first);
    Results { reads, silent, convicted: refusals.convicted }
}

/// Whether the firmware found no route to the tile, or had no answer from it.
pub(crate) fn is_unanswered(error: &AccessError) -> bool {
    matches!(error, AccessError::QueueError { flags } if flags & routing().unreachable != 0)
}

/// Whether the firmware found no route, or no room on it.
fn is_refusal(error: &AccessError) -> bool {
    let refused = routing().unreachable | routing().block_unavailable;
    matches!(error, AccessError::QueueError { flags } if flags & refused != 0)
}

impl QueueReader<'_> {
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

    /// Opens all direct gateways that are in order at the first check.
    fn open_direct(&mut self) -> Result<(), AccessError> {
        for active in self.active.iter_mut().filter(|active| active.direct) {
            match active.queue.try_ready(self.bus) {
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

    /// If no gateway is in use, or none for the waiting commands, opens the next one; a suspect one
    /// only if there is no other.
    fn open_next(&mut self) -> Result<(), AccessError> {
        self.end_refused();
        while self.lacks_gateway() {
            let reserve = self.active.iter_mut().filter(|active| active.stage == Stage::Reserve);
            let Some(active) = reserve.min_by_key(|active| active.queue.is_suspect()) else {
                self.silent = Some(self.last_error.clone());
                return Err(self.last_error.clone());
            };
            let suspect = active.queue.is_suspect();
            match active.queue.ready(self.bus) {
                Ok(()) => {
                    active.stage = Stage::Active;
                    // Waiting for the queue itself says nothing about the chip.
                    self.heard = self.heard.filter(|_| !suspect);
                }
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

    /// Runs one batch, and takes its answers.
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
            // Polling another gateway that is nearly due costs less than a batch of its own.
            let reach = cycles + cycles / 8;
            batch = batch.pass(cycles).now();
            for ((_, active), wait) in all_active.iter_mut().zip(&waits) {
                if wait.is_some_and(|wait| wait <= reach) {
                    batch = active.poll(batch);
                }
            }
        }
        let mut answer = batch.run();
        let mut done = Vec::new();
        let before = answer.cycles()?;
        self.now = before;
        self.began.get_or_insert(before);
        self.heard.get_or_insert(before);
        let mut taken = all_active.iter_mut().try_for_each(|(at, active)| {
            with_queue(*at, &mut done, |own| active.fetched(&mut answer, own))
        });
        if taken.is_ok() && soonest.is_some() {
            taken = answer.cycles().and_then(|now| {
                self.now = now;
                let times = (before, now);
                all_active.iter_mut().try_for_each(|(at, active)| {
                    with_queue(*at, &mut done, |own| active.take(&mut answer, times, commands, own))
                })
            });
        }
        self.settle(done);
        taken
    }
}

/// Adds the outcomes of a gateway's commands, with its number, even if `act` fails.
fn with_queue(
    at: usize,
    done: &mut Vec<(usize, CommandOutcome)>,
    act: impl FnOnce(&mut Vec<CommandOutcome>) -> Result<(), AccessError>,
) -> Result<(), AccessError> {
    let mut own = Vec::new();
    let result = act(&mut own);
    done.extend(own.into_iter().map(|outcome| (at, outcome)));
    result
}
