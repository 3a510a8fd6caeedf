//! A view of a hart as a debugger would show it: taken in this process, without an access and
//! without any effect.

use super::Mesh;
use crate::chip::Unit;
use crate::devices::blocks::Special;
use crate::devices::txq::Txq;
use crate::hart::core::Hart;
use crate::hart::mode::{FIRST_LOCAL, Mode};
use crate::hart::{Cause, HartStop};
use crate::memory::TileMemory;
use crate::noc::niu::Niu;

impl Mesh {
    /// Returns a view of a hart at this cycle, for tests, studies and tools in this process. Bus
    /// accesses return as much of a paused hart only. `hart` is its index in the tile, see
    /// [`crate::hart`]. `None` if there is no such hart.
    ///
    /// A running hart executes one instruction per cycle, so views between calls of [`Mesh::clock`]
    /// with 1 show every instruction. The view does not depend on whether the hart sleeps.
    pub fn hart(&self, chip: usize, x: u8, y: u8, hart: u8) -> Option<HartView<'_>> {
        let chip = self.chips.get(chip)?;
        let unit = *chip.grid.get(usize::from(y))?.get(usize::from(x))?;
        match chip.units.get(usize::from(unit))? {
            Unit::Core(tile) => {
                let hart = tile.group.harts.get(usize::from(hart))?;
                Some(HartView { hart, memory: &tile.memory, now: self.now })
            }
            Unit::Passive(_) => None,
        }
    }
}

impl Mesh {
    /// Returns the harts that the machine has stopped now because it does not model what they did,
    /// each with its chip's index and its tile. Those that stopped themselves (`ecall`, `ebreak`) are
    /// not among them: silicon does the same.
    pub fn stopped_harts(&self) -> Vec<(usize, (u8, u8), HartStop)> {
        let mut found = Vec::new();
        for (chip, unit) in
            self.chips.iter().enumerate().flat_map(|(i, c)| c.units.iter().map(move |u| (i, u)))
        {
            let Unit::Core(tile) = unit else { continue };
            let stops = (0..tile.group.len()).filter_map(|hart| tile.group.stopped(hart));
            let not_modelled = stops.filter(|it| !matches!(it.cause, Cause::Ecall | Cause::Ebreak));
            found.extend(not_modelled.map(|stop| (chip, tile.blocks.at, stop)));
        }
        found
    }
}

/// A tile with work in flight, and how much.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unrest {
    /// The chip, by its index.
    pub chip: usize,
    /// Column and row of the tile.
    pub tile: (u8, u8),
    /// NoC requests without an answer, over both NIUs.
    pub requests: u32,
    /// Transfers of its transmit queues that are not yet on the line.
    pub transfers: u32,
}

impl Mesh {
    /// Returns the tiles that wait for NoC answers or have transfers to send, without an access:
    /// for studies that check whether a run leaves work behind.
    pub fn unrest(&self) -> Vec<Unrest> {
        let units = self.chips.iter().enumerate();
        let units = units.flat_map(|(chip, c)| c.units.iter().map(move |unit| (chip, unit)));
        let pending = |(chip, unit): (usize, &Unit)| {
            let Unit::Core(tile) = unit else { return None };
            let requests = tile.blocks.niu.iter().map(Niu::outstanding).sum();
            let transfers = match &tile.blocks.special {
                Special::Eth(eth) => eth.txq.iter().map(Txq::unsent).sum(),
                Special::Tensix(_) => 0,
            };
            let found = Unrest { chip, tile: tile.blocks.at, requests, transfers };
            (requests != 0 || transfers != 0).then_some(found)
        };
        units.filter_map(pending).collect()
    }
}

/// A view of a hart; see [`Mesh::hart`].
#[derive(Clone, Copy, Debug)]
pub struct HartView<'a> {
    hart: &'a Hart,
    memory: &'a TileMemory,
    now: u64,
}

impl HartView<'_> {
    /// Whether it executes instructions: it is not in reset, paused or stopped.
    pub fn running(&self) -> bool {
        self.hart.running()
    }

    /// Returns the address of the next instruction.
    pub fn pc(&self) -> u32 {
        match &self.hart.mode {
            Mode::Sleep(sleep) => sleep.pc(self.now),
            _ => self.hart.pc,
        }
    }

    /// Returns a register; 0 for x0 and for a register that does not exist.
    pub fn register(&self, register: u8) -> u32 {
        if (1..32).contains(&register) { self.slot(u32::from(register)) } else { 0 }
    }

    /// Returns the number of retired instructions.
    pub fn retired(&self) -> u64 {
        match &self.hart.mode {
            Mode::Sleep(sleep) => self.hart.retired + sleep.slept(self.now),
            _ => self.hart.retired,
        }
    }

    /// Returns the number of instructions executed on the host. It depends on host scheduling of
    /// sleep, so it is not emulated state.
    pub fn executed(&self) -> u64 {
        self.hart.retired - self.hart.slept
    }

    /// Reads the hart's private RAM or L1 at an address as the hart sees it. Returns `None` and
    /// copies nothing if the address is in neither; device registers are not read.
    pub fn read(&self, addr: u32, out: &mut [u8]) -> Option<()> {
        let Some(first) = self.hart.local_offset(addr) else {
            self.memory.read(addr, out).ok()?;
            self.hart.overlay_l1(self.now, addr, out);
            return Some(());
        };
        if first + out.len() > self.hart.local_bytes as usize {
            return None;
        }
        for (offset, byte) in (first..).zip(out) {
            let word = self.slot(FIRST_LOCAL + (offset / 4) as u32);
            *byte = word.to_le_bytes()[offset % 4];
        }
        Some(())
    }

    /// Returns a register, or a word of private RAM or L1.
    fn slot(&self, wanted: u32) -> u32 {
        let mut value = self.hart.slot(wanted, self.memory);
        if let Mode::Sleep(sleep) = &self.hart.mode {
            sleep.state(self.now, |slot, at| {
                if slot == wanted {
                    value = at;
                }
            });
        }
        value
    }
}
