//! A network interface unit: four command buffers, identity, configuration and counters
//! (wormhole.md 3.3, wormhole.md 3.4).

use super::grid::{self, Tables, Xy};
use crate::condition::{NOT_MODELLED, READ_ONLY, Refusal, UNMAPPED};
use crate::config::{GRID_HEIGHT, GRID_WIDTH};

/// Counter numbers (word index from offset 0x200).
pub(crate) mod counter {
    pub(crate) const ATOMIC_RESPONSES: usize = 0x00;
    pub(crate) const WRITE_ACKS: usize = 0x01;
    pub(crate) const READ_RESPONSES: usize = 0x02;
    pub(crate) const READ_WORDS: usize = 0x03;
    pub(crate) const COMMANDS: usize = 0x04;
    pub(crate) const READS_SENT: usize = 0x05;
    pub(crate) const ATOMICS_SENT: usize = 0x06;
    pub(crate) const WRITE_WORDS_SENT: usize = 0x08;
    pub(crate) const WRITES_SENT: usize = 0x0A;
    pub(crate) const WRITES_STARTED: usize = 0x0C;
    pub(crate) const READS_STARTED: usize = 0x0E;
    pub(crate) const ATOMICS_STARTED: usize = 0x0F;
    pub(crate) const OUTSTANDING: usize = 0x10;
    pub(crate) const OUTGOING: usize = 0x20;
    pub(crate) const ATOMIC_RESPONSES_SENT: usize = 0x30;
    pub(crate) const WRITE_ACKS_SENT: usize = 0x31;
    pub(crate) const READ_RESPONSES_SENT: usize = 0x32;
    pub(crate) const READ_WORDS_SENT: usize = 0x33;
    pub(crate) const REQUESTS_ACCEPTED: usize = 0x34;
    pub(crate) const READS_RECEIVED: usize = 0x35;
    pub(crate) const ATOMICS_RECEIVED: usize = 0x36;
    pub(crate) const WRITE_WORDS_RECEIVED: usize = 0x38;
    pub(crate) const WRITES_RECEIVED: usize = 0x3A;
    pub(crate) const WRITES_RECEIVED_STARTED: usize = 0x3C;
}

/// Words of a command buffer, by offset / 4.
pub(crate) mod field {
    pub(crate) const TARG_LO: usize = 0;
    pub(crate) const TARG_MID: usize = 1;
    pub(crate) const RET_LO: usize = 3;
    pub(crate) const RET_MID: usize = 4;
    pub(crate) const TAG: usize = 6;
    pub(crate) const CTRL: usize = 7;
    pub(crate) const AT_LEN_BE: usize = 8;
    pub(crate) const AT_DATA: usize = 9;
    pub(crate) const CMD_CTRL: usize = 10;
}

const CFG_WORDS: usize = 15;
const CFG_0: usize = 0;
const CFG_COLUMNS: usize = 2;
const CFG_ROWS: usize = 4;
const X_TABLE: usize = 6;
const Y_TABLE: usize = 10;
const ID_LOGICAL: usize = 14;
/// NIU_CFG_0 bit that stops the tile's clock.
const CLOCK_OFF: u32 = 1 << 12;
/// NIU_CFG_0 bit that turns coordinate translation on.
const TRANSLATE: u32 = 1 << 14;

/// The state that ARC firmware gives a NIU at power on.
#[derive(Clone, Debug)]
pub(crate) struct NiuSetup {
    pub(crate) noc: usize,
    pub(crate) at: Xy,
    pub(crate) endpoint: u32,
    pub(crate) harvested: bool,
    pub(crate) translation: bool,
    pub(crate) logical: Xy,
    pub(crate) tables: Tables,
    /// Columns and rows that take no multicasts.
    pub(crate) opt_out: (u32, u32),
    /// Whether it has command buffers for software (Tensix and Ethernet tiles).
    pub(crate) initiator: bool,
}

/// One NIU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Niu {
    pub(crate) noc: usize,
    pub(crate) at: Xy,
    endpoint: u32,
    initiator: bool,
    pub(crate) commands: [[u32; 11]; 4],
    cfg: [u32; CFG_WORDS],
    counters: [u32; 64],
    /// First cycle at which the request port is free.
    pub(crate) request_free: u64,
    /// First cycle at which the response port is free.
    pub(crate) answer_free: u64,
}

/// What a store to a NIU register starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NiuStore {
    /// Nothing.
    Done,
    /// The command buffer of this number.
    Command(usize),
}

impl Niu {
    /// Returns the number of requests, over all transaction ids, that wait for an answer.
    pub(crate) fn outstanding(&self) -> u32 {
        let ids = self.counters.iter().skip(counter::OUTSTANDING).take(16);
        ids.map(|count| count & 0xFF).sum()
    }

    /// Creates a NIU in the state that ARC firmware leaves.
    pub(crate) fn new(setup: &NiuSetup) -> Self {
        let mut cfg = [0; CFG_WORDS];
        cfg[CFG_0] = if setup.harvested { CLOCK_OFF } else { 0 };
        cfg[CFG_COLUMNS] = setup.opt_out.0;
        cfg[CFG_ROWS] = setup.opt_out.1;
        let physical = grid::flip(setup.noc, setup.at);
        let shown = if setup.translation { setup.logical } else { physical };
        cfg[ID_LOGICAL] = u32::from(shown.0) | u32::from(shown.1) << 6;
        if setup.translation {
            cfg[CFG_0] |= TRANSLATE;
            cfg[X_TABLE..X_TABLE + 4].copy_from_slice(&setup.tables.x);
            cfg[Y_TABLE..Y_TABLE + 4].copy_from_slice(&setup.tables.y);
        }
        Self {
            noc: setup.noc,
            at: setup.at,
            endpoint: setup.endpoint,
            initiator: setup.initiator,
            commands: [[0; 11]; 4],
            cfg,
            counters: [0; 64],
            request_free: 0,
            answer_free: 0,
        }
    }

    /// Returns NODE_ID: coordinates, grid size, and whether the NoC routes along X first, as NOC 0
    /// does (values of wormhole.md 3.3).
    pub(crate) fn node_id(&self) -> u32 {
        let (x, y) = grid::flip(self.noc, self.at);
        let size = u32::from(GRID_WIDTH) << 12 | u32::from(GRID_HEIGHT) << 19;
        u32::from(x) | u32::from(y) << 6 | size | if self.noc == 0 { 1 << 28 } else { 0 }
    }

    /// Reads the register at this byte offset of the NIU's page.
    pub(crate) fn read(&self, offset: u32) -> Result<u32, Refusal> {
        let word = (offset / 4) as usize;
        match offset {
            0x000..0x1000 if offset & 0x3FF == 0x2C => Ok(self.node_id()),
            0x000..0x1000 if offset & 0x3FF == 0x30 => Ok(self.endpoint),
            0x000..0x1000 if offset & 0x3FF < 0x2C && self.initiator => {
                Ok(self.commands[word >> 8][word & 0xFF])
            }
            // Parity and header errors do not happen here; ECC control is not modelled.
            0x040..=0x04C => Ok(0),
            0x054 => Ok((0..4).fold(0, |busy, b| busy | (self.busy(b) as u32) << b)),
            0x100..0x13C => Ok(self.cfg[word - 0x40]),
            0x200..0x300 => Ok(self.counters[word - 0x80]),
            0x300..0x400 => Err(NOT_MODELLED),
            _ => Err(UNMAPPED),
        }
    }

    /// Writes the register at this byte offset of the NIU's page.
    pub(crate) fn write(&mut self, offset: u32, value: u32) -> Result<NiuStore, Refusal> {
        let word = (offset / 4) as usize;
        match offset {
            0x000..0x1000 if offset & 0x3FF < 0x2C && self.initiator => {
                return self.write_command(word >> 8, word & 0xFF, value);
            }
            0x050 => {
                for id in (0..16).filter(|id| value >> id & 1 == 1) {
                    self.counters[counter::OUTSTANDING + id] = 0;
                }
            }
            0x100..0x13C => self.cfg[word - 0x40] = value,
            0x02C | 0x030 | 0x054 | 0x200..0x300 => return Err(READ_ONLY),
            0x040..0x050 | 0x300..0x400 => return Err(NOT_MODELLED),
            _ => return Err(UNMAPPED),
        }
        Ok(NiuStore::Done)
    }

    fn write_command(&mut self, buf: usize, word: usize, value: u32) -> Result<NiuStore, Refusal> {
        if word == field::CMD_CTRL {
            if value & 1 == 0 {
                return Ok(NiuStore::Done);
            }
            if self.busy(buf) {
                return Err(Refusal::refused("command-buffer-busy"));
            }
            self.commands[buf][word] = 1;
            return Ok(NiuStore::Command(buf));
        }
        // Software must not write the fields of a waiting buffer; what silicon then sends is
        // undefined.
        if self.busy(buf) {
            return Err(Refusal::refused("command-buffer-busy"));
        }
        self.commands[buf][word] = if word == field::TAG { value & 0xFFFF } else { value };
        Ok(NiuStore::Done)
    }

    /// Whether this command buffer still waits for its virtual channel.
    pub(crate) fn busy(&self, buf: usize) -> bool {
        self.commands[buf][field::CMD_CTRL] & 1 == 1
    }

    /// Adds to a counter. Counters per transaction id are 8 bits wide, the others 32.
    pub(crate) fn count(&mut self, index: usize, by: u32) {
        let wide = self.counters[index].wrapping_add(by);
        let narrow = (counter::OUTSTANDING..counter::ATOMIC_RESPONSES_SENT).contains(&index);
        self.counters[index] = if narrow { wide & 0xFF } else { wide };
    }

    /// Translates a coordinate pair through the tables, if translation is on; the result is in this
    /// NoC's numbering.
    pub(crate) fn translate(&self, (x, y): Xy) -> Xy {
        if self.cfg[CFG_0] & TRANSLATE == 0 {
            return (x, y);
        }
        (
            grid::look_up(&self.cfg[X_TABLE..X_TABLE + 4], x),
            grid::look_up(&self.cfg[Y_TABLE..Y_TABLE + 4], y),
        )
    }

    /// Whether this NIU takes multicasts.
    pub(crate) fn takes_multicast(&self) -> bool {
        let (x, y) = self.at;
        self.cfg[CFG_COLUMNS] >> x & 1 == 0 && self.cfg[CFG_ROWS] >> y & 1 == 0
    }
}
