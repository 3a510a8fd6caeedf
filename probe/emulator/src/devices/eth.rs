//! The blocks of an Ethernet tile: two transmit and two receive queues, the control block, and the
//! MAC words.

use super::txq::{Txq, TxqStore};
use crate::condition::{NOT_MODELLED, READ_ONLY, Refusal};
use crate::hart::Load;
use crate::heap::of_vec;

/// MAC words while the MAC runs, and while firmware stops it to load instruction RAM
/// (wormhole.md 5.1).
const MAC_RUNNING: [u32; 2] = [0x3000_0001, 7];
const MAC_STOPPED: [u32; 2] = [0x3000_0000, 6];
/// RXQ CTRL: TT-link mode.
const RXQ_TT_LINK: u32 = 2;

/// One receive queue.
#[derive(Clone, Debug)]
pub(crate) struct Rxq {
    ctrl: u32,
    /// Buffer pointer, start and size for raw mode, in 16-byte words.
    pub(crate) buffer: [u32; 3],
    words: u32,
    packets: u32,
    dropped: u32,
    header: u32,
}

/// This tile's end of a link.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LinkEnd {
    pub(crate) up: bool,
    pub(crate) latency: u64,
    /// Bytes in a number of cycles.
    pub(crate) rate: (u64, u64),
    /// Bit errors per 10^12 bits.
    pub(crate) per_terabit: u64,
    /// Added delay of small packets from this end.
    pub(crate) ack_delay: u64,
    /// Seed of the bit errors in packets from this end.
    pub(crate) noise: u64,
}

/// The blocks of one Ethernet tile.
#[derive(Clone, Debug)]
pub(crate) struct Eth {
    pub(crate) channel: u8,
    pub(crate) link: Option<LinkEnd>,
    pub(crate) txq: [Txq; 2],
    pub(crate) rxq: [Rxq; 2],
    mac: [u32; 2],
    /// ETH_CTRL 0x98: L1 address / 16 of the last load, and whether the load is running.
    iram_load: u32,
    iram_busy: bool,
    /// First cycle at which the line is free.
    pub(crate) line_free: u64,
    /// Number of packets from this end for which bit errors were drawn.
    pub(crate) drawn: u64,
    /// Arrival of the last packet of each queue.
    pub(crate) arrives: [u64; 2],
    /// Number of packets that arrived corrupt.
    pub(crate) corrupt: u32,
    /// Packets that arrived while the MAC was stopped: on silicon the peer would send them again.
    pub(crate) held: Vec<crate::noc::event::LinkPacket>,
}

/// What a store starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EthStore {
    /// Nothing.
    Done,
    /// A transmit queue took a command.
    Command(usize),
    /// An instruction RAM load begins.
    Iram,
    /// The MAC was stopped or started.
    Mac,
}

impl Eth {
    /// Returns the memory of the packets that wait in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.txq.iter().map(Txq::bytes).sum::<usize>() + of_vec(&self.held)
    }
}

impl Rxq {
    fn new() -> Self {
        Self { ctrl: RXQ_TT_LINK, buffer: [0; 3], words: 0, packets: 0, dropped: 0, header: 0 }
    }

    /// Whether the queue is in TT-link mode, which needs no buffer.
    pub(crate) fn tt_link(&self) -> bool {
        self.ctrl & RXQ_TT_LINK != 0
    }

    /// Counts a packet of this many payload bytes.
    pub(crate) fn received(&mut self, len: usize) {
        self.words = self.words.wrapping_add(len.div_ceil(16) as u32);
        self.packets = self.packets.wrapping_add(1);
    }

    /// Counts a dropped packet.
    pub(crate) fn drop_packet(&mut self) {
        self.dropped = self.dropped.wrapping_add(1);
    }

    fn read(&self, offset: u32) -> Result<u32, Refusal> {
        match offset {
            0x00 => Ok(self.ctrl),
            0x08 => Ok(self.buffer[0]),
            0x0C => Ok(self.buffer[1]),
            0x10 => Ok(self.buffer[2]),
            0x14 => Ok(self.words),
            0x28 => Ok(self.packets),
            // Sequence numbers are 8 bits wide, and the wire loses nothing.
            0x40 | 0x44 => Ok(self.packets & 0xFF),
            0x48 => Ok(self.header),
            0x4C => Ok(self.dropped),
            0x50 => Ok(0),
            _ => Err(NOT_MODELLED),
        }
    }

    fn write(&mut self, offset: u32, value: u32) -> Result<(), Refusal> {
        match offset {
            0x00 => self.ctrl = value,
            0x08 => self.buffer[0] = value,
            0x0C => self.buffer[1] = value,
            0x10 => self.buffer[2] = value,
            0x48 => self.header = value,
            0x14 | 0x28 | 0x40 | 0x44 | 0x4C | 0x50 => return Err(READ_ONLY),
            _ => return Err(NOT_MODELLED),
        }
        Ok(())
    }
}

impl Eth {
    /// Creates the blocks of an Ethernet channel, without a link.
    pub(crate) fn new(channel: u8) -> Self {
        Self {
            channel,
            link: None,
            txq: [Txq::new(0), Txq::new(1)],
            rxq: [Rxq::new(), Rxq::new()],
            mac: MAC_RUNNING,
            iram_load: 0,
            iram_busy: false,
            line_free: 0,
            drawn: 0,
            arrives: [0; 2],
            corrupt: 0,
            held: Vec::new(),
        }
    }

    /// Whether the MAC is stopped, as it must be while instruction RAM is loaded.
    pub(crate) fn mac_stopped(&self) -> bool {
        self.mac != MAC_RUNNING
    }

    /// Whether packets can leave now.
    pub(crate) fn sending(&self) -> bool {
        !self.mac_stopped() && self.link.is_some_and(|link| link.up)
    }

    /// Reads a register of the blocks from 0xFFB90000 on. `latch` is the delay of a transmit
    /// queue's latch.
    pub(crate) fn read(&self, addr: u32, now: u64, latch: u64) -> Result<Load, Refusal> {
        let offset = addr & 0xFFF;
        match addr & !0xFFF {
            page @ (0xFFB9_0000 | 0xFFB9_1000) => {
                let (value, until) =
                    self.txq[(page >> 12 & 1) as usize].read(offset, now, latch)?;
                Ok(until.map_or(Load::stable(value), |cycle| Load::until(value, cycle)))
            }
            page @ (0xFFB9_2000 | 0xFFB9_3000) => {
                self.rxq[(page >> 12 & 1) as usize].read(offset).map(Load::stable)
            }
            0xFFB9_4000 if offset == 0x98 => {
                Ok(Load::stable(self.iram_load & !1 | u32::from(self.iram_busy)))
            }
            0xFFBA_0000 if offset < 8 => Ok(Load::stable(self.mac[(offset / 4) as usize])),
            // Words that only the emulator has: bit 0 is set if the link is up; the count of
            // corrupt packets.
            0xFFBB_0000 if offset == 0 => {
                Ok(Load::stable(u32::from(self.link.is_some_and(|link| link.up))))
            }
            0xFFBB_0000 if offset == 4 => Ok(Load::stable(self.corrupt)),
            _ => Err(NOT_MODELLED),
        }
    }

    /// Writes a register of the blocks from 0xFFB90000 on.
    pub(crate) fn write(&mut self, addr: u32, value: u32, now: u64) -> Result<EthStore, Refusal> {
        let offset = addr & 0xFFF;
        match addr & !0xFFF {
            page @ (0xFFB9_0000 | 0xFFB9_1000) => {
                let queue = (page >> 12 & 1) as usize;
                let stored = self.txq[queue].write(offset, value, now)?;
                Ok(if stored == TxqStore::Command {
                    EthStore::Command(queue)
                } else {
                    EthStore::Done
                })
            }
            page @ (0xFFB9_2000 | 0xFFB9_3000) => {
                self.rxq[(page >> 12 & 1) as usize].write(offset, value)?;
                Ok(EthStore::Done)
            }
            0xFFB9_4000 if offset == 0x98 => {
                if self.iram_busy {
                    return Err(Refusal::refused("iram-load-busy"));
                }
                // Packets that arrive during the load would go to the wrong place, so firmware
                // stops the MAC around it.
                if self.mac != MAC_STOPPED {
                    return Err(Refusal::refused("iram-load-with-mac-running"));
                }
                (self.iram_load, self.iram_busy) = (value, true);
                Ok(EthStore::Iram)
            }
            0xFFBA_0000 if offset < 8 => {
                self.mac[(offset / 4) as usize] = value;
                Ok(EthStore::Mac)
            }
            0xFFBB_0000 => Err(READ_ONLY),
            _ => Err(NOT_MODELLED),
        }
    }

    /// Returns the L1 address that instruction RAM is loaded from.
    pub(crate) fn iram_source(&self) -> u32 {
        self.iram_load << 4
    }

    /// Ends the instruction RAM load.
    pub(crate) fn finish_iram(&mut self) {
        self.iram_busy = false;
    }
}
