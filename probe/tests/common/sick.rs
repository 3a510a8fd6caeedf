//! A machine with faults: it answers as silicon does when tiles, a NoC or the bus are dead.
#![allow(unreachable_pub, clippy::unwrap_used, reason = "each test uses its part")]

use layouts::{ChipKind, NocXy};
use machine::bar::{Bar, BarOp};
use machine::snapshot::AccessError;
use machine::window::WindowOrdering;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard};

/// The faults, and the counted accesses.
#[derive(Default)]
pub struct State {
    /// Tiles of device 0 that answer all ones.
    pub dead: BTreeSet<NocXy>,
    /// Tiles of device 0 that stop answering in the middle of a block, which the machine itself
    /// detects.
    pub slow: BTreeSet<NocXy>,
    /// Tiles of device 0 at whose read the device leaves the bus.
    pub deadly: BTreeSet<NocXy>,
    /// Tiles of device 0 that lose all writes.
    pub deaf: BTreeSet<NocXy>,
    /// No tile answers.
    pub noc: bool,
    /// Nothing answers.
    pub bus: bool,
    /// A word that another client reads before the next batch, through its own TLB window.
    pub foreign: Option<(NocXy, u64)>,
    /// Reads of each tile, in operations.
    pub reads: BTreeMap<NocXy, usize>,
    /// All operations that cross the bus.
    pub transactions: u64,
    windows: BTreeMap<u16, NocXy>,
}

/// A machine with faults.
pub struct Sick {
    inner: Box<dyn Bar>,
    state: Arc<Mutex<State>>,
}

/// A handle on the faults.
#[derive(Clone)]
pub struct Handle(Arc<Mutex<State>>);

impl Handle {
    pub fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap()
    }
}

impl Sick {
    pub fn new(inner: Box<dyn Bar>) -> (Self, Handle) {
        let state = Arc::new(Mutex::new(State::default()));
        (Self { inner, state: Arc::clone(&state) }, Handle(state))
    }
}

impl Sick {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }
}

impl State {
    /// Returns the tile that BAR0 maps at an offset.
    fn shown(&self, offset: u64) -> Option<NocXy> {
        let bar = &crate::common::layout().bar;
        let holds = |index: &u16| {
            let window = bar.window(*index).unwrap();
            (window.base..window.base + window.bytes).contains(&offset)
        };
        self.windows.get(&(0..bar.window_count()).find(holds)?).copied()
    }

    /// Returns true if an access to BAR0 is lost.
    fn is_lost(&self, tile: Option<NocXy>) -> bool {
        self.bus || tile.is_some_and(|tile| self.noc || self.dead.contains(&tile))
    }
}

impl Bar for Sick {
    fn chip(&self) -> ChipKind {
        self.inner.chip()
    }

    fn submit(&mut self, batch: &[BarOp], answer: &mut Vec<u8>) -> Result<(), AccessError> {
        let foreign = self.state().foreign.take();
        if let Some((NocXy { x, y }, offset)) = foreign {
            let page = offset & !0xF_FFFF;
            let point =
                BarOp::Point { device: 0, window: 155, x, y, page, order: WindowOrdering::Strict };
            let at = self.chip().layout().bar.window(155).unwrap().base + (offset - page);
            let load = BarOp::Read { device: 0, bar: 0, offset: at, len: 4, ones: 0 };
            self.inner.submit(&[point, load], &mut Vec::new())?;
        }
        for op in batch {
            let mut state = self.state();
            state.transactions += u64::from(op.is_transaction());
            match op {
                BarOp::Read { device: 0, offset, len, .. } => {
                    let tile = state.shown(*offset);
                    if let Some(tile) = tile {
                        *state.reads.entry(tile).or_default() += 1;
                    }
                    state.bus |= tile.is_some_and(|tile| state.deadly.contains(&tile));
                    if *len > 4 && tile.is_some_and(|tile| state.slow.contains(&tile)) {
                        return Err(AccessError::TimedOut { deadline_cycles: 100_000_000 });
                    }
                    if state.is_lost(tile) {
                        answer.extend(std::iter::repeat_n(0xFF, *len as usize));
                        if op.ends(answer) {
                            return Ok(());
                        }
                        continue;
                    }
                }
                BarOp::Write { device: 0, offset, .. } => {
                    let tile = state.shown(*offset);
                    if state.is_lost(tile) || tile.is_some_and(|tile| state.deaf.contains(&tile)) {
                        continue;
                    }
                }
                BarOp::Point { device: 0, window, x, y, .. } => {
                    state.windows.insert(*window, NocXy { x: *x, y: *y });
                }
                _ => {}
            }
            drop(state);
            self.inner.submit(std::slice::from_ref(op), answer)?;
            if op.ends(answer) {
                break;
            }
        }
        Ok(())
    }
}
