//! The hardware blocks around the L1 and the harts of a Tensix or Ethernet tile: their registers,
//! by address.
//!
//! Accesses come from the tile's own harts (through [`Devices`]) and from outside (NoC packets, the
//! host, the Ethernet peer). Delayed effects of the blocks are events of the tile; see
//! [`crate::chip::tile`].

use super::debug::Debug;
use super::eth::{Eth, EthStore};
use super::stream::Streams;
use super::tensix::Tensix;
use crate::condition::{
    Actor, CORE_PRIVATE, Condition, MAC_READ, NOT_MODELLED, REGISTER_WIDTH, Refusal, TDMA_READ,
    UNMAPPED,
};
use crate::hart::{DeviceAccess, DeviceFault, DeviceSet, Devices, HartOrder, Load, Stored};
use crate::heap::{of_arc, of_box};
use crate::memory::{REGISTERS, TileMemory};
use crate::noc::event::{Event, EventKind, Outbox, Queue};
use crate::noc::grid::Xy;
use crate::noc::niu::{Niu, NiuStore};
use crate::timing::Timing;
use std::ops::Range;
use std::sync::Arc;

/// The RISC debug interface.
const RISC_DEBUG: Range<u32> = 0xFFB1_2080..0xFFB1_2090;
/// What a core that debugs another one of its tile does is not modelled.
const DEBUG_FROM_CORE: Refusal = Refusal::refused("risc-debug-interface-from-core-not-modelled");

/// The page of control, debug and status registers.
const DEBUG: DeviceSet = DeviceSet::of(0);
/// Both NIUs.
pub(crate) const NIU: DeviceSet = DeviceSet::of(1);
/// The stream overlay.
pub(crate) const STREAMS: DeviceSet = DeviceSet::of(2);
/// The Ethernet queues and the MAC.
pub(crate) const ETH: DeviceSet = DeviceSet::of(3);
/// The coprocessor and its mover.
pub(crate) const TENSIX: DeviceSet = DeviceSet::of(4);

/// Blocks that only one kind of tile has.
#[derive(Clone, Debug)]
pub(crate) enum Special {
    /// Checkpoints share it until it changes.
    Tensix(Arc<Tensix>),
    Eth(Box<Eth>),
}

/// The origin of a register access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Visitor {
    /// A hart of the tile, by index.
    Hart(u8),
    /// The NoC, the host or the Ethernet peer.
    Outside,
}

/// The blocks of one tile.
#[derive(Clone, Debug)]
pub(crate) struct Blocks {
    pub(crate) chip: usize,
    pub(crate) at: Xy,
    /// Index of the unit in its chip: the source of its events.
    pub(crate) unit: u32,
    pub(crate) timing: Arc<Timing>,
    pub(crate) niu: [Niu; 2],
    pub(crate) debug: Debug,
    pub(crate) streams: Streams,
    pub(crate) special: Special,
    pub(crate) events: Queue,
    pub(crate) out: Outbox,
    /// Blocks with registers that changed other than by a hart's store; waiting harts must be notified.
    pub(crate) changed: DeviceSet,
    pub(crate) seq: u64,
}

impl Blocks {
    /// Adds an event of the tile itself.
    pub(crate) fn post(&mut self, at: u64, kind: EventKind) {
        self.seq += 1;
        self.events.post(Event { at, source: self.unit, seq: self.seq, kind });
    }

    /// Returns the state, which is an earlier one if nothing changed since.
    pub(crate) fn save(&self, earlier: Option<&Arc<Self>>) -> Arc<Self> {
        let same = earlier.filter(|earlier| self.are(earlier));
        same.map_or_else(|| Arc::new(self.clone()), Arc::clone)
    }

    /// Whether the blocks of a Tensix tile at rest are as they were; those of others seldom are.
    fn are(&self, earlier: &Self) -> bool {
        let quiet = |blocks: &Self| blocks.events.is_empty() && blocks.out.is_empty();
        let same = match (&self.special, &earlier.special) {
            (Special::Tensix(a), Special::Tensix(b)) => Arc::ptr_eq(a, b),
            _ => false,
        };
        same && quiet(self)
            && quiet(earlier)
            && (self.changed, self.seq) == (earlier.changed, earlier.seq)
            && self.streams.are(&earlier.streams)
            && self.niu == earlier.niu
            && self.debug == earlier.debug
    }

    /// Returns the approximate bytes of what the blocks at an earlier moment have not in common.
    pub(crate) fn bytes_beyond(self: &Arc<Self>, earlier: Option<&Arc<Self>>) -> usize {
        if earlier.is_some_and(|earlier| Arc::ptr_eq(self, earlier)) {
            return 0;
        }
        let streams = self.streams.bytes_beyond(earlier.map(|earlier| &earlier.streams));
        let special = match (&self.special, earlier.map(|earlier| &earlier.special)) {
            (Special::Tensix(a), Some(Special::Tensix(b))) if Arc::ptr_eq(a, b) => 0,
            (Special::Tensix(tensix), _) => of_arc(tensix) + tensix.state_bytes(),
            (Special::Eth(eth), _) => of_box(&**eth) + eth.bytes(),
        };
        of_arc(self) + streams + special + self.events.bytes() + self.out.bytes()
    }

    /// Reports a condition.
    pub(crate) fn report(&mut self, cycle: u64, actor: Actor, name: &'static str, addr: u64) {
        let tile = Some(self.at);
        let detail = String::new();
        self.out.conditions.push(Condition {
            cycle,
            chip: self.chip,
            tile,
            actor,
            name,
            addr,
            detail,
        });
    }

    /// Reads a 4-byte register.
    pub(crate) fn read_register(
        &mut self,
        visitor: Visitor,
        addr: u32,
        now: u64,
    ) -> Result<Load, Refusal> {
        let offset = addr & 0xFFFF;
        match (addr, &mut self.special) {
            (0xFFB1_1000..0xFFB1_2000, Special::Tensix(tensix)) => match visitor {
                Visitor::Hart(_) => tensix.read_tdma(addr & 0xFFF).map(Load::stable),
                Visitor::Outside => Err(TDMA_READ),
            },
            (0xFFB1_2000..0xFFB1_3000, _) => {
                if addr == 0xFFB1_205C && visitor != Visitor::Outside {
                    return Err(Refusal::refused("debug-bus-from-core-not-modelled"));
                }
                if RISC_DEBUG.contains(&addr) && visitor != Visitor::Outside {
                    return Err(DEBUG_FROM_CORE);
                }
                self.debug.read(addr & 0xFFF, now, self.timing.debug_bus)
            }
            (0xFFB2_0000..0xFFB3_0000, _) => self.niu[0].read(offset).map(Load::stable),
            (0xFFB3_0000..0xFFB4_0000, _) => self.niu[1].read(offset).map(Load::stable),
            (0xFFB4_0000..0xFFB8_0000, _) => {
                self.streams.read(addr - 0xFFB4_0000).map(Load::stable)
            }
            (0xFFBA_0000..0xFFBC_0000, Special::Eth(_)) if visitor == Visitor::Outside => {
                Err(MAC_READ)
            }
            (0xFFB9_0000..0xFFBC_0000, Special::Eth(eth)) => {
                eth.read(addr, now, self.timing.txq_latch)
            }
            (0xFFE0_0000..=0xFFEF_FFFF, Special::Tensix(tensix)) => match visitor {
                Visitor::Hart(hart) => tensix.read_private(hart, addr).map(Load::stable),
                Visitor::Outside => Err(CORE_PRIVATE),
            },
            _ => Err(self.no_register(visitor, addr)),
        }
    }

    /// Writes a 4-byte register. Its effects on the tile's harts go to `orders`.
    pub(crate) fn write_register(
        &mut self,
        visitor: Visitor,
        addr: u32,
        value: u32,
        now: u64,
        orders: &mut Vec<HartOrder>,
    ) -> Result<Stored, Refusal> {
        let offset = addr & 0xFFFF;
        match (addr, &mut self.special) {
            (0xFFB1_1000..0xFFB1_2000, Special::Tensix(tensix)) => {
                if Arc::make_mut(tensix).write_tdma(addr & 0xFFF, value)? {
                    self.start_move(now);
                }
            }
            (0xFFB1_2080..0xFFB1_2090, special) => {
                if visitor != Visitor::Outside {
                    return Err(DEBUG_FROM_CORE);
                }
                let linked = matches!(special, Special::Eth(eth) if eth.link.is_some());
                self.debug.write_risc(addr & 0xFFF, value, linked, orders)?;
            }
            (0xFFB1_2000..0xFFB1_3000, special) => {
                let special: &Special = special;
                let reset_pc = |hart| match special {
                    Special::Tensix(tensix) => tensix.reset_pc(hart),
                    Special::Eth(_) => 0,
                };
                self.debug.write(addr & 0xFFF, value, now, reset_pc, orders)?;
            }
            (0xFFB2_0000..0xFFB4_0000, _) => {
                let noc = (addr >> 16 & 1) as usize;
                if let NiuStore::Command(buf) = self.niu[noc].write(offset, value)? {
                    self.start_command(noc, buf, now)?;
                }
            }
            (0xFFB4_0000..0xFFB8_0000, _) => self.streams.write(addr - 0xFFB4_0000, value)?,
            (0xFFB9_0000..0xFFBC_0000, Special::Eth(eth)) => match eth.write(addr, value, now)? {
                EthStore::Done => {}
                EthStore::Command(queue) => self.start_txq(queue, now),
                EthStore::Iram => self.start_iram(now),
                EthStore::Mac => self.resume_link(now),
            },
            (0xFFE0_0000..=0xFFEF_FFFF, Special::Tensix(tensix)) => match visitor {
                Visitor::Hart(hart) => Arc::make_mut(tensix).write_private(hart, addr, value)?,
                Visitor::Outside => return Err(CORE_PRIVATE),
            },
            _ => return Err(self.no_register(visitor, addr)),
        }
        Ok(Stored::Changed)
    }

    /// Returns why there is no register at an address.
    fn no_register(&self, visitor: Visitor, addr: u32) -> Refusal {
        let private = match self.special {
            Special::Tensix(_) => {
                matches!(addr, 0xFFB0_0000..0xFFB0_1000 | 0xFFB8_0000..0xFFB8_1000)
            }
            Special::Eth(_) => matches!(addr, 0xFFB0_0000..0xFFB0_1000),
        };
        let iram = (0xFFC0_0000..0xFFC1_0000).contains(&addr);
        match visitor {
            Visitor::Outside if private || iram => CORE_PRIVATE,
            Visitor::Hart(_) if iram => Refusal::refused("instruction-ram-is-fetch-only"),
            Visitor::Hart(_) if private => NOT_MODELLED,
            _ if (0xFFB1_3000..0xFFB1_4000).contains(&addr) => Refusal::refused("pic-not-modelled"),
            _ => UNMAPPED,
        }
    }
}

impl Devices for Blocks {
    fn deadline(&self) -> u64 {
        self.events.next_at()
    }

    fn device(addr: u32) -> DeviceSet {
        match addr {
            0xFFB1_2000..0xFFB1_3000 => DEBUG,
            0xFFB2_0000..0xFFB4_0000 => NIU,
            0xFFB4_0000..0xFFB8_0000 => STREAMS,
            0xFFB9_0000..0xFFBC_0000 => ETH,
            0xFFB1_1000..0xFFB1_2000 | 0xFFE0_0000..=0xFFEF_FFFF => TENSIX,
            _ => DeviceSet::ALL,
        }
    }

    fn load(&mut self, at: DeviceAccess, _memory: &mut TileMemory) -> Result<Load, DeviceFault> {
        if at.bytes != 4 {
            return Err(DeviceFault(width_fault(at.addr)));
        }
        self.read_register(Visitor::Hart(at.hart), at.addr, at.cycle)
            .map_err(|r| DeviceFault(r.name))
    }

    fn store(
        &mut self,
        at: DeviceAccess,
        value: u32,
        _memory: &mut TileMemory,
        orders: &mut Vec<HartOrder>,
    ) -> Result<Stored, DeviceFault> {
        if at.bytes != 4 {
            return Err(DeviceFault(width_fault(at.addr)));
        }
        self.write_register(Visitor::Hart(at.hart), at.addr, value, at.cycle, orders)
            .map_err(|r| DeviceFault(r.name))
    }
}

/// Registers take 4 bytes at a time; nothing is mapped below them.
fn width_fault(addr: u32) -> &'static str {
    if addr < REGISTERS { UNMAPPED.name } else { REGISTER_WIDTH.name }
}
