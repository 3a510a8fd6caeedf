//! The PCIe side of a chip: what the offsets of BAR0 and BAR4 address (wormhole.md 1.1,
//! wormhole.md 1.2).

use crate::chip::{Chip, Unit};
use crate::condition::{Actor, NOT_MODELLED, REGISTER_WIDTH, Refusal, UNMAPPED};
use crate::config::{GRID_HEIGHT, GRID_WIDTH};
use crate::devices::arc::{APB, CSM};
use crate::devices::endpoint::Endpoint;
use crate::devices::passive::{ARC_XBAR, Backend, Passive};
use crate::devices::tlb::{TlbEntry, TlbWindow, WINDOWS, WINDOWS_END};
use crate::memory::REGISTERS;
use crate::noc::grid::{self, Xy};
use crate::watch::Writer;

/// The window configuration array.
const ENTRIES: u64 = 0x1FC0_0000;
/// NIU registers of the PCIe tile: where tt-kmd reads them (NOC 1 at +0x8000), and where the ISA
/// documentation puts both NIUs.
const PCIE_NIUS: [(u64, usize); 4] =
    [(0x1FD0_2000, 0), (0x1FD0_A000, 1), (0x1FD2_0000, 0), (0x1FDA_0000, 1)];
/// ARC shared memory and peripherals.
const ARC_CSM: u64 = 0x1FE8_0000;
const ARC_APB: u64 = 0x1FF0_0000;
/// End of BAR0.
const BAR0_END: u64 = 0x2000_0000;
/// BAR4 maps the last 32 MiB of BAR0.
const BAR4_BASE: u64 = 0x1E00_0000;
const BAR4_BYTES: u64 = 0x0200_0000;

/// What a BAR0 offset addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BarRegion {
    Window(TlbWindow),
    Entries(usize),
    PcieNiu(usize, u32),
    Arc(u32),
    Nothing,
}

fn place(offset: u64) -> BarRegion {
    if let Some(window) = TlbWindow::at(offset) {
        return BarRegion::Window(window);
    }
    for (base, noc) in PCIE_NIUS {
        if (base..base + 0x1000).contains(&offset) {
            return BarRegion::PcieNiu(noc, (offset - base) as u32);
        }
    }
    match offset {
        ENTRIES.. if offset < ENTRIES + 8 * WINDOWS as u64 => {
            BarRegion::Entries((offset - ENTRIES) as usize)
        }
        ARC_CSM..ARC_APB => BarRegion::Arc(CSM + (offset - ARC_CSM) as u32),
        ARC_APB..BAR0_END => BarRegion::Arc(APB + (offset - ARC_APB) as u32),
        _ => BarRegion::Nothing,
    }
}

/// What a host read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// L1 of a tile, on which a read has no effect.
    L1,
    /// Anything else.
    Other,
}

/// A refused host access: the reason, the tile and the address there.
pub(crate) type Refused = (Refusal, Option<Xy>, u64);

/// Converts an offset of a BAR to an offset of BAR0.
pub(crate) fn bar0_offset(bar: u8, offset: u64, len: usize) -> Option<u64> {
    let end = offset.checked_add(len as u64)?;
    match bar {
        0 if end <= BAR0_END => Some(offset),
        4 if end <= BAR4_BYTES => Some(BAR4_BASE + offset),
        _ => None,
    }
}

/// Splits a range at the end of its window: on the bus such an access is two.
pub(crate) fn split(offset: u64, len: usize) -> (usize, usize) {
    let room = TlbWindow::at(offset).map_or(BAR0_END - offset, |w| w.base + w.size() - offset);
    let first = len.min(usize::try_from(room).unwrap_or(usize::MAX));
    (first, len - first)
}

/// Whether the offset is in a window. Accesses to windows wait for the NoC; others do not.
pub(crate) fn in_window(offset: u64) -> bool {
    offset < WINDOWS_END
}

impl Chip {
    /// Reads bytes that lie in one region of BAR0.
    pub(crate) fn host_read(
        &mut self,
        offset: u64,
        out: &mut [u8],
        now: u64,
    ) -> Result<Source, Refused> {
        let at_bar = |refusal| (refusal, None, offset);
        match place(offset) {
            BarRegion::Window(window) => return self.window_read(window, offset, out, now),
            BarRegion::Entries(at) => {
                aligned(offset, out.len()).map_err(at_bar)?;
                let bytes: Vec<u8> = self.windows.iter().flat_map(|e| e.to_le_bytes()).collect();
                let range = at..at + out.len();
                out.copy_from_slice(bytes.get(range).ok_or(at_bar(UNMAPPED))?);
            }
            BarRegion::PcieNiu(noc, register) => {
                let pcie = self.endpoint(|b| matches!(b, Backend::Pcie(_)));
                let unit = pcie.ok_or(at_bar(NOT_MODELLED))?;
                word(offset, out.len()).map_err(at_bar)?;
                let value = unit.ports[0][noc].read(register).map_err(at_bar)?;
                out.copy_from_slice(&value.to_le_bytes());
            }
            BarRegion::Arc(addr) => {
                let arc = self.endpoint(|b| matches!(b, Backend::Arc(_)));
                let unit = arc.ok_or(at_bar(NOT_MODELLED))?;
                unit.run(now);
                unit.read(0, 0, ARC_XBAR + u64::from(addr), out, now).map_err(at_bar)?;
            }
            BarRegion::Nothing => return Err(at_bar(Refusal::refused("bar-hole"))),
        }
        Ok(Source::Other)
    }

    /// Writes bytes that lie in one region of BAR0.
    pub(crate) fn host_write(&mut self, offset: u64, data: &[u8], now: u64) -> Result<(), Refused> {
        let at_bar = |refusal| (refusal, None, offset);
        match place(offset) {
            BarRegion::Window(window) => self.window_write(window, offset, data, now),
            BarRegion::Entries(at) => {
                aligned(offset, data.len()).map_err(at_bar)?;
                for (i, byte) in data.iter().enumerate() {
                    let (index, shift) = ((at + i) / 8, (at + i) % 8 * 8);
                    let entry = self.windows.get_mut(index).ok_or(at_bar(UNMAPPED))?;
                    *entry = *entry & !(0xFF << shift) | u64::from(*byte) << shift;
                }
                Ok(())
            }
            BarRegion::Arc(addr) => {
                let arc = self.endpoint(|b| matches!(b, Backend::Arc(_)));
                let unit = arc.ok_or(at_bar(NOT_MODELLED))?;
                unit.run(now);
                unit.write_arc(addr, data, now).map_err(at_bar)?;
                let index = unit.unit as usize;
                self.refresh(index);
                Ok(())
            }
            BarRegion::PcieNiu(..) | BarRegion::Nothing => {
                Err(at_bar(Refusal::refused("bar-hole")))
            }
        }
    }

    /// Returns the first unit with such a backend. Meant for kinds of which a chip has one.
    fn endpoint(&mut self, kind: impl Fn(&Backend) -> bool) -> Option<&mut Passive> {
        let units = self.units.iter_mut().zip(&mut self.changed);
        let mut found = units.filter_map(|(unit, changed)| match unit {
            Unit::Passive(passive) if kind(&passive.backend) => Some((passive, changed)),
            _ => None,
        });
        let (passive, changed) = found.next()?;
        *changed = true;
        Some(passive)
    }

    /// Returns the endpoint between the chip and its host.
    pub(crate) fn host_endpoint(&mut self) -> Option<&mut Endpoint> {
        let pcie = self.endpoint(|b| matches!(b, Backend::Pcie(_)))?;
        match &mut pcie.backend {
            Backend::Pcie(endpoint) => Some(endpoint),
            _ => None,
        }
    }

    /// Returns the entry of a window, if it is usable, and the tile-local address of a BAR0 offset.
    fn entry(&self, window: TlbWindow, offset: u64) -> Result<(TlbEntry, u64), Refused> {
        let entry = TlbEntry::decode(self.windows[window.index], window.shift);
        let addr = entry.local + (offset - window.base);
        let refusal = match entry {
            TlbEntry { ordering: 3, .. } => Refusal::refused("window-ordering"),
            // A linked transaction followed by one to another target wedges the NoC
            // (wormhole.md 1.3).
            TlbEntry { linked: true, .. } => Refusal::hang("window-linked"),
            _ => return Ok((entry, addr)),
        };
        Err((refusal, None, addr))
    }

    /// Translates a coordinate pair of a window entry as the PCIe tile's NIU does.
    fn translated(&mut self, noc: usize, at: Xy) -> Xy {
        let pcie = self.endpoint(|b| matches!(b, Backend::Pcie(_)));
        pcie.map_or(at, |unit| unit.ports[0][noc].translate(at))
    }

    /// Runs a unit up to the present, before a host access to it.
    fn visit(&mut self, unit: usize, now: u64) {
        self.units[unit].run(now, u64::MAX / 2);
        self.collect(unit);
    }

    fn window_read(
        &mut self,
        window: TlbWindow,
        offset: u64,
        out: &mut [u8],
        now: u64,
    ) -> Result<Source, Refused> {
        let (entry, addr) = self.entry(window, offset)?;
        if entry.multicast {
            return Err((Refusal::refused("multicast-read"), None, addr));
        }
        let at = self.target(&entry, addr)?;
        let (unit, port) = self.place(at);
        self.visit(unit, now);
        let (source, read) = match &mut self.units[unit] {
            Unit::Core(tile) => {
                let source = if (addr as u32) < REGISTERS { Source::L1 } else { Source::Other };
                (source, tile.host_read(addr, out, now))
            }
            Unit::Passive(passive) => {
                let check = check_dram(entry.noc, at);
                let read = check.and_then(|()| passive.read(port, entry.noc, addr, out, now));
                (Source::Other, read)
            }
        };
        self.refresh(unit);
        read.map(|()| source).map_err(|refusal| (refusal, Some(at), addr))
    }

    fn target(&mut self, entry: &TlbEntry, addr: u64) -> Result<Xy, Refused> {
        let at = grid::flip_checked(entry.noc, self.translated(entry.noc, entry.end));
        if grid::on_grid(at) { Ok(at) } else { Err((Refusal::hang("no-such-tile"), None, addr)) }
    }

    fn window_write(
        &mut self,
        window: TlbWindow,
        offset: u64,
        data: &[u8],
        now: u64,
    ) -> Result<(), Refused> {
        let (entry, addr) = self.entry(window, offset)?;
        if !entry.multicast {
            let at = self.target(&entry, addr)?;
            return self.write_tile(entry.noc, at, addr, data, now);
        }
        let (start, end) =
            (self.translated(entry.noc, entry.start), self.translated(entry.noc, entry.end));
        for y in (0..GRID_HEIGHT).filter(|y| grid::in_span(start.1, end.1, *y)) {
            for x in (0..GRID_WIDTH).filter(|x| grid::in_span(start.0, end.0, *x)) {
                let at = grid::flip(entry.noc, (x, y));
                let (unit, _) = self.place(at);
                let takes = match &self.units[unit] {
                    Unit::Core(tile) => tile.blocks.niu[entry.noc].takes_multicast(),
                    Unit::Passive(_) => false,
                };
                if takes {
                    self.write_tile(entry.noc, at, addr, data, now)?;
                }
            }
        }
        Ok(())
    }

    fn write_tile(
        &mut self,
        noc: usize,
        at: Xy,
        addr: u64,
        data: &[u8],
        now: u64,
    ) -> Result<(), Refused> {
        let (unit, port) = self.place(at);
        self.visit(unit, now);
        if let Some(watch) = self.units[unit].write_watch() {
            // The caller knows the device.
            watch.writer(now, Writer::Host { device: 0 });
        }
        let written = match &mut self.units[unit] {
            Unit::Core(tile) => tile.host_write(addr, data, now),
            Unit::Passive(passive) => {
                check_dram(noc, at).and_then(|()| passive.write(port, noc, addr, data, now))
            }
        };
        self.refresh(unit);
        written.map_err(|refusal| (refusal, Some(at), addr))
    }

    /// Records a refused host access. A hang takes down the chip's whole PCIe side.
    pub(crate) fn host_refused(&mut self, index: usize, device: usize, refused: Refused, now: u64) {
        let (refusal, tile, addr) = refused;
        self.dead |= refusal.hangs;
        self.conditions.push(crate::condition::Condition {
            cycle: now,
            chip: index,
            tile,
            actor: Actor::Host { device },
            name: refusal.name,
            addr,
            detail: if refusal.hangs { "the NoC no longer answers" } else { "" }.into(),
        });
    }
}

/// Accesses over NoC 1 to the first ports of D0 and D2 hung the NoC until a reset (tt-umd issue
/// 1823).
fn check_dram(noc: usize, at: Xy) -> Result<(), Refusal> {
    if noc == 1 && (at == (0, 0) || at == (5, 0)) {
        return Err(Refusal::hang("dram-port-over-noc1"));
    }
    Ok(())
}

fn aligned(offset: u64, len: usize) -> Result<(), Refusal> {
    if offset.is_multiple_of(4) && len.is_multiple_of(4) { Ok(()) } else { Err(REGISTER_WIDTH) }
}

fn word(offset: u64, len: usize) -> Result<(), Refusal> {
    if offset.is_multiple_of(4) && len == 4 { Ok(()) } else { Err(REGISTER_WIDTH) }
}
