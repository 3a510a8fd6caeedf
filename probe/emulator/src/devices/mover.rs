//! The mover of a Tensix tile: copies that its cores start through TDMA, including NCRISC's code
//! (Mover.md).

use super::blocks::{Blocks, Special, TENSIX};
use super::tensix::{Move, MoveTo, Tensix};
use crate::condition::{Actor, Refusal, UNMAPPED};
use crate::hart::{BOUNDARY_CYCLES, HartGroup, IRAM_BYTES, NCRISC};
use crate::memory::TileMemory;
use crate::noc::event::EventKind;
use std::sync::Arc;

/// Returns the first cycle after `now` at which orders to harts have taken effect.
pub(crate) fn next_boundary(now: u64) -> u64 {
    (now / BOUNDARY_CYCLES + 1) * BOUNDARY_CYCLES
}

impl Blocks {
    /// Returns the command that the mover carries out.
    fn first_move(&self) -> Option<Move> {
        match &self.special {
            Special::Tensix(tensix) => tensix.moves.front().copied(),
            Special::Eth(_) => None,
        }
    }

    fn tensix(&mut self) -> Option<&mut Tensix> {
        match &mut self.special {
            Special::Tensix(tensix) => Some(Arc::make_mut(tensix)),
            Special::Eth(_) => None,
        }
    }

    /// Starts the first command of the mover's queue: 11 cycles for eight units of 16 bytes.
    pub(crate) fn start_move(&mut self, now: u64) {
        let eighths = self.timing.mover_eighths;
        let first = self.first_move();
        if let Some(first) = first {
            let cycles = (u64::from(first.len.div_ceil(16)) * eighths).div_ceil(8).max(1);
            self.post(now + cycles, EventKind::MoverCopy);
        }
    }

    /// Copies the bytes of the first command. Instruction RAM changes only at the next boundary, so
    /// the mover is busy up to it.
    pub(crate) fn copy(&mut self, now: u64, memory: &mut TileMemory, group: &mut HartGroup) {
        let first = self.first_move();
        if let Some(first) = first
            && let Err(refusal) = self.carry_out(&first, memory, group)
        {
            let addr = u64::from(first.source.unwrap_or(0));
            self.report(now, Actor::Block("mover"), refusal.name, addr);
        }
        self.post(next_boundary(now), EventKind::MoverDone);
    }

    /// Ends the first command and starts the next.
    pub(crate) fn finish_move(&mut self, now: u64) {
        self.changed |= TENSIX;
        if let Some(tensix) = self.tensix() {
            tensix.moves.pop_front();
        }
        self.start_move(now);
    }

    fn carry_out(
        &mut self,
        done: &Move,
        memory: &mut TileMemory,
        group: &mut HartGroup,
    ) -> Result<(), Refusal> {
        let len = done.len as usize;
        let bytes = match done.source {
            Some(source) => memory.slice(source, len).map_err(|_| UNMAPPED)?.to_vec(),
            None => vec![0; len],
        };
        match done.dest {
            MoveTo::L1(addr) => memory.write(addr, &bytes).map_err(|_| UNMAPPED)?,
            MoveTo::Iram(offset) if offset < IRAM_BYTES => group.load_iram(NCRISC, offset, &bytes),
            MoveTo::Config(offset) => {
                let Some(tensix) = self.tensix() else { return Ok(()) };
                for (i, word) in (0u32..).zip(bytes.chunks_exact(4)) {
                    let value = u32::from_le_bytes([word[0], word[1], word[2], word[3]]);
                    tensix.set_config(offset + 4 * i, value);
                }
            }
            MoveTo::Iram(_) | MoveTo::Nowhere => {}
        }
        Ok(())
    }
}
