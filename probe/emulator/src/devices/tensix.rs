//! The blocks that only a Tensix tile has, as its own cores see them: mover, backend configuration,
//! coprocessor registers.
//!
//! The coprocessor itself is not modelled. Instructions that firmware pushes before its main loop
//! are accepted without effect; instructions that compute are refused.

use crate::condition::{NOT_MODELLED, READ_ONLY, Refusal};
use crate::heap::allocation;
use std::collections::{BTreeMap, VecDeque};

/// A mover command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Move {
    /// L1 address, or `None` to write zeros.
    pub(crate) source: Option<u32>,
    pub(crate) dest: MoveTo,
    pub(crate) len: u32,
}

/// Destination of a mover command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MoveTo {
    /// An L1 address.
    L1(u32),
    /// An offset in NCRISC's instruction RAM.
    Iram(u32),
    /// A byte offset in the backend configuration.
    Config(u32),
    /// Nothing: the writes are discarded.
    Nowhere,
}

/// Backend configuration words that hold reset pcs (wormhole.md 4.2).
mod config {
    pub(super) const TRISC_PC: u32 = 158;
    pub(super) const TRISC_OVERRIDE: u32 = 161;
    pub(super) const NCRISC_PC: u32 = 162;
    pub(super) const NCRISC_OVERRIDE: u32 = 163;
}

/// Words of a TRISC whose loads wait until the coprocessor has no instruction of its thread in flight,
/// or none in the MOP expander, and whose stores are discarded (TTSync.md). The instructions that are
/// accepted have ended at once.
const COPROCESSOR_DONE: u32 = 0xFFE8_0004;
const MOP_EXPANDER_DONE: u32 = 0xFFE8_0008;
/// Maximum number of commands that wait for the mover (TDMA-RISC.md).
const QUEUE: usize = 4;
/// Opcodes (top byte) of coprocessor instructions that firmware pushes while it starts: NOP,
/// ZEROACC, SFPLOADI, SFPENCC, SFPCONFIG, SEMINIT, SETC16, STALLWAIT, ZEROSRC, RMWCIB0-3, REG2FLOP,
/// SETDMAREG, WRCFG, ATGETM, ATRELM.
const START_OPCODES: [u8; 17] = [
    0x02, 0x10, 0x11, 0x45, 0x48, 0x71, 0x8A, 0x91, 0xA0, 0xA1, 0xA2, 0xA3, 0xB0, 0xB2, 0xB3, 0xB4,
    0xB5,
];

/// The blocks of one Tensix tile.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tensix {
    params: [u32; 4],
    plain: BTreeMap<u32, u32>,
    config: BTreeMap<u32, u32>,
    regfile: BTreeMap<u32, u32>,
    semaphores: [(u32, u32); 8],
    pub(crate) moves: VecDeque<Move>,
}

impl Tensix {
    /// Returns the approximate memory in bytes.
    pub(crate) fn state_bytes(&self) -> usize {
        let maps = [&self.plain, &self.config, &self.regfile];
        // A node of a map holds 11 words and is half empty at worst.
        let nodes: usize = maps.iter().map(|map| map.len().div_ceil(5)).sum();
        let node = allocation(11 * size_of::<(u32, u32)>() + 16);
        nodes * node + allocation(self.moves.capacity() * size_of::<Move>())
    }

    /// Returns the reset pc of a hart of the tile, by its index (BRISC, NCRISC, TRISC0-2).
    pub(crate) fn reset_pc(&self, hart: u8) -> u32 {
        let word = |index: u32| self.config.get(&index).copied().unwrap_or(0);
        match hart {
            0 => 0,
            1 if word(config::NCRISC_OVERRIDE) & 1 == 1 => word(config::NCRISC_PC),
            1 => 0x12000,
            _ => {
                let nth = u32::from(hart - 2);
                if word(config::TRISC_OVERRIDE) >> nth & 1 == 1 {
                    word(config::TRISC_PC + nth)
                } else {
                    0x6000 + 0x4000 * nth
                }
            }
        }
    }

    /// Reads a TDMA register, for the tile's own cores only.
    pub(crate) fn read_tdma(&self, offset: u32) -> Result<u32, Refusal> {
        match offset {
            0x00..=0x10 => Ok(0),
            0x14 => {
                let waiting = self.moves.len().saturating_sub(1).min(QUEUE);
                let busy = u32::from(!self.moves.is_empty());
                let empty = u32::from(waiting == 0) << 3;
                let full = u32::from(waiting == QUEUE) << 2;
                let parameters_empty = u32::from(waiting == 0) << 5;
                Ok(busy | empty | full | parameters_empty | ((QUEUE - waiting) as u32) << 8)
            }
            0x24 | 0x28 | 0x2C => Ok(self.plain.get(&offset).copied().unwrap_or(0)),
            _ => Err(NOT_MODELLED),
        }
    }

    /// Writes a TDMA register; returns true if the mover has a new first command.
    pub(crate) fn write_tdma(&mut self, offset: u32, value: u32) -> Result<bool, Refusal> {
        match offset {
            0x00..=0x0C => self.params[(offset / 4) as usize] = value,
            0x10 => return self.command(value),
            0x14 => return Err(READ_ONLY),
            0x24 | 0x28 | 0x2C => {
                self.plain.insert(offset, value);
            }
            _ => return Err(NOT_MODELLED),
        }
        Ok(false)
    }

    fn command(&mut self, value: u32) -> Result<bool, Refusal> {
        match value & 0xFF {
            // Wait and no-op commands take no time here, since commands run in order.
            0x46 | 0x89 => return Ok(false),
            0x40 if value >> 31 == 0 => {}
            _ => return Err(Refusal::refused("mover-command-not-modelled")),
        }
        if self.moves.len() > QUEUE {
            return Err(Refusal::refused("mover-queue-full"));
        }
        let [source, dest, count, mode] = self.params;
        let (source, dest, len) = (source << 4, dest << 4, (count & 0xFFFF) << 4);
        let dest = match (mode & 3, dest) {
            (0 | 3, _) => MoveTo::L1(dest),
            (_, 0..=0xFFFF) => MoveTo::Config(dest),
            (_, 0x4_0000..=0x4_FFFF) => MoveTo::Iram(dest - 0x4_0000),
            _ => MoveTo::Nowhere,
        };
        let source = (mode & 1 == 1).then_some(source);
        self.moves.push_back(Move { source, dest, len });
        Ok(self.moves.len() == 1)
    }

    /// Stores a word of backend configuration at a byte offset.
    pub(crate) fn set_config(&mut self, offset: u32, value: u32) {
        self.config.insert(offset / 4, value);
    }

    /// Reads registers that only cores reach: coprocessor registers and backend configuration.
    pub(crate) fn read_private(&self, hart: u8, addr: u32) -> Result<u32, Refusal> {
        match addr {
            0xFFE0_0000..0xFFE0_1000 if hart != 1 => {
                Ok(self.regfile.get(&regfile_key(hart, addr)).copied().unwrap_or(0))
            }
            COPROCESSOR_DONE | MOP_EXPANDER_DONE if hart > 1 => Ok(0),
            0xFFE8_0020..0xFFE8_0040 if hart > 1 => Ok(self.semaphores[(addr >> 2 & 7) as usize].0),
            0xFFEF_0000..=0xFFEF_FFFF if hart != 1 => {
                Ok(self.config.get(&((addr & 0xFFFF) / 4)).copied().unwrap_or(0))
            }
            _ => Err(Refusal::refused("coprocessor-not-modelled")),
        }
    }

    /// Writes registers that only cores reach.
    pub(crate) fn write_private(&mut self, hart: u8, addr: u32, value: u32) -> Result<(), Refusal> {
        match addr {
            0xFFE0_0000..0xFFE0_1000 if hart != 1 => {
                self.regfile.insert(regfile_key(hart, addr), value);
            }
            0xFFE4_0000..=0xFFE6_FFFF if hart != 1 => return self.push(value),
            COPROCESSOR_DONE | MOP_EXPANDER_DONE if hart > 1 => {}
            0xFFE8_0020..0xFFE8_0040 if hart > 1 => {
                // An even value posts, an odd value gets (SyncUnit.md).
                let semaphore = &mut self.semaphores[(addr >> 2 & 7) as usize];
                if value & 1 == 0 && semaphore.0 < 15 {
                    semaphore.0 += 1;
                } else if value & 1 == 1 {
                    semaphore.0 = semaphore.0.saturating_sub(1);
                }
            }
            0xFFEF_0000..=0xFFEF_FFFF if hart != 1 => self.set_config(addr & 0xFFFF, value),
            _ => return Err(Refusal::refused("coprocessor-not-modelled")),
        }
        Ok(())
    }

    /// Accepts a coprocessor instruction that firmware pushes while it starts.
    fn push(&mut self, instruction: u32) -> Result<(), Refusal> {
        let opcode = (instruction >> 24) as u8;
        if opcode == 0xA3 {
            // SEMINIT: maximum, initial value, and a mask of semaphores.
            let (max, initial) = (instruction >> 20 & 15, instruction >> 16 & 15);
            for (i, semaphore) in self.semaphores.iter_mut().enumerate() {
                if instruction >> (2 + i) & 1 == 1 {
                    *semaphore = (initial, max);
                }
            }
        }
        if START_OPCODES.contains(&opcode) {
            Ok(())
        } else {
            Err(Refusal::refused("tensix-instruction-not-modelled"))
        }
    }
}

/// Returns the index of a register. TRISC n sees its own 64 registers; BRISC sees those of all
/// three in sequence.
fn regfile_key(hart: u8, addr: u32) -> u32 {
    let word = (addr & 0xFFF) / 4;
    if hart < 2 { word } else { word % 64 + 64 * u32::from(hart - 2) }
}
