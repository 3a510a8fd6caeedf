//! Reading the tiles of a chip with PCIe so that a hang is noticed at its first answer of all ones.
//!
//! A look at a chip is few batches. Each ends by itself where an answer is nothing but ones; then
//! the chip is asked whether it hangs, and what hangs is not touched again.

use super::Quarantine;
use super::hang::{HangVerdict, confirm, node_id};
use crate::bus::{Answer, Bus};
use crate::planner::MergedRange;
use layouts::NocXy;
use machine::patience::Patience;
use machine::snapshot::{AccessError, Bytes};
use std::time::Instant;

/// So many bytes are asked for in one batch; more would make the answer wait in memory.
const BATCH_BYTES: usize = 1 << 20;

/// Length of the probe of a tile that has not answered yet.
const PROBE_BYTES: u32 = 4;

/// What came of one range: its bytes and the target's time when its batch had come, or why not.
pub(crate) type Reading = Result<(Bytes, u64), AccessError>;

/// Reads ranges of one PCIe device, sorted by tile, and gives each to `take` by its index.
pub(crate) fn read_near(
    bus: &mut Bus,
    quarantine: &mut Quarantine,
    patience: Patience,
    device: u8,
    runs: &[MergedRange],
    take: &mut dyn FnMut(usize, Reading),
) {
    let mut near = Near { bus, quarantine, device, runs, alive: None, began: None, take };
    let started = Instant::now();
    let mut at = 0;
    while at < runs.len() {
        at = near.step(at);
        if near.spent() > patience.chip_cycles || started.elapsed() > patience.watchdog {
            let deadline_cycles = patience.chip_cycles;
            at = near.refuse(at, &AccessError::TimedOut { deadline_cycles });
        }
    }
}

/// Makes sure that a tile answers before it is written to: what is posted to a dead one piles up.
/// It is asked for its node id, because what is to be written need not be readable.
///
/// # Errors
/// Why it must not be touched.
pub(crate) fn seen(
    bus: &mut Bus,
    quarantine: &mut Quarantine,
    patience: Patience,
    device: u8,
    tile: NocXy,
) -> Result<(), AccessError> {
    if let Some(reason) = quarantine.tile(device, tile) {
        return Err(reason.clone());
    }
    if quarantine.seen(device, tile) {
        return Ok(());
    }
    let mut result = Ok(());
    let probe = [MergedRange {
        tile,
        offset: node_id(bus.layout(), tile)?,
        len: PROBE_BYTES,
        memory: false,
    }];
    read_near(bus, quarantine, patience, device, &probe, &mut |_, read| result = read.map(|_| ()));
    result
}

/// A range in a batch, and whether a probe of its tile goes before it.
struct CheckedRange {
    index: usize,
    probe: bool,
}

/// Why a batch brought nothing from this range on.
type Broken = (usize, AccessError);

struct Near<'a> {
    bus: &'a mut Bus,
    quarantine: &'a mut Quarantine,
    device: u8,
    runs: &'a [MergedRange],
    /// The tile whose all ones were found to be a value a moment ago.
    alive: Option<NocXy>,
    /// Target time when the first batch began and when the last one ended.
    began: Option<(u64, u64)>,
    take: &'a mut dyn FnMut(usize, Reading),
}

impl Near<'_> {
    /// Cycles since the first batch.
    fn spent(&self) -> u64 {
        self.began.map_or(0, |(first, last)| last.saturating_sub(first))
    }

    /// Nothing from here on is read.
    fn refuse(&mut self, at: usize, reason: &AccessError) -> usize {
        for index in at..self.runs.len() {
            (self.take)(index, Err(reason.clone()));
        }
        self.runs.len()
    }

    /// One batch from range `at` on; gives the index of the first range that is still to be read.
    fn step(&mut self, at: usize) -> usize {
        if let Some(reason) = self.quarantine.device(self.device).cloned() {
            return self.refuse(at, &reason);
        }
        let (end, parts, answer) = self.ask(at);
        let handed = match answer.error().cloned() {
            Some(reason) => self.break_off(&parts, answer, reason),
            None => self.distribute(end, &parts, answer),
        };
        match handed {
            Ok(next) => next,
            Err((from, reason)) => {
                if matches!(reason, AccessError::DeviceGone(_)) {
                    self.quarantine.lose_device(self.device, reason.clone());
                }
                for part in parts.iter().filter(|part| part.index >= from) {
                    (self.take)(part.index, Err(reason.clone()));
                }
                self.refuse(end, &reason)
            }
        }
    }

    /// Sends the batch. What is latched gets its reason, and is not in it.
    fn ask(&mut self, at: usize) -> (usize, Vec<CheckedRange>, Answer) {
        let device = self.device;
        let mut batch = self.bus.batch().now();
        let mut parts = Vec::with_capacity(self.runs.len() - at);
        let (mut end, mut bytes, mut probed) = (at, 0, None);
        while let Some(run) = self.runs.get(end) {
            bytes += run.len as usize;
            if bytes > BATCH_BYTES && end > at {
                break;
            }
            let index = end;
            end += 1;
            let mut first = false;
            if probed != Some(run.tile) {
                if let Some(reason) = self.quarantine.tile(device, run.tile) {
                    (self.take)(index, Err(reason.clone()));
                    continue;
                }
                first = !self.quarantine.seen(device, run.tile);
            }
            // A block on a tile that has not answered yet is read behind a word; a word is one itself.
            let probe = first && run.len > PROBE_BYTES;
            probed = Some(run.tile);
            if probe {
                batch = run.read(batch, device, PROBE_BYTES).end_if_ones(PROBE_BYTES);
            }
            batch = run.read(batch, device, run.len);
            if self.alive != Some(run.tile) {
                batch = batch.end_if_ones(run.len);
            }
            parts.push(CheckedRange { index, probe });
        }
        (end, parts, batch.now().run())
    }

    /// The machine itself gave up at some range: what came before it counts, from when the batch began.
    fn break_off(
        &mut self,
        parts: &[CheckedRange],
        mut answer: Answer,
        reason: AccessError,
    ) -> Result<usize, Broken> {
        let began = answer.cycles().ok();
        for part in parts {
            let run = &self.runs[part.index];
            if part.probe {
                answer.skip(PROBE_BYTES as usize);
            }
            let (Some(began), Ok(bytes)) = (began, answer.share(run.len)) else {
                return self.unanswered(part.index, reason);
            };
            (self.take)(part.index, Ok((bytes, began)));
            self.quarantine.answered(self.device, run.tile);
        }
        Err((self.runs.len(), reason))
    }

    /// A tile that the machine timed out at hangs, if no more than the tile does; it is not asked again.
    fn unanswered(&mut self, index: usize, reason: AccessError) -> Result<usize, Broken> {
        if !matches!(reason, AccessError::TimedOut { .. }) {
            return Err((index, reason));
        }
        let run = &self.runs[index];
        // The machine has timed the access alone, so that nothing is left to be timed.
        let confirmed = confirm(self.bus, self.device, run, u64::MAX);
        match confirmed.map_err(|error| (index, error))?.0 {
            HangVerdict::Device(worse) => {
                self.quarantine.lose_device(self.device, worse.clone());
                Err((index, worse))
            }
            HangVerdict::Tile(_) | HangVerdict::Value => {
                let why = AccessError::Unreachable(format!("tile {} hangs: {reason}", run.tile));
                self.quarantine.lose_tile(self.device, run.tile, why.clone());
                (self.take)(index, Err(why));
                Ok(index + 1)
            }
        }
    }

    /// Takes the answer apart; where it ends in ones, finds out why.
    fn distribute(
        &mut self,
        end: usize,
        parts: &[CheckedRange],
        mut answer: Answer,
    ) -> Result<usize, Broken> {
        let broken = |index| move |reason| (index, reason);
        let began = answer.cycles().map_err(broken(0))?;
        let now = answer.last_cycles();
        let (first, _) = *self.began.get_or_insert((began, began));
        self.began = Some((first, now.unwrap_or(began)));
        let mut held = Vec::new();
        let mut answered = None;
        for part in parts {
            let run = &self.runs[part.index];
            if part.probe {
                answer.skip(PROBE_BYTES as usize);
            }
            match (now, answer.share(run.len).ok()) {
                (Some(now), Some(bytes)) => (self.take)(part.index, Ok((bytes, now))),
                (None, Some(bytes)) if !answer.is_spent() => held.push((part.index, bytes)),
                (_, last) => {
                    let next = self.suspect(part.index, began, held, last);
                    return next.map_err(broken(part.index));
                }
            }
            if answered.replace(run.tile) != Some(run.tile) {
                self.quarantine.answered(self.device, run.tile);
            }
        }
        Ok(end)
    }

    /// The batch ended in ones at this range, or at the probe before it.
    fn suspect(
        &mut self,
        index: usize,
        began: u64,
        held: Vec<(usize, Bytes)>,
        last: Option<Bytes>,
    ) -> Result<usize, AccessError> {
        let run = &self.runs[index];
        let tile = run.tile;
        let confirmed = confirm(self.bus, self.device, run, began);
        let now = confirmed.as_ref().map_or(began, |(_, now)| *now);
        for (index, bytes) in held {
            (self.take)(index, Ok((bytes, now)));
        }
        let (verdict, _) = confirmed?;
        self.began = self.began.map(|(first, _)| (first, now));
        match verdict {
            HangVerdict::Value => {
                self.alive = Some(tile);
                self.quarantine.answered(self.device, tile);
                let Some(bytes) = last else { return Ok(index) };
                (self.take)(index, Ok((bytes, now)));
            }
            HangVerdict::Tile(reason) => {
                self.quarantine.lose_tile(self.device, tile, reason.clone());
                (self.take)(index, Err(reason));
            }
            HangVerdict::Device(reason) => {
                self.quarantine.lose_device(self.device, reason.clone());
                (self.take)(index, Err(reason));
            }
        }
        Ok(index + 1)
    }
}
