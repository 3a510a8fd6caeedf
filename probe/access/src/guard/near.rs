//! Reads tiles of a chip with PCIe so that a hang is detected at the first answer of all ones.
//!
//! A chip is read in few batches. A batch ends where an answer is all ones. Then the cause is
//! determined, and a hung tile or device is put into quarantine.

use super::Quarantine;
use super::hang::{HangVerdict, confirm, node_id};
use crate::bus::{BatchAnswer, Bus};
use crate::planner::MergedRange;
use layouts::NocXy;
use machine::patience::Deadlines;
use machine::snapshot::{AccessError, Bytes};
use std::time::Instant;

/// Bytes requested in one batch; more would only wait in memory.
const BATCH_BYTES: usize = 1 << 20;

/// Length of the probe of a tile that has not answered yet.
const PROBE_BYTES: u32 = 4;

/// The result of one range: its bytes and the target's time at the end of its batch.
pub(crate) type Reading = Result<(Bytes, u64), AccessError>;

/// Reads ranges of one PCIe device, sorted by tile, and passes each to `take` by its index.
pub(crate) fn read_near(
    bus: &mut Bus,
    quarantine: &mut Quarantine,
    patience: Deadlines,
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

/// Checks that a tile answers before it is written to, because writes posted to a dead tile pile
/// up. Reads the node id, since the range to write may not be readable.
///
/// # Errors
/// Why the tile must not be accessed.
pub(crate) fn seen(
    bus: &mut Bus,
    quarantine: &mut Quarantine,
    patience: Deadlines,
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

/// A range in a batch, and whether a probe of its tile precedes it.
struct CheckedRange {
    index: usize,
    probe: bool,
}

/// The first range of a batch that was not read, and why.
type Broken = (usize, AccessError);

struct Near<'a> {
    bus: &'a mut Bus,
    quarantine: &'a mut Quarantine,
    device: u8,
    runs: &'a [MergedRange],
    /// The tile whose all ones were just found to be a value.
    alive: Option<NocXy>,
    /// Target times of the first batch's beginning and the last batch's end.
    began: Option<(u64, u64)>,
    take: &'a mut dyn FnMut(usize, Reading),
}

impl Near<'_> {
    /// Returns the cycles since the first batch.
    fn spent(&self) -> u64 {
        self.began.map_or(0, |(first, last)| last.saturating_sub(first))
    }

    /// Passes the reason to all ranges from `at` on.
    fn refuse(&mut self, at: usize, reason: &AccessError) -> usize {
        for index in at..self.runs.len() {
            let own = self.quarantine.tile(self.device, self.runs[index].tile);
            (self.take)(index, Err(own.unwrap_or(reason).clone()));
        }
        self.runs.len()
    }

    /// Puts the device into quarantine that is lost at the read of this range. The first read of a
    /// tile, after other tiles have answered, tells that this tile hangs. Returns the reason of the
    /// range.
    fn lose(&mut self, index: usize, reason: AccessError) -> AccessError {
        let MergedRange { tile, offset, .. } = self.runs[index];
        let (device, quarantine) = (self.device, &mut *self.quarantine);
        let first = quarantine.has_answered(device) && !quarantine.seen(device, tile);
        quarantine.lose_device(device, reason.clone());
        if !first {
            return reason;
        }
        let hung = AccessError::Hung(format!(
            "tile {tile} hangs: a read of {offset:#x} was not answered, and since then: {reason}"
        ));
        quarantine.lose_tile(device, tile, hung.clone());
        hung
    }

    /// Runs one batch from range `at` on; returns the index of the first range still to be read.
    fn step(&mut self, at: usize) -> usize {
        if let Some(reason) = self.quarantine.device(self.device).cloned() {
            return self.refuse(at, &reason);
        }
        let (end, parts, answer) = self.submit(at);
        let distributed = match answer.error().cloned() {
            Some(reason) => self.break_off(&parts, answer, reason),
            None => self.distribute(end, &parts, answer),
        };
        match distributed {
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

    /// Submits the batch. Ranges in quarantine get their reason instead.
    fn submit(&mut self, at: usize) -> (usize, Vec<CheckedRange>, BatchAnswer) {
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
            // The first read of a tile is a word: a longer range gets a probe before it.
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

    /// Handles an error of the machine at some range: earlier ranges count, with the time at the
    /// beginning of the batch.
    fn break_off(
        &mut self,
        parts: &[CheckedRange],
        mut answer: BatchAnswer,
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

    /// Handles a timeout of the machine. If only the tile hangs, it is put into quarantine.
    fn unanswered(&mut self, index: usize, reason: AccessError) -> Result<usize, Broken> {
        if !matches!(reason, AccessError::TimedOut { .. }) {
            return Err((index, reason));
        }
        let run = &self.runs[index];
        // The machine has timed this access alone, so that no further timing is needed.
        let confirmed = confirm(self.bus, self.device, run, u64::MAX);
        match confirmed.map_err(|error| (index, error))?.0 {
            HangVerdict::Device(worse) => {
                let why = self.lose(index, worse);
                (self.take)(index, Err(why));
                Ok(index + 1)
            }
            HangVerdict::Tile(_) | HangVerdict::Value => {
                let why = AccessError::Hung(format!("tile {} hangs: {reason}", run.tile));
                self.quarantine.lose_tile(self.device, run.tile, why.clone());
                (self.take)(index, Err(why));
                Ok(index + 1)
            }
        }
    }

    /// Splits the answer; if it ended in ones, finds the cause.
    fn distribute(
        &mut self,
        end: usize,
        parts: &[CheckedRange],
        mut answer: BatchAnswer,
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

    /// Handles a batch that ended in ones at this range, or at the probe before it.
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
                let why = self.lose(index, reason);
                (self.take)(index, Err(why));
            }
        }
        Ok(index + 1)
    }
}
