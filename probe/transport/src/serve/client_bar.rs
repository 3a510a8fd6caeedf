//! The bar of one client of a served machine: what it may not ask for is refused before anything is
//! carried out.

use super::judge::{Judge, Rights, no_right};
use super::state::ServerState;
use crate::shared_bar::SharedBar;
use crate::wire::bounds;
use layouts::ChipKind;
use machine::bar::{Bar, BarOp, DeviceBatch};
use machine::clients::Client;
use machine::fault::{ChipAddress, Fault};
use machine::past::RecordedRun;
use machine::snapshot::{AccessError, StoppedCore};
use std::io;

/// A machine that is shared with other clients.
pub(super) struct ClientBar<'s> {
    pub(super) bar: SharedBar,
    pub(super) judge: Judge,
    pub(super) state: &'s ServerState,
    pub(super) number: u64,
    pub(super) writes: bool,
}

impl ClientBar<'_> {
    /// Waits for the lock of a device's queues, and tells the client now and then who has it.
    ///
    /// # Errors
    /// The error of `wait`; within, why the client does not get the lock.
    pub(super) fn wait_for_queues(
        &mut self,
        client: &Client,
        device: u8,
        wait: impl FnMut(Client) -> io::Result<()>,
    ) -> io::Result<Result<(), AccessError>> {
        self.judge.forget_queues();
        let again = self.state.holds_queues(self.number, device);
        let locked = self.state.lock_queues((self.number, client, device), wait)?;
        let locked = locked.map_err(|why| AccessError::Unreachable(why.to_string()));
        if again || locked.is_err() {
            return Ok(locked);
        }
        // Who else uses the machine, besides its clients.
        let shared = self.bar.lock_queues(device);
        if shared.is_err() {
            self.state.unlock_queues(self.number, device);
        }
        Ok(shared.map(drop))
    }

    /// Releases the lock of a device's queues once.
    pub(super) fn release_queues(&mut self, device: u8) {
        // Before another client may take it.
        if self.state.is_last_lock(self.number, device) {
            // Who has lost the connection to the machine has no lock.
            let _ = self.bar.unlock_queues(device);
        }
        self.state.unlock_queues(self.number, device);
    }

    /// Checks a batch.
    fn check(&mut self, batch: &[BarOp]) -> Result<(), AccessError> {
        let Self { bar, judge, state, number, writes } = self;
        bounds::check(batch)?;
        let mut devices: Vec<u8> = batch.iter().filter_map(BarOp::device).collect();
        devices.dedup();
        devices.into_iter().try_for_each(|device| state.check_queues(*number, device))?;
        let holds = |device| state.holds_queues(*number, device);
        judge.check(bar, batch, &Rights { writes: *writes, holds: &holds })
    }
}

impl Drop for ClientBar<'_> {
    fn drop(&mut self) {
        for device in 0..self.bar.most_devices() {
            while self.state.holds_queues(self.number, device) {
                self.release_queues(device);
            }
        }
    }
}

impl Bar for ClientBar<'_> {
    fn submit(&mut self, batch: &[BarOp], answer: &mut Vec<u8>) -> Result<(), AccessError> {
        let (state, number) = (self.state, self.number);
        state.carry_out(number, || {
            self.check(batch)?;
            self.bar.submit(batch, answer)
        })
    }

    fn submit_parallel(&mut self, batches: &mut [DeviceBatch]) {
        let (state, number) = (self.state, self.number);
        state.carry_out(number, || {
            let (mut admitted, mut places) = (Vec::<DeviceBatch>::new(), Vec::new());
            for (place, part) in batches.iter_mut().enumerate() {
                let own = part.batch.iter().filter_map(BarOp::device).all(|d| d == part.device);
                let twice = admitted.iter().any(|other| other.device == part.device);
                part.result = if own && !twice {
                    self.check(&part.batch)
                } else {
                    let why = format!("a batch for device {} alone, and one only", part.device);
                    Err(AccessError::Refused(why))
                };
                if part.result.is_ok() {
                    places.push(place);
                    let ops = std::mem::take(&mut part.batch);
                    admitted.push(DeviceBatch::new(part.device, ops));
                }
            }
            self.bar.submit_parallel(&mut admitted);
            for (place, DeviceBatch { answer, result, .. }) in places.into_iter().zip(admitted) {
                let Some(part) = batches.get_mut(place) else { continue };
                (part.answer, part.result) = (answer, result);
            }
        });
    }

    fn chip(&self) -> ChipKind {
        self.bar.chip()
    }

    fn stopped_cores(&mut self, chips: &[ChipAddress]) -> Vec<(usize, StoppedCore)> {
        self.bar.stopped_cores(chips)
    }

    fn recorded_run(&mut self) -> Option<Result<RecordedRun, String>> {
        self.bar.recorded_run()
    }

    fn disrupt(&mut self, at: ChipAddress, fault: &Fault) -> Result<(), AccessError> {
        if self.writes { self.bar.disrupt(at, fault) } else { Err(no_right()) }
    }
}
