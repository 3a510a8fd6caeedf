//! A machine shared by several clients, each with its own bar.
//!
//! Each client uses all windows as if alone: before an access through a window that another client
//! has pointed elsewhere, the window is pointed again. Time that one client let pass has passed for
//! the others, too.

use layouts::{ChipKind, NocXy};
use machine::bar::{Bar, BarOp, DeviceBatch, Sharing, now};
use machine::clients::Holder;
use machine::fault::{ChipAddress, Fault};
use machine::past::RecordedRun;
use machine::snapshot::{AccessError, StoppedCore};
use machine::window::WindowOrdering;
use parking_lot::{FairMutex, FairMutexGuard};
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

/// The target of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct WindowView {
    tile: NocXy,
    page: u64,
    order: WindowOrdering,
}

/// The targets of windows, by device and index in hardware.
type Views = HashMap<(u8, u16), WindowView>;

/// The tiles and pages of windows, by device and index in hardware.
pub(crate) type Aims = HashMap<(u8, u16), (NocXy, u64)>;

/// The machine, and the present targets of its windows.
struct Machine {
    bar: Box<dyn Bar>,
    shown: Views,
}

/// The bar of one of several clients of a machine.
pub struct SharedBar {
    // Fair: a client that submits without pause must not starve the others.
    machine: Arc<FairMutex<Machine>>,
    most_devices: u8,
    chip: ChipKind,
    /// Where this client pointed its windows.
    views: Views,
    /// The machine's time when this client last read it, in cycles.
    seen: u64,
}

impl SharedBar {
    /// Returns the bar of the first client.
    pub fn new(bar: Box<dyn Bar>) -> Self {
        let (most_devices, chip) = (bar.most_devices(), bar.chip());
        let machine = Machine { bar, shown: Views::new() };
        Self {
            machine: Arc::new(FairMutex::new(machine)),
            most_devices,
            chip,
            views: Views::new(),
            seen: 0,
        }
    }

    /// Returns a bar for another client.
    #[must_use]
    pub fn another(&self) -> Self {
        Self {
            machine: Arc::clone(&self.machine),
            most_devices: self.most_devices,
            chip: self.chip,
            views: Views::new(),
            seen: 0,
        }
    }

    /// Returns the tile and the address there of a range of BAR 0 that lies in one window, as this
    /// client has pointed it, or points it with the operations of a batch that are in `pointed`.
    pub(crate) fn aim(
        &self,
        pointed: &Aims,
        device: u8,
        offset: u64,
        len: u64,
    ) -> Option<(NocXy, u64)> {
        let (index, within, room) = window_at(self.chip().bar(), offset)?;
        let known = || self.views.get(&(device, index)).map(|view| (view.tile, view.page));
        let (tile, page) = pointed.get(&(device, index)).copied().or_else(known)?;
        (len <= room).then_some((tile, page + within))
    }

    fn machine(&self) -> FairMutexGuard<'_, Machine> {
        self.machine.lock()
    }
}

/// Returns the window that contains an offset of BAR 0, the offset in the window, and the bytes from
/// there to its end.
pub(crate) fn window_at(bar: &layouts::Bar, offset: u64) -> Option<(u16, u64, u64)> {
    let class = bar.windows.iter().find(|class| {
        (class.bar_offset..class.bar_offset + u64::from(class.count) * class.bytes)
            .contains(&offset)
    })?;
    let within = offset - class.bar_offset;
    let (index, within) = (within / class.bytes, within % class.bytes);
    Some((class.first + index as u16, within, class.bytes - within))
}

impl Machine {
    /// Returns the batch with every window pointed to this client's target.
    fn pointed<'b>(&mut self, views: &mut Views, batch: &'b [BarOp]) -> Cow<'b, [BarOp]> {
        let mut changed: Option<Vec<BarOp>> = None;
        for (index, op) in batch.iter().enumerate() {
            match *op {
                BarOp::Point { device, window, x, y, page, order } => {
                    let view = WindowView { tile: NocXy { x, y }, page, order };
                    views.insert((device, window), view);
                    self.shown.insert((device, window), view);
                }
                BarOp::Read { device, bar: 0, offset, .. }
                | BarOp::Write { device, bar: 0, offset, .. } => {
                    if let Some(again) = self.repoint(views, device, offset) {
                        changed.get_or_insert_with(|| batch[..index].to_vec()).push(again);
                    }
                }
                _ => {}
            }
            if let Some(ops) = &mut changed {
                ops.push(op.clone());
            }
        }
        changed.map_or(Cow::Borrowed(batch), Cow::Owned)
    }

    /// Points the window of an access again, if another client pointed it elsewhere.
    fn repoint(&mut self, views: &Views, device: u8, offset: u64) -> Option<BarOp> {
        let (window, ..) = window_at(self.bar.chip().bar(), offset)?;
        let view = *views.get(&(device, window))?;
        if self.shown.insert((device, window), view) == Some(view) {
            return None;
        }
        let WindowView { tile: NocXy { x, y }, page, order } = view;
        Some(BarOp::Point { device, window, x, y, page, order })
    }

    /// Forgets the targets of all windows after a batch that ended early.
    fn note(&mut self, batch: &[BarOp], answered: usize, result: &Result<(), AccessError>) {
        let expected: usize = batch.iter().map(BarOp::answer_len).sum();
        if result.is_err() || answered < expected {
            self.shown.clear();
        }
    }
}

impl Bar for SharedBar {
    /// Time that another client let pass in the meantime counts for this client, too.
    fn submit(&mut self, batch: &[BarOp], answer: &mut Vec<u8>) -> Result<(), AccessError> {
        let mut machine = self.machine.lock();
        let mut result = Ok(());
        if let [BarOp::Pass { cycles }] = batch {
            let (seen, cycles) = (self.seen, *cycles);
            let machine_time = now(machine.bar.as_mut())?;
            let left = seen.saturating_add(cycles).saturating_sub(machine_time).min(cycles);
            if left > 0 {
                result = machine.bar.submit(&[BarOp::Pass { cycles: left }], answer);
            }
        } else {
            let before = answer.len();
            let pointed = machine.pointed(&mut self.views, batch);
            result = machine.bar.submit(&pointed, answer);
            machine.note(batch, answer.len() - before, &result);
        }
        self.seen = now(machine.bar.as_mut())?;
        result
    }

    fn chip(&self) -> ChipKind {
        self.chip
    }

    fn submit_parallel(&mut self, batches: &mut [DeviceBatch]) {
        let mut machine = self.machine.lock();
        for batch in batches.iter_mut() {
            if let Cow::Owned(pointed) = machine.pointed(&mut self.views, &batch.batch) {
                batch.batch = pointed;
            }
        }
        machine.bar.submit_parallel(batches);
        for batch in batches.iter() {
            machine.note(&batch.batch, batch.answer.len(), &batch.result);
        }
        // An error of reading the time is returned by the next batch.
        self.seen = now(machine.bar.as_mut()).unwrap_or(self.seen);
    }

    fn windows(&mut self, device: u8) -> Result<Vec<u16>, AccessError> {
        self.machine().bar.windows(device)
    }

    fn lock_queues(&mut self, device: u8) -> Result<Sharing, AccessError> {
        self.machine().bar.lock_queues(device)
    }

    fn unlock_queues(&mut self, device: u8) -> Result<(), AccessError> {
        self.machine().bar.unlock_queues(device)
    }

    fn holders(&mut self, device: u8) -> Vec<Holder> {
        self.machine().bar.holders(device)
    }

    fn announce(&mut self, change: &str) {
        self.machine().bar.announce(change);
    }

    fn disrupt(&mut self, at: ChipAddress, fault: &Fault) -> Result<(), AccessError> {
        self.machine().bar.disrupt(at, fault)
    }

    fn stopped_cores(&mut self, chips: &[ChipAddress]) -> Vec<(usize, StoppedCore)> {
        self.machine().bar.stopped_cores(chips)
    }

    fn recorded_run(&mut self) -> Option<Result<RecordedRun, String>> {
        self.machine().bar.recorded_run()
    }

    fn remarks(&mut self) -> Vec<String> {
        self.machine().bar.remarks()
    }

    fn most_devices(&self) -> u8 {
        self.most_devices
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use crate::emulator_bar::EmulatorBar;

    fn point(window: u16, x: u8) -> BarOp {
        let order = WindowOrdering::Memory;
        BarOp::Point { device: 0, window, x, y: 1, page: 0x10_0000, order }
    }

    fn words(bar: &mut SharedBar, batch: &[BarOp]) -> Vec<u8> {
        let mut answer = Vec::new();
        bar.submit(batch, &mut answer).unwrap();
        answer
    }

    #[test]
    fn each_client_has_all_windows_to_itself() {
        let mesh = emulator::Mesh::new(emulator::MeshConfig::n300()).unwrap();
        let mut first = SharedBar::new(Box::new(EmulatorBar::new(mesh)));
        let mut second = first.another();
        let write = |byte: u8| BarOp::Write { device: 0, bar: 0, offset: 4, bytes: vec![byte; 4] };
        let read = || BarOp::Read { device: 0, bar: 0, offset: 4, len: 4, ones: 0 };
        words(&mut first, &[point(0, 1), write(1)]);
        words(&mut second, &[point(0, 2), write(2)]);
        // The windows are not pointed again explicitly.
        assert_eq!(words(&mut first, &[read()]), [1; 4]);
        assert_eq!(words(&mut second, &[read()]), [2; 4]);
        assert_eq!(
            words(&mut first, &[write(3), read(), point(0, 2), read()]),
            [3, 3, 3, 3, 2, 2, 2, 2]
        );
        assert_eq!(words(&mut second, &[read()]), [2; 4]);
        let aim = |offset, len| second.aim(&Aims::new(), 0, offset, len);
        assert_eq!(aim(4, 4), Some((NocXy { x: 2, y: 1 }, 0x10_0004)));
        assert_eq!((aim(0xF_FFFC, 8), aim(0x1FC0_0000, 4)), (None, None));
        let mut batches = [DeviceBatch::new(0, vec![point(0, 1), read()])];
        second.submit_parallel(&mut batches);
        assert_eq!(batches[0].answer, [3; 4]);
        assert_eq!(words(&mut first, &[read()]), [2; 4]);
    }

    #[test]
    fn time_passes_for_all_at_once() {
        let mesh = emulator::Mesh::new(emulator::MeshConfig::n300()).unwrap();
        let mut first = SharedBar::new(Box::new(EmulatorBar::new(mesh)));
        let mut second = first.another();
        let pass = |bar: &mut SharedBar| drop(words(bar, &[BarOp::Pass { cycles: 1000 }]));
        pass(&mut first);
        pass(&mut second);
        let now = u64::from_le_bytes(*words(&mut first, &[BarOp::Now]).first_chunk().unwrap());
        assert_eq!(now, 1000, "what the first let pass has passed for the second");
    }
}
