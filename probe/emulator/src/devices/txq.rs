//! A transmit queue of an Ethernet tile: command, latch, fetch, packets (wormhole.md 5.2).
//!
//! A store to CMD takes the fields of the transfer. Some cycles later they are latched: CMD reads 0
//! and the fields are writable again, but the payload is still in L1 only. It is fetched at its
//! packet's turn on the line, which software cannot observe.

use crate::condition::{NOT_MODELLED, READ_ONLY, Refusal};
use crate::heap::allocation;
use std::collections::VecDeque;

/// The operation of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Command {
    /// 1: bytes without a destination.
    Raw,
    /// 2: bytes for the peer's L1.
    Write,
    /// 4: a word for a register of the peer.
    Register,
    /// 8: a header without payload.
    Flush,
}

/// One packet, or a whole transfer before its split.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Transfer {
    pub(crate) command: Command,
    pub(crate) source: u32,
    pub(crate) len: u32,
    pub(crate) dest: u32,
    pub(crate) value: u32,
}

/// Offsets of the registers.
mod reg {
    pub(super) const CTRL: u32 = 0x00;
    pub(super) const CMD: u32 = 0x04;
    pub(super) const STATUS: u32 = 0x08;
    pub(super) const MAX_PACKET: u32 = 0x0C;
    pub(super) const SOURCE: u32 = 0x14;
    pub(super) const LEN: u32 = 0x18;
    pub(super) const DEST: u32 = 0x1C;
    pub(super) const LATCHED: u32 = 0x30;
    pub(super) const STARTS: u32 = 0x34;
    pub(super) const ENDS: u32 = 0x3C;
    pub(super) const WORDS: u32 = 0x40;
    pub(super) const VALUE: u32 = 0x44;
    pub(super) const LAST: u32 = 0x6C;
    pub(super) const RESENDS: u32 = 0x68;
}

const REGISTERS: usize = 0x70 / 4;
/// CTRL as the queues of the vendor's simulator return it: TT-link mode.
const TT_LINK: u32 = 9;
/// Payload limit that firmware sets (wormhole.md 5.2).
const MAX_PACKET: u32 = 1500;

/// One transmit queue.
#[derive(Clone, Debug)]
pub(crate) struct Txq {
    index: usize,
    words: [u32; REGISTERS],
    /// The command as stored; 0 once latched (raw: once its payload was read).
    cmd: u32,
    cmd_since: u64,
    waiting: Option<Transfer>,
    packets: VecDeque<Transfer>,
    /// Payload bytes latched but not yet fetched.
    backlog: u64,
    /// Whether a fetch event is pending.
    pub(crate) fetching: bool,
}

/// What a store to a queue starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TxqStore {
    /// Nothing.
    Done,
    /// A command that must be latched.
    Command,
}

impl Txq {
    /// Returns the memory of the packets that wait in bytes.
    pub(crate) fn bytes(&self) -> usize {
        allocation(self.packets.capacity() * size_of::<Transfer>())
    }

    /// Returns the number of transfers and packets that are not yet on the line.
    pub(crate) fn unsent(&self) -> u32 {
        u32::from(self.cmd != 0) + u32::from(self.waiting.is_some()) + self.packets.len() as u32
    }

    /// Creates queue 0 or 1, in the state that base firmware finds.
    pub(crate) fn new(index: usize) -> Self {
        let mut words = [0; REGISTERS];
        words[(reg::CTRL / 4) as usize] = TT_LINK;
        words[(reg::MAX_PACKET / 4) as usize] = MAX_PACKET;
        Self {
            index,
            words,
            cmd: 0,
            cmd_since: 0,
            waiting: None,
            packets: VecDeque::new(),
            backlog: 0,
            fetching: false,
        }
    }

    fn word(&mut self, offset: u32) -> &mut u32 {
        // Offsets are constants of `reg`, below the array's end.
        &mut self.words[(offset / 4) as usize % REGISTERS]
    }

    fn count(&mut self, offset: u32, by: u32) {
        let word = self.word(offset);
        *word = word.wrapping_add(by);
    }

    /// Reads a register. A latch takes `latch` cycles; in the first half CMD returns the command,
    /// then 1. The second value is the cycle at which CMD changes by time alone.
    pub(crate) fn read(
        &self,
        offset: u32,
        now: u64,
        latch: u64,
    ) -> Result<(u32, Option<u64>), Refusal> {
        match offset {
            reg::CMD if self.cmd != 0 && now < self.cmd_since + latch / 2 => {
                Ok((self.cmd, Some(self.cmd_since + latch / 2)))
            }
            reg::CMD => Ok((u32::from(self.cmd != 0), None)),
            0..=reg::DEST | reg::LATCHED..=reg::LAST if offset.is_multiple_of(4) => {
                Ok((self.words[(offset / 4) as usize], None))
            }
            _ => Err(NOT_MODELLED),
        }
    }

    /// Writes a register.
    pub(crate) fn write(&mut self, offset: u32, value: u32, now: u64) -> Result<TxqStore, Refusal> {
        match offset {
            reg::CMD => return self.start(value, now),
            reg::SOURCE | reg::LEN | reg::DEST | reg::VALUE if self.cmd != 0 => {
                return Err(Refusal::refused("txq-field-held"));
            }
            reg::STATUS | reg::LATCHED..=reg::WORDS | reg::RESENDS => return Err(READ_ONLY),
            reg::CTRL | reg::MAX_PACKET..=reg::DEST | reg::VALUE..=reg::LAST => {}
            _ => return Err(NOT_MODELLED),
        }
        *self.word(offset) = value;
        Ok(TxqStore::Done)
    }

    fn start(&mut self, value: u32, now: u64) -> Result<TxqStore, Refusal> {
        let command = match value {
            0 => return Ok(TxqStore::Done),
            1 => Command::Raw,
            2 => Command::Write,
            4 if self.index == 0 => Command::Register,
            8 => Command::Flush,
            _ => return Err(Refusal::refused("txq-command")),
        };
        if self.cmd != 0 {
            return Err(Refusal::refused("txq-busy"));
        }
        let (source, len, dest) =
            (*self.word(reg::SOURCE), *self.word(reg::LEN), *self.word(reg::DEST));
        let aligned = match command {
            Command::Write => (source | len | dest).is_multiple_of(16),
            Command::Register => dest.is_multiple_of(4),
            Command::Raw | Command::Flush => true,
        };
        if !aligned {
            return Err(Refusal::refused("txq-alignment"));
        }
        let value_word = *self.word(reg::VALUE);
        (self.cmd, self.cmd_since) = (value, now);
        let len = if matches!(command, Command::Register | Command::Flush) { 0 } else { len };
        self.waiting = Some(Transfer { command, source, len, dest, value: value_word });
        Ok(TxqStore::Command)
    }

    /// Latches the waiting command if the backlog allows; returns whether it did.
    pub(crate) fn latch(&mut self, limit: u64) -> bool {
        // Raw commands keep CMD = 1 until their source is read, and take no place in the backlog.
        if self.backlog > limit || self.packets.len() >= 64 {
            return false;
        }
        let Some(transfer) = self.waiting.take() else { return false };
        self.count(reg::LATCHED, 1);
        if transfer.command != Command::Raw {
            self.cmd = 0;
        }
        self.backlog += u64::from(transfer.len);
        let most = (*self.word(reg::MAX_PACKET) & !15).max(16);
        let mut rest = transfer;
        while rest.command == Command::Write && rest.len > most {
            self.packets.push_back(Transfer { len: most, ..rest });
            rest.source = rest.source.wrapping_add(most);
            rest.dest = rest.dest.wrapping_add(most);
            rest.len -= most;
        }
        self.packets.push_back(rest);
        true
    }

    /// Counts the resends of a packet.
    pub(crate) fn resent(&mut self, times: u32) {
        self.count(reg::RESENDS, times);
    }

    /// Whether a command waits to be latched.
    pub(crate) fn latch_pending(&self) -> bool {
        self.waiting.is_some()
    }

    /// Whether a packet waits for the line.
    pub(crate) fn packet_pending(&self) -> bool {
        !self.packets.is_empty()
    }

    /// Takes the next packet, whose payload is fetched now.
    pub(crate) fn next_packet(&mut self) -> Option<Transfer> {
        let packet = self.packets.pop_front()?;
        self.backlog = self.backlog.saturating_sub(u64::from(packet.len));
        self.count(reg::STARTS, 1);
        self.count(reg::ENDS, 1);
        self.count(reg::WORDS, packet.len.div_ceil(16));
        if packet.command == Command::Raw {
            self.cmd = 0;
        }
        Some(packet)
    }
}
